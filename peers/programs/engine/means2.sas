/* Two integers, sums. */
proc means data=d.&in noprint nway;
  class k m;
  var x1-x10;
  output out=work.m sum=;
run;

data _null_;
  set work.m end=last;
  where _type_ = 3;
  result + x1 + x10;
  if last then put result=;
run;
