/* io_index, an I/O test of the Mixed Analytics workload: half of a stored data set is copied and
   indexed; then come keyed questions, which read single pages here and there, and one WHERE that no
   index serves and that reads everything.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

options msglevel=i;

data out.&out (index=(acct));
  set in.&in;
  where month > 24;
run;

proc datasets lib=out nolist;
  modify &out;
    index create brmo=(branch month);
quit;

/* Questions about one account each, as a report asks them: a step each. */
%macro ask(questions);
  %do i = 1 %to &questions;
    data work.answer;
      set out.&out;
      where acct = %eval(&i * 7919);
    run;
    proc append base=work.answers data=work.answer;
    run;
  %end;
%mend ask;
%ask(200)

/* Two thousand accounts by SET with KEY= in one step. */
data work.wanted (keep=acct);
  do i = 1 to 2000;
    acct = i * 997;
    output;
  end;
run;

data out.&out._found;
  set work.wanted;
  do until (_iorc_ ne 0);
    set out.&out key=acct;
    if _iorc_ = 0 then output;
  end;
  _error_ = 0;
run;

/* A range of the composite index, and a scan. */
proc means data=out.&out n mean;
  where branch = 77 and month between 30 and 36;
  class product;
  var amount1;
run;

proc means data=out.&out noprint;
  where amount1 > 0.5;
  class region;
  var amount1-amount8;
  output out=out.&out._scan n(amount1)=n mean= / autoname;
run;
