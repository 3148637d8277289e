/* Two fifths of the rows, by a character; functions. */
data d.out;
  set d.&in;
  if c1 in ('a', 'b');
  n1 = sqrt(x1);
  n2 = int(x2 * 10);
  n3 = abs(x3 - x4);
  n4 = max(x5, x6);
run;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
