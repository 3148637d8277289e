/* Integers, four products. */
data _null_;
  set d.&in end=last;
  where k <= 50 and m ne 7;
  result + (x1 * x2 + x3 * x4 + x5 * x6 + x7 * x8);
  if last then put result=;
run;
