/* An SQL job of the "Mixed 8 core" workload: all transactions get the scores of their customers by a
   left join that sorts both sides; then the joined table is grouped.
   The librefs IN and OUT are assigned by whoever starts the job; &in names the transactions, &in2 the
   customers, &out the result. */

proc sql;
  create table work.joined as
    select t.*, m.c1, m.c2, m.x1, m.x2, m.x3, m.x4, m.x5, m.x6
    from in.&in as t left join in.&in2 as m
      on t.id = m.id;

  create table out.&out as
    select region, c1, count(*) as n, sum(amount1) as amount, mean(x1) as score
    from work.joined
    group by region, c1
    order by region, c1;
quit;

proc print data=out.&out;
run;
