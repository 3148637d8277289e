/* Two long tables, neither of which fits the memory. */
proc sql;
  create table d.out as
    select l.key, l.x1, r.x1 as x2 from d.&in as l, d.right&in as r where l.key = r.key;
quit;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
