/* All there is. */
data d.out;
  set d.&in;
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
