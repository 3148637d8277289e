/* comp_glm: a modeller whose job computes (section 5.1, second persona; GLM). The table is a few megabytes, so that
   nothing but processor time counts, as the equal times in Table 1 show.

   Set from outside: libref IN; stream, in, loops. */

title "comp_glm_&stream: analysis of covariance";

%macro fit;
  %local loop;
  %do loop = 1 %to &loops;
    proc glm data=in.&in;
      class c1 c2 c3;
      model y = c1 c2 c3 c1*c2 c1*c3 c2*c3 x1 x2 x3;
      lsmeans c1 c2 c3 / stderr;
    run;
    quit;
  %end;
%mend fit;

%fit
