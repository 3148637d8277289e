/* etl_inbound: an "ETL workflow simulation reading from remote source and populating tables (includes index
   creation, merge, where, sorts)" (section 5.1). The remote source is IN, on the shared file system.

   Set from outside: librefs IN and OUT; stream, in. */

title "etl_inbound_&stream: the daily load";

data _null_;
  if 0 then set in.&in nobs=rows;
  call symputx('rows', rows);
  stop;
run;

/* The source is taken over in ten portions, as deliveries come. */
%macro receive;
  %local part first last;
  %do part = 1 %to 10;
    %let first = %eval((&part - 1) * &rows / 10 + 1);
    %let last = %eval(&part * &rows / 10);
    proc datasets lib=work nolist;
      append base=stage data=in.&in(firstobs=&first obs=&last);
    quit;
  %end;
%mend receive;

%receive

/* What is new: a fifth. */
data work.fresh;
  set work.stage;
  where measure2 < 0.2;
  branch = 1 + floor(400 * measure1);
run;

proc sort data=work.fresh;
  by branch;
run;

/* The branches; the last twenty are closed and not in the list. */
data work.branches;
  do branch = 1 to 380;
    region = 1 + mod(branch, 12);
    rate = 0.01 + 0.0001 * branch;
    output;
  end;
run;

data out.etl_&stream out.etl_rejected_&stream(keep=branch code1 measure1-measure4);
  merge work.fresh(in=delivered) work.branches(in=known);
  by branch;
  if delivered;
  value = rate * sum(of measure1-measure20);
  if known then output out.etl_&stream;
  else output out.etl_rejected_&stream;
run;

proc datasets lib=out nolist;
  modify etl_&stream;
  index create branch;
  index create place=(region branch);
quit;

/* Is everything there? */
proc sql noprint;
  select count(*) into :delivered from work.fresh where branch > 0;
  select count(*) into :loaded from out.etl_&stream where value > 0;
  select count(*) into :rejected from out.etl_rejected_&stream where branch > 0;
quit;

%macro compare;
  %if %eval(&loaded + &rejected) = &delivered %then %put NOTE: &stream: all of %eval(&delivered) rows are there.;
  %else %put ERROR: &stream: %eval(&delivered) rows came, %eval(&loaded) were loaded, %eval(&rejected) rejected.;
%mend compare;

%compare

proc means data=out.etl_&stream n mean sum maxdec=3;
  where region = 7;
  var value;
run;
