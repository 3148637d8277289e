/* An SQL job of the "Mixed 8 core" workload that starts with a text file: it is read into WORK and
   joined with a stored data set.
   The librefs IN and OUT are assigned by whoever starts the job; &textin is the directory of text
   files, &text names one without its extension, &in the stored data set, &out the result. */

data work.trade;
  infile "&textin/&text..csv" dlm=',' dsd firstobs=2 truncover lrecl=1000;
  length id acct branch product month day price1-price4 qty 8 channel $8 status $8 memo $24;
  input id acct branch product month day price1-price4 qty channel status memo;
run;

proc sql;
  create table work.joined as
    select t.id, t.acct, t.branch, t.month, t.price1, t.price2, t.qty, t.channel, t.status,
           m.c1, m.c2, m.x1, m.x2
    from work.trade as t left join in.&in as m
      on t.id = m.id;

  create table out.&out as
    select branch, month, count(*) as n, sum(price1 * qty) as turnover, n(x1) as known
    from work.joined
    group by branch, month
    order by branch, month;
quit;

proc print data=out.&out (obs=20);
run;
