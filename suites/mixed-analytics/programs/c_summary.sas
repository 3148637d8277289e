/* c_summary, a computation test of the Mixed Analytics workload: statistics of 40 variables in 120,000
   cells of generated data. The procedure is threaded: its CPU time exceeds real time.
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.panel;
  call streaminit(&seed);
  array x{40};
  do i = 1 to &rows;
    a = ceil(100 * rand('uniform'));
    b = ceil(50 * rand('uniform'));
    c = ceil(24 * rand('uniform'));
    do j = 1 to dim(x);
      x{j} = a + rand('normal');
    end;
    output;
  end;
  drop i j;
run;

proc summary data=work.panel nway;
  class a b c;
  var x1-x40;
  output out=work.cells (drop=_type_) mean= std= min= max= / autoname;
run;

/* Totals of one and of two classes, in a second pass. */
proc summary data=work.panel;
  class a b c;
  ways 1 2;
  var x1-x10;
  output out=out.&out n(x1)=n sum= mean= / autoname;
run;

proc means data=work.cells n mean std min max;
  var x1_mean x1_stddev x40_min x40_max;
run;
