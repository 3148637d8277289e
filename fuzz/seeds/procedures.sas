proc sort data=a.b(keep=x where=(y>1)) out=c nodupkey noequals threads; by descending k1 k2; run;
proc print data=a(obs=3) noobs label; var x y; by k; id i; sum x; where x > 1; title2 'a'; run;
proc contents data=lib._all_ varnum out=o noprint; run;
proc datasets lib=a nolist; delete b c; change a=b; copy out=o; select x; modify m; label x='y'; run; quit;
proc means data=a n mean std min max noprint; class k; var x; output out=o mean=m std(x)=s; run;
proc sql noprint; create table t as select a.x, count(*) as n from a left join b on a.k=b.k
  where x in (select y from c) group by x having n > 1 order by 1 desc; select x into :m; quit;
proc freq data=a; tables x*y / out=o norow; run; proc append base=a data=b force; run;
proc transpose data=a out=b prefix=p; by k; id i; var x; run; proc surprise; anything goes; run;
