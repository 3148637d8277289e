/* A FREQ job of the "Mixed 8 core" workload that starts with a text file, which is read into WORK.
   The libref OUT is assigned by whoever starts the job; &textin is the directory of text files, &text
   names one without its extension, &out the result. */

data work.trade;
  infile "&textin/&text..csv" dlm=',' dsd firstobs=2 truncover lrecl=1000;
  length id acct branch product month day price1-price4 qty 8 channel $8 status $8 memo $24;
  input id acct branch product month day price1-price4 qty channel status memo;
  length size $6;
  if price1 * qty < 5 then size = 'small';
  else if price1 * qty < 40 then size = 'middle';
  else size = 'large';
run;

proc freq data=work.trade;
  tables channel*size status*size / chisq;
  tables branch*product / noprint out=out.&out;
run;

/* Weighted by quantity, in a second pass. */
proc freq data=work.trade;
  weight qty;
  tables size*channel / list missing;
run;
