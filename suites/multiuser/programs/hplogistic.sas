/* hplogistic: a modeller who "runs complex analytics like logistic or regression" (section 5.1). The observations
   are prepared in WORK, then read into memory and fitted by all processors.

   Set from outside: librefs IN and OUT; stream, in, selection (1: choose among the effects and score everyone). */

title "hplogistic_&stream: logistic regression";

proc contents data=in.&in;
run;

data work.observations;
  set in.&in;
  x1x2 = x1 * x2;
  logx3 = log(x3 + 0.01);
run;

%macro model;
  proc hplogistic data=work.observations;
    class a b c;
    model y = a b c x1 x2 x3 x1x2 logx3;
    performance details;
    %if &selection = 1 %then %do;
      selection method=backward;
      id obsno y;
      output out=out.hplogistic_&stream pred=predicted;
    %end;
  run;

  %if &selection = 1 %then %do;
    proc print data=out.hplogistic_&stream(obs=20);
    run;
  %end;
%mend model;

%model
