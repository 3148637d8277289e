/* An integer and a character; standard deviations. */
proc means data=d.&in noprint nway;
  class k c2;
  var x1-x10;
  output out=work.m mean= std=s1-s10;
run;

data _null_;
  set work.m end=last;
  where _type_ = 3;
  result + _freq_ * x1 + s10;
  if last then put result=;
run;
