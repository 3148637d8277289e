/* GLM jobs of the "Mixed 8 core" workload: a DATA step derives the response, then a linear model with
   classes and one interaction is fitted.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

data work.sample;
  set in.&in (keep=grp c1-c4 u x1-x12);
  y = c1 + 0.5 * c2 * c3 + 2 * x1 - x2 + 0.3 * x3 + u;
run;

proc glm data=work.sample;
  class c1 c2 c3 c4;
  model y = c1 c2 c3 c2*c3 c4 x1-x8 / solution;
  lsmeans c1 c4 / stderr;
  output out=work.fitted p=predicted r=residual;
run;
quit;

proc means data=work.fitted noprint nway;
  class c1 c2;
  var y predicted residual;
  output out=out.&out (drop=_type_) mean= std= / autoname;
run;
