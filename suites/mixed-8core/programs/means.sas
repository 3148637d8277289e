/* MEANS jobs of the "Mixed 8 core" workload: a DATA step takes the rows of interest to WORK, then come
   statistics by classes.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets,
   &where selects the rows, &class lists the classes, &var the analysis variables. */

data work.chosen;
  set in.&in;
  where &where;
run;

proc means data=work.chosen noprint;
  class &class;
  var &var;
  output out=out.&out mean= std= min= max= sum= / autoname;
run;

proc print data=out.&out (obs=20);
run;
