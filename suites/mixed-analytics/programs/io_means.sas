/* io_means, an I/O test of the Mixed Analytics workload: statistics by classes over a stored data set,
   which is read twice from end to end.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

/* A cube: all combinations of three classes, as a reporting job fills it. */
proc means data=in.&in noprint;
  class region product month;
  var amount1-amount6 qty1-qty4;
  output out=out.&out n(amount1)=n mean= std= sum(qty1-qty4)=units1-units4 / autoname;
run;

/* The second pass weighs the rates by quantity. */
proc means data=in.&in noprint nway;
  where month > 24;
  class branch channel;
  var rate1-rate4;
  weight qty5;
  output out=out.&out._rate (drop=_type_) mean= min= max= / autoname;
run;

proc sort data=out.&out (where=(_type_ = 4)) out=work.region;
  by descending units1;
run;

proc print data=work.region (obs=12) noobs;
  var region n units1-units4 amount1_mean amount1_stddev;
run;
