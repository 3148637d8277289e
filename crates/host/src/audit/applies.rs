//! For which hosts and subjects a rule is.

use super::compare;
use super::judge::Site;
use super::rule::{Absent, Check, Op, Rule};
use crate::facts::{Facts, Key, Value};

/// Whether something is so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is.
    Yes,
    /// It is not, because.
    No(String),
    /// Nobody knows, because.
    Unknown(String),
}

impl Answer {
    /// Both: no beats unknown, unknown beats yes.
    fn and(self, other: impl FnOnce() -> Self) -> Self {
        match self {
            Self::No(why) => Self::No(why),
            Self::Yes => other(),
            Self::Unknown(why) => match other() {
                Self::No(other) => Self::No(other),
                _ => Self::Unknown(why),
            },
        }
    }
}

/// Whether a rule is for this host at all.
pub(crate) fn host(rule: &Rule, facts: &Facts, site: &Site) -> Answer {
    let applies = &rule.applies;
    let one_of = |wanted: &[String], class: &str, name: &str, what: &str| {
        if wanted.is_empty() {
            return Answer::Yes;
        }
        let Some(found) = facts.plain(class, name).map(ToString::to_string) else {
            return Answer::Unknown(format!("{what} is not known"));
        };
        let any = found != "none" && wanted.iter().any(|wanted| wanted == "any");
        if any || wanted.contains(&found) {
            Answer::Yes
        } else {
            Answer::No(format!("{what} is {found}, not {}", wanted.join(" or ")))
        }
    };
    system(&applies.os, facts)
        .and(|| host_role(&applies.host, site))
        .and(|| modules(&applies.module, facts))
        .and(|| one_of(&applies.cloud, "host", "cloud", "the cloud"))
        .and(|| one_of(&applies.release, "os", "release", "the release"))
        .and(|| {
            one_of(
                &applies.virtualisation,
                "host",
                "virtualisation",
                "virtualisation",
            )
        })
        .and(|| vendors(rule, facts))
        .and(|| file_systems(rule, facts))
        .and(|| path_roles(rule, facts))
        .and(|| {
            let all = rule.when.iter();
            all.fold(Answer::Yes, |answer, check| {
                answer.and(|| condition(check, &keys(&check.fact, facts), facts))
            })
        })
}

fn system(os: &str, facts: &Facts) -> Answer {
    let windows =
        !facts.subjects("registry").is_empty() || facts.plain("windows", "hotfixes").is_some();
    match (os == "windows", windows) {
        (true, false) => Answer::No("for Windows".to_owned()),
        _ => Answer::Yes,
    }
}

fn host_role(roles: &[String], site: &Site) -> Answer {
    if roles.is_empty() || roles.iter().any(|role| site.host_roles.contains(role)) {
        return Answer::Yes;
    }
    Answer::No(format!(
        "for hosts that are {} (--role)",
        roles.join(" or ")
    ))
}

fn modules(modules: &[String], facts: &Facts) -> Answer {
    let there = |module: &&String| {
        facts.of("module", module, "loaded").is_some()
            || facts
                .class("module")
                .any(|(key, fact)| key.subject.as_ref() == Some(module) && fact.running.is_some())
    };
    if modules.is_empty() || modules.iter().any(|module| there(&module)) {
        return Answer::Yes;
    }
    Answer::No(format!("no module {} is loaded", modules.join(" or ")))
}

/// Classes whose subjects say themselves what they are.
const TELLING: [&str; 4] = ["mount", "path", "block", "map"];

/// The class of the fact that a rule judges.
pub(crate) fn class(rule: &Rule) -> &str {
    let fact = rule.check.fact.as_str();
    fact.split(['[', '.']).next().unwrap_or_default()
}

fn vendors(rule: &Rule, facts: &Facts) -> Answer {
    let wanted = &rule.applies.vendor;
    let seen = facts.subjects("vendor");
    let fits = |wanted: &String| seen.iter().any(|seen| seen.eq_ignore_ascii_case(wanted));
    if wanted.is_empty() || wanted.iter().any(fits) {
        return Answer::Yes;
    }
    Answer::No(format!(
        "no storage of {} was seen or given with --vendor",
        wanted.join(" or ")
    ))
}

fn mounts_known(facts: &Facts) -> bool {
    facts.class("mount").any(|(_, fact)| fact.running.is_some())
}

fn file_systems(rule: &Rule, facts: &Facts) -> Answer {
    let wanted = &rule.applies.fs;
    if wanted.is_empty() {
        return Answer::Yes;
    }
    if !mounts_known(facts) {
        return Answer::Unknown("what is mounted is not known".to_owned());
    }
    let there = facts.subjects("mount").into_iter().any(|point| {
        facts
            .text("mount", point, "fstype")
            .is_some_and(|kind| wanted.contains(&kind))
    });
    if there {
        Answer::Yes
    } else {
        Answer::No(format!("no {} is mounted", wanted.join(" or ")))
    }
}

/// Of rules for the host as a whole; subjects are looked at one by one.
fn path_roles(rule: &Rule, facts: &Facts) -> Answer {
    let wanted = &rule.applies.role;
    if wanted.is_empty() || TELLING.contains(&class(rule)) {
        return Answer::Yes;
    }
    let there = facts.subjects("path").into_iter().any(|path| {
        facts
            .text("path", path, "role")
            .is_some_and(|role| wanted.contains(&role))
    });
    if there {
        Answer::Yes
    } else {
        Answer::No(format!(
            "no path of the role {} is known",
            wanted.join(" or ")
        ))
    }
}

/// Whether a condition holds for one of these settings at least.
fn condition(check: &Check, keys: &[Key], facts: &Facts) -> Answer {
    let name = match keys {
        [key] => key.to_string(),
        _ => check.fact.clone(),
    };
    let values: Vec<&Value> = keys.iter().filter_map(|key| facts.running(key)).collect();
    if values.is_empty() {
        return match check.absent {
            _ if check.op == Op::Empty => Answer::Yes,
            Some(Absent::Pass) => Answer::Yes,
            Some(Absent::NotApplicable | Absent::Fail) => {
                Answer::No(format!("{name} is not there"))
            }
            None if check.fact.contains('[') => Answer::No(format!("{name} is not there")),
            None => Answer::Unknown(format!("{name} is not known")),
        };
    }
    if values
        .iter()
        .any(|value| compare::holds(check, value) == Some(true))
    {
        return Answer::Yes;
    }
    let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
    Answer::No(format!(
        "{name} is {}, not {}",
        shown.join(", "),
        compare::expected(check)
    ))
}

/// Conditions on the class of what is judged must hold for the subject itself.
fn conditions(rule: &Rule, class: &str, subject: &str, facts: &Facts) -> Answer {
    let of_class = format!("{class}[].");
    rule.when.iter().fold(Answer::Yes, |answer, check| {
        answer.and(|| match check.fact.strip_prefix(&of_class) {
            Some(name) => condition(check, &[Key::of(class, subject, name)], facts),
            None => Answer::Yes,
        })
    })
}

/// Keys that a fact of a rule names: one, or one for each subject that fits.
pub(crate) fn keys(fact: &str, facts: &Facts) -> Vec<Key> {
    let Some((class, rest)) = fact.split_once('[') else {
        return fact.parse().into_iter().collect();
    };
    let Some((pattern, name)) = rest.split_once("].") else {
        return Vec::new();
    };
    let fits = |subject: &&str| match pattern.strip_suffix('*') {
        Some(start) => subject.starts_with(start),
        None => pattern.is_empty() || pattern == *subject,
    };
    let subjects = facts.subjects(class).into_iter().filter(fits);
    subjects
        .map(|subject| Key::of(class, subject, name))
        .collect()
}

/// Whether a rule is for a subject, and whether its role is only presumed.
pub(crate) fn subject(rule: &Rule, key: &Key, facts: &Facts) -> (Answer, bool) {
    let Some(subject) = &key.subject else {
        return (Answer::Yes, false);
    };
    let class = key.class.as_str();
    let applies = &rule.applies;
    let text = |name: &str| facts.text(class, subject, name);
    let mut presumed = false;
    let mut answer = Answer::Yes;
    // Checks of their own look at fstab as well, and name no fact.
    if class == "mount" && !key.name.is_empty() && text("fstype").is_none() {
        return (Answer::No(format!("{subject} is not mounted")), false);
    }
    if !applies.fs.is_empty() && matches!(class, "mount" | "path") {
        answer = match text("fstype") {
            Some(kind) if applies.fs.contains(&kind) => Answer::Yes,
            Some(kind) => Answer::No(format!("{subject} is {kind}")),
            None => Answer::Unknown(format!("the type of {subject} is not known")),
        };
    }
    if !applies.role.is_empty() && TELLING.contains(&class) {
        let (role, only_presumed) = role(class, subject, &applies.role, facts);
        answer = answer.and(|| role);
        presumed = only_presumed;
    }
    if !applies.device.is_empty() && matches!(class, "block" | "mount") {
        let device = match class {
            "mount" => text("block").unwrap_or_default(),
            _ => subject.clone(),
        };
        let kind = facts.text("block", &device, "kind").unwrap_or_default();
        let fits = applies.device.contains(&kind);
        answer = answer.and(|| {
            if fits {
                Answer::Yes
            } else {
                Answer::No(format!("{subject} is another kind of device"))
            }
        });
    }
    let vendors = facts.of(class, subject, "vendor").map(Value::texts);
    // A network file system does not tell its vendor: `--vendor` does.
    if !applies.vendor.is_empty()
        && (matches!(class, "block" | "map") || (class == "mount" && vendors.is_some()))
    {
        let vendors = vendors.unwrap_or_default();
        let fits = applies.vendor.iter().any(|wanted| {
            vendors
                .iter()
                .any(|vendor| wanted.eq_ignore_ascii_case(vendor))
        });
        answer = answer.and(|| {
            if fits {
                Answer::Yes
            } else {
                Answer::No(format!("{subject} is of another vendor"))
            }
        });
    }
    let answer = answer.and(|| conditions(rule, class, subject, facts));
    (answer, presumed)
}

fn role(class: &str, subject: &str, wanted: &[String], facts: &Facts) -> (Answer, bool) {
    let of_mount = |point: &str| {
        let roles = facts
            .of("mount", point, "roles")
            .map(Value::texts)
            .unwrap_or_default();
        // A path with a role of its own that is a kind of data is data as well.
        let fits = roles.iter().any(|role| {
            wanted.contains(role)
                || (role == "sasdata-shared-write"
                    && wanted.iter().any(|wanted| wanted == "sasdata"))
        });
        (fits, facts.of("mount", point, "presumed_role").is_some())
    };
    let (fits, presumed) = match class {
        "mount" => of_mount(subject),
        "path" => {
            let role = facts.text("path", subject, "role").unwrap_or_default();
            (
                wanted.contains(&role),
                facts.of("path", subject, "presumed").is_some(),
            )
        }
        _ => {
            let points = facts
                .of(class, subject, "mounts")
                .map(Value::texts)
                .unwrap_or_default();
            let found: Vec<(bool, bool)> = points.iter().map(|point| of_mount(point)).collect();
            let fitting = found.iter().filter(|(fits, _)| *fits);
            (
                fitting.clone().count() > 0,
                fitting.clone().all(|(_, presumed)| *presumed),
            )
        }
    };
    if fits {
        (Answer::Yes, presumed)
    } else {
        (
            Answer::No(format!("{subject} has no role of {}", wanted.join(", "))),
            false,
        )
    }
}
