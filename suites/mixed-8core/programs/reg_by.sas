/* A REG job of the "Mixed 8 core" workload: the table is sorted by its group, then every group gets a
   regression of its own.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

proc sort data=in.&in out=work.sample;
  by grp;
run;

data work.sample;
  set work.sample;
  by grp;
  if first.grp then trend = 0;
  trend + 1;
  y = mod(grp, 7) * x1 + x2 - x3 + u;
run;

proc reg data=work.sample outest=out.&out noprint;
  by grp;
  model y = x1-x20;
run;
quit;

proc means data=out.&out n mean std min max;
  var _rmse_ intercept x1-x3;
run;
