/* io_merge, an I/O test of the Mixed Analytics workload: detail rows and customers, two stored data
   sets of the same size, are sorted into WORK and merged. Every detail row finds its customer.
   The librefs IN and OUT are assigned by whoever starts the job; &in names the detail rows, &in2 the
   customers, &out the result. */

proc sort data=in.&in out=work.detail noequals;
  by id;
run;

proc sort data=in.&in2 out=work.customer;
  by id;
run;

data out.&out work.unknown (keep=id acct);
  merge work.detail (in=sold)
        work.customer (in=known keep=id opened limit score1-score13 segment);
  by id;
  if not sold then delete;
  if not known then do;
    output work.unknown;
    delete;
  end;
  first_of_customer = first.id;
  exposure = limit * score1;
  output out.&out;
run;

/* Which variables came out, and how the exposure spreads over the customers' segments. */
proc contents data=out.&out varnum;
run;

proc means data=out.&out n mean min max;
  class segment;
  var exposure amount1;
run;
