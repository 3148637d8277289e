//! The catalogue: every rule is whole, and every sentence that it quotes stands in its paper.

#![expect(clippy::print_stdout, reason = "says which papers were read")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use host::audit::catalogue::{self, Catalogue};
use host::audit::rule::{Op, Origin, Rule, Status};

fn rules() -> BTreeMap<String, Rule> {
    Catalogue::built_in().unwrap().rules
}

#[test]
fn every_rule_is_whole() {
    let catalogue = Catalogue::built_in().unwrap();
    let files: BTreeSet<&str> = catalogue::file_names().collect();
    let ids: BTreeSet<&str> = catalogue.rules.keys().map(String::as_str).collect();
    assert_eq!(files, ids, "a rule is in the file of its name");
    let mut wrong = Vec::new();
    for rule in catalogue.rules.values() {
        let mut complain = |what: &str| wrong.push(format!("{}: {what}", rule.id));
        if rule.why.split(' ').count() < 4 || !rule.why.ends_with('.') {
            complain("why is no sentence");
        }
        if rule.source.is_empty() {
            complain("no source");
        }
        for source in &rule.source {
            if !catalogue.documents.contains_key(&source.document) {
                complain("a document that is not listed");
            }
        }
        if rule.origin == Origin::Seed && !rule.source.iter().any(|source| source.quote.is_some()) {
            complain("a paper's rule without its sentence");
        }
        let needs_fact = !matches!(rule.check.op, Op::Ask | Op::Fleet | Op::Named);
        if needs_fact != rule.check.fact.contains('.') {
            complain("fact and comparison do not fit");
        }
        let needs_value = !matches!(
            rule.check.op,
            Op::Ask | Op::Fleet | Op::Report | Op::Exists | Op::Empty
        );
        // Of several nodes findings are compared, or the facts that are named.
        let may_have = rule.check.op == Op::Fleet;
        if needs_value != rule.check.value.is_some() && !may_have {
            complain("value and comparison do not fit");
        }
        if rule.is_judged() != rule.bottleneck.is_some() {
            complain("a judged rule says what it relieves, another does not");
        }
        if rule.status == Status::Dangerous && rule.modern.is_none() {
            complain("dangerous advice without what to do instead");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn bundles_prefer_rules_that_there_are() {
    let catalogue = Catalogue::built_in().unwrap();
    for bundle in catalogue.bundles.values() {
        for id in &bundle.prefers {
            assert!(catalogue.rules.contains_key(id), "{}: {id}", bundle.name);
        }
    }
}

#[test]
fn quotes_stand_in_the_papers() {
    let corpus = std::env::var_os("GRISTMILL_CORPUS");
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/corpus");
    let corpus = corpus.map_or_else(|| PathBuf::from(default), PathBuf::from);
    let papers = [
        ("S1", "survey-of-shared-file-systems-sas-484-2013.txt"),
        ("S2", "sas-on-pure-storage-fa420-2014.txt"),
        ("S3", "optimizing-rhel-for-sas-9.2-2011.txt"),
        ("S4", "isilon-f810-with-sas-2020.txt"),
    ];
    let (mut read, mut wrong) = (0, Vec::new());
    for (document, file) in papers {
        let Ok(text) = fs::read_to_string(corpus.join("../papers").join(file)) else {
            continue;
        };
        read += 1;
        let text = plain(&text);
        for rule in rules().values() {
            let quotes = rule
                .source
                .iter()
                .filter(|source| source.document == document);
            for quote in quotes.filter_map(|source| source.quote.as_ref()) {
                if !text.contains(&plain(quote)) {
                    wrong.push(format!("{}: {document} does not say: {quote}", rule.id));
                }
            }
        }
    }
    println!("papers: {read} read, {} skipped", papers.len() - read);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Without the marks of the text, with single blanks.
fn plain(text: &str) -> String {
    let text = text.replace("**", "").replace("\\_", "_").replace('`', "");
    let text = text.replace("[®]", "®").replace("[™]", "™");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
