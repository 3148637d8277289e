/* rtumble: an advanced analytics user who reads and writes nothing: the four ranrw tables, small to wide, in random
   order again and again.

   Set from outside: libref IN; stream, replica (of the tables), passes, seed. */

title "rtumble_&stream: reads in random order";

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

    /* By turns a procedure and a DATA step read a whole table. */
    %do place = 1 %to 4;
      %let table = &&table&place;
      %if %eval(&pass + &place) = %eval((&pass + &place) / 2 * 2) %then %do;
        proc means data=in.&table noprint;
          var x:;
          output out=work.statistics mean= std= min= max= / autoname;
        run;
      %end;
      %else %do;
        data _null_;
          set in.&table end=last;
          total + sum(of x:);
          if last then put "Total of &table: " total best12.;
        run;
      %end;
    %end;
  %end;
%mend tumble;

%tumble
