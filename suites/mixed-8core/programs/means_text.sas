/* A MEANS job of the "Mixed 8 core" workload that ends with a text file: after the statistics, all
   rows are written as comma-separated values.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets,
   &textout is the directory of text files. */

proc means data=in.&in noprint nway;
  class region product;
  var amount1-amount8;
  output out=out.&out (drop=_type_) n(amount1)=n mean= std= / autoname;
run;

proc means data=in.&in n mean std min max;
  class channel;
  var qty1-qty6 rate1-rate4;
run;

data _null_;
  set in.&in;
  file "&textout/&out..csv" dlm=',' dsd lrecl=1000;
  if _n_ = 1 then put 'acct,branch,region,product,month,day,channel,status,amount1,amount2,qty1,qty2,memo';
  put acct branch region product month day channel status amount1 amount2 qty1 qty2 memo;
run;
