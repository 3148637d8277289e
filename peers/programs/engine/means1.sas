/* Two characters, means alone. */
proc means data=d.&in noprint nway;
  class c1 c2;
  var x1-x10;
  output out=work.m mean=;
run;

data _null_;
  set work.m end=last;
  where _type_ = 3;
  result + _freq_ * (x1 + x10);
  if last then put result=;
run;
