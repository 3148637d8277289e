//! The table of a run for a terminal: readable without colour, at most 100 columns wide.

use std::fmt::Write;

use base::units::Bytes;
use results::node::NodeRecord;
use results::run::{JobResult, RunPlan, RunResult};

/// A run's figures as text; `node` is what its samples were taken on.
pub fn run(plan: &RunPlan, result: &RunResult, node: Option<&NodeRecord>) -> String {
    let mut out = String::new();
    heading(&mut out, plan);
    jobs(&mut out, result);
    channels(&mut out, result);
    aggregate(&mut out, plan, result);
    out += &crate::measured::lines(result, node);
    let verdict = result.verdict.result.replace('_', " ");
    line(
        &mut out,
        &format!("\nVerdict: {verdict}: {}", result.verdict.reason),
    );
    out
}

fn line(out: &mut String, text: &str) {
    writeln!(out, "{}", text.trim_end()).expect("writing to a String cannot fail");
}

fn heading(out: &mut String, plan: &RunPlan) {
    line(
        out,
        &format!("Suite {} on {} ({})", plan.suite, plan.node, plan.run),
    );
    line(
        out,
        &format!(
            "  {}, {} of input, {} ({}), memory {}; {}",
            counted(plan.jobs.len() as u64, "job"),
            Bytes(
                plan.staged_bytes
                    .unwrap_or_else(|| { plan.jobs.iter().map(|job| job.input_bytes).sum() })
            ),
            counted(u64::from(plan.cores), "core"),
            plan.cores_basis,
            Bytes(plan.memory_bytes),
            plan.scale_reason,
        ),
    );
    let qualifying = if plan.qualifying {
        "qualifying run: all files together are at least three times the memory"
    } else {
        "not a qualifying run: all files together are less than three times the memory"
    };
    line(out, &format!("  {qualifying}"));
    for note in &plan.notes {
        line(out, &format!("  {note}"));
    }
    line(out, "");
}

/// `1 job`, `2 jobs`.
fn counted(number: u64, what: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {what}{plural}")
}

/// A figure, or a dash where nothing was measured.
pub(crate) fn figure(value: Option<f64>, decimals: usize) -> String {
    value.map_or("-".to_owned(), |value| format!("{value:.decimals$}"))
}

fn jobs(out: &mut String, result: &RunResult) {
    let width = result
        .jobs
        .iter()
        .map(|job| job.name.len())
        .max()
        .unwrap_or(3)
        .max(9);
    line(
        out,
        &format!(
            "{:<width$} {:>9} {:>9} {:>9} {:>9} {:>9} {:>5}  {}",
            "Job", "real s", "user s", "system s", "CPU/real", "MB/s", "runs", "verified"
        ),
    );
    for job in &result.jobs {
        let cpu = job
            .user_s
            .zip(job.system_s)
            .map(|(user, system)| user + system);
        let ratio = cpu
            .zip(job.real_s.filter(|real| *real > 0.0))
            .map(|(cpu, real)| cpu / real);
        let moved = job
            .read_bytes
            .zip(job.write_bytes)
            .map(|(read, written)| read + written);
        let real = job.real_s.filter(|real| *real > 0.0);
        let rate = moved
            .zip(real)
            .map(|(bytes, real)| bytes as f64 / 1e6 / real);
        line(
            out,
            &format!(
                "{:<width$} {:>9} {:>9} {:>9} {:>9} {:>9} {:>5}  {}",
                job.name,
                figure(job.real_s, 2),
                figure(job.user_s, 2),
                figure(job.system_s, 2),
                figure(ratio, 2),
                figure(rate, 1),
                job.sort_runs,
                state(job),
            ),
        );
    }
    line(out, "");
}

fn state(job: &JobResult) -> &'static str {
    match (job.exit, job.verified) {
        (None, _) if job.real_s.is_some() => "ended by a signal",
        (None, _) => "did not finish",
        (Some(2..), _) => "ended with errors",
        (_, Some(true)) => "yes",
        (_, Some(false)) => "NO",
        (_, None) => "not checked",
    }
}

fn channels(out: &mut String, result: &RunResult) {
    line(
        out,
        &format!(
            "{:<9} {:>12} {:>12} {:>9} {:>12}",
            "Channel", "read", "written", "MB/s", "read:write"
        ),
    );
    for (name, channel) in &result.channels {
        let ratio = (channel.write_bytes > 0)
            .then(|| channel.read_bytes as f64 / channel.write_bytes as f64);
        line(
            out,
            &format!(
                "{name:<9} {:>12} {:>12} {:>9} {:>12}",
                Bytes(channel.read_bytes).to_string(),
                Bytes(channel.write_bytes).to_string(),
                figure(channel.mb_per_s, 1),
                figure(ratio, 2),
            ),
        );
    }
    line(out, "");
}

/// Share of the bytes read that came from devices, %.
fn device_share(result: &RunResult) -> Option<f64> {
    let all = &result.aggregate;
    let (device, read) = all.device_read_bytes.zip(all.read_bytes)?;
    (read > 0).then(|| device as f64 / read as f64 * 100.0)
}

fn aggregate(out: &mut String, plan: &RunPlan, result: &RunResult) {
    let all = &result.aggregate;
    let rows = [
        (
            "Elapsed, first launch to last end",
            figure(all.elapsed_s, 2),
            "s",
        ),
        ("First job done after", figure(all.first_done_s, 2), "s"),
        ("Sum of real times", figure(Some(all.real_s), 2), "s"),
        ("Sum of user CPU times", figure(Some(all.user_s), 2), "s"),
        (
            "Sum of system CPU times",
            figure(Some(all.system_s), 2),
            "s",
        ),
        (
            "CPU/real, mean of ratios",
            figure(all.cpu_real_mean_of_ratios, 3),
            "",
        ),
        (
            "CPU/real, ratio of sums",
            figure(all.cpu_real_ratio_of_sums, 3),
            "",
        ),
        ("Throughput", figure(all.mb_per_s, 1), "MB/s"),
        ("Flush after the last end", figure(all.flush_s, 2), "s"),
        (
            "Throughput, flush included",
            figure(all.mb_per_s_flushed, 1),
            "MB/s",
        ),
        (
            "Throughput per core, flush included",
            figure(all.mb_per_s_per_core, 1),
            "MB/s",
        ),
        (
            "Bytes moved per byte sorted",
            figure(all.moved_per_sorted, 3),
            "(4 when sorts spill)",
        ),
        (
            "Read from devices, of all reads",
            figure(device_share(result), 1),
            "% (as the kernel counts; the rest came from caches)",
        ),
        (
            "Input cached at the start",
            figure(all.cached_share.map(|share| share * 100.0), 1),
            if plan.cold { "%" } else { "% (warm start)" },
        ),
    ];
    for (label, value, unit) in rows {
        line(out, &format!("{label:<36} {value:>10} {unit}"));
    }
}
