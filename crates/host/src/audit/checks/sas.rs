//! Options of SAS that take more than a comparison.

use super::Judged;
use crate::facts::{Facts, Key, Seen, Value};

/// What is known of an option: PROC OPTIONS before configuration files.
fn option<'a>(facts: &'a Facts, name: &str) -> Option<&'a Seen> {
    let fact = facts.get(&Key::plain("sas", name))?;
    fact.running.as_ref().or(fact.persisted.last())
}

/// ALIGNSASIOFILES is set. That a configuration file does not name it says nothing: another may.
pub(crate) fn aligned_pages(facts: &Facts) -> Vec<Judged> {
    let (on, off) = (
        option(facts, "ALIGNSASIOFILES"),
        option(facts, "NOALIGNSASIOFILES"),
    );
    if facts.class("sas").next().is_none() {
        return Vec::new();
    }
    let mut one = Judged::unless(Vec::new());
    one.holds = match (on, off) {
        (Some(_), _) => Some(true),
        (None, Some(_)) => Some(false),
        (None, None) => None,
    };
    one.evidence = match on.or(off) {
        Some(seen) => vec![seen.from.clone()],
        None => vec!["no configuration that was read names it".to_owned()],
    };
    vec![one]
}

/// Locks are not turned off for all paths.
pub(crate) fn global_locks(facts: &Facts) -> Vec<Judged> {
    let Some(seen) = option(facts, "FILELOCKS") else {
        return Vec::new();
    };
    let none = |text: &String| text.eq_ignore_ascii_case("NONE");
    // `('/ref' NONE '/' FAIL)`: pairs of a path and what holds below it.
    let off = match &seen.value {
        Value::List(words) => words.chunks(2).any(|pair| {
            matches!(pair, [path, setting] if path.trim_matches(['\'', '"']) == "/" && none(setting))
        }),
        other => none(&other.to_string()),
    };
    let mut one = Judged::unless(Vec::new());
    one.holds = Some(!off);
    one.running = Some(seen.value.to_string());
    one.evidence = vec![seen.from.clone()];
    vec![one]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(value: impl Into<Value>) -> Option<bool> {
        let mut facts = Facts::default();
        facts.persist(Key::plain("sas", "FILELOCKS"), value, "a.cfg:1");
        global_locks(&facts)[0].holds
    }

    #[test]
    fn locks_may_be_off_for_a_path() {
        assert_eq!(locks("NONE"), Some(false));
        assert_eq!(locks("FAIL"), Some(true));
        assert_eq!(
            locks(Value::list(["/ref", "NONE", "/", "FAIL"])),
            Some(true)
        );
        assert_eq!(
            locks(Value::list(["/ref", "FAIL", "/", "none"])),
            Some(false)
        );
    }

    #[test]
    fn what_no_file_names_is_unknown() {
        let mut facts = Facts::default();
        assert!(aligned_pages(&facts).is_empty());
        facts.persist(Key::plain("sas", "WORK"), "/w", "a.cfg:1");
        assert_eq!(aligned_pages(&facts)[0].holds, None);
        facts.persist(Key::plain("sas", "NOALIGNSASIOFILES"), "", "a.cfg:2");
        assert_eq!(aligned_pages(&facts)[0].holds, Some(false));
    }
}
