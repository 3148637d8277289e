/* c_hplog, a computation test of the Mixed Analytics workload: a multithreaded logistic regression on
   generated data. The rows are wide, the model takes a seventh of their variables, and the iterations
   run on all cores: the class of tests whose CPU time exceeds real time.
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.panel;
  call streaminit(&seed);
  array x{146};
  do i = 1 to &rows;
    a = ceil(8 * rand('uniform'));
    b = ceil(5 * rand('uniform'));
    c = ceil(3 * rand('uniform'));
    do j = 1 to dim(x);
      x{j} = rand('normal');
    end;
    logit = -1 + a / 8 - b / 10 + 0.5 * x1 - 0.3 * x2 + 0.1 * x3 * (c = 2);
    y = rand('uniform') < 1 / (1 + exp(-logit));
    output;
  end;
  drop i j logit;
run;

proc hplogistic data=work.panel;
  class a b c;
  model y(event='1') = a b c x1-x16;
  id a b y;
  output out=work.scored predicted=p;
run;

/* Predicted and observed rates by cell, kept as the result. */
proc means data=work.scored noprint nway;
  class a b;
  var p y;
  output out=out.&out (drop=_type_) mean= / autoname;
run;
