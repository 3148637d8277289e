/* A range and a comparison, two products. */
data _null_;
  set d.&in end=last;
  where x1 between 0.2 and 0.6 and x2 < 0.9;
  result + x3 * x4 + x5 * x6;
  if last then put result=;
run;
