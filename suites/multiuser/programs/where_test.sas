/* where_test: an ETL user who looks for rows. One pass over a large table serves three questions; the answers are
   indexed and looked up a hundred times.

   Set from outside: libref IN; stream, in. */

options msglevel=i;
title "where_test_&stream";

/* 30 % of the rows are counted, 5 % kept in part and 0.1 % as they are. */
data work.some(keep=place code1 code2 amount1 days1) work.rare(drop=place);
  set in.&in end=last;
  where amount1 < 0.30;
  many + 1;
  if amount1 < 0.05 then do;
    place + 1;
    output work.some;
  end;
  if amount1 < 0.001 then output work.rare;
  if last then do;
    call symputx('many', many);
    call symputx('some', place);
  end;
  drop many;
run;

%put NOTE: &many rows are below 0.30, &some of them below 0.05.;

proc datasets lib=work nolist;
  modify some;
  index create place / unique;
  index create code1;
quit;

/* A hundred reads by key. */
%macro look_up;
  %local look place;
  %do look = 1 %to 100;
    %let place = %eval(1 + (&look - 1) * &some / 100);
    data work.found;
      set work.some;
      where place = &place;
    run;
  %end;
%mend look_up;

%look_up

proc sql;
  select days1, count(*) as rows, mean(amount1) as mean format=8.5
    from work.some
    where code1 like 'A%'
    group by days1
    having count(*) > 1;
quit;

proc print data=work.rare(obs=20);
  where code1 in ('AA', 'BB', 'CC') or days1 > 300;
  var code1 code2 amount1 days1;
run;
