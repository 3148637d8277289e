/* rwrw: builds a data set by reading and writing it over and over. It is the job of Table 5, whose steps are
   "create file" and "data step, copy file from NFS to NFS lib": its total times are those of rwrw_1 in Table 1, and
   its table has 10 million rows and 112 variables.

   Set from outside: librefs IN and OUT; stream, in. */

title "rwrw_&stream: read, write, read, write";

/* Create file. */
data out.rwrw_first_&stream;
  set in.&in;
run;

/* Copy file from NFS to NFS lib. */
data out.rwrw_&stream;
  set out.rwrw_first_&stream;
run;

proc delete data=out.rwrw_first_&stream;
run;

/* Changes, each a pass of its own in WORK. */
data work.table;
  set out.rwrw_&stream;
  x1 = x1 * 100;
run;

data work.table;
  set work.table;
  array x{101};
  do item = 2 to 20;
    x{item} = x{item} * 100;
  end;
  drop item;
run;

data work.table;
  set work.table;
  x101 = sum(of x1-x20);
run;

proc sort data=work.table;
  by code1;
run;

proc means data=work.table n mean std min max maxdec=3;
  var x1-x20 x101;
run;

proc sql;
  select substr(code1, 1, 1) as letter, count(*) as rows, mean(x101) as mean format=12.3
    from work.table
    group by letter;
quit;

/* The finished table replaces the copy. */
data out.rwrw_&stream;
  set work.table;
run;
