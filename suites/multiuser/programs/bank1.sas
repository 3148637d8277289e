/* bank1: an advanced analytics user with a large table (section 5.1, last persona).

   One read of the input; everything else, statistics, a sort, totals and a regression, is done in WORK. So the job
   takes about the same time whether the input is compressed or not, as bank1 in Table 1.

   Set from outside: librefs IN and OUT; stream, in. */

title "bank1_&stream: what explains the balance of a customer";

/* What is in the table. */
proc contents data=in.&in varnum;
run;

/* Twenty new variables. */
data work.bank;
  set in.&in;
  array amount{22};
  array days{12};
  array score{12};
  balance  = sum(of amount{*});
  average  = mean(of amount{*});
  lowest   = min(of amount{*});
  highest  = max(of amount{*});
  spread   = highest - lowest;
  duration = sum(of days{*});
  region   = 1 + mod(days1, 12);
  active   = (amount1 > 0.5 or days2 < 100);
  do month = 1 to 12;
    score{month} = amount{month} * log(1 + days{month});
  end;
  drop month;
run;

proc means data=work.bank n nmiss mean std min max maxdec=4;
run;

proc sort data=work.bank out=work.ranked;
  by region descending balance;
run;

proc delete data=work.bank;
run;

/* Totals by region, and by the day on which a customer came. */
proc sql;
  create table work.regions as
    select region, count(*) as customers, sum(balance) as balance, mean(average) as average
    from work.ranked
    group by region;
  create table work.cohorts as
    select days1, count(*) as customers, mean(balance) as balance, max(spread) as spread
    from work.ranked
    where active = 1
    group by days1
    having count(*) > 10
    order by balance desc;
quit;

proc print data=work.regions noobs;
  format balance comma18.2 average 8.4;
run;

/* Thirty regressors: one pass for the cross products, one for the predictions. */
proc reg data=work.ranked;
  model balance = amount1-amount16 days1-days12 score1 score2;
  output out=out.bank1_&stream(keep=region code1 balance fitted residual) p=fitted r=residual;
run;
quit;

proc print data=out.bank1_&stream(obs=100);
  where abs(residual) > 1;
run;
