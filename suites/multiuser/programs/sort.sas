/* sort: one large sort from the input to the output library, by two texts and a number. The threaded sort reads the
   table, writes and reads one utility file, and writes the table.

   Set from outside: librefs IN and OUT; stream, in. */

title "sort_&stream";

proc sort data=in.&in out=out.sort_&stream;
  by code1 code2 amount1;
run;

/* The sort order is part of the description. */
proc contents data=out.sort_&stream;
run;

proc print data=out.sort_&stream(obs=20);
  var code1 code2 amount1;
run;
