/* All types of two variables, of three quarters of the rows. */
proc means data=d.&in noprint;
  class c3 m;
  var x21-x30;
  where x1 > 0.25;
  output out=work.m mean=;
run;

data _null_;
  set work.m end=last;
  where _type_ = 3;
  result + _freq_ * (x21 + x30);
  if last then put result=;
run;
