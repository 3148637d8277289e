//! What is in the page, without a browser.

use std::collections::BTreeMap;
use std::process::Command;

use report::page;
use results::run::{Aggregate, ChannelResult, EventKind};

use crate::synthetic;

/// What would end a script, an attribute, a comment or a text if it were let.
const HOSTILE: &str =
    "</script><script>document.title='broken'</script><!--\"'><img src=x onerror=alert(1)>]]>";

#[test]
fn nothing_in_a_run_breaks_out_of_its_place() {
    let mut run = synthetic::run(5, 20);
    let hostile = HOSTILE.to_owned();
    run.plan.suite.clone_from(&hostile);
    run.plan.node.clone_from(&hostile);
    run.plan.run.clone_from(&hostile);
    run.plan.program.clone_from(&hostile);
    run.plan.notes.push(hostile.clone());
    run.plan.options.insert(hostile.clone(), hostile.clone());
    run.plan
        .directories
        .insert(hostile.clone(), hostile.clone().into());
    run.plan.jobs[0].name.clone_from(&hostile);
    run.plan.jobs[0].class = Some(hostile.clone());
    run.plan.jobs[0].persona = Some(hostile.clone());
    run.result.jobs[0].name.clone_from(&hostile);
    run.result.jobs[0].findings.push(hostile.clone());
    run.result.verdict.reason.clone_from(&hostile);
    let audit = &mut run.audits[0];
    audit.node.clone_from(&hostile);
    audit.not_read.push(hostile.clone());
    for finding in &mut audit.findings {
        finding.title.clone_from(&hostile);
        finding.subject = Some(hostile.clone());
        finding.running = Some(hostile.clone());
        finding.why.clone_from(&hostile);
    }
    run.result
        .channels
        .insert(hostile.clone(), ChannelResult::default());
    let mut steps = run.steps.remove("sort_0001").expect("steps of a job");
    steps[0].record.name.clone_from(&hostile);
    let channel = steps[0]
        .record
        .channels
        .values()
        .next()
        .expect("a channel")
        .clone();
    steps[0].record.channels.insert(hostile.clone(), channel);
    run.steps.insert(hostile.clone(), steps);
    let samples = run.samples.values_mut().next().expect("samples of a node");
    samples[0].observed.insert(hostile.clone(), 1.0);
    let device = samples[0].devices["nvme0n1"].clone();
    samples[0].devices.insert(hostile.clone(), device);
    for event in &mut run.events {
        event.detail = Some(hostile.clone());
    }
    let text = page::run(&run);
    let count = |what: &str| text.matches(what).count();
    assert_eq!(count("<script>"), 2, "the library and our scripts");
    assert_eq!(count("<script type=\"application/json\""), 1);
    assert_eq!(count("</script>"), 3);
    assert_eq!(count("<!--"), 0);
    assert_eq!(count("<img"), 0);
    assert!(text.contains("&lt;&#x2f;script&gt;"), "it is shown as text");
    crate::check(&run, (1280, 900), "light", |browser| {
        let title = browser.run("document.title");
        assert!(
            title.as_str().is_some_and(|title| title.contains("<img")),
            "{title}"
        );
        assert_eq!(browser.run("document.images.length"), 0);
        assert_eq!(browser.run("document.scripts.length"), 3);
        browser.run("document.querySelector('#job-table tbody button').click()");
        assert_eq!(
            browser.run("document.querySelectorAll('#job tbody tr').length"),
            3
        );
    });
}

#[test]
fn an_audit_shows_what_is_to_be_looked_at_and_folds_the_rest() {
    let mut run = synthetic::run(5, 20);
    let text = page::run(&run);
    assert!(text.contains("Failing rules of the audit that bear on it:"));
    assert!(text.contains("2 fail, 1 hold now and not after the next boot, or contradict, 1 warn"));
    crate::check(&run, (390, 844), "light", |browser| {
        let mut count = |of: &str| {
            let visible = "filter(one => one.checkVisibility()).length";
            browser.run(&format!("[...document.querySelectorAll('{of}')].{visible}"))
        };
        assert_eq!(count(".relief li"), 1);
        assert_eq!(count("#audit .audited li"), 3);
    });
    // The same finding of a mount that the run does not use is folded, like what is well or unknown.
    let folded = text
        .split("<details>")
        .filter(|part| part.contains("class=\"audited\""))
        .count();
    assert_eq!(folded, 2, "before the first fold, and in one");
    assert!(text.contains("What is unknown, waived or as it should be: 90"));
    run.audits.clear();
    assert!(!page::run(&run).contains("id=\"audit\""));
}

#[test]
fn a_run_without_samples_says_so_and_shows_the_rest() {
    let mut run = synthetic::run(33, 60);
    run.samples = BTreeMap::new();
    let text = page::run(&run);
    assert!(text.contains("Throughput over time: not measured"));
    assert!(!text.contains("id=\"throughput\""));
    crate::check(&run, (1280, 900), "light", |browser| {
        assert_eq!(browser.run("document.querySelectorAll('canvas').length"), 1);
        assert_eq!(
            browser.run("document.querySelectorAll('#job-table tbody tr').length"),
            33
        );
    });
}

/// The second node goes on for twice as long, and has a device of the same name.
#[test]
fn charts_of_two_nodes_reach_to_the_end_of_the_last() {
    let mut run = synthetic::run(6, 60);
    let mut longer = synthetic::run(6, 120).samples;
    let samples = longer.remove("grid01").expect("samples of the node");
    run.samples.insert("grid02".to_owned(), samples);
    for event in &mut run.events {
        if event.event == EventKind::Flushed {
            event.at_s = 130.0;
        }
    }
    let text = page::run(&run);
    assert!(text.contains("grid01:nvme0n1") && text.contains("grid02:nvme0n1"));
    crate::check(&run, (1280, 900), "light", |browser| {
        let bins = "JSON.parse(document.getElementById('data').textContent).bins";
        assert_eq!(browser.run(&format!("{bins}.end_s.at(-1)")), 120.0);
        let memory = "document.querySelector('#memory figcaption p').textContent";
        let told = browser.run(memory);
        assert!(
            told.as_str()
                .is_some_and(|told| told.contains("All nodes together"))
        );
    });
}

/// A mark of the second day stands where it was made, and not at the next hundred seconds.
#[test]
fn marks_stand_where_they_were_made() {
    let mut run = synthetic::run(3, 60);
    for event in &mut run.events {
        match event.event {
            EventKind::Mark => event.at_s = 10.0 + 123_456.789_4,
            EventKind::Flushed => event.at_s = 200_000.0,
            _ => {}
        }
    }
    let text = page::run(&run);
    assert!(text.contains(r#"{"at_s":123456.789,"name":"Node 3"#));
}

/// A job of the second batch has steps of its own, though it has the name of the first's.
#[test]
fn each_batch_shows_its_own_steps() {
    let mut run = synthetic::run(2, 60);
    let first = run.result.jobs[0].name.clone();
    let other = std::mem::replace(&mut run.result.jobs[1].name, first.clone());
    run.result.jobs[1].batch = 2;
    let name = format!("{first}@2");
    for event in &mut run.events {
        if event.job.as_ref() == Some(&other) {
            event.job = Some(name.clone());
        }
    }
    let mut steps = run.steps.remove(&other).expect("its steps");
    steps[0].record.name = "OFBATCH2".to_owned();
    run.steps.insert(name, steps);
    let text = page::run(&run);
    assert_eq!(text.matches("OFBATCH2").count(), 1);
    let ends: Vec<f64> = run
        .result
        .jobs
        .iter()
        .map(|job| job.launched_s.unwrap_or_default() + job.real_s.unwrap_or_default())
        .collect();
    crate::check(&run, (1280, 900), "light", |browser| {
        for (place, end) in ends.iter().enumerate() {
            let jobs = "JSON.parse(document.getElementById('data').textContent).jobs";
            let ends = "steps.map(step => step.start_s + step.real_s)";
            let last = browser.run(&format!(
                "(({{ steps }}) => Math.max(...{ends}))({jobs}[{place}])"
            ));
            let last = last.as_f64().expect("a time");
            assert!(
                (last - end).abs() < 0.5,
                "job {place}: {last} s, it ended at {end} s"
            );
        }
    });
}

#[test]
fn a_run_that_was_killed_at_once_has_a_page() {
    let mut run = synthetic::run(4, 20);
    run.events.clear();
    run.steps.clear();
    run.samples.clear();
    run.result.channels.clear();
    run.result.aggregate = Aggregate::default();
    for job in &mut run.result.jobs {
        (job.real_s, job.user_s, job.system_s, job.exit) = (None, None, None, None);
        (job.read_bytes, job.write_bytes, job.device_read_bytes) = (None, None, None);
        (job.launched_s, job.verified) = (None, None);
        job.findings.clear();
    }
    let text = page::run(&run);
    assert!(text.contains("Not measured: no job left a record of its steps."));
    assert!(text.contains("did not finish"));
    crate::check(&run, (390, 844), "dark", |_| {});
}

#[test]
fn what_was_not_measured_is_a_dash_and_never_a_zero() {
    let mut run = synthetic::run(3, 20);
    run.result.jobs[1].read_bytes = None;
    run.result.aggregate.physical_read_share = None;
    run.result.aggregate.cached_share = None;
    let text = page::run(&run);
    assert!(text.contains("<td class=\"n\">–</td>"));
    assert!(text.contains("<dt>Read physically</dt><dd><strong>–</strong>"));
    assert!(text.contains("<dt>Cached at the start</dt><dd><strong>not measured</strong>"));
}

#[test]
fn dark_is_the_same_whether_the_system_or_the_reader_asks() {
    let style = include_str!("../../assets/page.css");
    let lists: Vec<&str> = style.split("--paper: #161513").skip(1).collect();
    assert_eq!(lists.len(), 2);
    let colours = |list: &str| {
        list.split("color-scheme")
            .next()
            .expect("it ends there")
            .to_owned()
    };
    assert_eq!(colours(lists[0]), colours(lists[1]));
}

#[test]
fn a_page_of_a_thousand_jobs_can_be_sent_by_mail() {
    let text = page::run(&synthetic::run(1_000, 10_000));
    assert!(
        text.contains("Pure, Table 3"),
        "the papers' tables are there"
    );
    eprintln!("1,000 jobs, 10,000 samples: {} bytes", text.len());
    assert!(text.len() < 5_000_000, "{} bytes", text.len());
}

#[test]
fn what_is_embedded_is_what_was_published() {
    let assets = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");
    let known = include_str!("../../../../docs/dependencies.md");
    for file in [
        "vendor/uplot-1.6.32.min.js",
        "vendor/uplot-1.6.32.min.css",
        "fonts/source-sans-3-latin-wght-normal.woff2",
        "fonts/source-serif-4-latin-600-normal.woff2",
    ] {
        let told = Command::new("sha256sum")
            .arg(format!("{assets}/{file}"))
            .output();
        let told = String::from_utf8(told.expect("sha256sum is there").stdout).expect("text");
        let hash = told.split_whitespace().next().expect("a hash");
        let line = known
            .lines()
            .find(|line| line.contains(file))
            .expect("a line in the list");
        assert!(line.contains(hash), "{file} has {hash}");
    }
}
