/* bank2: makes the analytic input for modellers (section 7.2): "This test job reads and manipulates a
   150-million-row table with 126 variables. It runs several SAS PROCEDURES, runs basic statistics, calculates new
   values, runs basic statistics, and even generates an index on the file for later use."

   Set from outside: librefs IN and OUT; stream, in. */

options msglevel=i;
title "bank2_&stream: the analytic table";

proc contents data=in.&in;
run;

/* Basic statistics. */
proc means data=in.&in n mean std min max;
run;

/* New values: twelve of them. The rows of an account have the same first amount. */
data work.bank2;
  set in.&in;
  array amount{16};
  array days{12};
  account  = 1 + int(1e8 * amount1);
  region   = 1 + mod(days1, 12);
  balance  = sum(of amount{*});
  average  = mean(of amount{*});
  lowest   = min(of amount{*});
  highest  = max(of amount{*});
  spread   = std(of amount{*});
  duration = sum(of days{*});
  trend    = (amount16 - amount1) / 15;
  active   = 0;
  do month = 1 to 12;
    if days{month} < 200 then active = active + 1;
  end;
  risk     = 1 / (1 + exp(4 - 0.4 * balance - 0.1 * active));
  weight   = ifn(active > 6, 2, 1);
  drop month;
run;

/* Basic statistics of the new values. */
proc means data=work.bank2 nway noprint;
  class region;
  var balance average spread duration trend risk;
  output out=out.bank2_stats_&stream(drop=_type_ _freq_) n=customers mean= std= / autoname;
run;

proc print data=out.bank2_stats_&stream noobs;
run;

/* The analytic input: the variables that models use, by account, with an index for later use. */
proc sort data=work.bank2(keep=account region balance average lowest highest spread duration trend active risk weight
                               amount1-amount16 days1-days12 code1-code4)
          out=out.bank2_&stream;
  by account;
run;

proc delete data=work.bank2;
run;

proc datasets lib=out nolist;
  modify bank2_&stream;
  index create account;
quit;

proc print data=out.bank2_&stream(obs=100);
  where account between 50000000 and 50010000;
  var account region balance risk;
run;
