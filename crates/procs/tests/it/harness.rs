//! Runs a program over a store in memory.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use base::meter::FixedMeter;
use base::store::Store;
use base::store::memory::MemoryStore;
use engine::accounting::{RowHashes, StepKind, StepSummary};
use engine::library::{Libraries, Library};
use engine::options::Options;
use engine::session::{self, Observer, Setup, Symbols, Temporaries};
use sas7bdat::{Kind, Reader, missing};

/// What a program left.
pub(crate) struct Ran {
    pub(crate) log: String,
    pub(crate) listing: String,
    pub(crate) exit: u8,
    pub(crate) steps: Vec<StepSummary>,
}

#[derive(Clone, Default)]
pub(crate) struct Text(Arc<Mutex<Vec<u8>>>);

impl Text {
    pub(crate) fn get(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Text {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A store with the directories that programs expect: `/work`, `/util`, `/data` (libref D).
pub(crate) fn store() -> MemoryStore {
    let store = MemoryStore::new();
    for directory in ["/work", "/util", "/data"] {
        store.add_directory(directory);
    }
    store
}

/// A session over `store` that writes to `log` and `listing`; `observer` is told of steps, not of the session's end.
pub(crate) fn setup(
    store: Arc<dyn Store>,
    log: Box<dyn Write + Send>,
    listing: Box<dyn Write + Send>,
    mut observer: Observer,
) -> Setup {
    let mut libraries = Libraries::default();
    libraries.assign(Library::permanent("D", PathBuf::from("/data")));
    let mut options = Options::new(2);
    options.set("nostimer", None).unwrap();
    Setup {
        pace: None,
        store,
        meter: Arc::new(FixedMeter::default()),
        log,
        header: Vec::new(),
        listing,
        procedures: procs::all(),
        options,
        libraries,
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
        observer: Box::new(move |step| {
            if step.kind != StepKind::End {
                observer(step);
            }
        }),
    }
}

/// Runs `program` over `store`.
pub(crate) fn run_on(store: Arc<dyn Store>, program: &str) -> Ran {
    let (log, listing) = (Text::default(), Text::default());
    let steps = Arc::new(Mutex::new(Vec::new()));
    let seen = steps.clone();
    let setup = setup(
        store,
        Box::new(log.clone()),
        Box::new(listing.clone()),
        Box::new(move |step| seen.lock().unwrap().push(step.clone())),
    );
    let exit = match session::run(setup, "test.sas", program) {
        Ok(ended) => ended.exit_code(),
        Err(failure) => {
            return Ran {
                log: format!("{failure:?}"),
                listing: String::new(),
                exit: 3,
                steps: Vec::new(),
            };
        }
    };
    let steps = steps.lock().unwrap().clone();
    Ran {
        log: log.get(),
        listing: listing.get(),
        exit,
        steps,
    }
}

/// The log of `program` on a fresh store, and its exit code.
pub(crate) fn run(program: &str) -> (String, u8) {
    let ran = run_on(Arc::new(store()), program);
    (ran.log, ran.exit)
}

/// Lines of the log that begin with `>`: what PUT statements of a clean program wrote.
#[track_caller]
pub(crate) fn put(program: &str) -> Vec<String> {
    let (ran, _) = clean(program);
    let lines = ran.log.lines().filter_map(|line| line.strip_prefix('>'));
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Runs a program on a fresh store that must end with an error, and looks for `text` in its log.
#[track_caller]
pub(crate) fn fails(program: &str, text: &str) {
    let ran = run_on(Arc::new(store()), program);
    assert_eq!(ran.exit, 2, "{program}\n{}", ran.log);
    assert!(ran.log.contains(text), "{text}\n--- in ---\n{}", ran.log);
}

/// Runs a program that must end cleanly on a fresh store; returns both.
pub(crate) fn clean(program: &str) -> (Ran, MemoryStore) {
    let store = store();
    let ran = run_on(Arc::new(store.clone()), program);
    assert_eq!(ran.exit, 0, "{}", ran.log);
    (ran, store)
}

/// All rows of a data set as text: numbers as they are, missing values as `.` or `.A`, texts
/// trimmed; one row a line.
pub(crate) fn rows(store: &MemoryStore, path: impl AsRef<Path>) -> Vec<String> {
    let bytes = store.get(path.as_ref()).expect("the data set is there");
    let mut reader = Reader::open(bytes.as_slice()).expect("it is a data set");
    let variables = reader.metadata().variables.clone();
    let mut rows = Vec::new();
    while let Some(row) = reader.next_row().unwrap().map(<[u8]>::to_vec) {
        let cells = variables
            .iter()
            .enumerate()
            .map(|(column, variable)| match variable.kind {
                Kind::Numeric => number(reader.decode_numeric(column, &row)),
                Kind::Character => String::from_utf8_lossy(reader.bytes(column, &row))
                    .trim_end()
                    .to_owned(),
            });
        rows.push(cells.collect::<Vec<_>>().join(" "));
    }
    rows
}

fn number(value: f64) -> String {
    match missing::code(value) {
        None => value.to_string(),
        Some(0) => ".".to_owned(),
        Some(code) => format!(".{}", char::from(code)),
    }
}

/// Names of the variables of a data set, in order.
pub(crate) fn variables(store: &MemoryStore, path: &str) -> Vec<String> {
    let bytes = store.get(path).expect("the data set is there");
    let reader = Reader::open(bytes.as_slice()).expect("it is a data set");
    reader
        .metadata()
        .variables
        .iter()
        .map(|variable| variable.name.clone())
        .collect()
}
