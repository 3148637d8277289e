/* A tenth of the rows, by WHERE. */
data d.out;
  set d.&in;
  where k <= 10;
  n1 = x1 + x2;
  n2 = x3 - x4;
  n3 = x5 * x6;
  n4 = k * 100 + m;
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
