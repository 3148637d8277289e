/* REG jobs of the "Mixed 8 core" workload: a DATA step derives the response, then a regression on many
   variables of a wide data set; &options may ask for selection.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets, &x
   lists the regressors, &options are those of the MODEL statement. */

data work.sample;
  set in.&in;
  y = 3 * x1 - 2 * x2 + x3 + 0.5 * x4 + u;
run;

proc reg data=work.sample outest=out.&out;
  model y = &x / &options;
run;
quit;

proc print data=out.&out;
  var _type_ _rmse_ intercept x1-x4;
run;
