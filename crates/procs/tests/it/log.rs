//! What the log says around steps, and what happens when it cannot be written.

use std::io::{self, Write};
use std::sync::Arc;

use base::store::faulty::{Fault, FaultyStore, Plan};
use base::store::{Channel, Operation};
use engine::session;

use crate::harness::{clean, run_on, setup, store};

#[test]
fn an_empty_line_sets_the_notes_of_a_step_apart_from_its_source() {
    let (ran, _) = clean("libname e '/data';\ndata a;\n  x = 1;\nrun;\nproc print data=a;\nrun;\n");
    let expected = "\
1          libname e '/data';
NOTE: Libref E was successfully assigned as follows: 
      Engine:        V9 
      Physical Name: /data
2          data a;
3            x = 1;
4          run;

NOTE: The data set WORK.A has 1 observations and 1 variables.
";
    assert!(ran.log.starts_with(expected), "{}", ran.log);
    let second = "6          run;\n\nNOTE: There were 1 observations";
    assert!(ran.log.contains(second), "{}", ran.log);
}

#[test]
fn a_data_set_that_was_never_there_may_be_incomplete() {
    let plan = Plan {
        operation: Some(Operation::Write),
        channel: Some(Channel::Output),
        nth: 2,
        fault: Fault::Fail(io::ErrorKind::StorageFull),
    };
    let program = "data d.a; do x = 1 to 20; output; end; y = 1; run;";
    let ran = run_on(Arc::new(FaultyStore::new(store(), plan)), program);
    let said = "WARNING: The data set D.A may be incomplete.  When this step was stopped there were \
                20 observations and 2 variables.";
    let after = "NOTE: The SAS System stopped processing this step because of errors.\n";
    assert!(ran.log.contains(&format!("{after}{said}")), "{}", ran.log);
    assert!(!ran.log.contains("was not replaced"), "{}", ran.log);
}

struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_log_or_listing_that_cannot_be_written_is_told() {
    let program = "data a; x = 1; run; proc print data=a; run;";
    let run = |log: Box<dyn Write + Send>, listing: Box<dyn Write + Send>| {
        let observer = Box::new(|_: &engine::accounting::StepSummary| {});
        let setup = setup(Arc::new(store()), log, listing, observer);
        let ended = session::run(setup, "test.sas", program).unwrap();
        let kind = |failure: Option<io::Error>| failure.map(|error| error.kind());
        (kind(ended.log_failure), kind(ended.listing_failure))
    };
    let (sink, full) = (|| Box::new(io::sink()), Some(io::ErrorKind::StorageFull));
    assert_eq!(run(sink(), sink()), (None, None));
    assert_eq!(run(Box::new(Full), sink()), (full, None));
    assert_eq!(run(sink(), Box::new(Full)), (None, full));
}

#[test]
fn after_an_error_steps_are_checked_and_not_run() {
    for wrong in [
        "data a; set d.none; run;",
        "data a; x = ; run;",
        "proc nosuch; run;",
        "data a; set d.old; by x; array q{1}; y = q{x}; run;",
    ] {
        let store = store();
        let program = format!(
            "data d.old; do x = 2, 1; output; end; run; {wrong} \
             data d.new; x = 1; run; proc datasets lib=d nolist; delete old; quit; data b; y = ; run;"
        );
        let ran = run_on(Arc::new(store.clone()), &program);
        assert_eq!(ran.exit, 2, "{wrong}");
        let said = "NOTE: SAS set option OBS=0 and will continue to check statements. \n      This \
                    might cause NOTE: No observations in data set.";
        assert_eq!(ran.log.matches(said).count(), 1, "{wrong}\n{}", ran.log);
        assert!(store.get("/data/new.sas7bdat").is_none(), "{wrong}");
        assert!(store.get("/data/old.sas7bdat").is_some(), "{wrong}");
        assert!(ran.log.contains("expecting an expression"), "{}", ran.log);
    }
}

#[test]
fn nosyntaxcheck_runs_what_follows_and_errorabend_nothing() {
    let program = "data a; set d.none; run; data d.new; x = 1; run;";
    let store_ = store();
    let ran = run_on(
        Arc::new(store_.clone()),
        &format!("options nosyntaxcheck; {program}"),
    );
    assert!(store_.get("/data/new.sas7bdat").is_some(), "{}", ran.log);
    let ran = run_on(
        Arc::new(store()),
        &format!("options errorabend; {program} %put here;"),
    );
    assert_eq!(ran.exit, 2);
    assert!(
        ran.log.contains("ERROR: SAS ended due to errors."),
        "{}",
        ran.log
    );
    assert!(!ran.log.contains("D.NEW"), "{}", ran.log);
}

#[test]
fn statements_about_appearance_are_noted_and_ods_output_is_refused() {
    let (ran, _) =
        clean("ods listing close; data a; x = 1; run; proc print data=a; ods graphics on; run;");
    let note = "NOTE: The ODS statement has no effect: procedure output is plain text.";
    assert_eq!(ran.log.matches(note).count(), 2, "{}", ran.log);
    let ran = run_on(Arc::new(store()), "ods output summary=a;");
    assert!(
        ran.log
            .contains("The ODS OUTPUT statement is not implemented yet"),
        "{}",
        ran.log
    );
}

#[test]
fn abort_may_end_the_session_with_a_code() {
    for (option, code, text) in [
        ("abend 7", 7, "column 16, it specified the ABEND option."),
        ("abend", 5, "it specified the ABEND option."),
        ("return", 4, "it specified the RETURN option."),
        ("return 0", 0, "it specified the RETURN option."),
    ] {
        let program = format!("data a; x = 1; abort {option}; run; data b; run;");
        let ran = run_on(Arc::new(store()), &program);
        assert_eq!(ran.exit, code, "{option}: {}", ran.log);
        assert!(!ran.log.contains("OBS=0"), "{}", ran.log);
        assert!(!ran.log.contains("WORK.B"), "{}", ran.log);
        assert!(ran.log.contains(text), "{}", ran.log);
    }
    let ran = run_on(Arc::new(store()), "data a; abort 3; run;");
    assert!(
        ran.log
            .contains("code of the ABORT statement is not implemented"),
        "{}",
        ran.log
    );
}

#[test]
fn what_says_how_output_looks_is_noted() {
    let (ran, _) = clean(
        "symbol1 v=dot c=red i=join; axis2 label=('x'); legend1 none; pattern v=s; dm 'log; clear'; page;
         title1 height=2 j=l bold 'One ' color=blue 'line'; data a; symbol = 1; skip = 2; page + 1; run;
         proc print data=a; run;
         %macro gone; %mend; %sysmacdelete gone; %sysmacdelete gone / nowarn;",
    );
    assert!(ran.listing.contains("One line"), "{}", ran.listing);
    assert!(
        ran.log.contains("NOTE: The SYMBOL statement has no effect"),
        "{}",
        ran.log
    );
    assert!(!ran.log.contains("WARNING"), "{}", ran.log);
    let ran = run_on(
        Arc::new(store()),
        "title draw=(1,1) 'x'; %sysmacdelete none;",
    );
    assert!(ran.log.contains("option DRAW of a title"), "{}", ran.log);
    assert!(ran.log.contains("Macro not found"), "{}", ran.log);
}
