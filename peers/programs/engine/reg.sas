/* 30 regressors. */
proc reg data=d.&in outest=work.e noprint;
  model x36 = x1-x30;
run;
quit;

data _null_;
  set work.e;
  result = intercept;
  put result=;
run;
