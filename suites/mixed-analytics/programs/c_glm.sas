/* c_glm, a computation test of the Mixed Analytics workload: a linear model with classes and their
   interactions on generated data ("primarily computation tests", "relying on generated data").
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.panel;
  call streaminit(&seed);
  array x{40};
  do i = 1 to &rows;
    a = ceil(6 * rand('uniform'));
    b = ceil(5 * rand('uniform'));
    c = ceil(4 * rand('uniform'));
    do j = 1 to dim(x);
      x{j} = rand('normal');
    end;
    y = a / 2 + b * c / 10 + 0.5 * x1 - 0.2 * x2 + rand('normal');
    output;
  end;
  drop i j;
run;

proc glm data=work.panel;
  class a b c;
  model y = a b c a*b a*c b*c x1 x2 x3 x4 / ss1 ss3 solution;
  lsmeans a / stderr pdiff;
  output out=work.fitted (keep=a b c y predicted residual) p=predicted r=residual;
run;
quit;

/* The residuals by cell, kept as the result. */
proc means data=work.fitted noprint nway;
  class a b c;
  var y predicted residual;
  output out=out.&out (drop=_type_) mean= std= / autoname;
run;
