/* m_hash, a memory test of the Mixed Analytics workload: a table of prices is held in a hash object
   while a longer one is read past it; a second hash object collects the totals.
   &keys, &rows and &seed say what is generated; OUT is assigned by whoever starts the job, &out names
   the result. The session needs MEMSIZE for &keys entries of 64 bytes each and their links. */

data work.price;
  call streaminit(&seed);
  array v{7};
  do key = 1 to &keys;
    do j = 1 to dim(v);
      v{j} = rand('uniform');
    end;
    output;
  end;
  drop j;
run;

data work.sale;
  call streaminit(%eval(&seed + 1));
  do sale = 1 to &rows;
    key = ceil(&keys * 1.05 * rand('uniform'));
    qty = ceil(10 * rand('uniform'));
    output;
  end;
run;

data _null_;
  if 0 then set work.price;
  declare hash price(dataset: 'work.price', hashexp: 20);
  price.definekey('key');
  price.definedata('v1', 'v2', 'v3', 'v4', 'v5', 'v6', 'v7');
  price.definedone();

  length class n unknown revenue 8;
  declare hash total(ordered: 'a');
  total.definekey('class');
  total.definedata('class', 'n', 'unknown', 'revenue');
  total.definedone();

  do until (last);
    set work.sale end=last;
    found = price.find();
    class = mod(key, 1000);
    if total.find() ne 0 then do;
      n = 0;
      unknown = 0;
      revenue = 0;
    end;
    n = n + 1;
    if found = 0 then revenue = revenue + qty * v1 * (1 + v2 / 10);
    else unknown = unknown + 1;
    total.replace();
  end;
  total.output(dataset: "out.&out");
  stop;
run;

proc means data=out.&out n sum;
  var n unknown revenue;
run;
