//! Copies of data, and batches side by side, with a suite of a site: streams that read copies of one data
//! set, and a data set with an index.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use results::run::{RunDirectory, RunPlan, RunResult};
use tempfile::TempDir;

const SUITE: &str = r#"
name = "streams"
title = "Streams that read copies"
copies = "identical"

[launch]
rule = "waves"
interval_s = 0

[demonstration]
scale = 1

[[datasets]]
names = ["a_{1..3}"]
recipe = "pairs"
rows = 2000
seed = 5

[[datasets]]
names = ["keyed"]
recipe = "pairs"
rows = 500
indexes = ["id"]

[[jobs]]
name = "sum_{number}"
program = "sum.sas"
streams = [{ wave = 1, launches = 2 }, { wave = 1, launches = 1 }, { wave = 2, launches = 1 }]
symbols = { in = "a_{copy}", out = "s{number}", at = "{output_directory}" }
inputs = ["keyed"]
checks = [
    { kind = "equal", dataset = "s{number}" },
    { kind = "same-rows", dataset = "s{number}_all", same_rows_as = "a_{copy}" },
    { kind = "rows", dataset = "s{number}_few", rows_of = "a_{copy}", input_where = "x > 0.5" },
]
"#;

const RECIPE: &str = r#"
columns = [
    { name = "id", kind = "sequence", start = 1 },
    { name = "x", kind = "random" },
]
"#;

const PROGRAM: &str = "
data out.&out._all; set in.&in; run;
data out.&out._few; set in.&in; where x > 0.5; run;
proc means data=in.&in noprint; var x; output out=out.&out(drop=_type_ _freq_) sum=total; run;
data _null_; set in.keyed; where id = 7; run;
";

struct Site {
    directory: TempDir,
}

impl Site {
    fn new(suite: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("suite.toml", suite),
            ("programs/sum.sas", PROGRAM),
            ("recipes/pairs.toml", RECIPE),
        ] {
            let path = directory.path().join("streams").join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { directory }
    }

    fn run(&self, more: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_gristmill"))
            .args([&["run", "./streams"], more].concat())
            .current_dir(self.directory.path())
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    fn bench(&self) -> PathBuf {
        self.directory.path().join("gristmill-bench")
    }

    fn staged(&self, name: &str) -> Vec<u8> {
        let path = self.bench().join("gristmill-streams").join(name);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Results in the order in which the runs were made.
    fn results(&self) -> Vec<RunResult> {
        let result = |run: &RunDirectory| run.result().unwrap().expect("the run is complete");
        self.runs().iter().map(result).collect()
    }

    fn plans(&self) -> Vec<RunPlan> {
        self.runs().iter().map(|run| run.plan().unwrap()).collect()
    }

    fn runs(&self) -> Vec<RunDirectory> {
        let entries = fs::read_dir(self.bench().join("runs")).unwrap();
        let mut runs: Vec<RunDirectory> = entries
            .map(|entry| RunDirectory::open(&entry.unwrap().path()))
            .collect();
        let started = |run: &RunDirectory| run.plan().unwrap().started_unix_s;
        runs.sort_by(|one, other| started(one).total_cmp(&started(other)));
        runs
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn all_verified(result: &RunResult) -> bool {
    result.jobs.iter().all(|job| job.verified == Some(true))
}

#[test]
fn copies_are_whole_files_and_what_they_are_is_said() {
    let site = Site::new(SUITE);
    let output = site.run(&[]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let said = text(&output.stdout);
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        said.contains("2 of 4 staged files (0.00 GB) are identical copies of others"),
        "{said}"
    );
    assert!(all_verified(&site.results()[0]), "{said}");
    // But for the name in the header, the bytes are the same; and no file shares them with another one.
    let (one, two) = (site.staged("a_1.sas7bdat"), site.staged("a_2.sas7bdat"));
    let differ = one
        .iter()
        .zip(&two)
        .filter(|(left, right)| left != right)
        .count();
    assert_eq!((one.len(), differ), (two.len(), 1));
    for name in ["a_1", "a_2", "a_3"] {
        let path = site
            .bench()
            .join(format!("gristmill-streams/{name}.sas7bdat"));
        let links = std::os::unix::fs::MetadataExt::nlink(&fs::metadata(path).unwrap());
        assert_eq!(links, 1);
    }

    // Equal outputs are asked for where the data are equal only: streams 2 and 3 have data of their own.
    let output = site.run(&["--copies", "distinct"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stdout));
    let result = site.results().pop().unwrap();
    assert!(all_verified(&result), "{:?}", result.jobs);
    assert!(
        result.verdict.reason.contains("from seeds of their own"),
        "{}",
        result.verdict.reason
    );
    let (first, second) = (site.staged("a_1.sas7bdat"), site.staged("a_2.sas7bdat"));
    assert_eq!(first, one, "the first copy stays as it was");
    let differ = second
        .iter()
        .zip(&two)
        .filter(|(left, right)| left != right)
        .count();
    assert!(differ > 2000, "{differ}");
}

#[test]
fn a_suite_says_what_its_copies_are_unless_the_run_does() {
    let site = Site::new(&SUITE.replace("\"identical\"", "\"distinct\""));
    let dry = |more: &[&str]| text(&site.run(&[&["--dry-run"], more].concat()).stdout);
    assert!(
        dry(&[]).contains("2 of 4 staged files (64.0 kB) are distinct copies"),
        "{}",
        dry(&[])
    );
    assert!(dry(&["--copies", "identical"]).contains("identical copies"));
    let wrong = site.run(&["--copies", "same"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("needs identical or distinct"));
    let wrong = Site::new(&SUITE.replace("\"identical\"", "\"same\"")).run(&[]);
    assert!(text(&wrong.stderr).contains("streams/suite.toml:4:10: unknown variant `same`"));
}

#[test]
fn a_ladder_of_a_mixed_suite_repeats_its_users() {
    let site = Site::new(SUITE);
    let dry = text(&site.run(&["--ladder", "1,2", "--dry-run"]).stdout);
    assert!(dry.contains("6 of 8 staged files"), "{dry}");
    let output = site.run(&["--ladder", "1,2"]);
    let said = text(&output.stdout);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{said}{}",
        text(&output.stderr)
    );
    assert!(
        said.contains("Largest load that meets the requirements"),
        "{said}"
    );
    let results = site.results();
    let jobs: Vec<usize> = results.iter().map(|result| result.jobs.len()).collect();
    assert_eq!(jobs, [4, 8]);
    assert!(results.iter().all(all_verified), "{results:?}");
    let names: Vec<&str> = results[1].jobs.iter().map(|job| &*job.name).collect();
    assert!(
        names.contains(&"sum_3") && names.contains(&"sum_3.2"),
        "{names:?}"
    );
    let sizes = site.plans().pop().unwrap().sizes;
    let named = sizes.iter().find(|one| one.name == "lane2/a_1").unwrap();
    let bytes = site.staged("lane2/a_1.sas7bdat").len() as u64;
    assert_eq!(
        (sizes.len(), named.plain_bytes, named.binary_bytes),
        (8, Some(bytes), None)
    );
    assert!(named.allocated_bytes.unwrap() > 0);
    // Identical copies have all bytes in common, in folders of their own. Indexes come with their time.
    for name in ["a_1.sas7bdat", "a_3.sas7bdat"] {
        assert!(
            site.staged(name) == site.staged(&format!("lane2/{name}")),
            "{name}"
        );
    }
    assert!(!site.staged("lane2/keyed.sas7bndx").is_empty());
    let left = fs::read_dir(site.bench()).unwrap();
    let left = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert!(!left.into_iter().any(|name| name.contains("output")));
}

#[test]
fn what_a_batch_side_by_side_gets_wrong_is_found() {
    let wrong = PROGRAM.replace(
        "where x > 0.5; run;",
        "where x > 0.5; if index(\"&at\", 'lane2') = 0; run;",
    );
    let site = Site::new(SUITE);
    let program = site.directory.path().join("streams/programs/sum.sas");
    fs::write(program, wrong).unwrap();
    let output = site.run(&["--ladder", "2"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stdout));
    for job in &site.results()[0].jobs {
        assert_eq!(job.verified, Some(!job.name.ends_with(".2")), "{job:?}");
    }
}

/// What caches have to hold are files, not rows.
#[test]
fn a_compressed_run_is_as_large_as_its_files() {
    let variant =
        "[variants.packed]\ntitle = \"packed\"\noptions = { COMPRESS = \"CHAR\" }\n\n[launch]";
    let site = Site::new(&SUITE.replace("[launch]", variant));
    let recipe = site.directory.path().join("streams/recipes/pairs.toml");
    let blanks = "    { name = \"t\", kind = \"character\", length = 400, used = 1 },\n]";
    fs::write(recipe, RECIPE.replace("\n]", &format!("\n{blanks}"))).unwrap();
    let output = site.run(&["--variant", "packed", "--no-ceiling"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let plan = site.plans().pop().unwrap();
    let names = ["a_1", "a_2", "a_3", "keyed"];
    let files = names.map(|name| site.staged(&format!("{name}.sas7bdat")).len() as u64);
    let rows = (3 * 2000 + 500) * 416;
    let (staged, files) = (plan.staged_bytes.unwrap(), files.iter().sum::<u64>());
    assert_eq!(staged, files);
    assert!(staged < rows / 2, "{staged} {rows}");
}

#[test]
fn a_spread_suite_has_no_batches_side_by_side() {
    let spread = SUITE.replace("copies = \"identical\"", "distribution = \"spread\"");
    let output = Site::new(&spread).run(&["--ladder", "1,2"]);
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(said.contains("share one set of outputs"), "{said}");
}
