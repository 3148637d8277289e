/* FREQ jobs of the "Mixed 8 core" workload: crosstabulations of a stored data set, months shown as
   years by a format.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets, &row and
   &column the variables of the table. */

proc format;
  value fiscal
    1 - 12 = '2007'
    13 - 24 = '2008'
    25 - 36 = '2009'
    other = '2010';
run;

proc freq data=in.&in;
  tables month*(channel status) / norow nocol nopercent;
  tables &row*&column / noprint chisq out=out.&out outpct;
  format month fiscal.;
run;

proc print data=out.&out (obs=20);
run;
