/* The numbers at the end and the characters: two pieces of a row. */
data d.out;
  set d.&in(drop=x11-x20);
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
