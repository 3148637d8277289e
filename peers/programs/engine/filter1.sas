/* Two fifths of the rows, arithmetic. */
data d.out;
  set d.&in;
  if x1 < 0.403;
  n1 = x2 * x3 + x4;
  n2 = x2 / (x3 + 1);
  n3 = (x2 - x3) ** 2 + 2 * x4;
  n4 = x2 + x3 + x4 + x5 * 0.5;
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
