//! How far a run's own figures can be trusted: what else happened on the node, what measuring cost,
//! what the peaks were.

use std::fmt::Write;

use results::run::RunResult;

/// Lines for a terminal; empty if nothing was sampled.
pub fn lines(result: &RunResult) -> String {
    let mut out = String::new();
    let mut line = |text: &str| writeln!(out, "{text}").expect("writing to a String cannot fail");
    let all = &result.aggregate;
    if let Some((cpu_s, share)) = all.launcher_cpu_s.zip(all.launcher_cpu_share) {
        line(&format!(
            "Launcher and sampler took {cpu_s:.3} s of CPU time, {:.2} % of one core",
            share * 100.0
        ));
    }
    if let Some(ratio) = all.data_to_memory_ratio {
        line(&format!("Staged data are {ratio:.3} times the memory"));
    }
    if let Some((share, basis)) = all
        .physical_read_share
        .zip(all.physical_read_basis.as_ref())
    {
        let percent = share * 100.0;
        line(&format!(
            "{percent:.1} % of the bytes read were read physically ({basis})"
        ));
    }
    if let Some(peak) = &result.sustained_peak {
        line(&format!("Highest mean over {:.0} s:", peak.window_s));
        if let Some(total) = peak.mb_per_s {
            line(&format!("  {:<9} {total:>9.1} MB/s", "total"));
        }
        for (name, rate) in &peak.channels {
            line(&format!("  {name:<9} {rate:>9.1} MB/s"));
        }
        // A host has loop devices and the like by the dozen.
        for (name, rate) in peak.devices.iter().filter(|one| *one.1 > 0.0) {
            let ways = peak
                .device_reads
                .get(name)
                .zip(peak.device_writes.get(name));
            let ways = ways.map_or(String::new(), |(read, write)| {
                format!(" (reads alone {read:.1}, writes alone {write:.1})")
            });
            line(&format!("  {name:<9} {rate:>9.1} MB/s{ways}"));
        }
    }
    for one in &result.disturbance {
        let mark = if one.exceeded { "BEYOND LIMIT: " } else { "" };
        line(&format!("{mark}{}", one.statement));
    }
    for text in &result.not_measured {
        line(&format!("Not measured: {text}"));
    }
    out
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use results::run::{Aggregate, Disturbance, SustainedPeak, Verdict};

    use super::*;

    #[test]
    fn only_what_was_measured_is_printed() {
        let mut result = RunResult {
            engine: None,
            drift: None,
            schema: String::new(),
            run: String::new(),
            suite: String::new(),
            scale: 1.0,
            verdict: Verdict::default(),
            jobs: Vec::new(),
            channels: BTreeMap::new(),
            aggregate: Aggregate::default(),
            nodes: Vec::new(),
            disturbance: Vec::new(),
            sustained_peak: None,
            not_measured: Vec::new(),
            audits: Vec::new(),
        };
        assert_eq!(lines(&result), "");
        result.aggregate.launcher_cpu_s = Some(0.25);
        result.aggregate.launcher_cpu_share = Some(0.0042);
        result.disturbance = vec![Disturbance {
            exceeded: true,
            statement: "others were loud".to_owned(),
            ..Disturbance::default()
        }];
        result.sustained_peak = Some(SustainedPeak {
            window_s: 60.0,
            mb_per_s: Some(512.0),
            devices: [("sda".to_owned(), 50.0), ("sdb".to_owned(), 0.0)].into(),
            device_reads: [("sda".to_owned(), 30.0)].into(),
            device_writes: [("sda".to_owned(), 25.0)].into(),
            ..SustainedPeak::default()
        });
        result.not_measured = vec!["physical reads of work".to_owned()];
        let text = lines(&result);
        for part in [
            "0.250 s of CPU time, 0.42 % of one core",
            "BEYOND LIMIT: others were loud",
            "Not measured: physical reads of work",
            "  total         512.0 MB/s",
            "  sda            50.0 MB/s (reads alone 30.0, writes alone 25.0)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("sdb"), "{text}");
    }
}
