data out.b(keep=x y1-y3 where=(x<>1 and y like 'a%') rename=(a=b c1-c2=d1-d2)) c / nolist;
  set in.a(obs=10 firstobs=2) b end=last nobs=n point=p; merge a(in=ina) b; update u v; modify m;
  by descending k notsorted; retain t 0 u (1) v1-v3 (2*1 3);
  length s $ 8 z 4; format d date9. v $char8. w 8.2; informat d date9.; label x='it''s' y="z";
  array q{3} $ 8 q1-q3 ('a' 'b' 'c'); array r[0:2, 4] _temporary_; attrib x length=8 label='x';
  if first.k and not last.k then do; t + x**-2; y = put(x, best12.2)||'a'; end;
  else if x in (1, 2:5, .a) or s =: 'a' then delete; else output c;
  do i = 1 to 10 by 2, 15 while(x<'01jan2020'd); a{i} = 0ffx; leave; continue; end;
  do until(x >= 1e-5); x = -(-x) >< y <> ((z)); end; do over q; end; do _n_ = 1; stop; end;
  select (x); when (1, 2) y = a<b<c; when (3) ; otherwise; end; * comment;
  if x ^= . & y ~= "q" | not (z ge .z) then link l; goto l; l: return; drop a--b c: _numeric_;
  call symput('a', trim(left(put(x, 8.)))); file print; put 'a' x= @5 y $8. +1 z / _all_;
  infile f dlm=',' missover; input @1 a $ b 5-8 c ?? date9. @@; keep x; where x between 1 and 2;
  abort; error 'e'; list; lostcard; missing a; window w; substr(s, 1, 2) = 'zz'; s = 'ab'x || 'n'n;
run;
data d; input x y $; datalines;
1 2 3
. a
;
data e; input x; cards4;
1;2
;;;;
run cancel;
