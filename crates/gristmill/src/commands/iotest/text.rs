//! What `gristmill iotest` prints.

use std::fmt::Write as _;

use base::units::Bytes;
use probe::iotest::{DeviceShare, Outcome, PhaseOutcome};
use results::measurement::Measurement;
use results::statistics::summarize;

use super::Host;

/// MB/s that a core is planned to need: of the shared file system (60 to 75) and in all (100 to 150), Isilon
/// F810 paper, section 5.3.
const PER_CORE: [f64; 4] = [60.0, 75.0, 100.0, 150.0];
/// Those of them that the sum of all file systems is held against.
const REQUIRED: [f64; 2] = [100.0, 150.0];

/// A device that moves so many times what the streams do has other users.
const OTHERS: f64 = 1.05;

/// For people.
pub(super) fn table(outcome: &Outcome, host: &Host) -> String {
    let mut out = header(outcome, host);
    let width = outcome.phases.iter().flat_map(|phase| &phase.places);
    let width = width
        .map(|place| place.directory.chars().count())
        .max()
        .unwrap_or(0)
        .max(9);
    let _ = writeln!(
        out,
        "{:<6} {:width$} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>9}",
        "Phase",
        "Directory",
        "bytes",
        "MB/s",
        "slowest",
        "median",
        "fastest",
        "slow/fast",
        "a core"
    );
    for phase in &outcome.phases {
        for place in &phase.places {
            let total = rate(place.bytes(), phase.elapsed_s);
            let Some(rates) = summarize(&place.rates()) else {
                continue;
            };
            let _ = writeln!(
                out,
                "{:<6} {:width$} {:>9} {total:>9.1} {:>8.1} {:>8.1} {:>8.1} {:>9.2} {:>9.1}",
                phase.phase,
                place.directory,
                Bytes(place.bytes()).to_string(),
                rates.min,
                rates.median,
                rates.max,
                rates.min / rates.max,
                total / f64::from(host.cores),
            );
        }
        if phase.places.len() > 1 {
            let total = phase.total_mb_per_s();
            let each = total / f64::from(host.cores);
            let _ = writeln!(
                out,
                "{:<6} {:width$} {:>9} {total:>9.1} {:>45.1}",
                phase.phase, "all", "", each
            );
        }
    }
    out.push_str("MB/s (10^6 bytes) until the last stream ended, flush included; the others are those of streams.\n");
    clocks(outcome, &mut out);
    for phase in &outcome.phases {
        details(phase, outcome, &mut out);
    }
    feeds(outcome, host, &mut out);
    match outcome.wrong_blocks() {
        0 if outcome.phases.iter().all(|phase| phase.phase == "write") => {
            out.push_str("\nNothing was read back, so that nothing was checked.\n");
        }
        0 if outcome.content == "zeros" => out.push_str("\nZeros cannot be checked.\n"),
        0 => out.push_str("\nEvery 4 KiB that was read said that it belongs there.\n"),
        wrong => {
            let _ = writeln!(
                out,
                "\nWRONG DATA: {wrong} blocks that were read were not what had been written there. Do not \
                 use this storage."
            );
        }
    }
    out
}

/// What was done, and on how many cores.
fn header(outcome: &Outcome, host: &Host) -> String {
    let nodes = match outcome.hosts.len() {
        0 => String::new(),
        hosts => format!("{hosts} nodes, each with "),
    };
    format!(
        "{nodes}{} streams in each directory, {} KiB an operation, {} data; {} cores ({})\n\n",
        outcome.streams,
        outcome.block_bytes >> 10,
        outcome.content,
        host.cores,
        host.basis,
    )
}

/// By whose clock nodes begin and end.
fn clocks(outcome: &Outcome, out: &mut String) {
    if let Some(off) = outcome.clocks_within_s {
        let _ = writeln!(
            out,
            "Begin and end of all nodes are by the first one's clock, within {:.1} ms.",
            off * 1e3
        );
    } else if !outcome.hosts.is_empty() {
        out.push_str("Begin and end are by the nodes' own clocks, which must be in step.\n");
    }
}

/// Evenness over time, the cache, and the devices.
fn details(phase: &PhaseOutcome, outcome: &Outcome, out: &mut String) {
    let _ = write!(out, "\n{}: {:.1} s", phase.phase, phase.elapsed_s);
    if phase.together_s < 0.9 * phase.elapsed_s {
        let _ = write!(
            out,
            ", the first stream ended after {:.1} s",
            phase.together_s
        );
    }
    if let Some(rates) = summarize(&phase.mb_per_s).filter(|rates| rates.count > 1) {
        let _ = write!(
            out,
            "; by the second {:.0} to {:.0} MB/s, median {:.0}",
            rates.min, rates.max, rates.median
        );
    }
    match phase.cached_share {
        Some(share) => {
            let _ = write!(out, "; {:.1} % in the page cache at the start", 100.0 * share);
        }
        None if phase.phase == "write" || outcome.warm => {}
        None if outcome.is_limited => {
            out.push_str("; it cannot be seen here what is in the page cache");
        }
        None => out.push_str(
            "; it cannot be seen here what is in the page cache: the files are 1.5 times the memory",
        ),
    }
    out.push('\n');
    if phase.may_be_cached(outcome) {
        out.push_str("  NOT SHOWN: files stayed in the page cache, so that some of this is the rate of memory\n");
    }
    for device in &phase.devices {
        let _ = writeln!(out, "  {}", beside(device));
    }
}

/// What a device moved, beside what streams did.
fn beside(device: &DeviceShare) -> String {
    let moved = |name: &str, device: u64, streams: u64, more: &str| {
        let share = device as f64 / streams as f64;
        let more = if share > OTHERS { more } else { "" };
        let of = || format!(" ({:.1} % of the streams'{more})", 100.0 * share);
        let of = (streams > 0).then(of).unwrap_or_default();
        format!("{name} {}{of}", Bytes(device))
    };
    let others = ": others use it";
    let copies = if device.several {
        ": others use it, or it keeps copies"
    } else {
        others
    };
    let read = moved("read", device.read_bytes, device.streams_read_bytes, others);
    let written = moved(
        "written",
        device.written_bytes,
        device.streams_written_bytes,
        copies,
    );
    format!("{}: {read}, {written}", device.name)
}

/// Cores and nodes that the rates feed.
fn feeds(outcome: &Outcome, host: &Host, out: &mut String) {
    let _ = write!(out, "\n{:<6} {:>9}", "Feeds", "MB/s");
    for each in PER_CORE {
        let _ = write!(out, " {:>18}", format!("cores at {each:.0} MB/s"));
    }
    out.push('\n');
    let whose = if outcome.hosts.is_empty() {
        "this host"
    } else {
        "these nodes"
    };
    for phase in &outcome.phases {
        let total = phase.total_mb_per_s();
        let _ = write!(out, "{:<6} {total:>9.1}", phase.phase);
        for each in PER_CORE {
            let _ = write!(out, " {:>18}", fed(total, each, host));
        }
        let each = total / f64::from(host.cores);
        let reached = REQUIRED.iter().rfind(|wanted| each >= **wanted);
        let reached = reached.map_or_else(
            || format!("below {:.0}", REQUIRED[0]),
            |wanted| format!("{wanted:.0} reached"),
        );
        let _ = writeln!(out, "  {each:.1} MB/s for each core of {whose}: {reached}");
    }
    if let Some(storage) = host.storage_nodes.filter(|_| host.node_cores.is_some()) {
        let _ = writeln!(
            out,
            "In brackets: nodes of the grid in all, and for each of {storage} nodes of the storage."
        );
    }
    out.push_str(
        "60 to 75 MB/s a core are asked of the shared file system, 100 to 150 of all together (Isilon F810 paper, \
         5.3, 2020).\n",
    );
}

/// Cores that a rate feeds at so many MB/s each, the nodes that they are, and nodes of the grid for each of the
/// storage.
fn fed(total: f64, each: f64, host: &Host) -> String {
    let cores = (total / each).floor();
    let Some(of) = host.node_cores else {
        return format!("{cores:.0}");
    };
    let nodes = cores / f64::from(of);
    match host.storage_nodes {
        None => format!("{cores:.0} ({:.0} nodes)", nodes.floor()),
        Some(storage) => format!(
            "{cores:.0} ({:.0}, {:.1} each)",
            nodes.floor(),
            nodes / f64::from(storage)
        ),
    }
}

/// The rates under the names that `rhel_iotest.sh` gives them. It writes zeros and does not drop the page
/// cache; these figures are of other data, and cold.
pub(super) fn sas_style(outcome: &Outcome, host: &Host) -> String {
    let mut out = "RESULTS\n-------\nTARGET DETAILS\n".to_owned();
    for place in outcome
        .phases
        .iter()
        .take(1)
        .flat_map(|phase| &phase.places)
    {
        let _ = writeln!(out, "   directory:    {}", place.directory);
        let bytes = place.bytes() / outcome.streams.max(1) as u64;
        let _ = writeln!(
            out,
            "   iterations:   {}\n   filesize:     {:.2} gigabytes",
            outcome.streams,
            bytes as f64 / 1e9
        );
    }
    out.push_str("\nSTATISTICS\n");
    for name in ["read", "write"] {
        let phase = outcome.phases.iter().find(|phase| phase.phase == name);
        if let Some(phase) = phase {
            let each = phase.total_mb_per_s() / f64::from(host.cores);
            let _ = writeln!(
                out,
                "   {:<28} {each:.2} megabytes/second per physical core",
                format!("{name} throughput rate:")
            );
        }
    }
    let cached = outcome
        .phases
        .iter()
        .any(|phase| phase.may_be_cached(outcome));
    out.push_str("\n********* ALL ERRORS & WARNINGS *********\n");
    if cached {
        out.push_str("<<WARNING>> files stayed in the page cache: potential caching involved\n");
    }
    if outcome.wrong_blocks() > 0 {
        let _ = writeln!(
            out,
            "<<ERROR>> {} blocks read were not what had been written",
            outcome.wrong_blocks()
        );
    }
    out
}

/// For `--json`: those of the test, and what they feed.
pub(super) fn measurements(outcome: &Outcome, host: &Host) -> Vec<Measurement> {
    let mut all = outcome.measurements();
    for phase in &outcome.phases {
        let total = phase.total_mb_per_s();
        all.push(Measurement::new(
            &format!("{}_mb_per_s_per_core", phase.phase),
            total / f64::from(host.cores),
            "MB/s",
            format!("of {} cores: {}", host.cores, host.basis),
        ));
        for each in PER_CORE {
            all.push(Measurement::new(
                &format!("{}_cores_at_{each:.0}", phase.phase),
                (total / each).floor(),
                "cores",
                format!("cores that get {each:.0} MB/s each"),
            ));
        }
    }
    all
}

fn rate(bytes: u64, elapsed_s: f64) -> f64 {
    bytes as f64 / 1e6 / elapsed_s.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_not_said_to_be_others() {
        let mut device = DeviceShare {
            name: "sda, sdb".to_owned(),
            several: true,
            read_bytes: 100,
            written_bytes: 200,
            streams_read_bytes: 100,
            streams_written_bytes: 100,
        };
        let text = beside(&device);
        assert!(text.ends_with("(200.0 % of the streams': others use it, or it keeps copies)"));
        assert!(
            text.starts_with("sda, sdb: read 100 B (100.0 % of the streams'),"),
            "{text}"
        );
        device.several = false;
        assert!(beside(&device).ends_with("others use it)"));
    }

    #[test]
    fn the_isilon_papers_nine_gigabytes_a_second_feed_122_to_153_cores() {
        let mut host = Host {
            cores: 12,
            basis: String::new(),
            node_cores: None,
            storage_nodes: None,
            names: std::collections::BTreeSet::new(),
        };
        // Section 4; its figures follow from gigabytes of 1024 megabytes.
        let total = 9.0 * 1024.0;
        assert_eq!(
            [75.0, 60.0].map(|each| fed(total, each, &host)),
            ["122", "153"]
        );
        host.node_cores = Some(12);
        assert_eq!(fed(total, 75.0, &host), "122 (10 nodes)");
        host.storage_nodes = Some(4);
        assert_eq!(fed(total, 75.0, &host), "122 (10, 2.5 each)");
    }
}
