//! Runs DATA steps over a store in memory, without procedures.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use base::meter::FixedMeter;
use base::store::memory::MemoryStore;
use engine::accounting::RowHashes;
use engine::library::Libraries;
use engine::options::Options;
use engine::session::{self, Setup, Symbols, Temporaries};

#[derive(Clone, Default)]
struct Text(Arc<Mutex<Vec<u8>>>);

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The log of `program` and its exit code.
#[track_caller]
pub(crate) fn run(program: &str) -> (String, u8) {
    let store = MemoryStore::new();
    for directory in ["/work", "/util"] {
        store.add_directory(directory);
    }
    let log = Text::default();
    let mut options = Options::new(2);
    options.set("nostimer", None).unwrap();
    let setup = Setup {
        pace: None,
        store: Arc::new(store),
        meter: Arc::new(FixedMeter::default()),
        log: Box::new(log.clone()),
        header: Vec::new(),
        listing: Box::new(io::sink()),
        procedures: Vec::new(),
        options,
        libraries: Libraries::default(),
        symbols: Symbols::new(),
        work: "/work".into(),
        util: "/util".into(),
        host: "here".into(),
        process_id: 0x1E4B,
        seed: 1,
        row_hashes: RowHashes::All,
        sync_outputs: false,
        temporaries: Arc::new(Temporaries::default()),
        include: Box::new(|path| Err(format!("{} is not there", path.display()))),
        observer: Box::new(|_| {}),
    };
    let ended = session::run(setup, "test.sas", program).unwrap();
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    (log, ended.exit_code())
}

/// Lines of the log that begin with `>`: what PUT statements of a clean program wrote.
#[track_caller]
pub(crate) fn put(program: &str) -> Vec<String> {
    let (log, exit) = run(program);
    assert_eq!(exit, 0, "{log}");
    let lines = log.lines().filter_map(|line| line.strip_prefix('>'));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Runs a program that must end with an error, and looks for `text` in its log.
#[track_caller]
pub(crate) fn fails(program: &str, text: &str) {
    let (log, exit) = run(program);
    assert_eq!(exit, 2, "{program}\n{log}");
    assert!(log.contains(text), "{text}\n{log}");
}
