/* An SQL job of the "Mixed 8 core" workload: a join with a table of a few kilobytes, grouped, and a
   query that merges a group's mean back to its rows.
   The librefs IN and OUT are assigned by whoever starts the job; &in names the transactions, &in2 the
   branches, &out the result. */

proc sql;
  create table out.&out as
    select b.area, t.product, count(*) as n,
           sum(t.amount1 * t.qty1) as revenue,
           calculated revenue / calculated n as each
    from in.&in as t, in.&in2 as b
    where t.branch = b.branch
    group by b.area, t.product
    order by revenue desc;

  /* Accounts whose sale is far above the mean of their branch. */
  create table out.&out._high as
    select branch, acct, month, amount1, mean(amount1) as usual
    from in.&in
    where status = 'X'
    group by branch
    having amount1 > 1.98 * mean(amount1);

  select count(*) label="Sales far above the usual", min(amount1), max(usual)
    from out.&out._high;
quit;

proc print data=out.&out (obs=20);
run;
