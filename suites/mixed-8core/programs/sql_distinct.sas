/* An SQL job of the "Mixed 8 core" workload: DISTINCT and a subquery.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets. */

proc sql;
  create table work.pairs as
    select distinct acct, product
    from in.&in;

  create table out.&out as
    select product, count(*) as accounts
    from work.pairs
    group by product
    order by product;

  /* Sales of the accounts that have at least four products. */
  create table work.loyal as
    select acct, month, amount1
    from in.&in
    where acct in (select acct from work.pairs group by acct having count(*) >= 4);

  select count(*), count(distinct acct) into :sales trimmed, :accounts trimmed
    from work.loyal;
quit;

%put NOTE: &sales sales of &accounts accounts.;
