//! Programs that run: each byte of the input is a choice of a small grammar, so that most of them
//! make sense and all of them end.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;

use base::meter::FixedMeter;
use base::store::memory::MemoryStore;
use engine::library::{Libraries, Library};
use engine::options::Options;
use engine::session::{self, Setup, Symbols, Temporaries};

/// Steps and statements of a program at most.
const STEPS_MAX: usize = 8;
const STATEMENTS_MAX: usize = 8;

const DATASETS: [&str; 5] = ["a", "b", "d.p", "d.q", "nosuch"];
const VARIABLES: [&str; 7] = ["x", "y", "z", "c", "t", "x1-x3", "nosuch"];
const OPERATORS: [&str; 14] = [
    "+", "-", "*", "/", "**", "=", "<", ">=", "ne", "and", "or", "||", "><", "=:",
];
const CONSTANTS: [&str; 12] = [
    "0",
    "1",
    "-1",
    "3.5",
    "1e308",
    ".",
    ".a",
    "'text'",
    "''",
    "'01jan2020'd",
    "1e-320",
    "7",
];
const FUNCTIONS: [&str; 30] = [
    "sqrt", "log", "exp", "mod", "round", "sum", "mean", "substr", "scan", "trim", "cats", "put",
    "input", "intnx", "intck", "lag", "dif", "rand", "ranuni", "probnorm", "quantile", "tranwrd",
    "repeat", "compress", "index", "length", "coalesce", "ifn", "min", "symget",
];
const FORMATS: [&str; 10] = [
    "best12.",
    "8.2",
    "comma10.",
    "date9.",
    "$5.",
    "z4.",
    "percent8.1",
    "hex16.",
    "f.",
    "datetime20.",
];
const OPTIONS: [&str; 8] = [
    "keep=x",
    "drop=y",
    "obs=3",
    "firstobs=2",
    "where=(x > 1)",
    "rename=(x=w)",
    "index=(x)",
    "compress=char",
];

/// Choices from bytes; when they run out, the first of everything.
struct Choices<'b> {
    bytes: std::slice::Iter<'b, u8>,
}

impl Choices<'_> {
    fn below(&mut self, limit: usize) -> usize {
        usize::from(*self.bytes.next().unwrap_or(&0)) % limit
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    fn dataset(&mut self) -> String {
        let name = self.pick(&DATASETS);
        match self.below(4) {
            0 => format!("{name}({})", self.pick(&OPTIONS)),
            _ => name.to_owned(),
        }
    }

    fn expression(&mut self, depth: usize) -> String {
        match self.below(if depth == 0 { 2 } else { 5 }) {
            0 => self.pick(&CONSTANTS).to_owned(),
            1 => self.pick(&VARIABLES[..5]).to_owned(),
            2 => format!("({})", self.expression(depth - 1)),
            3 => {
                let arguments: Vec<String> = (0..self.below(4))
                    .map(|_| self.expression(depth - 1))
                    .collect();
                format!("{}({})", self.pick(&FUNCTIONS), arguments.join(", "))
            }
            _ => {
                let (left, operator) = (self.expression(depth - 1), self.pick(&OPERATORS));
                format!("{left} {operator} {}", self.expression(depth - 1))
            }
        }
    }

    fn statement(&mut self, depth: usize) -> String {
        let variable = self.pick(&VARIABLES[..5]);
        match self.below(20) {
            0..=4 => format!("{variable} = {};", self.expression(2)),
            5 => format!("{variable} + {};", self.expression(1)),
            6 => format!("set {};", self.dataset()),
            7 => format!("merge {} {};", self.dataset(), self.dataset()),
            8 => format!("by {variable};"),
            9 => format!("if {} then {}", self.expression(1), self.nested(depth)),
            10 => {
                let last = self.below(9);
                // A loop over the variable of the one around it would not end.
                format!("do i{depth} = 1 to {last}; {} end;", self.nested(depth))
            }
            11 => "output;".to_owned(),
            12 => format!("length {variable} ${};", self.below(12) + 1),
            13 => format!("retain {variable} {};", self.pick(&CONSTANTS)),
            14 => format!("put {variable} {};", self.pick(&FORMATS)),
            15 => format!("format {variable} {};", self.pick(&FORMATS)),
            16 => format!("array r{{3}} x1-x3; r{{{}}} = 1;", self.expression(1)),
            17 => format!("where {};", self.expression(1)),
            18 => format!("call symputx('m', {});", self.expression(1)),
            _ => self
                .pick(&["delete;", "stop;", "return;", "drop x;", "keep y;", ";"])
                .to_owned(),
        }
    }

    fn nested(&mut self, depth: usize) -> String {
        if depth == 0 {
            return ";".to_owned();
        }
        self.statement(depth - 1)
    }

    fn step(&mut self) -> String {
        let (data, variable) = (self.dataset(), self.pick(&VARIABLES));
        let body = |choices: &mut Self| -> String {
            (0..=choices.below(STATEMENTS_MAX))
                .map(|_| choices.statement(2))
                .collect()
        };
        match self.below(24) {
            0..=5 => format!("data {data}; {} run;", body(self)),
            6 => format!(
                "proc sort data={data} out={}; by {variable}; run;",
                self.dataset()
            ),
            7 => {
                format!("proc means data={data}; class {variable}; var x; output out=a mean=; run;")
            }
            8 => format!("proc freq data={data}; tables {variable}*x / chisq out=b; run;"),
            9 => format!("proc print data={data}; by {variable}; sum x; run;"),
            10 => format!(
                "proc append base={} data={data} force; run;",
                self.pick(&DATASETS)
            ),
            11 => format!("proc reg data={data}; model x = {variable} y; run; quit;"),
            12 => format!("%let m = {}; %put &m %eval(&m + 1);", self.pick(&CONSTANTS)),
            13 => format!(
                "proc datasets lib=work nolist; delete {}; quit;",
                self.pick(&DATASETS[..2])
            ),
            14 => format!(
                "proc datasets lib=d nolist; modify {}; index create {variable}; rename x = w; \
                 label y = 'why'; quit;",
                self.pick(&["p", "q"])
            ),
            15 => format!("data b; set {data}; set d.p key={variable}; run;"),
            16 => format!(
                "proc glm data={data}; class {variable}; model x = {variable} y; run; quit;"
            ),
            17 => format!("proc logistic data={data}; model {variable} = x y; run;"),
            18 => format!(
                "proc copy in=work out=d; select {}; run;",
                self.pick(&DATASETS[..2])
            ),
            _ => self.query(&data),
        }
    }

    fn query(&mut self, data: &str) -> String {
        let (other, condition) = (self.dataset(), self.expression(2));
        let (variable, value) = (self.pick(&VARIABLES[..5]), self.expression(1));
        let query = match self.below(6) {
            0 => format!("select {value} as v, x from {data} where {condition} order by v"),
            1 => format!(
                "select {variable}, count(*) as n from {data} group by {variable} having n > 1"
            ),
            2 => format!(
                "select a.*, b.y as yy from {data} as a left join {other} as b on a.x = b.x"
            ),
            3 => format!("select distinct {variable} from {data} union select x from {other}"),
            4 => {
                format!("select * from {data} where x in (select x from {other} where {condition})")
            }
            _ => format!("select max({value}) as m from {data} as a, {other} as b where a.x = b.y"),
        };
        match self.below(3) {
            0 => format!("proc sql; {query}; quit;"),
            1 => format!("proc sql; create table a as {query}; quit;"),
            _ => format!("proc sql; create table d.q as {query}; create index x on d.q(x); quit;"),
        }
    }
}

/// Nothing is looked at that is printed.
struct Sink;

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Runs the program that the bytes choose.
pub fn execute_program(bytes: &[u8]) {
    let mut choices = Choices {
        bytes: bytes.iter(),
    };
    let made = "data a d.p; do x = 1 to 5; y = 6 - x; z = .; c = put(x, z3.); output; end; run;\n";
    let mut program = made.to_owned();
    for _ in 0..=choices.below(STEPS_MAX) {
        program.push_str(&choices.step());
        program.push('\n');
    }
    let store = MemoryStore::new();
    for directory in ["/work", "/util", "/data"] {
        store.add_directory(directory);
    }
    let mut libraries = Libraries::default();
    libraries.assign(Library::permanent("D", PathBuf::from("/data")));
    let mut options = Options::new(1);
    for (name, value) in [("SORTSIZE", "1m"), ("MEMSIZE", "80m"), ("BUFSIZE", "4k")] {
        options
            .set(name, Some(value))
            .expect("the options are sound");
    }
    // Steps after an error run, too.
    options
        .set("NOSYNTAXCHECK", None)
        .expect("the option is one");
    let setup = Setup {
        store: Arc::new(store.clone()),
        meter: Arc::new(FixedMeter::default()),
        log: Box::new(Sink),
        listing: Box::new(Sink),
        procedures: procs::all(),
        options,
        libraries,
        symbols: Symbols::new(),
        work: "/work".into(),
        util: "/util".into(),
        host: "here".into(),
        process_id: 1,
        seed: 1,
        header: Vec::new(),
        row_hashes: engine::accounting::RowHashes::None,
        sync_outputs: false,
        pace: None,
        temporaries: Arc::new(Temporaries::default()),
        include: Box::new(|_| Err("there is no such file".to_owned())),
        observer: Box::new(|_| {}),
    };
    let ended = session::run(setup, "fuzz.sas", &program);
    assert!(ended.is_ok(), "the session failed: {program}");
    let left: Vec<_> = store
        .paths()
        .into_iter()
        .filter(|path| !path.starts_with("/data"))
        .collect();
    assert!(
        left.is_empty(),
        "temporary files are left: {left:?} by {program}"
    );
    for path in store.paths() {
        let whole = !path.to_string_lossy().ends_with(".lck");
        assert!(
            whole,
            "an unfinished file is left: {} by {program}",
            path.display()
        );
    }
}
