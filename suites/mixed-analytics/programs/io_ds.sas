/* io_ds, an I/O test of the Mixed Analytics workload: a chain of four DATA steps, as ETL jobs have
   them. A stored data set is read, derived from, filtered, split and put together again, with its stages
   in WORK.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

/* Stage 1: all rows, new variables. */
data work.stage1;
  set in.&in;
  length band $8;
  revenue = amount1 * qty1 + amount2 * qty2;
  margin = revenue - amount3 * qty3;
  select;
    when (revenue < 10) band = 'low';
    when (revenue < 60) band = 'middle';
    otherwise band = 'high';
  end;
run;

/* Stage 2: five of eight rows, a sum over an array. */
data work.stage2;
  set work.stage1;
  where status in ('A', 'C');
  array flag{19};
  flags = 0;
  do i = 1 to dim(flag);
    flags = flags + flag{i};
  end;
  drop i;
run;

proc datasets lib=work nolist;
  delete stage1;
quit;

/* Stage 3: two data sets from one pass. */
data work.active work.closed;
  set work.stage2;
  if status = 'A' then output work.active;
  else output work.closed;
run;

proc datasets lib=work nolist;
  delete stage2;
quit;

/* Stage 4: one after the other into the permanent library. */
data out.&out;
  set work.active (in=open) work.closed;
  active = open;
  year = 2010 + int((month - 1) / 12);
run;

proc contents data=out.&out;
run;
