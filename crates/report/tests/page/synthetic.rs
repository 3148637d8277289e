//! Runs that never were: any number of jobs and samples, the same each time.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "made-up figures are small and positive"
)]

use std::collections::BTreeMap;

use report::page::{Run, condensed};
use results::audit::NodeAudit;
use results::node::NodeRecord;
use results::run::{Event, RunPlan, RunResult};
use results::sample::Sample;
use results::step::StepRecord;
use serde_json::{Value, json};

/// Numbers that look random and are not.
struct Dice(u64);

impl Dice {
    /// From 0 to 1.
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / f64::from(1_u32 << 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + self.roll() * (high - low)
    }
}

const CLASSES: [(&str, &str, &str); 5] = [
    ("sort", "data", "construction"),
    ("glm", "analytics", "modeller"),
    ("etl", "data", "etl"),
    ("means", "compute", "report"),
    ("probe", "latency", "monitor"),
];

const STARTED: f64 = 1_795_000_000.0;

/// A run of `jobs` jobs over `seconds` seconds with a sample a second.
pub fn run(jobs: usize, seconds: usize) -> Run {
    let mut dice = Dice(7);
    let (mut planned, mut results, mut steps) = (Vec::new(), Vec::new(), BTreeMap::new());
    let mut events = vec![
        event(0.0, "stage_started", &json!({})),
        event(9.5, "stage_finished", &json!({})),
        event(
            9.8,
            "evicted",
            &json!({"detail": "the page cache of the host was dropped", "cached_share": 0.004}),
        ),
    ];
    for index in 0..jobs {
        let (kind, class, persona) = CLASSES[index % CLASSES.len()];
        let name = format!("{kind}_{:04}", index + 1);
        let offset = if index == 0 {
            0.0
        } else {
            dice.roll() * seconds as f64 * 0.8
        };
        let real = dice.between(0.02, 0.16) * seconds as f64;
        let failed = index % 173 == 40;
        let (read, written) = (dice.between(1e8, 9e9), dice.between(5e7, 5e9));
        planned.push(
            json!({"name": name, "offset_s": offset, "input_bytes": 400_000_000_u64, "symbols": {},
            "class": class, "persona": persona}),
        );
        results.push(json!({"name": name, "batch": 1, "node": "grid01", "real_s": real, "user_s": real * 0.5,
            "system_s": real * 0.2, "exit": if failed { 2 } else { 0 }, "verified": !failed,
            "error": if failed { Some("ERROR: a job's own words") } else { None }, "late_s": 0.0,
                "findings": if failed { vec!["out.x7 page 12: 1 row differs from the seed's"] } else { vec![] },
            "read_bytes": read as u64, "write_bytes": written as u64, "device_read_bytes": (read * 0.8) as u64,
            "sorted_bytes": 0, "sort_runs": index % 7, "launched_s": offset}));
        events.push(event(10.0 + offset, "job_launched", &json!({"job": name})));
        steps.insert(
            name,
            condensed(
                of_job(&mut dice, STARTED + 10.0 + offset, real, (read, written)),
                jobs,
            ),
        );
    }
    events.push(event(
        10.0 + seconds as f64 * 0.45,
        "mark",
        &json!({"detail": "Node 3 of the array failed over"}),
    ));
    events.push(event(
        10.0 + seconds as f64,
        "flushed",
        &json!({"real_s": 1.5}),
    ));
    events.push(event(14.0 + seconds as f64, "run_finished", &json!({})));
    let samples = (1..=seconds)
        .map(|at| sample(&mut dice, at, seconds))
        .collect();
    Run {
        plan: plan(&planned),
        result: result(&results, seconds),
        events,
        steps,
        samples: BTreeMap::from([("grid01".to_owned(), samples)]),
        nodes: vec![node()],
        audits: vec![audit()],
    }
}

fn made<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("it has the keys of its type")
}

fn event(at_s: f64, kind: &str, more: &Value) -> Event {
    let mut value = json!({"unix_s": STARTED + at_s, "at_s": at_s, "event": kind});
    for (key, of) in more.as_object().expect("an object") {
        value[key] = of.clone();
    }
    made(value)
}

fn node() -> NodeRecord {
    made(
        json!({"node": "grid01", "kernel": "6.12.0", "processors": 64, "file_systems": {
        "data": {"mount_point": "/sasdata", "kind": "nfs4", "source": "isilon:/ifs/sasdata", "counts_itself": true},
        "work": {"mount_point": "/saswork", "kind": "xfs", "source": "/dev/md0", "devices": ["md0", "nvme0n1",
            "nvme1n1"]}},
        "not_measured": ["the speed of the link of eth1: the interface does not tell"]}),
    )
}

/// What is wrong with a mount of the run, with one of others, and with the host; the rest passes or is
/// unknown.
pub fn audit() -> NodeAudit {
    let finding = |id: &str, result: &str, title: &str, more: &Value| {
        let mut value = json!({"id": id, "result": result, "severity": "high", "title": title,
            "bottleneck": ["reads"], "expected": "at least 15360", "running": "128",
            "why": "SAS reads large files from start to end."});
        for (key, of) in more.as_object().expect("an object") {
            value[key] = of.clone();
        }
        value
    };
    let ahead = |subject: &str, directories: &[&str]| {
        let more = json!({"subject": subject, "directories": directories});
        finding("NFS-101", "fail", "NFS: read ahead 15 MiB", &more)
    };
    let mut findings = vec![
        ahead("/sasdata", &["data", "output"]),
        ahead("/home", &[]),
        finding(
            "VM-105",
            "conflict",
            "Keep vm.swappiness between 1 and 30",
            &json!({"severity": "medium"}),
        ),
        finding(
            "VM-001",
            "warn",
            "Let 40 % of memory be dirty",
            &json!({"severity": "medium"}),
        ),
    ];
    for number in 0..90 {
        let result = if number % 3 == 0 { "unknown" } else { "pass" };
        let id = format!("NET-{number:03}");
        findings.push(finding(
            &id,
            result,
            "Send buffers up to 64 MiB",
            &json!({}),
        ));
    }
    made(
        json!({"schema": "gristmill-run-audit/1", "node": "grid01", "took_s": 0.6,
        "counts": {"fail": 2, "conflict": 1, "warn": 1, "unknown": 30, "pass": 60, "not_applicable": 210},
        "findings": findings}),
    )
}

fn plan(jobs: &[Value]) -> RunPlan {
    made(json!({
        "schema": "1.0", "program": "0.1.0 (commit 1234567, x86_64)", "run": "multiuser-20261120T233915Z-1440",
        "suite": "multiuser", "scale": 0.25, "time_scale": 1.0, "parameters": {"concurrency": 100},
        "saturating": true, "staged_bytes": 900_000_000_000_u64, "seed": 1, "started_unix_s": STARTED,
        "node": "grid01", "cores": 32, "cores_basis": "64 processors, 2 threads a core",
        "memory_bytes": 274_877_906_944_u64, "scale_reason": "given by --scale", "demonstration": false,
        "qualifying": true, "notes": ["SORTSIZE 512M instead of 1G: sorts spill as they do at full size"],
        "cold": true, "options": {"BUFSIZE": "128k", "COMPRESS": "NO", "FULLSTIMER": "", "SORTSIZE": "512M"},
        "directories": {"data": "/sasdata", "output": "/sasdata", "work": "/saswork", "util": "/sasutil"},
        "jobs": jobs,
    }))
}

/// A verdict that the published requirements would give.
fn verdict() -> Value {
    let requirement = |part: &str,
                       id: &str,
                       title: &str,
                       value: f64,
                       needed: (&str, f64),
                       result: &str| {
        json!({"id": id, "part": part, "title": title, "value": value, "threshold": needed.1, "result": result,
            "relation": "at_least", "level": needed.0, "date": "2020-06", "basis": "highest mean over 200 s",
            "unit": "MB/s per physical core, reads and writes",
            "source": "Isilon F810 paper, chapter 4, quoting SAS's I/O best practices"})
    };
    let total = "Sustained throughput of all channels";
    let shared = "Sustained throughput of permanent data";
    let reason = "52.1 MB/s per core on permanent data, below the 60 that SAS needs; 6 jobs ended with errors";
    json!({"result": "fail", "reason": reason,
        "capability": {"result": "fail", "reason": reason},
        "feeding": {"result": "not_shown", "reason": "a saturating load does not show whether jobs are held back"},
        "limited_by": {"kind": "server", "name": "isilon:/ifs/sasdata",
            "relief": "more nodes of the array, or more mounts", "node": "grid01", "scarce": ["reads"],
            "directories": ["data", "output"],
            "rules": [{"id": "NFS-101", "subject": "/sasdata", "directories": ["data", "output"],
                "result": "fail", "severity": "high", "title": "NFS: read ahead 15 MiB",
                "expected": "at least 15360", "running": "128"}],
            "evidence": "its calls took 94 % of the time in which jobs were blocked"},
        "requirements": [
            requirement("capability", "throughput-per-core", total, 118.4, ("required", 100.0), "pass"),
            requirement("capability", "throughput-per-core-wanted", total, 118.4, ("wanted", 150.0), "fail"),
            requirement("capability", "shared-per-core", shared, 52.1, ("required", 60.0), "fail"),
            {"id": "jobs-failed", "part": "", "title": "Jobs that ended with errors", "value": 6.0, "threshold": 0.0,
                "relation": "at_most", "level": "required", "unit": "jobs", "result": "fail", "source": "Gristmill"},
            {"id": "cpu-real", "part": "feeding", "title": "CPU time over elapsed time", "value": 0.667,
                "threshold": 1.0,
                "relation": "at_least", "level": "required", "unit": "ratio of sums", "result": "not_shown",
                "source": "Pure FA-420 paper"}]})
}

fn result(jobs: &[Value], seconds: usize) -> RunResult {
    made(json!({
        "schema": "1.0", "run": "multiuser-20261120T233915Z-1440", "suite": "multiuser", "scale": 0.25,
        "verdict": verdict(),
        "jobs": jobs,
        "channels": {
            "input": {"read_bytes": 2_600_000_000_000_u64, "write_bytes": 0, "mb_per_s": 1220.0},
            "output": {"read_bytes": 12_000_000_000_u64, "write_bytes": 700_000_000_000_u64, "mb_per_s": 390.0},
            "work": {"read_bytes": 1_900_000_000_000_u64, "write_bytes": 1_500_000_000_000_u64, "mb_per_s": 1610.0},
            "util": {"read_bytes": 600_000_000_000_u64, "write_bytes": 600_000_000_000_u64, "mb_per_s": 600.0}},
        "aggregate": {"elapsed_s": seconds as f64, "first_done_s": 30.0, "real_s": seconds as f64 * 42.0,
            "user_s": seconds as f64 * 20.0, "system_s": seconds as f64 * 8.0, "cpu_real_mean_of_ratios": 0.71,
            "cpu_real_ratio_of_sums": 0.667, "bytes_moved": 7_900_000_000_000_u64,
            "read_bytes": 5_100_000_000_000_u64, "device_read_bytes": 4_200_000_000_000_u64,
            "mb_per_s": 3820.0, "flush_s": 1.5, "mb_per_s_flushed": 3788.0, "mb_per_s_per_core": 118.4,
            "cached_share": 0.004, "physical_read_share": 0.82,
                "physical_read_basis": "what the mounts read from their servers",
            "launcher_cpu_s": 21.0, "launcher_cpu_share": 0.0021},
        "sustained_peak": {"window_s": 200.0, "mb_per_s": 4710.0, "channels": {"work": 2100.0},
            "devices": {"nvme0n1": 1900.0}},
        "disturbance": [{"kind": "foreign_cpu", "value": 4100.0, "unit": "s", "share": 0.006, "share_max": 0.05,
            "exceeded": false,
            "statement": "other programs took 4,100 s of processor time, 0.6 % of all"}],
    }))
}

fn of_job(dice: &mut Dice, launched: f64, real: f64, moved: (f64, f64)) -> Vec<StepRecord> {
    let kinds = [
        ("data", "DATA", "input", "work"),
        ("proc", "SORT", "work", "util"),
        ("proc", "MEANS", "work", "output"),
    ];
    let mut at = launched;
    let step = |(index, (kind, name, from, to)): (usize, (&str, &str, &str, &str))| {
        let share = [0.3, 0.5, 0.2][index];
        at += real * share;
        made(json!({
            "step": index + 1, "kind": kind, "name": name, "ended_unix_s": at, "real_s": real * share,
            "user_s": real * share * dice.between(0.2, 0.8), "system_s": real * share * 0.1,
            "memory_bytes": 512_000_000, "page_faults": 0, "page_reclaims": 100, "voluntary_switches": 4,
            "involuntary_switches": 1, "block_input": 1, "block_output": 1,
            "channels": {from: {"read_bytes": (moved.0 * share) as u64, "write_bytes": 0, "read_s": 1.0,
                "write_s": 0.0,
                    "operations": {"read": {"count": 1000, "errors": 0, "bytes": (moved.0 * share) as u64,
                        "total_s": 1.0,
                        "latency_p50_us": 400.0, "latency_p99_us": 9000.0, "latency_max_us": 81000.0}}},
                to: {"read_bytes": 0, "write_bytes": (moved.1 * share) as u64, "read_s": 0.0, "write_s": 1.0,
                    "operations": {}}},
            "observations_read": 1_000_000, "observations_written": 900_000, "inputs": [], "outputs": [],
            "notes": 3, "warnings": 0, "errors": 0,
        }))
    };
    kinds.into_iter().enumerate().map(step).collect()
}

fn sample(dice: &mut Dice, at: usize, seconds: usize) -> Sample {
    let part = at as f64 / seconds as f64;
    let load = (part * std::f64::consts::PI).sin().max(0.05) * (0.8 + 0.2 * (part * 60.0).sin());
    let slow = (0.42..0.5).contains(&part);
    let mut channel = |mean: f64| {
        let bytes = mean * load * dice.between(0.7, 1.3) * if slow { 0.25 } else { 1.0 };
        let calls = bytes / 131_072.0;
        let middle = if slow { 14 } else { 9 };
        let classes: Vec<(u64, u64)> = (4..20)
            .map(|class: i32| {
                let far = f64::from((class - middle).abs());
                let count = calls * (-far * far / 5.0).exp() * 0.3
                    + if class == 16 {
                        dice.between(0.0, 3.0)
                    } else {
                        0.0
                    };
                (1_u64 << class, count as u64)
            })
            .filter(|(_, count)| *count > 0)
            .collect();
        json!({"read_bytes": (bytes * 0.6) as u64, "write_bytes": (bytes * 0.4) as u64,
            "metadata_operations": 40, "blocked_s": 3.0, "latency_us": classes})
    };
    let channels = json!({"input": channel(1.5e9), "output": channel(4e8), "work": channel(1.8e9),
        "util": channel(6e8)});
    let jobs = 40.0 * load * dice.between(0.9, 1.0);
    let device = |share: f64| {
        json!({"read_bytes": (2e9 * load * share) as u64, "write_bytes": (1.4e9 * load * share) as u64, "reads": 9000,
            "writes": 7000, "read_s": 2.0, "write_s": 3.0, "busy_s": 0.9, "queue": 12.0})
    };
    made(json!({
        "unix_s": STARTED + 10.0 + at as f64, "at_s": 10.0 + at as f64, "interval_s": 1.0, "running": 42,
        "cpu": {"user_s": jobs * 0.7 + 0.5, "system_s": jobs * 0.3 + 0.2, "iowait_s": 8.0 * load, "steal_s": 0.0,
            "idle_s": 63.3 - jobs - 8.0 * load, "jobs_s": jobs, "launcher_s": 0.01},
        "memory": {"total_bytes": 274_877_906_944_u64, "available_bytes": (2.2e11 - 8e10 * load) as u64,
            "cached_bytes": (1.2e11 + 9e10 * part) as u64, "dirty_bytes": (4e9 * load) as u64,
                "writeback_bytes": 100_000_000},
        "channels": channels,
        "devices": {"nvme0n1": device(0.7), "nvme1n1": device(0.5)},
        "network": {"eth0": {"received_bytes": (9e8 * load) as u64, "sent_bytes": (3e8 * load) as u64,
            "link_mb_per_s": 3125.0}},
        "pressure_s": {"io_full": 0.2 * load, "io_some": 0.5 * load, "cpu_some": 0.1},
        "observed": {"array cache hits %": 60.0 + 20.0 * part},
    }))
}
