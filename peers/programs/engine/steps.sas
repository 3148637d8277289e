/* 7,000 tiny steps. */
%macro loop(n);
  %local i;
  %do i = 1 %to &n;
    data work.a; do x = 3, 1, 2; y = x * &i; output; end; run;
    proc sort data=work.a out=work.b; by x; run;
    data work.c; merge work.b work.b(rename=(y=z)); by x; run;
    proc means data=work.c noprint; var y z; output out=work.m mean=; run;
    proc delete data=work.m; run;
  %end;
%mend loop;

%loop(1400)
