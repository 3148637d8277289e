/* io_sql, an I/O test of the Mixed Analytics workload: a join of stored detail rows with a smaller
   table that is too large for a hash join in little memory, then queries that group and remerge.
   The librefs IN and OUT are assigned by whoever starts the job; &in names the detail rows, &in2 the
   customers, &out the result. */

proc sql;
  create table work.joined as
    select d.id, d.acct, d.branch, d.region, d.product, d.month, d.day, d.channel, d.status,
           d.amount1, d.amount2, d.amount3, d.amount4, d.qty1, d.qty2, d.rate1, d.rate2,
           c.segment, c.limit, c.score1, c.score2
    from in.&in as d left join in.&in2 as c
      on d.id = c.id;

  /* One row per cell; customers that are not in the second table count as unknown. */
  create table out.&out as
    select region, product, month,
           count(*) as n,
           sum(amount1 * qty1) as revenue,
           mean(score1) as score,
           max(amount2) as largest,
           sum(case when segment is missing then 1 else 0 end) as unknown
    from work.joined
    group by region, product, month
    order by region, product, month;

  /* The best sale of every branch: the grouped maximum is merged back to the rows. */
  create table out.&out._best as
    select branch, id, acct, amount1
    from work.joined
    group by branch
    having amount1 = max(amount1)
    order by branch, id, acct;

  select count(*), sum(n) into :cells, :rows
    from out.&out;
quit;

%put NOTE: &rows rows in &cells cells.;

proc print data=out.&out._best (obs=20);
run;
