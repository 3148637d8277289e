/* m_class, a memory test of the Mixed Analytics workload: statistics by a class variable with millions
   of levels, all of which are held in memory.
   &levels, &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out
   names the result. */

data work.event;
  call streaminit(&seed);
  array x{4};
  do i = 1 to &rows;
    account = ceil(&levels * rand('uniform'));
    do j = 1 to dim(x);
      x{j} = rand('normal');
    end;
    output;
  end;
  drop i j;
run;

proc summary data=work.event nway;
  class account;
  var x1-x4;
  output out=out.&out (drop=_type_ rename=(_freq_=n)) sum= mean= std= / autoname;
run;

proc means data=out.&out n sum mean max;
  var n x1_sum x1_mean;
run;
