/* io_sort, an I/O test of the Mixed Analytics workload: a stored data set much larger than memory is
   sorted by the threaded sort ("threaded kernel procedures such as SORT"), then read in key order.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

proc sort data=in.&in out=out.&out noequals;
  by acct month day;
run;

/* One row per account from the sorted rows: a BY-group DATA step reads the output once more. */
data out.&out._acct (keep=acct visits total largest);
  set out.&out (keep=acct amount1 amount2 qty1);
  by acct;
  retain largest;
  if first.acct then do;
    visits = 0;
    total = 0;
    largest = .;
  end;
  visits + 1;
  total + amount1 * qty1;
  largest = max(largest, amount2);
  if last.acct;
run;

proc print data=out.&out._acct (obs=20);
run;
