//! MEMSIZE holds: with little memory and data several times as large, every step either does what it
//! does with much memory, or stops with the error of insufficient memory; and it never takes more.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use results::step::StepRecord;

/// MEMSIZE of the small runs, MiB. 64 of them are the session's own.
const SMALL: u64 = 68;

/// What a step that does nothing takes in a release build, MiB.
const OWN: u64 = 8;

/// 80,000 rows of 1,000 bytes: more than all of MEMSIZE, and twenty times what a step may hold.
const DATA: &str = "data d.a;
  length c $960;
  do i = 1 to 80000;
    k = mod(i * 7919, 80021); g = mod(k, 3); x = mod(i * 31, 1009) + i / 80000;
    y = x + mod(i * 17, 13); z = mod(i * 13, 7) > 2;
    c = put(k, z8.) || repeat('x', 940);
    output;
  end;
run;
data d.b; set d.a(keep=k c rename=(c=d)); run;";

/// What a program with little memory must come to.
#[derive(Clone, Copy, PartialEq)]
enum Must {
    /// The same as with much.
    Equal,
    /// The error of insufficient memory.
    Stop,
}

use Must::{Equal, Stop};

/// Programs over D.A and D.B that write to O.
const PROGRAMS: [(Must, &str); 35] = [
    (Equal, "proc sort data=d.a out=o.r; by c; run;"),
    (Equal, "proc means data=d.a noprint; var x y; output out=o.r mean= p50= / autoname; run;"),
    (Equal, "proc means data=d.a noprint; class k; var x; output out=o.r sum=; run;"),
    (Equal, "proc summary data=d.a nway; class c; var x; output out=o.r sum=; run;"),
    (Stop, "proc means data=d.a noprint nway; class k; var x; output out=o.r median=; run;"),
    (Equal, "proc freq data=d.a noprint; tables g / out=o.r; run;"),
    (Stop, "proc freq data=d.a noprint; tables k / out=o.r; run;"),
    (Stop, "proc freq data=d.a; tables c; run;"),
    (Equal, "proc sql; create table o.r as select c, sum(x) as s from d.a group by c; quit;"),
    (Equal, "proc sql; create table o.r as select distinct c from d.a; quit;"),
    (Equal, "proc sql; create table o.r as select a.x, b.d from d.a, d.b where a.c = b.d; quit;"),
    (Equal, "proc sql; create table o.r as select k, c from d.a order by c; quit;"),
    (Equal, "proc sql; create table o.r as select c from d.a union select d from d.b; quit;"),
    (Equal, "proc sql; create table o.r as select g, count(distinct c) as n from d.a group by g; quit;"),
    (Stop, "proc sql; create table o.r as select k from d.a where c in (select d from d.b); quit;"),
    (Equal, "proc reg data=d.a noprint outest=o.r; model y = x k; output out=o.q p=p; quit;"),
    (Stop, "data w; array v{1000}; do r = 1 to 9; do j = 1 to 1000; v{j} = r * j; end; output; end; run;
            proc reg data=w noprint; model r = v1-v1000; quit;"),
    (Equal, "proc glm data=d.a noprint outstat=o.r; class g; model y = g x; output out=o.q p=p; quit;"),
    (Stop, "proc glm data=d.a noprint; class c; model y = c; quit;"),
    (Equal, "proc logistic data=d.a noprint outest=o.r; class g; model z = g x; output out=o.q p=p; run;"),
    (Stop, "proc logistic data=d.a noprint; class c; model z = c; run;"),
    (Equal, "proc hplogistic data=d.a; class g; model z = g x; output out=o.r pred=p; run;"),
    (Equal, "proc print data=d.a(obs=20000); var k x; run;"),
    (Equal, "data w; array v{100} $10000; do r = 1 to 60; do j = 1 to 100; v{j} = repeat('y', 9998); end;
             output; end; run;
             proc print data=w; run;"),
    (Equal, "proc contents data=d.a; run;"),
    (Equal, "data o.r; set d.b(obs=10); run; proc append base=o.r data=d.b; run;"),
    (Equal, "proc copy in=d out=o; select a; run;"),
    (Equal, "proc copy in=d out=o; select b; run;
             proc datasets lib=o nolist; modify b; index create k; index create d; quit;"),
    (Equal, "proc format; value f 1-9 = 'few' 10-high = 'many'; run;
             proc freq data=d.a noprint; tables k / out=o.r; format k f.; run;"),
    (Stop, "data w; set d.a(keep=c i rename=(c=label i=start)); fmtname = 'f'; run;
            proc format cntlin=w; run;"),
    (Equal, "data o.r; merge d.a d.b(rename=(k=l)); run;"),
    (Equal, "data _null_; declare hash h(ordered:'y'); h.definekey('k'); h.definedata('k', 'x');
             h.definedone(); do until (e); set d.a end=e; rc = h.replace(); end;
             h.output(dataset:'o.r'); stop; run;"),
    (Stop, "data _null_; length d $960; declare hash h(dataset:'d.b'); h.definekey('k'); h.definedata('d');
            h.definedone(); k = 1; stop; run;"),
    (Stop, "data _null_; array a{2000000} _temporary_; do i = 1 to 2000000; a{i} = i; end; run;"),
    (Stop, "data _null_; set d.a; call symputx(cats('v', k), c); run;"),
];

/// What a program left.
struct Ran {
    code: Option<i32>,
    log: String,
    listing: String,
    steps: Vec<StepRecord>,
}

fn run(directory: &Path, program: &str, memsize: u64) -> Ran {
    for folder in ["o", "work"] {
        let _ = fs::remove_dir_all(directory.join(folder));
        fs::create_dir(directory.join(folder)).unwrap();
    }
    fs::write(directory.join("p.sas"), program).unwrap();
    let memsize = format!("memsize={memsize}m");
    let arguments = "exec p.sas --libname d=d --libname o=o --work work --steps steps --row-hashes \
                     --log log --print listing --option ubufsize=64k --option nostimer --option";
    let status = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args(arguments.split_whitespace())
        .arg(memsize)
        .current_dir(directory)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    let read = |name| fs::read_to_string(directory.join(name)).unwrap_or_default();
    let steps = read("steps");
    let steps = steps
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    Ran {
        code: status.code(),
        steps: steps.collect(),
        log: read("log"),
        listing: read("listing"),
    }
}

/// Rows and hashes of what was written.
fn written(ran: &Ran) -> Vec<(String, u64, Option<String>)> {
    let outputs = ran.steps.iter().flat_map(|step| &step.outputs);
    outputs
        .map(|one| (one.name.clone(), one.observations, one.row_hash.clone()))
        .collect()
}

#[test]
fn memsize_holds_for_every_procedure() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    fs::create_dir(directory.join("d")).unwrap();
    let made = run(directory, DATA, 2048);
    assert_eq!(made.code, Some(0), "{}", made.log);
    // The program itself is many times as large in a build for tests: that is no step's doing.
    let nothing = run(directory, "data _null_; run;", SMALL);
    let of_build = (nothing.steps[0].memory_bytes.unwrap() >> 20).saturating_sub(OWN);
    for (must, program) in PROGRAMS {
        let small = run(directory, program, SMALL);
        for step in &small.steps {
            let peak = step.memory_bytes.unwrap() >> 20;
            let most = SMALL + of_build;
            assert!(
                peak <= most,
                "{peak} MiB of {most}: {program}\n{}",
                small.log
            );
        }
        if must == Stop {
            let told = ["nsufficient memory", "Raise MEMSIZE="];
            assert_eq!(small.code, Some(2), "{program}\n{}", small.log);
            let found = told.iter().any(|text| small.log.contains(text));
            assert!(found, "{program}\n{}", small.log);
            continue;
        }
        assert_eq!(small.code, Some(0), "{program}\n{}", small.log);
        let large = run(directory, program, 2048);
        assert_eq!(large.code, Some(0), "{program}\n{}", large.log);
        assert_eq!(written(&small), written(&large), "{program}");
        assert_eq!(small.listing, large.listing, "{program}");
    }
}
