/* fscheck: a look at the file systems while the batch is running. It makes, describes, prints and deletes a small
   data set in each library that may be written and lists the inputs. Nothing but the latency of file-system
   operations counts: 0 to 5 seconds in Table 1.

   Set from outside: librefs IN and OUT; stream. */

title "fscheck_&stream";

%macro check(library);
  data &library..fscheck_&stream;
    do row = 1 to 100;
      square = row * row;
      output;
    end;
  run;

  proc contents data=&library..fscheck_&stream;
  run;

  proc print data=&library..fscheck_&stream(obs=5);
  run;

  proc delete data=&library..fscheck_&stream;
  run;
%mend check;

%check(work)
%check(out)

proc contents data=in._all_ nods;
run;
