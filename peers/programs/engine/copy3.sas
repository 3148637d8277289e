/* The first twenty numbers. */
data d.out;
  set d.&in(keep=id k m y x1-x16);
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
