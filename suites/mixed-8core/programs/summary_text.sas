/* A SUMMARY job of the "Mixed 8 core" workload that ends with a text file: totals by account, two
   million of them, are written as a report of fixed columns.
   The librefs IN and OUT are assigned by whoever starts the job; &in and &out name the data sets,
   &textout is the directory of text files. */

proc summary data=in.&in nway;
  class acct;
  var amount1-amount4 qty1;
  output out=out.&out (drop=_type_ rename=(_freq_=n)) sum= max(amount1)=largest;
run;

data _null_;
  set out.&out end=last;
  file "&textout/&out..txt" lrecl=200;
  if _n_ = 1 then put @1 'Account' @12 'Sales' @22 'Amount' @38 'Largest' @50 'Items';
  put @1 acct z8. @12 n 6. @22 amount1 comma12.2 @38 largest 8.4 @50 qty1 comma9.;
  items + qty1;
  if last then put / 'Items in all: ' items comma16.;
run;
