/* Every row of a long table finds its row of a short one. */
proc sql;
  create table d.out as
    select l.key, l.x1, s.w from d.&in as l, d.short&in as s where l.short = s.id;
quit;

data _null_;
  result = count;
  set d.out nobs=count;
  put result=;
  stop;
run;
