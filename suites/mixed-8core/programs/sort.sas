/* SORT jobs of the "Mixed 8 core" workload: a stored data set is sorted into the output library.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets, &by
   is the key, &ties is NOEQUALS or NODUPKEY. */

proc sort data=in.&in out=out.&out &ties;
  by &by;
run;

proc contents data=out.&out;
run;
