/* smallnoise: a "SAS studio or report user with an interactive report or a coding user (sleep periods are added to
   create the feel of real users working on the system at random periods)" (section 5.1). Eight small requests with
   thinking before each: what is not sleep is the response that this user sees.

   Set from outside: libref IN; stream, in, think (seconds of thinking in all), seed. */

title "smallnoise_&stream";

/* Thinking times in milliseconds; the last takes what is left. */
data _null_;
  call streaminit(&seed);
  left = 1000 * &think;
  do request = 1 to 8;
    nap = left;
    if request < 8 then nap = round(left / (9 - request) * (0.75 + 0.5 * rand('uniform')));
    call symputx(cats('nap', request), nap);
    left = left - nap;
  end;
run;

%macro think(request);
  data _null_;
    rc = sleep(&&nap&request, 0.001);
  run;
%mend think;

%think(1)
proc print data=in.&in(obs=20) noobs;
  var region x1-x5;
run;

%think(2)
proc means data=in.&in n mean std min max maxdec=3;
  var x1-x10;
run;

%think(3)
proc sql;
  select region, count(*) as rows, mean(x1) as average format=8.4
    from in.&in
    group by region;
quit;

%think(4)
proc sort data=in.&in(keep=region x1-x10) out=work.report;
  by region descending x1;
run;

/* The best three of each region. */
%think(5)
data work.best;
  set work.report;
  by region;
  if first.region then place = 0;
  place + 1;
  if place <= 3;
run;

%think(6)
proc print data=work.best noobs;
  by region;
  var place x1 x2;
run;

%think(7)
proc sql;
  create table work.share as
    select a.region, a.place, a.x1 / b.total as share
    from work.best as a inner join
         (select region, sum(x1) as total from work.report group by region) as b
      on a.region = b.region
    order by share desc;
quit;

%think(8)
proc print data=work.share(obs=10);
  format share percent8.2;
run;

proc datasets lib=work nolist;
  delete report best share;
quit;
