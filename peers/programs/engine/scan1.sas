/* One comparison, one product. */
data _null_;
  set d.&in end=last;
  where x1 > 0.5;
  result + x2 * x3;
  if last then put result=;
run;
