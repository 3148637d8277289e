/* SUMMARY jobs of the "Mixed 8 core" workload: totals by classes of a stored data set, ranked.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets,
   &class lists the classes. */

proc summary data=in.&in nway;
  class &class;
  var amount1-amount8 qty1-qty6;
  output out=work.total (drop=_type_ rename=(_freq_=n)) sum=;
run;

proc sort data=work.total;
  by descending amount1;
run;

data out.&out;
  set work.total nobs=cells;
  rank = _n_;
  running + amount1;
  share = rank / cells;
run;

proc print data=out.&out (obs=20);
  var rank &class n amount1 running share;
run;
