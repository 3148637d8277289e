/* wr_junk: builds data sets, many and large, and reads each once. It has no input; the values are made as they are
   written. The last &keep data sets stay: when one more was read, the oldest is
   deleted.

   Set from outside: libref OUT; stream, sets, rows, keep, seed. */

title "wr_junk_&stream: &sets data sets of &rows rows";

%macro junk;
  %local set;
  %do set = 1 %to &sets;

    /* 1,000 bytes a row: random numbers, zeros and short texts, as business data have them. */
    data out.junk_&stream._&set;
      call streaminit(%eval(&seed + &set));
      array x{20};
      array code{8} $ 13;
      retain z1-z91 0;
      do row = 1 to &rows;
        do item = 1 to 20;
          x{item} = rand('uniform');
        end;
        do item = 1 to 8;
          code{item} = put(mod(row * item, 9973), z5.);
        end;
        output;
      end;
      drop item;
    run;

    proc means data=out.junk_&stream._&set n mean min max;
      var x1-x20;
    run;

    %if &set > &keep %then %do;
      proc delete data=out.junk_&stream._%eval(&set - &keep);
      run;
    %end;
  %end;
%mend junk;

%junk
