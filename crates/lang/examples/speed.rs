//! How fast programs are read: `cargo run --release -p gristmill-lang --example speed`.
//!
//! A program of 10,000 lines without macros, and a macro that makes 7,000 small steps.

#![allow(clippy::print_stdout, reason = "prints its figures")]

use std::time::{Duration, Instant};

use lang::{Host, Macros, Session};

#[derive(Default)]
struct Bare(Macros);

impl Host for Bare {
    fn macros(&self) -> &Macros {
        &self.0
    }

    fn macros_mut(&mut self) -> &mut Macros {
        &mut self.0
    }

    fn include(&mut self, path: &str) -> Result<String, String> {
        Err(format!("{path} is not there"))
    }
}

/// The time of reading a program and how many steps it has.
fn read(text: &str) -> (Duration, usize) {
    let start = Instant::now();
    let mut host = Bare::default();
    let mut session = Session::new("speed.sas", text);
    let mut steps = 0;
    loop {
        let pulled = session.next(&mut host);
        assert!(pulled.diagnostics.is_empty(), "{:?}", pulled.diagnostics);
        steps += usize::from(pulled.step.is_some());
        if pulled.finished {
            return (start.elapsed(), steps);
        }
    }
}

fn median(text: &str) -> (Duration, usize) {
    let mut runs: Vec<_> = (0..9).map(|_| read(text)).collect();
    runs.sort();
    runs[4]
}

fn main() {
    let step = "data work.a&n (keep=x y1-y3);\n  set in.b(obs=10 where=(x > 1));\n  \
                length c $ 8;\n  if x > 3 and not missing(y1) then do;\n    \
                y2 = sqrt(x**2 + y1) * (1 - 0.5 * y3);\n    c = put(x, best12.2) || 'text';\n  end;\n  \
                else y3 + 1;\nrun;\n/* The next step. */\n";
    let program = format!("%let n = 1;\n{}", step.repeat(1_000));
    let (time, steps) = median(&program);
    println!(
        "{} lines, {} bytes, {steps} steps: {:.1} ms",
        program.lines().count(),
        program.len(),
        time.as_secs_f64() * 1e3
    );
    // What the benchmark of the engine looks for.
    println!("wall_s={:.6}", time.as_secs_f64());
    let program = "%macro loop(n);\n  %local i;\n  %do i = 1 %to &n;\n    \
                   %if %eval(&i / 2 * 2) = &i %then %do;\n      %let half = %eval(&i / 2);\n      \
                   data work.t&i; x = &i; y = &half; run;\n    %end;\n    %else %do;\n      \
                   data work.t&i; x = &i; run;\n    %end;\n  %end;\n%mend loop;\n%loop(7000)\n";
    let (time, steps) = median(program);
    println!(
        "a macro that makes {steps} steps: {:.1} ms, {:.2} us each",
        time.as_secs_f64() * 1e3,
        time.as_secs_f64() * 1e6 / steps as f64
    );
}
