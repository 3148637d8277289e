/* c_reg, a computation test of the Mixed Analytics workload: stepwise selection among 99 regressors on
   wide generated data. One pass makes the crossproducts; selection works on them.
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.panel;
  call streaminit(&seed);
  array x{99};
  do i = 1 to &rows;
    common = rand('normal');
    do j = 1 to dim(x);
      x{j} = 0.4 * common + rand('normal');
    end;
    y = x1 - 0.5 * x10 + 0.25 * x20 + 0.1 * x30 + 4 * rand('normal');
    output;
  end;
  drop i j common;
run;

proc reg data=work.panel outest=out.&out;
  model y = x1-x99 / selection=stepwise slentry=0.01 slstay=0.01;
run;
quit;

proc print data=out.&out;
  var _type_ _depvar_ _rmse_ intercept x1 x10 x20 x30;
run;
