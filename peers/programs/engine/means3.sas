/* A character and an integer; least and greatest. */
proc means data=d.&in noprint nway;
  class c1 m;
  var x11-x20;
  output out=work.m mean= min=n1-n10 max=m1-m10;
run;

data _null_;
  set work.m end=last;
  where _type_ = 3;
  result + _freq_ * x11 + n1 + m10;
  if last then put result=;
run;
