/* c_mat, a computation test of the Mixed Analytics workload: small linear systems, one per row, solved
   by iteration on arrays in a DATA step, and the greatest eigenvalue of each matrix.
   &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names the
   result. */

data work.systems;
  call streaminit(&seed);
  array m{10,10};
  array rhs{10};
  do system = 1 to &rows;
    do i = 1 to 10;
      do j = 1 to i;
        m{i,j} = rand('uniform');
        m{j,i} = m{i,j};
      end;
      m{i,i} = m{i,i} + 10;
      rhs{i} = rand('normal');
    end;
    output;
  end;
  drop i j;
run;

data work.solved (keep=system solution1-solution10 steps eigenvalue);
  set work.systems;
  array m{10,10};
  array rhs{10};
  array solution{10};
  array v{10} _temporary_;
  array w{10} _temporary_;

  /* Gauss-Seidel */
  do i = 1 to 10;
    solution{i} = 0;
    v{i} = 1;
  end;
  change = 1;
  do steps = 1 to 50 while (change > 1e-12);
    change = 0;
    do i = 1 to 10;
      rest = rhs{i};
      do j = 1 to 10;
        if j ne i then rest = rest - m{i,j} * solution{j};
      end;
      change = max(change, abs(rest / m{i,i} - solution{i}));
      solution{i} = rest / m{i,i};
    end;
  end;

  /* power iteration */
  do k = 1 to 40;
    eigenvalue = 0;
    do i = 1 to 10;
      w{i} = 0;
      do j = 1 to 10;
        w{i} = w{i} + m{i,j} * v{j};
      end;
      eigenvalue = max(eigenvalue, abs(w{i}));
    end;
    do i = 1 to 10;
      v{i} = w{i} / eigenvalue;
    end;
  end;
run;

proc means data=work.solved n mean std min max;
  var steps eigenvalue solution1-solution10;
  output out=out.&out (drop=_type_) mean= std= min= max= / autoname;
run;
