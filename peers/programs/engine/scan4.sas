/* Characters. */
data _null_;
  set d.&in end=last;
  where c1 = 'a' or c2 = 'b';
  result + x10 * x11;
  if last then put result=;
run;
