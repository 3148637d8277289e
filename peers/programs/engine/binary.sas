/* Reads rows of the bank recipe and writes them compressed. */
data d.out(compress=binary);
  set d.&in;
run;
