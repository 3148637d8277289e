//! Lines of limits.d that never lower what is higher already.

use crate::facts::Facts;
use crate::facts::value::amount;

/// Lines `DOMAIN KIND ITEM VALUE` with the highest of their own value, what files ask for anybody, and the hard
/// limits of processes of SAS. (Limits of a group stand over those of everybody, so that all domains count.)
pub(super) fn raised(facts: &Facts, text: &str) -> String {
    let line = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [domain, kind, item, value] = fields.as_slice() else {
            return line.to_owned();
        };
        let mut most = (*value).to_owned();
        for other in known(facts, kind, item) {
            if bound(&other) > bound(&most) {
                most = other;
            }
        }
        format!("{domain} {kind} {item} {most}")
    };
    text.trim().lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Limits of this kind that hold somewhere.
fn known(facts: &Facts, kind: &str, item: &str) -> Vec<String> {
    let of_kind = facts.class("limits").filter(|(key, _)| {
        let subject = key
            .subject
            .as_deref()
            .and_then(|subject| subject.rsplit_once(' '));
        key.name == item && subject.is_some_and(|(_, known)| known == kind)
    });
    let mut all: Vec<String> = of_kind
        .filter_map(|(_, fact)| Some(fact.persisted.last()?.value.to_string()))
        .collect();
    // Files and processes have the same unit, which memory has not.
    if kind == "hard" && matches!(item, "nofile" | "nproc") {
        let of_sas = facts.subjects("process").into_iter();
        let of_sas = of_sas
            .filter(|process| facts.text("process", process, "kind").as_deref() == Some("sas"));
        all.extend(
            of_sas.filter_map(|process| facts.text("process", process, &format!("{item}_hard"))),
        );
    }
    all
}

fn bound(value: &str) -> f64 {
    match value {
        "unlimited" | "infinity" | "-1" => f64::INFINITY,
        value => amount(value).unwrap_or(0.0),
    }
}
