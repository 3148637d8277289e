/* One job of the Large Sorts workload: a large file sorted to another one, or with
   &replace = yes copied, so that it is the job's own, and sorted in place.
   The librefs IN and OUT are assigned by whoever starts the job;
   &in and &out name the data sets. Runs under a licensed SAS as well. */
%macro sorting;
  %if &replace = yes %then %do;
    data out.&out;
      set in.&in;
    run;
    proc sort data=out.&out noequals;
      by k1 k2;
    run;
  %end;
  %else %do;
    proc sort data=in.&in out=out.&out noequals;
      by k1 k2;
    run;
  %end;
%mend sorting;
%sorting
