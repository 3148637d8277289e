/* Half of the rows and of the columns. */
data d.out(keep=id k m x1-x17 n1-n4);
  set d.&in;
  where x3 > 0.5;
  n1 = x1 * x2;
  n2 = x3 * x4;
  n3 = x5 * x6;
  n4 = x7 * x8;
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
