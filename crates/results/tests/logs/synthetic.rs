//! Logs written for these tests, in shapes of which few or no real ones are at hand.

use results::log::reader::read;
use results::log::{LogStep, Severity, Summary};

fn steps(text: &[u8]) -> (Summary, Vec<LogStep>) {
    let mut steps = Vec::new();
    let about = read(text, &mut |step| steps.push(step)).unwrap();
    (about.expect("a log"), steps)
}

/// SAS 9.4 on Linux with LINESIZE=64 and PAGESIZE=15: pages end within blocks and within NOTEs.
const PAGES: &str = "\
1       The SAS System  08:00 Friday, November 20, 2026

NOTE: SAS (r) Proprietary Software 9.4 (TS1M8)
      Licensed to NOBODY, Site 1.
NOTE: This session is executing on the Linux 5.14.0 (LIN X64)
      platform.
NOTE: SAS initialization used:
      real time           0.03 seconds
      cpu time            0.02 seconds
      
1          proc sort data=big.sales out=work.sorted; by id; run;

NOTE: There were 10000000 observations read from the data set
\u{c}2       The SAS System  08:00 Friday, November 20, 2026

      BIG.SALES.
NOTE: The data set WORK.SORTED has 10000000 observations and 12
      variables.
NOTE: PROCEDURE SORT used (Total process time):
      real time           1:40.00
      user cpu time       20.50 seconds
\u{c}3       The SAS System  08:00 Friday, November 20, 2026

      system cpu time     9.50 seconds
      memory              786432.00k
      OS Memory           800000.00k
      Timestamp           11/20/2026 08:01:41 AM
      Step Count                        1  Switch Count  12
      Page Faults                       0
      Page Reclaims                     5
      Page Swaps                        0
      Voluntary Context Switches        7
      Involuntary Context Switches      8
      Block Input Operations            19531250
\u{c}4       The SAS System  08:00 Friday, November 20, 2026

      Block Output Operations           9765625
      
ERROR 22-322: Syntax error, expecting one of the following: ;,
              DATA.
ERROR: Errors printed on page 4.
";

#[test]
fn pages_end_within_blocks_and_notes() {
    let (about, steps) = steps(PAGES.as_bytes());
    assert_eq!(about.platform.as_deref(), Some("Linux 5.14.0 (LIN X64)"));
    assert_eq!((about.complete, about.errors), (Some(false), 1));
    assert_eq!(about.messages.len(), 1);
    assert_eq!(about.messages[0].kind, Severity::Error);
    assert_eq!(
        about.messages[0].text,
        "ERROR 22-322: Syntax error, expecting one of the following: ;, DATA."
    );
    let [sort] = &steps[..] else {
        panic!("{steps:?}")
    };
    assert!(sort.complete);
    assert_eq!(sort.used.real_s, Some(100.0));
    assert_eq!(sort.used.cpu_s, Some(30.0));
    assert_eq!(sort.used.block_output, Some(9_765_625));
    assert_eq!(
        (sort.observations_read, sort.observations_written),
        (Some(10_000_000), Some(10_000_000))
    );
    assert_eq!(sort.inputs[0].name, "BIG.SALES");
    assert_eq!(sort.outputs[0].variables, Some(12));
    // Blocks of 512 bytes: 10 GB in, 5 GB out.
    let moved = sort.used.physical_bytes(about.block_bytes);
    assert_eq!(moved, Some((10_000_000_000, 5_000_000_000)));
}

#[test]
fn line_ends_and_empty_lines_between_do_not_matter() {
    let (_, plain) = steps(PAGES.as_bytes());
    let carriage = PAGES.replace('\n', "\r\n");
    assert_eq!(steps(carriage.as_bytes()).1, plain);
    // A log pasted with an empty line after every line.
    let doubled = PAGES.replace('\n', "\n\n");
    let (_, mut found) = steps(doubled.as_bytes());
    assert_eq!(found[0].line, 2 * plain[0].line - 1);
    found[0].line = plain[0].line;
    // A NOTE ends at an empty line.
    assert_eq!(found[0].used, plain[0].used);
}

#[test]
fn a_log_cut_anywhere_is_read_up_to_there() {
    let (_, whole) = steps(PAGES.as_bytes());
    let begin = PAGES.find("NOTE: PROCEDURE SORT").unwrap();
    let end = PAGES.find("Block Output Operations").unwrap() + 30;
    for at in (begin + 60..end).filter(|at| PAGES.is_char_boundary(*at)) {
        let (about, found) = steps(&PAGES.as_bytes()[..at]);
        assert_eq!(about.complete, Some(false));
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].outputs, whole[0].outputs);
    }
    let lost = &PAGES[..PAGES.find("      Page Swaps").unwrap()];
    assert!(!steps(lost.as_bytes()).1[0].complete);
}

/// Latin-1, decimal commas, thousands apart by points. Written after descriptions: no German log was at hand.
#[test]
fn a_german_log_is_read() {
    let text = "\
1                  Das SAS System       9:32 Donnerstag, 17. November 2016

HINWEIS: Es wurden 10.000 Beobachtungen aus der Datei WORK.KÄUFE gelesen.
HINWEIS: Die Datei WORK.SUMME weist 12 Beobachtungen und 3 Variablen auf.
HINWEIS: PROZEDUR MEANS benutzt (Gesamtverarbeitungszeit):
      Echtzeit            1:05,27
      Benutzer-CPU-Zeit   0,50 Sekunden
2                  Das SAS System       9:32 Donnerstag, 17. November 2016

      System-CPU-Zeit     0,25 Sekunden
      Speicher            458,00k
      Zeitstempel         17.11.2016 09:33:40
      
WARNUNG: Größe unbekannt.
FEHLER 180-322: Die Anweisung ist ungültig.
HINWEIS: DATA-Anweisung benutzt (Gesamtverarbeitungszeit):
      Echtzeit            0,02 Sekunden
      CPU-Zeit            0,01 Sekunden
";
    let latin_1: Vec<u8> = text
        .chars()
        .map(|letter| u8::try_from(letter).unwrap())
        .collect();
    for bytes in [latin_1, text.as_bytes().to_vec()] {
        let (about, steps) = steps(&bytes);
        assert_eq!((about.errors, about.warnings), (1, 1));
        assert_eq!(about.messages[0].text, "WARNUNG: Größe unbekannt.");
        let [means, data] = &steps[..] else {
            panic!("{steps:?}")
        };
        assert_eq!((&*means.kind, &*means.name), ("proc", "MEANS"));
        assert_eq!(means.inputs[0].name, "WORK.KÄUFE");
        assert_eq!(means.observations_read, Some(10_000));
        assert_eq!(means.outputs[0].variables, Some(3));
        assert_eq!(
            (means.used.real_s, means.used.cpu_s),
            (Some(65.27), Some(0.75))
        );
        assert_eq!(means.used.memory_bytes, Some(468_992));
        assert_eq!(means.used.ended.as_deref(), Some("2016-11-17T09:33:40"));
        assert_eq!((&*data.kind, data.errors, data.warnings), ("data", 1, 1));
        assert_eq!(data.used.cpu_s, Some(0.01));
    }
}

/// z/OS with FULLSTATS, after the lines that other analysers look for: no real log with it was at hand.
const JAPANESE: &str = "\
1                                    SAS システム                 2026年11月20日 金曜日 08時00分00秒

NOTE: Copyright (c) 2016 by SAS Institute Inc., Cary, NC, USA. 
NOTE: SAS (r) Proprietary Software 9.4 (TS1M7 DBCS3170) 
      Licensed to NOBODY, Site 1.
NOTE: このセッションは、Linux 5.14.0 (LIN X64)プラットフォームで実行されています。


NOTE: SASの初期化処理:
      処理時間           0.03 秒
      CPU時間            0.02 秒
      
1          proc sort data=big.sales out=work.sorted; by id; run;

NOTE: データセットBIG.SALESから10000000オブザベーションを読み込みました。
NOTE: PROCEDURE SORT処理(合計処理時間):
      処理時間           1:40.00
      CPU時間            30.00 秒
";

#[test]
fn a_log_of_a_language_that_is_not_read_is_not_taken_for_a_dead_job() {
    let (about, found) = steps(JAPANESE.as_bytes());
    assert_eq!(
        (about.unread_line, about.complete, found.len()),
        (Some(9), None, 0)
    );
    assert_eq!(about.version.as_deref(), Some("9.4 (TS1M7 DBCS3170)"));
    let spanish = JAPANESE
        .replace("NOTE:", "NOTA:")
        .replace("処理:\n", "処理：\n");
    let (about, _) = steps(spanish.as_bytes());
    assert_eq!((about.unread_line, about.complete), (Some(9), None));
    // A job that died before anything was accounted for, though it listed figures.
    let dead = JAPANESE.lines().take(8).collect::<Vec<_>>().join("\n");
    let (about, _) = steps(dead.as_bytes());
    assert_eq!((about.unread_line, about.complete), (None, Some(false)));
    let listed =
        format!("{dead}\nNOTE: The file X has the following attributes:\n      Size=1234\n");
    let (about, _) = steps(listed.as_bytes());
    assert_eq!((about.unread_line, about.complete), (None, Some(false)));
    // What is read tells that the words are known.
    let (about, _) = steps(PAGES.as_bytes());
    assert_eq!((about.unread_line, about.complete), (None, Some(false)));
}

#[test]
fn full_statistics_of_zos_are_read() {
    let text = "\
NOTE: This session is executing on the z/OS   V01R13M00 platform.
NOTE: The initialization phase used 0.03 CPU seconds.
NOTE: The DATA statement used 1.12 CPU seconds.
NOTE: The PROCEDURE SORT used the following resources:
      CPU     time -         00:01:00.02
      Elapsed time -         00:02:40.16
      EXCP count   - 170
      RSM hiperspace time -  00:00:00.01
      Task  memory - 5101K (44K data, 5057K program)
      Total memory - 17012K (5688K data, 11324K program)
      Timestamp    - 8/25/2016 8:37:42 AM
NOTE: The address space has used a maximum of 852K below the line and 19736K above the line.
NOTE: The SAS session used 258.64 CPU seconds and 15021K.
";
    let (about, steps) = steps(text.as_bytes());
    assert_eq!(about.platform.as_deref(), Some("z/OS   V01R13M00"));
    assert_eq!((about.complete, about.block_bytes), (Some(true), None));
    assert_eq!(about.session.unwrap().used.cpu_s, Some(258.64));
    assert_eq!((&*steps[0].name, steps[0].used.cpu_s), ("DATA", Some(1.12)));
    let sort = &steps[1].used;
    assert_eq!((sort.real_s, sort.cpu_s), (Some(160.16), Some(60.02)));
    assert_eq!(
        (sort.excp_count, sort.memory_bytes),
        (Some(170), Some(5_223_424))
    );
    assert_eq!(sort.total_memory_bytes, Some(17_420_288));
    assert_eq!(sort.ended.as_deref(), Some("2016-08-25T08:37:42"));
    assert!(steps.iter().all(|step| step.complete));
}

/// A stored process shows its log as HTML.
#[test]
fn a_log_in_html_is_read() {
    let text = "<pre>\n<font color=blue>NOTE: Table WORK.T created, with 7 rows and 2 columns.</font>\n\
                <font color=blue>NOTE: PROCEDURE SQL used (Total process time):</font>\n\
                <font color=blue>      real time           0.50 seconds</font>\n\
                <font color=blue>      cpu time            0.25 seconds</font>\n</pre>\n";
    let (_, steps) = steps(text.as_bytes());
    assert_eq!(steps[0].used.real_s, Some(0.5));
    assert_eq!(steps[0].used.cpu_s, Some(0.25));
    assert_eq!(steps[0].observations_written, Some(7));
}

/// What PROC APPEND added is what it wrote, not what the data set has then.
#[test]
fn appending_writes_what_it_adds() {
    let text = "\
NOTE: Appending WORK.B to PERM.A.
NOTE: There were 5 observations read from the data set WORK.B.
NOTE: 5 observations added.
NOTE: The data set PERM.A has 1005 observations and 3 variables.
NOTE: PROCEDURE APPEND used (Total process time):
      real time           0.50 seconds
      cpu time            0.25 seconds
";
    let (_, steps) = steps(text.as_bytes());
    assert_eq!(steps[0].observations_written, Some(5));
    assert_eq!(steps[0].outputs[0].observations, Some(5));
}

/// A title of one's own, and a line that a later version may print.
#[test]
fn lines_that_are_not_known_do_not_end_a_block() {
    let text = "\
NOTE: DATA statement used (Total process time):
      real time           0.50 seconds
      user cpu time       0.25 seconds
7          Risk of last night                08:00 Friday, November 20, 2026

      system cpu time     0.25 seconds
      Pages Read Ahead                  12
      Block Output Operations           3
      
";
    let (_, steps) = steps(text.as_bytes());
    assert_eq!(steps[0].used.cpu_s, Some(0.5));
    assert_eq!(steps[0].used.block_output, Some(3));
}

/// A whole session, or one that was cut before its end.
fn session(step_s: f64, end_s: Option<f64>) -> String {
    let accounting = |what: &str, real_s: f64| {
        format!(
            "NOTE: {what}:\n      real time           {real_s:.2} seconds\n      cpu time            0.10 seconds\n\n"
        )
    };
    let begin = "NOTE: SAS (r) Proprietary Software 9.4 (TS1M8)\n\
                 NOTE: This session is executing on the Linux 5.14.0 (LIN X64) platform.\n";
    let step = accounting("PROCEDURE SORT used (Total process time)", step_s);
    let end = end_s.map(|end_s| accounting("The SAS System used", end_s));
    [begin, &step, end.as_deref().unwrap_or_default()].concat()
}

#[test]
fn sessions_appended_to_one_file_are_not_taken_for_one() {
    let of = |sessions: &[String]| steps(sessions.concat().as_bytes());
    let (one, _) = of(&[session(50.0, Some(51.0))]);
    assert_eq!(one.session.unwrap().used.real_s, Some(51.0));
    assert_eq!((one.sessions, one.complete), (None, Some(true)));
    let (two, found) = of(&[session(50.0, Some(51.0)), session(2.0, Some(3.0))]);
    assert_eq!((two.session, two.sessions), (None, Some(2)));
    assert_eq!((two.complete, found.len()), (Some(true), 2));
    for cut in [
        of(&[session(50.0, None), session(2.0, Some(3.0))]),
        of(&[session(50.0, Some(51.0)), session(2.0, None)]),
    ] {
        assert_eq!(cut.0.complete, Some(false), "a job died");
    }
    // A session of another host within this one.
    let text = session(50.0, Some(51.0));
    let (begin, rest) = text.split_once("NOTE: PROC").unwrap();
    let remote = format!(
        "NOTE: Remote signon to GRID commencing.\n{}",
        session(1.0, None)
    );
    let (nested, _) = of(&[format!("{begin}{remote}NOTE: PROC{rest}")]);
    assert_eq!(nested.complete, Some(true));
    assert_eq!(nested.session.unwrap().used.real_s, Some(51.0));
}

#[test]
fn statements_of_a_query_with_times_of_their_own_count() {
    let log = |statement_s: f64, procedure_s: f64| {
        format!(
            "NOTE: Table WORK.BIG created, with 1000000 rows and 12 columns.\n\n\
             NOTE: SQL Statement used (Total process time):\n      \
             real time           {statement_s:.2} seconds\n      \
             user cpu time       60.00 seconds\n      \
             system cpu time     10.00 seconds\n      \
             Block Input Operations            8000000\n      \
             Block Output Operations           100\n\n\n\
             NOTE: PROCEDURE SQL used (Total process time):\n      \
             real time           {procedure_s:.2} seconds\n      \
             user cpu time       0.00 seconds\n      \
             system cpu time     0.00 seconds\n      \
             Block Input Operations            0\n      \
             Block Output Operations           0\n\n"
        )
    };
    let (_, rest) = steps(log(120.5, 0.01).as_bytes());
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].used.real_s, Some(120.51));
    assert_eq!(rest[0].used.cpu_s, Some(70.0));
    assert_eq!(rest[0].used.block_input, Some(8_000_000));
    assert_eq!(rest[0].observations_written, Some(1_000_000));
    // Where the procedure's accounting is of all of it, nothing counts twice.
    let (_, whole) = steps(log(120.5, 120.6).as_bytes());
    assert_eq!(whole[0].used.real_s, Some(120.6));
    assert_eq!(whole[0].used.cpu_s, Some(0.0));
}
