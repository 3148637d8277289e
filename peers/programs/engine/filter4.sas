/* Two fifths of the rows, by a sum; branches. */
data d.out;
  set d.&in;
  if x1 + x2 < 0.9;
  if x3 > 0.5 then n1 = x3 * x4; else n1 = x5;
  if m <= 6 then n2 = 1; else n2 = 2;
  n3 = x6 * x7 - x8;
  n4 = n1 + n2 + n3;
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
