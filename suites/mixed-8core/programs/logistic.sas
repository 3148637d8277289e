/* LOGISTIC jobs of the "Mixed 8 core" workload: a DATA step derives the event, then a logistic
   regression on twelve regressors and two classes scores all rows.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

data work.sample;
  set in.&in (keep=id c1 c2 u x1-x12);
  logit = -1.5 + c1 / 5 - c2 / 8 + 1.5 * x1 - x2 + 0.5 * x3;
  event = u < 1 / (1 + exp(-logit));
  drop logit;
run;

proc logistic data=work.sample outest=out.&out._est;
  class c1 c2 / param=ref;
  model event(event='1') = c1 c2 x1-x12;
  output out=out.&out (keep=id event score) p=score;
run;

proc means data=out.&out n mean min max;
  class event;
  var score;
run;
