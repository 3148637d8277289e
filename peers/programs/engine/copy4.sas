/* Half of the rows. */
data d.out;
  set d.&in(where=(x1 < 0.5));
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
