//! `gristmill data`, from outside.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use insta::assert_snapshot;
use sas7bdat::{
    Compression, Format, Kind, Layout, Reader, Variable, WriteOptions, Writer, missing,
};
use serde_json::Value;
use tempfile::TempDir;

const RECIPE: &str = r#"
repeat = 2
columns = [
    { name = "id", kind = "sequence", start = 1 },
    { name = "x", count = 2, kind = "random" },
    { name = "n", kind = "integer", from = 1, to = 399, label = "a small number" },
    { name = "z", kind = "constant", value = 0.0 },
    { name = "m", kind = "missing" },
    { name = "c", kind = "character", length = 12, used = 5 },
]
"#;

/// A directory with a recipe in which the program runs.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::write(place.0.path().join("small.toml"), RECIPE).unwrap();
        place
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn run(&self, arguments: &str) -> Output {
        run_in(self.path(), arguments)
    }

    /// Standard output of a run that must end with `exit`.
    fn output(&self, exit: i32, arguments: &str) -> String {
        let output = self.run(arguments);
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{arguments}\n{errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// What a run that must end with `exit` says on standard error.
    fn errors(&self, exit: i32, arguments: &str) -> String {
        let output = self.run(arguments);
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(exit), "{arguments}\n{text}");
        text
    }

    fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.output(0, arguments)).unwrap()
    }

    fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path().join(name)).unwrap()
    }
}

fn run_in(directory: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .arg("data")
        .args(arguments.split_whitespace())
        .current_dir(directory)
        .output()
        .unwrap()
}

#[test]
fn the_same_arguments_make_the_same_bytes() {
    let place = Place::new();
    let gen_args = "gen --recipe small.toml --rows 500 --bufsize 8k";
    for compress in ["no", "char", "binary"] {
        place.output(0, &format!("{gen_args} --compress {compress} a.sas7bdat"));
        let first = place.read("a.sas7bdat");
        place.output(
            0,
            &format!("{gen_args} --compress {compress} --force a.sas7bdat"),
        );
        assert_eq!(place.read("a.sas7bdat"), first, "{compress}");
        place.output(
            0,
            &format!("{gen_args} --compress {compress} --force --seed 2 a.sas7bdat"),
        );
        assert_ne!(place.read("a.sas7bdat"), first, "{compress}");
        fs::remove_file(place.path().join("a.sas7bdat")).unwrap();
    }
    assert!(!place.path().join("a.sas7bdat.lck").exists());
}

#[test]
fn what_was_generated_verifies_whatever_its_compression() {
    let place = Place::new();
    let mut hashes = Vec::new();
    for compress in ["no", "char", "binary"] {
        let made = place.json(&format!(
            "gen --recipe small.toml --rows 1000 --bufsize 8k --compress {compress} --json \
             {compress}.sas7bdat"
        ));
        let verified = place.json(&format!(
            "verify --json --strict --recipe small.toml --rows 1000 {compress}.sas7bdat"
        ));
        assert_eq!(verified[0]["good"], true);
        assert_eq!(verified[0]["rows"], 1000);
        assert_eq!(verified[0]["row_hash"], made["row_hash"]);
        hashes.push(made["row_hash"].clone());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "{hashes:?}");
}

#[test]
fn ls_and_head_show_what_is_in_a_file() {
    let place = Place::new();
    let made = place.output(
        0,
        "gen --recipe small.toml --rows 7 --bufsize 8k a.sas7bdat",
    );
    let (made, _) = made.split_once(", rows at").unwrap();
    assert_snapshot!(made, @r"a.sas7bdat: 7 rows of 64 bytes, 16.4 kB in 1 page");
    assert_snapshot!("ls", place.output(0, "ls a.sas7bdat"));
    assert_snapshot!(place.output(0, "head -n 3 a.sas7bdat"), @r"
    Obs  id                   x1                   x2    n  z  m  c
      1   1  0.31017930261173776  0.11916666203659454   56  0  .  OA8Xj
      2   1  0.31017930261173776  0.11916666203659454   56  0  .  OA8Xj
      3   2   0.8864917533313229  0.09661062960238032  378  0  .  ju6PB
    ");
    assert_snapshot!("head_json", place.output(0, "head -n 1 --json a.sas7bdat"));
    assert_snapshot!(
        "verify",
        place.output(0, "verify --recipe small.toml a.sas7bdat")
    );
}

#[test]
fn ls_json_has_the_keys_that_others_build_on() {
    let place = Place::new();
    place.output(
        0,
        "gen --recipe small.toml --rows 7 --bufsize 16k --compress binary --noalign a.sas7bdat",
    );
    let listed = place.json("ls --json a.sas7bdat");
    let file = &listed[0];
    assert_eq!(file["file"], "a.sas7bdat");
    assert_eq!(file["rows"], 7);
    assert_eq!(file["deleted_rows"], 0);
    assert_eq!(file["page_bytes"], 16_384);
    assert_eq!(file["header_bytes"], 8192);
    assert_eq!(file["compression"], "binary");
    assert_eq!(file["encoding"], "utf-8");
    assert_eq!(file["endian"], "little");
    assert_eq!(file["word_bits"], 64);
    let n = serde_json::json!({
        "name": "n", "type": "num", "length": 8, "format": "", "label": "a small number"
    });
    assert_eq!(file["columns"][3], n);
    assert_eq!(file["columns"][6]["type"], "char");
}

#[test]
fn a_changed_byte_is_found_and_named() {
    let place = Place::new();
    place.output(
        0,
        "gen --recipe small.toml --rows 1000 --bufsize 8k a.sas7bdat",
    );
    let mut bytes = place.read("a.sas7bdat");
    // The second character of the text in the sixth row of the third page.
    let row_bytes = 64;
    let at = 8192 * 3 + 40 + 5 * row_bytes + 48 + 1;
    // What pads the row is nobody's.
    let whole = place.output(0, "verify --recipe small.toml a.sas7bdat");
    bytes[at + 14] = 7;
    fs::write(place.path().join("a.sas7bdat"), &bytes).unwrap();
    let padded = place.output(0, "verify --recipe small.toml a.sas7bdat");
    assert_eq!(padded, whole);
    bytes[at] = b'?';
    fs::write(place.path().join("a.sas7bdat"), &bytes).unwrap();
    assert_snapshot!(place.output(1, "verify --recipe small.toml a.sas7bdat"), @r#"
    a.sas7bdat: DAMAGED OR DIFFERENT; 1000 rows read, 81.9 kB, row hash d29fd99301698124
      page 3, row 219, column c: holds "Q?H9a       ", the recipe says "QOH9a       "
    "#);
    // Without the recipe nothing shows: a text may be anything.
    place.output(0, "verify a.sas7bdat");
    // Two rows that differ, and one that is not there.
    bytes[at + row_bytes] = b'?';
    fs::write(place.path().join("a.sas7bdat"), &bytes).unwrap();
    let output = place.output(1, "verify --recipe small.toml --rows 1001 a.sas7bdat");
    assert!(output.contains("2 rows differ"), "{output}");
    assert!(
        output.contains("there are 1000 rows; 1001 were expected"),
        "{output}"
    );
}

#[test]
fn strict_verification_finds_what_readers_let_pass() {
    let place = Place::new();
    place.output(
        0,
        "gen --recipe small.toml --rows 1000 --bufsize 8k a.sas7bdat",
    );
    let mut bytes = place.read("a.sas7bdat");
    // The number of free bytes in the header of the third page, which nobody needs for reading.
    bytes[8192 * 3 + 24] ^= 1;
    fs::write(place.path().join("a.sas7bdat"), &bytes).unwrap();
    place.output(0, "verify a.sas7bdat");
    let found = place.output(1, "verify --strict a.sas7bdat");
    assert!(found.contains("page 3: "), "{found}");
}

#[test]
fn what_a_file_contradicts_itself_in_is_found() {
    let place = Place::new();
    place.output(
        0,
        "gen --recipe small.toml --rows 1000 --bufsize 8k a.sas7bdat",
    );
    let whole = place.read("a.sas7bdat");
    let write = |bytes: &[u8]| fs::write(place.path().join("a.sas7bdat"), bytes).unwrap();
    let page = |number: usize| 8192 * number..8192 * (number + 1);
    let mut swapped = whole.clone();
    swapped[page(3)].copy_from_slice(&whole[page(5)]);
    swapped[page(5)].copy_from_slice(&whole[page(3)]);
    write(&swapped);
    let mut found = place.output(1, "verify a.sas7bdat");
    let mut blank = whole.clone();
    blank[page(4)].fill(0);
    write(&blank);
    found += &place.output(1, "verify a.sas7bdat");
    let row = whole.windows(4).position(|bytes| bytes == [0xF7; 4]);
    let mut fewer = whole.clone();
    fewer[row.unwrap() + 48..][..8].copy_from_slice(&900u64.to_le_bytes());
    write(&fewer);
    found += &place.output(1, "verify a.sas7bdat");
    write(&[&whole, &whole[page(2)]].concat());
    found += &place.output(1, "verify a.sas7bdat");
    assert_snapshot!("contradictions", found);
}

#[test]
fn damaged_structure_is_found_without_a_recipe() {
    let place = Place::new();
    place.output(
        0,
        "gen --recipe small.toml --rows 1000 --bufsize 8k --compress binary a.sas7bdat",
    );
    let whole = place.read("a.sas7bdat");
    let path = place.path().join("a.sas7bdat");
    fs::write(&path, &whole[..whole.len() - 1]).unwrap();
    let output = place.output(1, "verify a.sas7bdat");
    assert!(output.contains("cut short"), "{output}");
    // The number of pointers on the third page.
    let mut bytes = whole.clone();
    bytes[8192 * 3 + 36..][..2].fill(0xFF);
    fs::write(&path, &bytes).unwrap();
    let report = place.run("verify --json a.sas7bdat");
    assert_eq!(report.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report[0]["findings"][0]["page"], 3, "{report}");
    fs::write(&path, "no data set").unwrap();
    place.output(1, "verify a.sas7bdat");
}

#[test]
fn errors_say_what_where_and_what_to_do() {
    let place = Place::new();
    place.output(0, "gen --recipe small.toml --rows 7 a.sas7bdat");
    let mut errors = String::new();
    for (exit, arguments) in [
        (3, "gen --recipe small.toml --rows 7 a.sas7bdat"),
        (2, "gen --recipe bnak --rows 7 b.sas7bdat"),
        (3, "gen --recipe none.toml --rows 7 b.sas7bdat"),
        (2, "gen --recipe small.toml --rows 7 b.csv"),
        (3, "gen --recipe multiuser --rows 7 --bufsize 1k b.sas7bdat"),
        (3, "gen --recipe small.toml --rows 7 nowhere/b.sas7bdat"),
        (3, "ls none.sas7bdat"),
        (3, "head small.toml"),
        (3, "verify none.sas7bdat"),
        (2, "convert a.sas7bdat b.xlsx"),
    ] {
        errors.push_str(&place.errors(exit, arguments));
    }
    assert_snapshot!("errors", errors);
    assert!(!place.path().join("b.sas7bdat.lck").exists());
    let usage = place.errors(2, "gen --recipe small.toml b.sas7bdat");
    assert!(usage.contains("--rows"), "{usage}");
}

#[test]
fn a_file_that_another_job_writes_is_left_alone() {
    let place = Place::new();
    fs::write(place.path().join("a.sas7bdat.lck"), "theirs").unwrap();
    let errors = place.errors(3, "gen --recipe small.toml --rows 7 a.sas7bdat");
    assert!(errors.contains("another job may be writing it"), "{errors}");
    assert_eq!(place.read("a.sas7bdat.lck"), b"theirs");
}

#[test]
fn an_interrupted_generation_leaves_nothing() {
    let place = Place::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args([
            "data",
            "gen",
            "--recipe",
            "bank",
            "--size",
            "20g",
            "a.sas7bdat",
        ])
        .current_dir(place.path())
        .spawn()
        .unwrap();
    let unfinished = place.path().join("a.sas7bdat.lck");
    let deadline = Instant::now() + Duration::from_secs(20);
    while !fs::metadata(&unfinished).is_ok_and(|found| found.len() > 0) {
        assert!(Instant::now() < deadline, "no file appeared");
        thread::yield_now();
    }
    let mut kill = Command::new("kill");
    let killed = kill.args(["-INT", &child.id().to_string()]).status();
    assert!(killed.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

#[test]
fn the_null_sink_makes_no_file() {
    let place = Place::new();
    let made = place.json("gen --recipe bank --size 1M --null --json");
    assert_eq!(made["rows"], 800);
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 1);
}

/// Numbers with formats, missing values, and texts that CSV must quote.
fn tricky(path: &Path) {
    let mut date = Variable::numeric("when");
    date.format = Format {
        name: "DATE".to_owned(),
        width: 9,
        decimals: 0,
    };
    let short = Variable {
        length: 4,
        ..Variable::numeric("short")
    };
    let variables = [
        Variable::numeric("x"),
        date,
        short,
        Variable::character("text", 20),
    ];
    let rows: [(f64, f64, f32, &str); 5] = [
        (0.1, 21_075.0, 1.5, "plain"),
        (missing::missing(), missing::missing(), -2.0, "a, \"b\""),
        (missing::encode(b'A'), -1.0, 0.0, ""),
        (1e300, 0.0, 3.25, "two\nlines"),
        (-1.0 / 3.0, 1.0, 1e10, "  two blanks first"),
    ];
    let mut writer = Writer::create(Vec::new(), &variables, WriteOptions::default()).unwrap();
    let layout = Layout::new(&variables, Compression::None);
    for (x, when, short, text) in rows {
        let mut row = vec![0; layout.row_bytes as usize];
        let places: Vec<usize> = layout.offsets.iter().map(|at| *at as usize).collect();
        row[places[0]..][..8].copy_from_slice(&x.to_le_bytes());
        row[places[1]..][..8].copy_from_slice(&when.to_le_bytes());
        row[places[2]..][..4].copy_from_slice(&f64::from(short).to_le_bytes()[4..]);
        row[places[3]..][..20].fill(b' ');
        row[places[3]..][..text.len()].copy_from_slice(text.as_bytes());
        writer.write_row(&row).unwrap();
    }
    fs::write(path, writer.finish().unwrap().0).unwrap();
}

/// All values as numbers' bits and texts.
fn values(path: &Path) -> Vec<Vec<String>> {
    let bytes = fs::read(path).unwrap();
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    let kinds: Vec<Kind> = reader.metadata().variables.iter().map(|v| v.kind).collect();
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row().unwrap().map(<[u8]>::to_vec) {
        let value = |(column, kind): (usize, &Kind)| match kind {
            Kind::Numeric => format!("{:016x}", reader.decode_numeric(column, &row).to_bits()),
            Kind::Character => {
                let text = sas7bdat::trim_blanks(reader.bytes(column, &row));
                String::from_utf8_lossy(text).into_owned()
            }
        };
        rows.push(kinds.iter().enumerate().map(value).collect());
    }
    rows
}

#[test]
fn values_survive_csv() {
    let place = Place::new();
    tricky(&place.path().join("a.sas7bdat"));
    assert_snapshot!(place.output(0, "head a.sas7bdat"), @r#"
    Obs                    x       when       short  text
      1                  0.1  13SEP2017         1.5  plain
      2                    .          .          -2  a, "b"
      3                   .A  31DEC1959           0
      4                1e300  01JAN1960        3.25  two�lines
      5  -0.3333333333333333  02JAN1960  9999998976    two blanks first
    "#);
    assert_snapshot!(place.output(0, "convert a.sas7bdat a.csv"), @r"a.csv: 5 rows, 4 columns, 140 B");
    let csv = String::from_utf8(place.read("a.csv")).unwrap();
    assert_snapshot!(csv, @r#"
    x,when,short,text
    0.1,21075,1.5,plain
    ,,-2,"a, ""b"""
    .A,-1,0,
    1e300,0,3.25,"two
    lines"
    -0.3333333333333333,1,9999998976,  two blanks first
    "#);
    place.output(0, "convert a.csv b.sas7bdat");
    assert_eq!(
        values(&place.path().join("a.sas7bdat")),
        values(&place.path().join("b.sas7bdat"))
    );
    place.output(0, "convert --compress char a.csv c.sas7bdat");
    assert_eq!(
        values(&place.path().join("c.sas7bdat")),
        values(&place.path().join("b.sas7bdat"))
    );
    let exists = place.errors(3, "convert a.csv b.sas7bdat");
    assert!(exists.contains("--force"), "{exists}");
}

#[test]
fn bytes_that_are_no_characters_are_noted() {
    let place = Place::new();
    tricky(&place.path().join("a.sas7bdat"));
    let mut bytes = place.read("a.sas7bdat");
    let at = bytes.windows(5).position(|there| there == b"plain");
    bytes[at.unwrap()] = 0xFF;
    fs::write(place.path().join("a.sas7bdat"), &bytes).unwrap();
    assert_snapshot!(
        place.errors(0, "convert a.sas7bdat a.csv"),
        @"note: 1 text held bytes that are no characters of utf-8 and became U+FFFD"
    );
}

#[test]
fn a_line_without_anything_is_a_row_where_there_is_one_column() {
    let place = Place::new();
    fs::write(place.path().join("a.csv"), "x\n1\n\n2\n").unwrap();
    place.output(0, "convert a.csv a.sas7bdat");
    let missing = format!("{:016x}", missing::missing().to_bits());
    let number = |value: f64| format!("{:016x}", value.to_bits());
    let expected = [number(1.0), missing, number(2.0)];
    assert_eq!(values(&place.path().join("a.sas7bdat")).concat(), expected);
    place.output(0, "convert a.sas7bdat b.csv");
    place.output(0, "convert b.csv b.sas7bdat");
    assert_eq!(values(&place.path().join("b.sas7bdat")).concat(), expected);
    // With two columns it is nothing.
    fs::write(place.path().join("c.csv"), "x,y\n1,1\n\n2,2\n").unwrap();
    place.output(0, "convert c.csv c.sas7bdat");
    assert_eq!(values(&place.path().join("c.sas7bdat")).len(), 2);
}

#[test]
fn csv_that_is_no_table_is_refused_with_its_line() {
    let place = Place::new();
    let mut errors = String::new();
    for csv in [
        &b""[..],
        b"a,b\n1,2\n3\n",
        b"a,b\n1,2\n3,\xFF\n",
        b"a,b\n1,\"two\nlines\"\n2,\"open\n3,4\n5,6\n",
        b"a,\"b\n1,2\n",
        b"a\n\"1\"\n\"",
    ] {
        fs::write(place.path().join("a.csv"), csv).unwrap();
        errors.push_str(&place.errors(3, "convert a.csv a.sas7bdat"));
    }
    assert_snapshot!("csv_errors", errors);
    fs::write(place.path().join("a.csv"), "id,2nd value\n007,\n").unwrap();
    place.output(0, "convert a.csv a.sas7bdat");
    let listed = place.json("ls --json a.sas7bdat");
    assert_eq!(listed[0]["columns"][0]["type"], "char");
    assert_eq!(listed[0]["columns"][1]["name"], "_2nd_value");
    assert_eq!(listed[0]["columns"][1]["label"], "2nd value");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn without_parquet_the_error_says_how_to_get_it() {
    let place = Place::new();
    tricky(&place.path().join("a.sas7bdat"));
    let errors = place.errors(3, "convert a.sas7bdat a.parquet");
    assert!(errors.contains("--features parquet"), "{errors}");
}

#[cfg(feature = "parquet")]
#[test]
fn values_survive_parquet() {
    let place = Place::new();
    place.output(0, "gen --recipe small.toml --rows 3000 a.sas7bdat");
    place.output(0, "convert a.sas7bdat a.parquet");
    place.output(0, "convert a.parquet b.sas7bdat");
    assert_eq!(
        values(&place.path().join("a.sas7bdat")),
        values(&place.path().join("b.sas7bdat"))
    );
    tricky(&place.path().join("c.sas7bdat"));
    let notes = place.errors(0, "convert c.sas7bdat c.parquet");
    assert_eq!(
        notes,
        "note: 1 special missing value (.A to .Z, ._) became null\n"
    );
}

/// A file system of 1 MB, if this process may mount one.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mounted = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=1m", "gristmill-test"])
            .arg(directory.path())
            .output();
        match mounted {
            Ok(output) if output.status.success() => Some(Self(directory)),
            _ => None,
        }
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
#[expect(clippy::print_stderr, reason = "a skipped test says so")]
fn a_full_disk_is_named_and_no_partial_file_stays() {
    let Some(disk) = SmallDisk::new() else {
        eprintln!("skipped: mounting a small tmpfs needs root");
        return;
    };
    let output = run_in(disk.0.path(), "gen --recipe multiuser --size 3M a.sas7bdat");
    assert_eq!(output.status.code(), Some(3));
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_snapshot!("full_disk", errors);
    assert_eq!(fs::read_dir(disk.0.path()).unwrap().count(), 0);
}

#[test]
fn squeeze_finds_copies_and_says_what_they_compress_to() {
    let place = Place::new();
    for name in ["a", "b"] {
        // Header pages hold the name and differ; the rows are the same.
        place.output(
            0,
            &format!("gen --recipe small.toml --rows 60000 {name}.sas7bdat"),
        );
    }
    let text = place.output(0, "squeeze --json a.sas7bdat b.sas7bdat");
    let found: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["table"].as_array().unwrap().len(), 2);
    let figure = |name: &str| {
        let all = found["measurements"].as_array().unwrap();
        let one = all.iter().find(|one| one["name"] == name).unwrap();
        assert!(one["unit"].is_string() && one["detail"].is_string());
        one["value"].as_f64().unwrap()
    };
    let bytes = fs::metadata(place.path().join("a.sas7bdat")).unwrap().len();
    assert!((figure("bytes") - 2.0 * bytes as f64).abs() < 0.5);
    let share = figure("duplicates_128k_share");
    let pages = bytes as f64 / 131_072.0;
    assert!(share < 0.5 && share > 0.5 - 3.0 / (2.0 * pages), "{share}");
    assert!(figure("reduction_128k_deflate_ratio") > 1.8 * figure("deflate_ratio"));

    let sas = &found["table"][0]["sas"];
    assert_eq!(sas["none_bytes"], bytes);
    assert!((figure("sas_none_bytes") - 2.0 * bytes as f64).abs() < 0.5);

    let text = place.output(0, "squeeze a.sas7bdat b.sas7bdat");
    assert!(text.contains("Compressed: all bytes."), "{text}");
    assert!(text.contains("Storage savings ratio"), "{text}");
    let text = place.output(
        0,
        "squeeze --no-duplicates --no-sas --sample 1M a.sas7bdat b.sas7bdat",
    );
    assert!(text.contains("Compressed: a sample of "), "{text}");
    assert!(text.contains("Duplicates were not looked for."), "{text}");
    let text = place.output(0, "squeeze --no-compression --memory 1M a.sas7bdat");
    assert!(text.contains("Nothing was compressed."), "{text}");
    for wrong in [
        "--sample 0%",
        "--sample 101%",
        "--sample much",
        "--memory 1k",
    ] {
        let message = place.errors(2, &format!("squeeze {wrong} a.sas7bdat"));
        assert!(message.contains("needs a s"), "{message}");
    }
    let message = place.errors(2, "squeeze a.sas7bdat ./a.sas7bdat");
    assert!(message.contains("are the same file"), "{message}");
    let message = place.errors(3, "squeeze nothing");
    assert!(message.contains("failed to open nothing"), "{message}");
}

#[test]
fn squeeze_takes_folders_and_each_file_once() {
    let place = Place::new();
    let folder = place.path().join("all/inner");
    fs::create_dir_all(&folder).unwrap();
    let noise = |seed: u64| -> Vec<u8> {
        let stream = base::random::Stream::new(seed);
        (0..5000)
            .flat_map(|word| stream.word(word).to_le_bytes())
            .collect()
    };
    fs::write(place.path().join("all/b"), noise(1)).unwrap();
    fs::write(folder.join("a"), noise(2)).unwrap();
    fs::write(place.path().join("all/empty"), b"").unwrap();
    fs::hard_link(folder.join("a"), folder.join("same")).unwrap();
    std::os::unix::fs::symlink(folder.join("a"), folder.join("link")).unwrap();
    let found = place.json("squeeze --json all");
    let names: Vec<&str> = found["table"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["file"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["all/b", "all/empty", "all/inner/a"]);
    let all = found["measurements"].as_array().unwrap();
    let share = all.iter().find(|one| one["name"] == "duplicates_4k_share");
    assert_eq!(share.unwrap()["value"], 0.0);
    assert!(
        place
            .errors(2, "squeeze all/inner/a all/inner/same")
            .contains("are the same file")
    );
    fs::create_dir(place.path().join("none")).unwrap();
    assert!(
        place
            .errors(3, "squeeze none")
            .contains("there are no files")
    );
}

/// What `data squeeze` tells of COMPRESS= is what the engine's files have.
#[test]
fn squeeze_tells_the_sizes_that_a_data_step_makes() {
    let place = Place::new();
    place.output(
        0,
        "gen --recipe small.toml --rows 30000 --bufsize 64k a.sas7bdat",
    );
    let program =
        "data l.no(compress=no) l.char(compress=char) l.binary(compress=binary); set l.a; run;";
    fs::write(place.path().join("p.sas"), program).unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_gristmill"))
        .args("exec p.sas --libname l=. --work . --option bufsize=64k --log p.log".split(' '))
        .current_dir(place.path())
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    let found =
        place.json("squeeze --json --no-compression --no-duplicates a.sas7bdat char.sas7bdat");
    for file in found["table"].as_array().unwrap() {
        for (size, name) in [
            ("none_bytes", "no"),
            ("char_bytes", "char"),
            ("binary_bytes", "binary"),
        ] {
            let bytes = place.read(&format!("{name}.sas7bdat")).len();
            assert_eq!(file["sas"][size], bytes, "{name}: {file}");
        }
    }
    assert_eq!(found["table"][1]["sas"]["compression"], "char");
}
