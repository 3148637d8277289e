/* Columns beside one another, and constants. */
data _null_;
  set d.&in end=last;
  where x30 > 0.1 and x31 < x32;
  result + (x33 * x34 - 0.5 * x35 * x36);
  if last then put result=;
run;
