//! Of several rules on one setting of one subject one decides: site override, role bundle, newest
//! note of a vendor that is there, distribution, our own, seed paper.

use std::collections::BTreeMap;

use super::catalogue::{Catalogue, Kind};
use super::judge::Site;
use super::rule::{Op, Rule};
use super::{Finding, Outcome};

/// How much a rule has to say; the greater decides.
type Rank = (u8, u32);

/// Settles every setting on which more than one rule has something to say.
pub(crate) fn settle(catalogue: &Catalogue, site: &Site, findings: &mut [Finding]) {
    let mut by_setting: BTreeMap<(String, Option<String>), Vec<usize>> = BTreeMap::new();
    for (index, finding) in findings.iter().enumerate() {
        let Some(rule) = catalogue.rules.get(&finding.id) else {
            continue;
        };
        let judged = matches!(
            finding.result,
            Outcome::Pass | Outcome::Fail | Outcome::Warn | Outcome::Conflict
        );
        if judged && rule.check.op != Op::Report {
            let setting = (rule.param.clone(), finding.subject.clone());
            by_setting.entry(setting).or_default().push(index);
        }
    }
    for indices in by_setting.into_values().filter(|indices| indices.len() > 1) {
        one(catalogue, site, &indices, findings);
    }
}

fn one(catalogue: &Catalogue, site: &Site, indices: &[usize], findings: &mut [Finding]) {
    let rank_of = |index: usize, findings: &[Finding]| {
        rank(
            &catalogue.rules[&findings[index].id],
            &findings[index],
            catalogue,
            site,
        )
    };
    let Some(top) = indices.iter().map(|index| rank_of(*index, findings)).max() else {
        return;
    };
    let (deciding, others): (Vec<usize>, Vec<usize>) = indices
        .iter()
        .partition(|index| rank_of(**index, findings) == top);
    let contradict = deciding.iter().any(|left| {
        deciding.iter().any(|right| {
            exclude(
                &catalogue.rules[&findings[*left].id],
                &catalogue.rules[&findings[*right].id],
            )
        })
    });
    if contradict {
        let ids: Vec<String> = deciding
            .iter()
            .map(|index| findings[*index].id.clone())
            .collect();
        for index in deciding {
            findings[index].result = Outcome::Conflict;
            let said = format!(
                "{} ask for different values and have the same rank",
                ids.join(" and ")
            );
            findings[index].evidence.push(said);
        }
        return;
    }
    // Of rules that say the same the strictest stands for all.
    let chief = deciding
        .iter()
        .copied()
        .min_by_key(|index| (findings[*index].result, findings[*index].severity));
    let Some(chief) = chief else {
        return;
    };
    let id = findings[chief].id.clone();
    let passes = findings[chief].result == Outcome::Pass;
    for index in deciding.into_iter().chain(others) {
        // That a higher rule holds does not allow what another forbids.
        let stands = passes && forbids(&catalogue.rules[&findings[index].id]);
        if index != chief && findings[index].result != Outcome::Pass && !stands {
            let same = findings[index].expected == findings[chief].expected;
            findings[index].result = Outcome::NotApplicable;
            let said = if same {
                format!("the same as {id}")
            } else {
                format!("{id} decides this setting")
            };
            findings[index].evidence.push(said);
        }
    }
}

fn rank(rule: &Rule, finding: &Finding, catalogue: &Catalogue, site: &Site) -> Rank {
    let overridden = site
        .overrides
        .of(&rule.id, finding.subject.as_deref(), &site.today)
        .is_some_and(|(one, holds)| holds && one.value.is_some());
    let preferred = site.bundles.iter().any(|bundle| {
        catalogue
            .bundles
            .get(bundle)
            .is_some_and(|bundle| bundle.prefers.contains(&rule.id))
    });
    let documents = rule
        .source
        .iter()
        .filter_map(|source| catalogue.documents.get(&source.document));
    let newest = documents
        .map(|document| (document.kind, document.year))
        .max();
    let (kind, year) = newest.unwrap_or((Kind::Seed, 0));
    // A paper about the storage that is there is a note of its vendor.
    let of_vendor = kind == Kind::Seed && !rule.applies.vendor.is_empty();
    let kind = if of_vendor { Kind::Vendor } else { kind };
    let level = match kind {
        _ if overridden => 5,
        _ if preferred => 4,
        Kind::Vendor => 3,
        Kind::Distribution => 2,
        Kind::Derived => 1,
        Kind::Seed => 0,
    };
    (level, year)
}

/// True if a rule says what must not be; it cannot contradict another that does.
fn forbids(rule: &Rule) -> bool {
    matches!(
        rule.check.op,
        Op::Ne | Op::NotIn | Op::Lacks | Op::Empty | Op::Named
    )
}

/// True if no value can be right for both.
fn exclude(left: &Rule, right: &Rule) -> bool {
    left.check.fact == right.check.fact
        && left.check.op == Op::Eq
        && right.check.op == Op::Eq
        && left.check.value != right.check.value
}

#[cfg(test)]
mod tests {
    use super::super::rule::{Severity, Status};
    use super::*;

    fn rule(id: &str, document: &str, check: &str) -> Rule {
        let text = format!(
            "id = \"{id}\"\ntitle = \"t\"\norigin = \"seed\"\nstatus = \"current\"\nseverity = \"low\"\n\
             param = \"p\"\nwhy = \"w\"\n[[source]]\ndocument = \"{document}\"\n[check]\nfact = \"a.b\"\n{check}\n"
        );
        toml::from_str(&text).unwrap()
    }

    fn finding(id: &str, result: Outcome) -> Finding {
        Finding {
            id: id.to_owned(),
            subject: None,
            result,
            severity: Severity::Low,
            title: String::new(),
            status: Status::Current,
            fact: None,
            expected: id.to_owned(),
            running: None,
            persisted: None,
            evidence: Vec::new(),
            why: String::new(),
            fix: None,
            source: Vec::new(),
        }
    }

    /// Results of rules, each with its document and check, settled.
    fn settled(rules: &[(&str, &str, &str, Outcome)]) -> Vec<Outcome> {
        let mut catalogue = Catalogue {
            documents: Catalogue::built_in().unwrap().documents,
            ..Catalogue::default()
        };
        let mut findings = Vec::new();
        for (id, document, check, result) in rules {
            catalogue
                .rules
                .insert((*id).to_owned(), rule(id, document, check));
            findings.push(finding(id, *result));
        }
        settle(&catalogue, &Site::default(), &mut findings);
        findings.into_iter().map(|finding| finding.result).collect()
    }

    #[test]
    fn the_newer_note_decides() {
        use Outcome::{Fail, NotApplicable, Pass};
        let old = ("A", "S3", "op = \"eq\"\nvalue = 40", Fail);
        let new = ("B", "N1", "op = \"le\"\nvalue = 5", Pass);
        assert_eq!(settled(&[old, new]), [NotApplicable, Pass]);
        let fails = ("B", "N1", "op = \"le\"\nvalue = 5", Fail);
        assert_eq!(settled(&[old, fails]), [NotApplicable, Fail]);
    }

    #[test]
    fn what_is_forbidden_stays_forbidden() {
        use Outcome::{Fail, Pass};
        let old = ("A", "S1", "op = \"not_in\"\nvalue = [\"gfs2\"]", Fail);
        let new = ("B", "S4", "op = \"not_in\"\nvalue = [\"nfs\"]", Pass);
        assert_eq!(settled(&[old, new]), [Fail, Pass]);
    }

    #[test]
    fn notes_of_the_same_rank_may_contradict() {
        use Outcome::{Conflict, Fail, Pass};
        let left = ("A", "N1", "op = \"eq\"\nvalue = 1", Pass);
        let right = ("B", "N1", "op = \"eq\"\nvalue = 2", Fail);
        assert_eq!(settled(&[left, right]), [Conflict, Conflict]);
    }
}
