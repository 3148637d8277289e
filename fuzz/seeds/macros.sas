options obs=max compress=binary fullstimer; title "of &t";
%let n=3; %let v&n = a/*c*/b; %put &=n &&v&n &v3..x; %global g h;
%include 'i.sas'; %let a=aaaaaaaaaaaaaaaa; %let b=&a&a&a&a; %let c=&b&b&b&b; %put &c;
%macro m(x, y=1); data &x; run; %mend; %m(a) %if &n > 2 %then %put more; %else %put less;
%* a comment; * another &one; /* a third */
%put %eval(1+2) %sysfunc(today(), date9.) %str(;) %nrstr(&x) "&t" '&t' %upcase(a);
libname in '/d' filelocks=none; filename f "&t/x"; endsas;
