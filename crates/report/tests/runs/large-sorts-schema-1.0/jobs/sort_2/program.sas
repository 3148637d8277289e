/* One job of the Large Sorts workload: a large file sorted to another one.
   The librefs IN and OUT are assigned by whoever starts the job;
   &in and &out name the data sets. Runs under a licensed SAS as well. */
proc sort data=in.&in out=out.&out noequals;
  by k1 k2;
run;
