//! How fast logs are read: `cargo run --release -p gristmill-results --example read_logs -- make 100000 big.log`, then
//! the same with `read big.log`.

#![allow(clippy::print_stdout, reason = "prints its figures")]
#![allow(clippy::disallowed_methods, reason = "measures time and files")]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::time::Instant;

use results::log::reader::read;

/// A log of so many steps: source lines, NOTEs and blocks as a job with FULLSTIMER has them, and pages of 60 lines.
fn make(steps: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "NOTE: SAS (r) Proprietary Software 9.4 (TS1M8)")?;
    writeln!(
        out,
        "NOTE: This session is executing on the Linux 5.14 (LIN X64) platform."
    )?;
    for step in 0..steps {
        let rows = 1_000 + step * 7;
        writeln!(
            out,
            "{:<11}data work.t{step} (keep=id amount region);",
            step * 6 + 1
        )?;
        writeln!(
            out,
            "{:<11}  set perm.sales (where=(region in ('N', 'S')));",
            step * 6 + 2
        )?;
        writeln!(
            out,
            "{:<11}  if amount > {step} then amount = amount * 1.19; else delete;",
            step * 6 + 3
        )?;
        writeln!(out, "{:<11}run;\n", step * 6 + 4)?;
        writeln!(
            out,
            "NOTE: There were {rows} observations read from the data set PERM.SALES."
        )?;
        writeln!(out, "      WHERE region in ('N', 'S');")?;
        writeln!(
            out,
            "NOTE: The data set WORK.T{step} has {rows} observations and 3 variables."
        )?;
        block(step, out)?;
    }
    out.flush()
}

/// The accounting of a step.
fn block(step: u64, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "NOTE: DATA statement used (Total process time):")?;
    writeln!(
        out,
        "      real time           {}.{:02} seconds",
        step % 60,
        step % 100
    )?;
    writeln!(out, "      user cpu time       0.{:02} seconds", step % 100)?;
    if step.is_multiple_of(4) {
        let page = step / 4 + 2;
        writeln!(
            out,
            "\u{c}{page}    The SAS System     09:16 Monday, January 5, 2026\n"
        )?;
    }
    writeln!(out, "      system cpu time     0.01 seconds")?;
    writeln!(out, "      memory              {}.50k", 400 + step % 1000)?;
    writeln!(out, "      OS Memory           {}.00k", 4000 + step % 1000)?;
    writeln!(out, "      Timestamp           01/05/2026 09:16:16 AM")?;
    writeln!(
        out,
        "      Step Count                        {step}  Switch Count  2"
    )?;
    for label in [
        "Page Faults",
        "Page Reclaims",
        "Page Swaps",
        "Voluntary Context Switches",
    ] {
        writeln!(out, "      {label:<34}{}", step % 50)?;
    }
    for label in [
        "Involuntary Context Switches",
        "Block Input Operations",
        "Block Output Operations",
    ] {
        writeln!(out, "      {label:<34}{}", step * 8)?;
    }
    writeln!(out, "      \n")
}

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["make", steps, file] => {
            let steps = steps.parse().map_err(io::Error::other)?;
            make(steps, &mut BufWriter::new(File::create(file)?))
        }
        ["read", file] => {
            let start = Instant::now();
            // What is found is used, so that nothing of the work can be left out.
            let (mut steps, mut blocks) = (0u64, 0u64);
            let about = read(File::open(file)?, &mut |step| {
                steps += 1;
                blocks += step.used.block_output.unwrap_or(0) + step.outputs.len() as u64;
            })?;
            let bytes = about.map_or(0, |about| about.bytes);
            let time_s = start.elapsed().as_secs_f64();
            let rate = bytes as f64 / 1e6 / time_s;
            println!(
                "steps={steps} blocks={blocks} bytes={bytes} time_s={time_s:.3} MB/s={rate:.0}"
            );
            Ok(())
        }
        _ => Err(io::Error::other("make STEPS FILE, or read FILE")),
    }
}
