//! `gristmill suites` and `gristmill run` of a suite of a site, as a user meets them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use results::run::{RunDirectory, RunResult};
use tempfile::TempDir;

const SUITE: &str = r#"
name = "nightly"
title = "What runs at night"
file_per_sortsize_min = 4

[options]
MEMSIZE = "1G"
SORTSIZE = "512M"

[parameters.copies]
value = 3
demonstration = 2

[parameters.concurrency]
per_core = 1

[launch]
rule = "pool"

[demonstration]
scale = 0.01
time_scale = 0.001

[classes]
data = "construction of tables"

[[datasets]]
names = ["trades"]
recipe = "trades"
rows = 200_000
seed = 7
indexes = ["branch"]

[[datasets]]
names = ["list"]
recipe = "trades"
format = "csv"
rows = 10_000
seed = 7

[[jobs]]
numbers = "1..copies"
name = "night_{number}"
program = "night.sas"
class = "data"
symbols.in = "trades"
symbols.out = "n{number}"
symbols.text = "{input_directory}/list.csv"
symbols.report = "{output_directory}"
scaled = { rows = [5_000, 1] }
timed = { wait = 10 }
inputs = ["list"]

[[jobs.checks]]
kind = "sorted"
dataset = "n{number}_sorted"
by = ["branch", "id"]
same_rows_as = "trades"

[[jobs.checks]]
kind = "ordered"
dataset = "n{number}_sorted"
by = ["branch"]

[[jobs.checks]]
kind = "distinct"
dataset = "n{number}_keys"
by = ["branch"]
of = "trades"

[[jobs.checks]]
kind = "rows"
dataset = "n{number}_part_{1..copies}"
rows_of = "trades"
input_where = "branch = {number}"

[[jobs.checks]]
kind = "rows"
dataset = "n{number}_text"
rows_of = "list"

[[jobs.checks]]
kind = "rows"
dataset = "n{number}_made"
count = "{rows}"
times = 2

[[jobs.checks]]
kind = "same-rows"
dataset = "n{number}_part_1"
same_rows_as = "trades"
input_where = "branch = {number}"

[[jobs.checks]]
kind = "members"
dataset = "n{number}_part_{1..copies}"

[[jobs.checks]]
kind = "absent"
dataset = "n{number}_gone"

[[jobs.checks]]
kind = "indexed"
dataset = "n{number}_sorted"
indexes = ["branch"]

[[jobs.checks]]
kind = "lines"
file = "n{number}.txt"
rows_of = "out.n{number}_sums"
header = 1

[[jobs.checks]]
kind = "equal"
dataset = "n{number}_sums"
digits = 9

[[jobs.checks]]
kind = "equal"
dataset = "n{number}_keys"
when = { in = "trades" }

[[jobs.checks]]
kind = "absent"
dataset = "n{number}_sorted"
when = { in = "others" }

[[jobs.checks]]
kind = "total"
dataset = "n{number}_sums"
variable = "n"
where = "branch > 1"
rows_of = "trades"
input_where = "branch > 1"
"#;

const RECIPE: &str = r#"
columns = [
    { name = "id", kind = "sequence", start = 1 },
    { name = "branch", kind = "integer", from = 1, to = 9 },
    { name = "price", kind = "random" },
    { name = "memo", kind = "character", length = 20, used = 5 },
]
"#;

const PROGRAM: &str = r#"
proc sort data=in.&in out=out.&out._sorted; by branch id; run;
proc datasets lib=out nolist; modify &out._sorted; index create branch; quit;
proc sort data=in.&in(keep=branch) out=out.&out._keys nodupkey; by branch; run;
data out.&out._part_1 out.&out._part_2;
  set in.&in;
  where branch = %substr(&out, 2);
run;
data out.&out._text;
  infile "&text" dsd firstobs=2 truncover;
  length memo $20;
  input id branch price memo;
run;
data out.&out._made;
  do i = 1 to 2 * &rows; output; end;
  rc = sleep(&wait, 0.001);
run;
proc means data=in.&in noprint nway;
  class branch;
  var price;
  output out=out.&out._sums(drop=_type_ _freq_) n=n sum=total;
run;
data out.&out._gone; x = 1; run;
proc delete data=out.&out._gone; run;
data _null_;
  set out.&out._sums;
  file "&report/&out..txt";
  if _n_ = 1 then put 'branch n';
  put branch n;
run;
"#;

/// A folder with the suite, to run in.
struct Site {
    directory: TempDir,
}

impl Site {
    fn new(suite: &str, program: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let folder = directory.path().join("nightly");
        for (name, text) in [
            ("suite.toml", suite),
            ("programs/night.sas", program),
            ("recipes/trades.toml", RECIPE),
        ] {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { directory }
    }

    fn output(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gristmill"))
            .args(arguments)
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn bench(&self) -> PathBuf {
        self.directory.path().join("gristmill-bench")
    }

    fn newest_run(&self) -> RunDirectory {
        self.newest_run_of("nightly")
    }

    fn newest_run_of(&self, suite: &str) -> RunDirectory {
        let runs = names(&self.bench().join("runs"));
        let mut of_suite = runs.iter().filter(|name| name.starts_with(suite));
        let newest = of_suite.next_back().expect("there is a run");
        RunDirectory::open(&self.bench().join("runs").join(newest))
    }

    fn result(&self) -> RunResult {
        self.newest_run()
            .result()
            .unwrap()
            .expect("the run is complete")
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_suite_of_a_site_runs_and_every_kind_of_check_holds() {
    let site = Site::new(SUITE, PROGRAM);
    let output = site.output(&["run", "./nightly"]);
    let table = text(&output.stdout);
    let result = site.result();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{table}{}",
        text(&output.stderr)
    );
    assert_eq!(result.verdict.result, "not_shown");
    assert_eq!(result.jobs.len(), 2);
    for job in &result.jobs {
        assert_eq!((job.exit, job.verified), (Some(0), Some(true)), "{job:?}");
    }
    let plan = site.newest_run().plan().unwrap();
    assert_eq!(plan.parameters["copies"], 2);
    assert_eq!(plan.jobs[0].symbols["rows"], "50");
    assert_eq!(plan.jobs[0].symbols["wait"], "0.01");
    assert_eq!(plan.options["SORTSIZE"], "1M");
    // Nothing is left but what was staged and the run directory.
    assert_eq!(names(&site.bench()), ["gristmill-nightly", "runs"]);
    let staged = [
        ".gristmill",
        "list.csv",
        "stage.json",
        "trades.sas7bdat",
        "trades.sas7bndx",
    ];
    assert_eq!(names(&site.bench().join("gristmill-nightly")), staged);
}

/// What the program does right, what it does instead, and what is said then.
const MISTAKES: [(&str, &str, &str); 13] = [
    (
        "data out.&out._gone; x = 1; run;",
        "data out.&out._gone; x = 1; run;\ndata in.trades; set in.trades(obs=9); run;",
        "trades.sas7bdat: it is not as it was staged: 9 rows in",
    ),
    (
        "by branch id;",
        "by id branch;",
        "is not in the order of branch id",
    ),
    ("nodupkey; by", "; by", "is not in the order of branch"),
    (
        "2 * &rows",
        "3 * &rows",
        "n1_made.sas7bdat: 150 rows instead of 100",
    ),
    (
        "firstobs=2",
        "firstobs=3",
        "n1_text.sas7bdat: 99 rows instead of 100",
    ),
    ("= %substr(&out, 2)", "= 3", "rows"),
    (
        "var price;",
        "where branch ne 5; var price;",
        "n where branch > 1 adds up to",
    ),
    (
        "proc delete data=out.&out._gone;",
        "proc print data=out.&out._gone;",
        "n1_gone.sas7bdat: it was to be deleted",
    ),
    (
        "put 'branch n';",
        "put 'branch' / 'n';",
        "n1.txt: 11 lines instead of 10",
    ),
    (
        "index create branch;",
        "label id='x';",
        "there is no index branch",
    ),
    (
        "data out.&out._part_1 out.&out._part_2",
        "data out.&out._part_1 out.&out._part_3",
        "n1_part_2 is missing",
    ),
    (
        "n=n sum=total",
        "n=n sum(price)=total; run; data out.&out._sums; set out.&out._sums; total + ranuni(0)",
        "row 1 on page 1 differs in total, unlike",
    ),
    (
        "data _null_;",
        "data _null_; set out.nosuch; run; data _null_;",
        "its log has ERROR: File OUT.NOSUCH.DATA does not exist",
    ),
];

#[test]
fn what_a_program_gets_wrong_is_named() {
    for (right, wrong, finding) in MISTAKES {
        let program = PROGRAM.replace(right, wrong);
        assert_ne!(program, PROGRAM, "{right}");
        let site = Site::new(SUITE, &program);
        let output = site.output(&["run", "./nightly"]);
        assert_eq!(
            output.status.code(),
            Some(1),
            "{wrong}: {}",
            text(&output.stdout)
        );
        let result = site.result();
        let mut findings = result.jobs.iter().flat_map(|job| &job.findings);
        let found = findings.clone().any(|one| one.contains(finding));
        assert!(
            found,
            "{finding}: {:?}",
            findings.by_ref().collect::<Vec<_>>()
        );
    }
}

/// Small enough for a test; the launches of the papers' timing all at once.
#[test]
fn built_in_suites_run_and_their_checks_hold() {
    let site = Site::new(SUITE, PROGRAM);
    for (arguments, jobs) in [
        (
            &["mixed-8core", "--scale", "0.0002", "--time-scale", "0"][..],
            34,
        ),
        (
            &[
                "demand-calibration",
                "--scale",
                "0.001",
                "--models",
                "2",
                "--parameter",
                "temp_files=40",
                "--parameter",
                "perm_sets=20",
                "--variant",
                "no-locks",
            ],
            2,
        ),
    ] {
        let output = site.output(&[&["run"], arguments].concat());
        let result = site.newest_run_of(arguments[0]).result().unwrap().unwrap();
        // Too small for an answer, and on a busy machine disturbed as well.
        assert_eq!(output.status.code(), Some(4), "{}", text(&output.stdout));
        let no_answer = ["not_shown", "inconclusive"].contains(&&*result.verdict.result);
        assert!(no_answer, "{}", text(&output.stdout));
        assert_eq!(result.jobs.len(), jobs);
        let verified = |job: &results::run::JobResult| job.verified == Some(true);
        assert!(result.jobs.iter().all(verified), "{:?}", result.jobs);
    }
}

#[test]
fn suites_are_listed_explained_and_checked() {
    let site = Site::new(SUITE, PROGRAM);
    let list = text(&site.output(&["suites"]).stdout);
    for name in [
        "demand-calibration",
        "large-sorts",
        "mixed-8core",
        "mixed-analytics",
        "multiuser",
    ] {
        assert!(list.contains(&format!("gristmill run {name}")), "{list}");
        let shown = site.output(&["suites", "show", name]);
        assert_eq!(shown.status.code(), Some(0), "{}", text(&shown.stderr));
        assert!(text(&shown.stdout).contains("Jobs, "), "{name}");
    }
    let listed: serde_json::Value =
        serde_json::from_slice(&site.output(&["suites", "--json"]).stdout).unwrap();
    // Table 1 of the Isilon paper has 33 jobs; the FA-420 paper launches 101 tests; the survey has 750 models.
    let jobs = |name: &str| {
        let suites = listed.as_array().unwrap();
        suites.iter().find(|suite| suite["name"] == name).unwrap()["jobs"].clone()
    };
    assert_eq!(jobs("multiuser"), 33);
    assert_eq!(jobs("mixed-analytics"), 101);
    assert_eq!(jobs("mixed-8core"), 34);
    assert_eq!(jobs("demand-calibration"), 750);

    let checked = site.output(&["suites", "check", "nightly"]);
    assert_eq!(checked.status.code(), Some(0), "{}", text(&checked.stdout));
    let broken = Site::new(
        &SUITE.replace("class = \"data\"", "class = \"date\""),
        PROGRAM,
    );
    let checked = broken.output(&["suites", "check", "nightly"]);
    assert_eq!(checked.status.code(), Some(1));
    let said = text(&checked.stdout);
    assert!(
        said.starts_with("nightly/suite.toml:45:9: date is not in [classes]"),
        "{said}"
    );
    let checked = broken.output(&["suites", "check", "nightly", "--json"]);
    let checked: serde_json::Value = serde_json::from_slice(&checked.stdout).unwrap();
    let first = &checked["mistakes"][0];
    assert_eq!((&first["line"], &first["column"]), (&45.into(), &9.into()));
    let shown = site.output(&["suites", "show", "multiuser", "--json"]);
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout).unwrap();
    let launches = shown["jobs"].as_array().unwrap().iter();
    let launches: u64 = launches.map(|job| job["launches"].as_u64().unwrap()).sum();
    assert_eq!(
        (launches, &shown["launch"]["rule"]),
        (33, &"offsets".into())
    );
    let program = PROGRAM.replace("&rows", "&row");
    let checked = Site::new(SUITE, &program).output(&["suites", "check", "nightly"]);
    let said = text(&checked.stdout);
    assert!(
        said.starts_with("nightly/programs/night.sas:15:19: &row is used and never given"),
        "{said}"
    );
    let run = broken.output(&["run", "./nightly"]);
    assert_eq!(run.status.code(), Some(3));
    assert!(text(&run.stderr).contains("date is not in [classes]"));
}

#[test]
fn parameters_and_variants_that_are_not_there_are_named() {
    let site = Site::new(SUITE, PROGRAM);
    for (arguments, part) in [
        (
            &["run", "large-sorts", "--models", "3"][..],
            "has no parameter models; it has jobs",
        ),
        (
            &["run", "./nightly", "--parameter", "copies=0"],
            "copies 0: 1 to 10000 are allowed",
        ),
        (
            &["run", "multiuser", "--variant", "x"],
            "has no variant x; there are: compressed",
        ),
        (
            &["run", "multiuser", "--time-scale", "-1"],
            "unexpected argument",
        ),
    ] {
        let output = site.output(arguments);
        let message = text(&output.stderr);
        assert!(message.contains(part), "{arguments:?}: {message}");
    }
}

#[test]
fn sizes_are_compared_with_the_published_ones() {
    // Rows of 48 bytes, of which the memo's 15 blanks go, and a pointer of 24 comes with COMPRESS=BINARY.
    let published = "names = [\"trades\"]\npublished = [\"9.2M\", \"12.6M\", \"7M\"]\npublished_within = [0.3, 0.9]";
    let suite = SUITE.replace("names = [\"trades\"]", published);
    let site = Site::new(&suite, PROGRAM);
    let output = site.output(&["suites", "sizes", "./nightly", "--scale", "0.1", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&text(&output.stdout)).unwrap();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found[0]["measured_rows"], 20_000);
    assert_eq!(found[0]["published_bytes"][2], 7 << 20);
    let plain = found[0]["plain_bytes"].as_f64().unwrap();
    // Eight pages more or less one, multiplied by ten.
    assert!((plain / 9.6e6 - 1.0).abs() < 0.1, "{plain}");
    assert_eq!(output.status.code(), Some(0), "{found}");

    let off = suite.replace(
        "published_within = [0.3, 0.9]",
        "published_within = [0.0, 0.0]",
    );
    let site = Site::new(&off, PROGRAM);
    let output = site.output(&["suites", "sizes", "./nightly", "--scale", "0.1"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stdout).contains("too far off"));

    let output = site.output(&["suites", "sizes", "large-sorts"]);
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(
        message.contains("there are some in: multiuser"),
        "{message}"
    );
    let wrong = suite.replace("\"9.2M\"", "\"9.2 MB\"");
    let site = Site::new(&wrong, PROGRAM);
    let output = site.output(&["suites", "check", "nightly"]);
    assert!(text(&output.stdout).contains("\"9.2 MB\" is not a size"));
}

#[test]
fn values_of_an_option_run_in_turn() {
    let site = Site::new(SUITE, PROGRAM);
    let run = |compared: &str| {
        let flags = [
            "run",
            "./nightly",
            "--repeat",
            "2",
            "--compare-option",
            compared,
        ];
        site.output(&flags)
    };
    let output = run("filelocks=FAIL,NONE");
    let printed = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{printed}{}",
        text(&output.stderr)
    );
    assert!(printed.contains("Elapsed time FAIL / NONE: "), "{printed}");
    assert!(printed.contains("(2 rounds, "), "{printed}");
    let mut plans: Vec<_> = names(&site.bench().join("runs"))
        .iter()
        .map(|name| {
            RunDirectory::open(&site.bench().join("runs").join(name))
                .plan()
                .unwrap()
        })
        .collect();
    plans.sort_by_key(|plan| plan.series.as_ref().unwrap().index);
    let made: Vec<(String, String)> = plans
        .iter()
        .map(|plan| {
            (
                plan.options["FILELOCKS"].clone(),
                plan.series.clone().unwrap().option.unwrap(),
            )
        })
        .collect();
    let named = |value: &str| (value.to_owned(), format!("FILELOCKS={value}"));
    assert_eq!(made, ["FAIL", "NONE", "NONE", "FAIL"].map(named));
    for wrong in ["FILELOCKS", "FILELOCKS=FAIL", "FILELOCKS=FAIL,FAIL"] {
        assert_eq!(run(wrong).status.code(), Some(2), "{wrong}");
    }
}
