/* 8 effects, three of them classes. */
proc hplogistic data=d.&in;
  class c1 c2 m;
  model y = c1 c2 m x1-x5;
run;
