options obs=max compress=binary fullstimer; title "of &t";
%let n=3; %let v&n = a/*c*/b; %put &=n &&v&n &v3..x; %global g h;
%include 'i.sas'; %let a=aaaaaaaaaaaaaaaa; %let b=&a&a&a&a; %let c=&b&b&b&b; %put &c;
%macro m(x, y=1); data &x; run; %mend; %m(a) %if &n > 2 %then %put more; %else %put less;
%* a comment; * another &one; /* a third */
%put %eval(1+2) %sysfunc(today(), date9.) %str(;) %nrstr(&x) "&t" '&t' %upcase(a);
%macro f(n, k=%str(a, b)) / minoperator; %local r; %if &n in (0 1) %then 1; %else %do;
  %let r = %f(%eval(&n - 1)); %eval(&n * &r) %end; %mend f; %put %f(5) %scan(&k, 2, %str(,));
%macro g; %do i = 1 %to 3; data t&i; x = %f(&i); run; %if &i = 2 %then %goto out; %end; %out: %put &i; %mend;
%g %unquote(%nrstr(%put &n;)) %let s = %superq(a); %put %qupcase(&s) %sysevalf(7/2, ceil) %nrbquote(&n%str(%'));
%macro h / parmbuff; %macro inner; %put &syspbuff; %mend; %inner %do %until(1); %end; %return; %mend; %h(1, b=2)
%if &n = 3 %then %do; data c; run; %end; %else %do; %include 'i.sas'; %end;
libname in '/d' filelocks=none; filename f "&t/x"; endsas;
