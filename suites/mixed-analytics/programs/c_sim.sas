/* c_sim, a computation test of the Mixed Analytics workload: a Monte-Carlo simulation of a portfolio
   of four assets over 24 months in DATA steps. It is the longest test; a launch with more loops is the
   one of "1 hour and 53 minutes".
   &loops, &paths and &seed say what is simulated; OUT is assigned by whoever starts the job, &out
   names the result. */

proc datasets lib=out nolist nowarn;
  delete &out;
quit;

%macro simulate;
  %do loop = 1 %to &loops;

    data work.paths (keep=path asset1-asset4 value low below);
      call streaminit(%eval(&seed + &loop));
      array asset{4};
      array drift{4} _temporary_ (0.004 0.005 0.006 0.003);
      array vol{4} _temporary_ (0.04 0.05 0.07 0.02);
      array load{4} _temporary_ (0.8 0.6 0.7 0.3);
      array weight{4} _temporary_ (0.4 0.3 0.2 0.1);
      do path = 1 to &paths;
        do k = 1 to 4;
          asset{k} = 1;
        end;
        low = 1;
        below = 0;
        do month = 1 to 24;
          market = rand('normal');
          value = 0;
          do k = 1 to 4;
            shock = load{k} * market + sqrt(1 - load{k}**2) * rand('normal');
            asset{k} = asset{k} * exp(drift{k} - vol{k}**2 / 2 + vol{k} * shock);
            value = value + weight{k} * asset{k};
          end;
          low = min(low, value);
          if value < 1 then below = below + 1;
        end;
        output;
      end;
    run;

    proc summary data=work.paths;
      var value low below;
      output out=work.loop (drop=_type_ rename=(_freq_=paths)) mean= std= min= max= / autoname;
    run;

    proc append base=out.&out data=work.loop;
    run;

  %end;
%mend simulate;
%simulate

proc print data=out.&out;
  var paths value_mean value_stddev low_mean low_min below_mean;
run;
