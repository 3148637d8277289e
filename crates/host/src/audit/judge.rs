//! Rules and facts in, findings out.

use super::applies::{self, Answer};
use super::catalogue::Catalogue;
use super::overrides::Overrides;
use super::rule::{Absent, Check, Op, Rule, Severity, Status};
use super::{Finding, Outcome, checks, compare, precedence};
use crate::facts::{Facts, Key};

/// Said of a finding that rests on a presumed role.
pub const PRESUMED: &str = "that it holds SAS data is presumed; say it with --role sasdata=PATH";

/// What a site says of itself.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// Roles of the host.
    pub host_roles: Vec<String>,
    /// Bundles that decide.
    pub bundles: Vec<String>,
    /// Overrides.
    pub overrides: Overrides,
    /// The day, `2026-11-21`.
    pub today: String,
}

/// Every rule on a host, sorted by rule and subject.
pub fn judge(catalogue: &Catalogue, facts: &Facts, site: &Site) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for rule in catalogue.rules.values() {
        findings.extend(one(rule, facts, site));
    }
    precedence::settle(catalogue, site, &mut findings);
    findings.sort_by(|left, right| (&left.id, &left.subject).cmp(&(&right.id, &right.subject)));
    findings
}

/// What a rule says of a host.
fn one(rule: &Rule, facts: &Facts, site: &Site) -> Vec<Finding> {
    let unknown = match applies::host(rule, facts, site) {
        Answer::No(why) => return vec![finding(rule, None, Outcome::NotApplicable, vec![why])],
        Answer::Unknown(why) => Some(why),
        Answer::Yes => None,
    };
    if rule.status == Status::Obsolete {
        return vec![obsolete(rule, facts)];
    }
    if let Some(why) = unknown {
        return vec![finding(rule, None, Outcome::Unknown, vec![why])];
    }
    match rule.check.op {
        Op::Ask => {
            let why = "no host can show this; it is a question for people".to_owned();
            vec![finding(rule, None, Outcome::Unknown, vec![why])]
        }
        Op::Fleet => {
            let why = "compare audits of all nodes: gristmill audit --compare".to_owned();
            vec![finding(rule, None, Outcome::Unknown, vec![why])]
        }
        Op::Named => named(rule, facts, site),
        _ => compared(rule, facts, site),
    }
}

/// Advice that has no effect today: what it says is shown, and what is set.
fn obsolete(rule: &Rule, facts: &Facts) -> Finding {
    let mut evidence = vec!["obsolete: it has no effect, or no use, today".to_owned()];
    evidence.extend(rule.modern.clone());
    let mut finding = finding(rule, None, Outcome::NotApplicable, evidence);
    if let [key] = applies::keys(&rule.check.fact, facts).as_slice() {
        finding.running = facts.running(key).map(ToString::to_string);
    }
    finding
}

pub(super) fn finding(
    rule: &Rule,
    subject: Option<String>,
    result: Outcome,
    evidence: Vec<String>,
) -> Finding {
    Finding {
        id: rule.id.clone(),
        subject,
        result,
        severity: rule.severity,
        title: rule.title.clone(),
        status: rule.status,
        fact: Some(rule.check.fact.clone()).filter(|fact| !fact.is_empty()),
        expected: compare::expected(&rule.check),
        running: None,
        persisted: None,
        evidence,
        why: rule.why.clone(),
        fix: rule.fix.clone(),
        source: rule.source.clone(),
    }
}

/// A comparison, for every subject that the rule is for.
fn compared(rule: &Rule, facts: &Facts, site: &Site) -> Vec<Finding> {
    let keys = applies::keys(&rule.check.fact, facts);
    let mut findings = Vec::new();
    let mut why_not = None;
    for key in &keys {
        let (answer, presumed) = applies::subject(rule, key, facts);
        match answer {
            Answer::No(why) => why_not = Some(why),
            Answer::Unknown(why) => {
                findings.push(finding(
                    rule,
                    key.subject.clone(),
                    Outcome::Unknown,
                    vec![why],
                ));
            }
            Answer::Yes => {
                let also = rule.check.also.iter().map(|name| Key {
                    name: name.clone(),
                    ..key.clone()
                });
                let all = std::iter::once(key.clone()).chain(also);
                let all = all.filter_map(|key| of_key(rule, &key, presumed, facts, site));
                findings.extend(all.min_by_key(|finding| finding.result));
            }
        }
    }
    if findings.is_empty() {
        let nothing = nothing(rule, &keys, why_not, facts);
        findings.push(finding(rule, None, nothing.0, vec![nothing.1]));
    }
    findings
}

/// Why a rule finds nothing to judge.
fn nothing(rule: &Rule, keys: &[Key], why: Option<String>, facts: &Facts) -> (Outcome, String) {
    if let Some(why) = why {
        return (Outcome::NotApplicable, why);
    }
    let class = applies::class(rule);
    if !keys.is_empty() {
        return (
            Outcome::NotApplicable,
            format!("{} is not there", rule.check.fact),
        );
    }
    if class == "mount" && facts.subjects("mount").is_empty() {
        return (Outcome::Unknown, "what is mounted is not known".to_owned());
    }
    let empty = format!("nothing on this host is a {class}");
    (Outcome::NotApplicable, empty)
}

/// One setting of one subject.
fn of_key(rule: &Rule, key: &Key, presumed: bool, facts: &Facts, site: &Site) -> Option<Finding> {
    let check = asked(rule, key, site);
    let fact = facts.get(key);
    let running = fact
        .and_then(|fact| fact.running.as_ref())
        .filter(|_| !check.persisted_only);
    let boot = fact
        .and_then(|fact| fact.boot.as_ref())
        .filter(|_| !check.running_only);
    let mut evidence: Vec<String> = running.map(|seen| seen.from.clone()).into_iter().collect();
    let now = running.map(|seen| compare::holds(&check, &seen.value));
    let then = boot.and_then(|seen| compare::holds(&check, &seen.value));
    let (result, said) = match (now, then) {
        (Some(None), _) => incomparable(key),
        (None, None) if boot.is_some() => incomparable(key),
        (None, None) => match absent(&check, rule, presumed, facts) {
            Some(Outcome::NotApplicable) => return None,
            Some(outcome) => (outcome, format!("{key} is not set")),
            None if check.op == Op::Report => return None,
            None => (Outcome::Unknown, not_found(key, facts)),
        },
        // Nothing runs that could be asked, but what is persisted is known.
        (None, Some(holds)) => {
            let outcome = if holds {
                Outcome::Pass
            } else {
                fails(rule, presumed)
            };
            let said = if check.persisted_only {
                ""
            } else {
                "only what is persisted is known"
            };
            (outcome, said.to_owned())
        }
        (Some(Some(true)), Some(false)) => {
            let said = "it holds now, but not after the next boot".to_owned();
            (Outcome::Conflict, said)
        }
        (Some(Some(true)), _) => (Outcome::Pass, String::new()),
        (Some(Some(false)), Some(true)) => {
            let said = "what is persisted is right, but not in effect".to_owned();
            (fails(rule, presumed), said)
        }
        (Some(Some(false)), _) => (fails(rule, presumed), String::new()),
    };
    evidence.extend(Some(said).filter(|said| !said.is_empty()));
    if presumed && matches!(result, Outcome::Fail | Outcome::Warn) {
        evidence.push(PRESUMED.to_owned());
    }
    let mut finding = finding(rule, key.subject.clone(), result, evidence);
    finding.fact = Some(key.to_string());
    finding.expected = compare::expected(&check);
    finding.running = running.map(|seen| seen.value.to_string());
    finding.persisted = boot.map(|seen| format!("{} ({})", seen.value, seen.from));
    overridden(&mut finding, site);
    Some(finding)
}

fn not_found(key: &Key, facts: &Facts) -> String {
    let subject = key.subject.as_deref().unwrap_or_default();
    match facts.text(&key.class, subject, "on_demand") {
        Some(point) => format!("{point} is mounted on demand; look at it first"),
        None => format!("{key} was not found"),
    }
}

fn incomparable(key: &Key) -> (Outcome, String) {
    let said = format!("{key} cannot be compared with what is expected");
    (Outcome::Unknown, said)
}

/// What is asked of a setting: by the rule, or by the site.
fn asked(rule: &Rule, key: &Key, site: &Site) -> Check {
    let known = site
        .overrides
        .of(&rule.id, key.subject.as_deref(), &site.today);
    let mut check = rule.check.clone();
    if let Some((one, true)) = known
        && let Some(value) = &one.value
    {
        // A bound stays a bound; where the rule has two, the site's own value is the one that is
        // right.
        check.value = Some(value.clone());
        check.op = if check.op == Op::Between {
            Op::Eq
        } else {
            check.op
        };
        check.expected = None;
    }
    check
}

fn absent(check: &Check, rule: &Rule, presumed: bool, facts: &Facts) -> Option<Outcome> {
    let known = || facts.class(applies::class(rule)).next().is_some();
    match (check.absent, check.op) {
        (Some(Absent::Fail), _) => known().then(|| fails(rule, presumed)),
        (Some(Absent::Pass), _) => Some(Outcome::Pass),
        (None, Op::Empty) => known().then_some(Outcome::Pass),
        (Some(Absent::NotApplicable), _) => Some(Outcome::NotApplicable),
        (None, _) => None,
    }
}

/// What a failure counts as.
fn fails(rule: &Rule, presumed: bool) -> Outcome {
    let sure = !presumed || rule.severity == Severity::Critical;
    if rule.can_fail() && sure {
        Outcome::Fail
    } else {
        Outcome::Warn
    }
}

/// What the site says of a finding.
fn overridden(finding: &mut Finding, site: &Site) {
    let found = site
        .overrides
        .of(&finding.id, finding.subject.as_deref(), &site.today);
    let Some((one, holds)) = found else {
        return;
    };
    let said = format!("{} ({}, until {})", one.reason, one.owner, one.expires);
    if !holds {
        finding
            .evidence
            .push(format!("an override has ended: {said}"));
    } else if one.value.is_some() {
        finding
            .evidence
            .push(format!("the site's own value: {said}"));
    } else if matches!(
        finding.result,
        Outcome::Fail | Outcome::Warn | Outcome::Conflict
    ) {
        finding.result = Outcome::Waived;
        finding.evidence.push(format!("waived: {said}"));
    }
}

/// A check of its own.
fn named(rule: &Rule, facts: &Facts, site: &Site) -> Vec<Finding> {
    let name = rule.check.value.as_ref().and_then(toml::Value::as_str);
    let check = name.and_then(checks::named);
    let Some(check) = check else {
        let why = format!("there is no check \"{}\"", name.unwrap_or_default());
        return vec![finding(rule, None, Outcome::Unknown, vec![why])];
    };
    let judged = (check.check)(facts);
    if judged.is_empty() {
        let (outcome, why) = match check.missing {
            Some(what) => (Outcome::Unknown, format!("nothing is known of {what}")),
            None => (
                Outcome::NotApplicable,
                "there is nothing of the kind here".to_owned(),
            ),
        };
        let mut finding = finding(rule, None, outcome, vec![why]);
        finding.fact = name.map(|name| format!("check.{name}"));
        return vec![finding];
    }
    let mut findings = Vec::new();
    for one in judged {
        let mut presumed = false;
        if let Some((class, subject)) = &one.subject {
            let key = Key::of(class, subject, "");
            match applies::subject(rule, &key, facts) {
                (Answer::Yes, only) => presumed = only,
                _ => continue,
            }
        }
        let result = match one.holds {
            Some(true) => Outcome::Pass,
            Some(false) => fails(rule, presumed),
            None => Outcome::Unknown,
        };
        let subject = one.subject.map(|(_, subject)| subject);
        let mut finding = finding(rule, subject, result, one.evidence);
        finding.fact = name.map(|name| format!("check.{name}"));
        finding.running = one.running;
        overridden(&mut finding, site);
        findings.push(finding);
    }
    if findings.is_empty() {
        let why = "for other mounts, devices or paths".to_owned();
        findings.push(finding(rule, None, Outcome::NotApplicable, vec![why]));
    }
    findings
}
