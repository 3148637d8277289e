/* c_logistic, a computation test of the Mixed Analytics workload: a logistic regression on generated
   data. The procedure keeps its variables in a utility file and, where memory is short, reads it again
   for every evaluation of the likelihood: "computation (fed by significant IO in many cases)".
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.panel;
  call streaminit(&seed);
  array x{40};
  do i = 1 to &rows;
    sector = ceil(5 * rand('uniform'));
    grade = ceil(4 * rand('uniform'));
    do j = 1 to dim(x);
      x{j} = rand('normal');
    end;
    logit = -2 + sector / 5 - grade / 8 + 0.6 * x1 - 0.4 * x2 + 0.2 * x3;
    bad = rand('uniform') < 1 / (1 + exp(-logit));
    output;
  end;
  drop i j logit;
run;

proc logistic data=work.panel outest=out.&out;
  class sector grade;
  model bad(event='1') = sector grade x1-x12;
run;
