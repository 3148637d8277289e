/* rwtumble: as rtumble, but of each table read a part is written to the output library, read again and deleted.

   Set from outside: librefs IN and OUT; stream, replica (of the tables), passes, seed. */

title "rwtumble_&stream: reads and small writes in random order";

%macro tumble;
  %local pass place table table1 table2 table3 table4;
  %do pass = 1 %to &passes;

    /* The order of this pass. */
    data work.order;
      length table $ 8;
      call streaminit(%eval(&seed + &pass));
      do table = 'small', 'skinny', 'medium', 'wide';
        chance = rand('uniform');
        output;
      end;
    run;

    proc sort data=work.order;
      by chance;
    run;

    data _null_;
      set work.order;
      call symputx(cats('table', _n_), cats('ranrw_', table, "_&replica"));
    run;

    /* All pages are read and 8 % of the rows are kept. */
    %do place = 1 %to 4;
      %let table = &&table&place;
      data out.part_&stream._&table;
        set in.&table;
        if x1 < 0.08;
      run;

      proc means data=out.part_&stream._&table n mean std min max;
        var x:;
      run;

      proc delete data=out.part_&stream._&table;
      run;
    %end;
  %end;
%mend tumble;

%tumble
