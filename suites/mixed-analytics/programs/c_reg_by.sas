/* c_reg_by, a computation test of the Mixed Analytics workload: one regression for each of 500 BY
   groups of generated data.
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.panel;
  call streaminit(&seed);
  array x{28};
  do group = 1 to 500;
    slope = rand('normal');
    do i = 1 to &rows / 500;
      y = 3;
      do j = 1 to dim(x);
        x{j} = rand('normal');
        y = y + slope * x{j} / j;
      end;
      y = y + rand('normal');
      output;
    end;
  end;
  drop i j slope;
run;

proc reg data=work.panel outest=out.&out noprint;
  by group;
  model y = x1-x28;
run;
quit;

proc means data=out.&out n mean std min max;
  var _rmse_ intercept x1-x4;
run;
