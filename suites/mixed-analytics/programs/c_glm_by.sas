/* c_glm_by, a computation test of the Mixed Analytics workload: one linear model with classes for each
   of 500 BY groups of generated data.
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.panel;
  call streaminit(&seed);
  array x{26};
  do group = 1 to 500;
    slope = rand('normal');
    do i = 1 to &rows / 500;
      a = ceil(3 * rand('uniform'));
      do j = 1 to dim(x);
        x{j} = rand('normal');
      end;
      y = a + slope * x1 + 0.1 * a * x2 + rand('normal');
      output;
    end;
  end;
  drop i j;
run;

proc glm data=work.panel noprint;
  by group;
  class a;
  model y = a x1 x2 x2*a x3;
  output out=work.fitted (keep=group y predicted residual) p=predicted r=residual;
run;
quit;

/* How well each group's model fits. */
proc means data=work.fitted noprint;
  by group;
  var y residual;
  output out=out.&out (drop=_type_) n=n uss(residual)=error css(y)=total;
run;
