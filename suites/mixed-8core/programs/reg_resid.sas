/* A REG job of the "Mixed 8 core" workload that writes its input, with predicted values and residuals,
   to the output library: the second pass over the wide data set.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

data work.sample;
  set in.&in;
  y = 3 * x1 - 2 * x2 + x3 + 0.5 * x4 + u;
run;

proc reg data=work.sample;
  model y = x1-x30 / vif;
  output out=out.&out p=predicted r=residual;
run;
quit;
