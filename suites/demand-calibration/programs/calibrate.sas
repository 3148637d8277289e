/* One of the 750 models of the demand calibration: "each model is calibrated by an individual SAS process. Each of
   these processes creates about 100 permanent output data sets and 7,000 temporary files" (SAS 484-2013).

   Trial by trial, parameters from a shared table are tried on the sales of a cluster of stores: ten small temporary
   data sets each, of which five are deleted at once. Results are kept in the shared mart as the trials go on.

   Set from outside: librefs IN (shared inputs) and OUT (the shared mart); model (1 to 750), temp_files, perm_sets,
   seed. */

%let trials = %eval(&temp_files / 10);

/* This model's part of the shared inputs. The sales have an index on model. */
data work.sales;
  set in.sales;
  where model = &model;
  revenue = units * price;
run;

data work.prices;
  set in.prices;
  where model = &model;
run;

proc means data=work.prices nway noprint;
  class week;
  var list net competitor;
  output out=work.market(drop=_type_ _freq_) mean=;
run;

proc sort data=in.calendar(keep=week holiday temperature) out=work.calendar nodupkey;
  by week;
run;

/* One trial: ten temporary data sets. */
%macro try(trial);
  %local cluster table row;
  %let cluster = %eval(1 + %sysfunc(mod(&trial, 10)));
  %let table = %eval(1 + %sysfunc(mod(&trial, 40)));
  %let row = %eval(1 + %sysfunc(mod(&trial, 50)));

  data work.cluster_&trial;
    if _n_ = 1 then set in.param_&table(firstobs=&row obs=&row keep=elasticity decay lift);
    set work.sales(where=(cluster = &cluster));
    demand = units * (1 + elasticity * (price - 0.5)) * (1 + lift * promo);
  run;

  proc sort data=work.cluster_&trial out=work.sorted_&trial;
    by week;
  run;

  proc means data=work.sorted_&trial noprint;
    by week;
    var demand price promo decay;
    output out=work.weekly_&trial(drop=_type_ _freq_) sum(demand)=demand mean(price promo decay)=price promo decay;
  run;

  data work.merged_&trial;
    merge work.weekly_&trial(in=sold) work.market work.calendar;
    by week;
    if sold;
  run;

  data work.features_&trial;
    set work.merged_&trial;
    trend = _n_;
    before1 = lag(demand);
    before2 = lag2(demand);
    before4 = lag4(demand);
    relative = price / (price + competitor);
    season1 = sin(2 * constant('pi') * week / 52);
    season2 = cos(2 * constant('pi') * week / 52);
    retain carried 0;
    carried = decay * carried + promo;
  run;

  proc reg data=work.features_&trial outest=work.estimate_&trial noprint;
    model demand = price relative list holiday temperature carried trend before1 before2 before4 season1 season2;
    output out=work.fit_&trial p=fitted r=residual;
  run;
  quit;

  proc means data=work.fit_&trial noprint;
    var residual;
    output out=work.error_&trial(drop=_type_ _freq_) uss=sse n=weeks;
  run;

  data work.trial_&trial;
    merge work.estimate_&trial work.error_&trial;
    trial = &trial;
    cluster = &cluster;
    if weeks > 0 then rmse = sqrt(sse / weeks);
  run;

  proc sort data=work.fit_&trial(keep=week demand fitted residual) out=work.worst_&trial;
    by descending residual;
  run;

  proc append base=work.trials data=work.trial_&trial;
  run;

  proc datasets lib=work nolist;
    delete cluster_&trial sorted_&trial weekly_&trial merged_&trial features_&trial;
  quit;
%mend try;

/* One permanent data set. Of a hundred, 5 are large scenarios with an index, 15 scored sales and 80 the weeks of a
   trial. */
%macro publish(number, trial);
  %local kind;
  %let kind = %sysfunc(mod(&number, 20));

  %if &kind = 0 %then %do;
    data out.m&model._&number(index=(week) keep=store week scenario demand);
      call streaminit(%eval(&seed + &number));
      set work.sales(keep=store week units price);
      do scenario = 1 to 20;
        demand = units * (1 + 0.05 * scenario * (0.5 - price)) + 0.1 * rand('normal');
        output;
      end;
    run;

    proc means data=out.m&model._&number noprint;
      where week between 40 and 43;
      class scenario;
      var demand;
      output out=work.scenarios mean= / autoname;
    run;
  %end;
  %else %if &kind <= 3 %then %do;
    data out.m&model._&number;
      set work.sales(keep=sale store week promo units price revenue);
      score = revenue * (1 + 0.01 * &number * promo);
    run;
  %end;
  %else %do;
    data out.m&model._&number;
      set work.fit_&trial(keep=week demand fitted residual);
      trial = &trial;
    run;
  %end;
%mend publish;

%macro calibrate;
  %local trial number;
  %do trial = 1 %to &trials;
    %try(&trial)
    /* The permanent data sets are spread over the trials. */
    %do number = %eval((&trial - 1) * &perm_sets / &trials + 1) %to %eval(&trial * &perm_sets / &trials);
      %publish(&number, &trial)
    %end;
  %end;

  /* Every result is read once more before the model counts as calibrated. */
  %do number = 1 %to &perm_sets;
    proc means data=out.m&model._&number noprint;
      output out=work.check;
    run;
  %end;
%mend calibrate;

%calibrate

proc sort data=work.trials;
  by rmse;
run;

title "Model &model: the best of &trials trials";
proc print data=work.trials(obs=10) noobs;
  var trial cluster weeks rmse price relative;
run;
