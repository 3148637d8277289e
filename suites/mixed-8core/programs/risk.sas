/* RISK jobs of the "Mixed 8 core" workload. The paper says no more than the name; a Monte-Carlo
   simulation of a loan portfolio in a DATA step stands for it: much computation, little data.
   &scenarios and &seed say what is simulated; OUT is assigned by whoever starts the job, &out names
   the losses of all scenarios. */

%let loans = 500;

data out.&out (keep=scenario market loss defaults);
  call streaminit(&seed);
  array exposure{&loans} _temporary_;
  array barrier{&loans} _temporary_;
  array spread{&loans} _temporary_;

  /* The portfolio. */
  do i = 1 to &loans;
    exposure{i} = 10 + 90 * rand('uniform');
    barrier{i} = -1.5 - rand('uniform');
    spread{i} = 0.2 + 0.5 * rand('uniform');
  end;

  do scenario = 1 to &scenarios;
    market = rand('normal');
    loss = 0;
    defaults = 0;
    do i = 1 to &loans;
      if spread{i} * market + sqrt(1 - spread{i}**2) * rand('normal') < barrier{i} then do;
        loss = loss + exposure{i} * (0.3 + 0.4 * rand('uniform'));
        defaults = defaults + 1;
      end;
    end;
    output;
  end;
run;

/* Value at risk: the losses in order, and those at the tail. */
proc sort data=out.&out out=work.ordered;
  by descending loss;
run;

data _null_;
  set work.ordered nobs=scenarios;
  if _n_ = ceil(0.001 * scenarios) or _n_ = ceil(0.01 * scenarios) or _n_ = ceil(0.05 * scenarios)
    then do;
    level = 1 - _n_ / scenarios;
    put 'Value at risk ' level percent8.1 loss comma14.2;
  end;
run;

proc means data=out.&out n mean std max;
  var loss defaults;
run;
