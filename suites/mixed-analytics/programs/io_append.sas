/* io_append, an I/O test of the Mixed Analytics workload: a warehouse table is rebuilt from a stored
   data set, the later quarters are appended one by one, and the new table takes the old one's place.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

data out.&out._new work.q1 work.q2 work.q3 work.q4;
  set in.&in;
  select;
    when (month <= 24) output out.&out._new;
    when (month <= 30) output work.q1;
    when (month <= 36) output work.q2;
    when (month <= 42) output work.q3;
    otherwise output work.q4;
  end;
run;

%macro load;
  %do quarter = 1 %to 4;
    proc append base=out.&out._new data=work.q&quarter;
    run;
    proc datasets lib=work nolist;
      delete q&quarter;
    quit;
  %end;
%mend load;
%load

proc datasets lib=out nolist nowarn;
  delete &out;
  run;
  change &out._new = &out;
  run;
  modify &out (label="Warehouse table with all quarters");
    rename amount1 = price;
    label amount2 = "Price of the second item";
    format amount2 8.4;
  run;
  contents data=&out;
quit;
