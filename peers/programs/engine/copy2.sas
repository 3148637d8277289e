/* The numbers alone. */
data d.out;
  set d.&in(drop=c1-c4);
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
