//! What a data set says of itself survives the steps it goes through.

use std::sync::Arc;

use base::store::memory::MemoryStore;
use sas7bdat::{Compression, Encoding, Metadata, Reader, Variable, WriteOptions, Writer};

use crate::harness::{Ran, clean, run_on, store};

/// A data set of one text (`é` in the encoding's own bytes) and a number.
fn dataset(encoding: Encoding, text: &[u8]) -> Vec<u8> {
    let variables = [Variable::numeric("x"), Variable::character("c", 4)];
    let options = WriteOptions {
        encoding,
        ..WriteOptions::default()
    };
    let mut writer = Writer::create(Vec::new(), &variables, options).unwrap();
    let mut row = vec![b' '; writer.layout().row_bytes as usize];
    let places = writer.layout().offsets.clone();
    row[places[0] as usize..][..8].copy_from_slice(&1f64.to_le_bytes());
    row[places[1] as usize..][..text.len()].copy_from_slice(text);
    writer.write_row(&row).unwrap();
    writer.finish().unwrap().0
}

fn metadata(store: &MemoryStore, path: &str) -> Metadata {
    let bytes = store.get(path).expect("the data set is there");
    let reader = Reader::open(bytes.as_slice()).unwrap();
    reader.metadata().clone()
}

/// Text of column `c` of the first row, decoded as the data set says.
fn text(store: &MemoryStore, path: &str) -> String {
    let bytes = store.get(path).expect("the data set is there");
    let mut reader = Reader::open(bytes.as_slice()).unwrap();
    let column = reader.metadata().column("c").unwrap();
    let encoding = reader.metadata().encoding;
    let row = reader.next_row().unwrap().unwrap().to_vec();
    encoding
        .decode(reader.bytes(column, &row))
        .trim_end()
        .to_owned()
}

fn with_encodings(program: &str) -> (Ran, MemoryStore) {
    let store = store();
    store.put("/data/l.sas7bdat", dataset(Encoding::WLATIN1, b"\xe9"));
    store.put("/data/u.sas7bdat", dataset(Encoding::UTF_8, "é".as_bytes()));
    (run_on(Arc::new(store.clone()), program), store)
}

#[test]
fn outputs_have_the_encoding_of_the_texts_in_them() {
    for (program, encoding) in [
        ("data d.out; set d.l; run;", Encoding::WLATIN1),
        ("data d.out; set d.u; run;", Encoding::UTF_8),
        ("data d.out; set d.l(drop=c) d.u; run;", Encoding::UTF_8),
        (
            "proc sort data=d.l out=d.out; by c; run;",
            Encoding::WLATIN1,
        ),
    ] {
        let (ran, store) = with_encodings(program);
        assert_eq!(ran.exit, 0, "{}", ran.log);
        let out = "/data/out.sas7bdat";
        assert_eq!(metadata(&store, out).encoding, encoding, "{program}");
        if !program.contains("drop=c") {
            assert_eq!(text(&store, out), "é", "{program}");
        }
    }
}

#[test]
fn texts_of_two_encodings_do_not_go_into_one_step() {
    let (ran, store) = with_encodings("data d.out; set d.l d.u; run;");
    assert_eq!(ran.exit, 2);
    assert!(
        ran.log
            .contains("D.L has the encoding wlatin1 and D.U has utf-8"),
        "{}",
        ran.log
    );
    assert!(store.get("/data/out.sas7bdat").is_none());
}

#[test]
fn texts_of_the_program_meet_data_in_the_encoding_of_the_data() {
    for condition in ["where c = 'é';", "if c = 'é';", "where c in ('é');"] {
        let (ran, store) =
            with_encodings(&format!("data d.out; set d.l; {condition} c = 'ü'; run;"));
        assert_eq!(ran.exit, 0, "{}", ran.log);
        assert_eq!(
            metadata(&store, "/data/out.sas7bdat").rows,
            1,
            "{condition}"
        );
        assert_eq!(text(&store, "/data/out.sas7bdat"), "ü");
    }
    let (ran, _) = with_encodings("data d.out; set d.l; if c = '中'; run;");
    assert!(
        ran.log.contains("wlatin1 of the data set lacks"),
        "{}",
        ran.log
    );
    let (ran, _) = with_encodings("data d.out; e = 'é'; set d.l; run;");
    assert!(ran.log.contains("after the SET statement"), "{}", ran.log);
}

#[test]
fn print_shows_texts_of_every_encoding() {
    for name in ["l", "u"] {
        let (ran, _) = with_encodings(&format!("proc print data=d.{name}; run;"));
        assert!(ran.listing.contains('é'), "{}", ran.listing);
    }
}

#[test]
fn a_sort_keeps_the_label_and_in_place_the_compression() {
    let make = "data d.a(label='Rows' compress=char); length c $200; x = 1; run;";
    for (sort, path, label, compression) in [
        (
            "proc sort data=d.a; by x;",
            "/data/a.sas7bdat",
            "Rows",
            Compression::Char,
        ),
        (
            "options compress=binary; proc sort data=d.a; by x;",
            "/data/a.sas7bdat",
            "Rows",
            Compression::Char,
        ),
        (
            "proc sort data=d.a out=d.b; by x;",
            "/data/b.sas7bdat",
            "Rows",
            Compression::None,
        ),
        (
            "proc sort data=d.a out=d.b(label='New' compress=binary); by x;",
            "/data/b.sas7bdat",
            "New",
            Compression::Binary,
        ),
    ] {
        let (_, store) = clean(&format!("{make} {sort} run;"));
        let found = metadata(&store, path);
        assert_eq!(
            (found.label.as_str(), found.compression),
            (label, compression),
            "{sort}"
        );
    }
}

#[test]
fn offset_of_a_library_aligns_pages() {
    let header_of = |options: &str| {
        let step = "data l.a; x = 1; run;";
        let program = format!("options noalignsasiofiles; libname l '/data' {options}; {step}");
        let store = store();
        let ran = run_on(Arc::new(store.clone()), &program);
        let bytes = store.get("/data/a.sas7bdat");
        let header = bytes.map(|bytes| {
            Reader::open(bytes.as_slice())
                .unwrap()
                .metadata()
                .header_bytes
        });
        (header, ran.log, store.paths())
    };
    assert_eq!(header_of("").0, Some(8192));
    assert_eq!(header_of("bufsize=64k offset=16k").0, Some(65_536));
    assert_eq!(header_of("bufsize=12k offset=8k").0, Some(8192));
    let (none, log, left) = header_of("bufsize=64k offset=48k");
    assert_eq!(none, None);
    assert!(
        log.contains("Pages of L.A cannot begin at multiples of OFFSET=49152"),
        "{log}"
    );
    assert!(left.is_empty(), "{left:?}");
    assert!(
        header_of("offset=1000")
            .1
            .contains("OFFSET=1000 is not a multiple of 1024")
    );
}
