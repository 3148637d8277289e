/* c_freq, a computation test of the Mixed Analytics workload: a crosstabulation of a million cells and
   tests of association on generated data. All cells are held in memory.
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.survey;
  call streaminit(&seed);
  array x{24};
  do i = 1 to &rows;
    store = ceil(2000 * rand('uniform'));
    item = ceil(500 * rand('uniform'));
    age = ceil(20 * rand('uniform'));
    answer = min(6, ceil(5 * rand('uniform') + age / 20));
    period = ceil(12 * rand('uniform'));
    w = 1 + rand('uniform');
    do j = 1 to dim(x);
      x{j} = rand('normal');
    end;
    output;
  end;
  drop i j;
run;

proc freq data=work.survey noprint;
  tables store*item / out=work.cells;
  tables period*age*answer / out=work.periods outpct;
  tables age*answer / chisq;
  output out=out.&out pchi lrchi;
run;

/* The same table weighted, in a second pass. */
proc freq data=work.survey;
  weight w;
  tables age*answer / chisq norow nocol;
run;

proc means data=work.cells n mean min max;
  var count percent;
run;
