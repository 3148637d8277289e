//! `docs/reference/rules.md` and `docs/reference/sources.md` are made of the rules and of the table of
//! sources. With `GRISTMILL_UPDATE=1` this test writes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use host::audit::catalogue::Catalogue;
use host::audit::rule::{Origin, Rule};
use host::facts::sources::{self, Layer};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a page with what it should be.
fn check(path: &str, wanted: &str) {
    let path = root().join(path);
    if std::env::var_os("GRISTMILL_UPDATE").is_some() {
        fs::write(&path, wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{} is not what the rules say; GRISTMILL_UPDATE=1 cargo test -p gristmill-host --test reference",
        path.display()
    );
}

fn word(value: &impl serde::Serialize) -> String {
    toml::Value::try_from(value)
        .unwrap()
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[test]
fn the_page_of_rules_is_made_of_the_rules() {
    let catalogue = Catalogue::built_in().unwrap();
    let rules: Vec<&Rule> = catalogue.rules.values().collect();
    let mut page = String::from(
        "# Rules of `gristmill audit`\n\nMade of `rules/*.toml` by \
         `crates/host/tests/reference.rs`; do not edit.\n\
         `gristmill audit explain ID` prints a rule whole.\n\n## How many\n\n",
    );
    counts(&mut page, &rules);
    page.push_str(
        "\n## Which rule holds which sentence of the papers\n\nEvery recommendation of the four \
         papers, in the words of \
         the paper, by section.\n",
    );
    for (id, document) in &catalogue.documents {
        coverage(&mut page, id, &document.title, &rules);
    }
    page.push_str(
        "\n## All rules\n\n| rule | | severity | today | looks at | relieves | from \
         |\n|---|---|---|---|---|---|---|\n",
    );
    for rule in &rules {
        let from: BTreeSet<&str> = rule
            .source
            .iter()
            .map(|source| source.document.as_str())
            .collect();
        let fact = match rule.check.fact.as_str() {
            "" => match rule.check.value.as_ref().and_then(toml::Value::as_str) {
                Some(name) => format!("check {name}"),
                None => "people".to_owned(),
            },
            fact => {
                let also = rule.check.also.iter().map(String::as_str);
                let names: Vec<&str> = std::iter::once(fact).chain(also).collect();
                format!("`{}`", cell(&names.join("`, `")))
            }
        };
        let relieves: Vec<&str> = rule
            .bottleneck
            .iter()
            .flatten()
            .map(|one| one.name())
            .collect();
        let _ = writeln!(
            page,
            "| {} | {} | {} | {} | {fact} | {} | {} |",
            rule.id,
            cell(&rule.title),
            word(&rule.severity),
            word(&rule.status),
            relieves.join(" "),
            from.into_iter().collect::<Vec<_>>().join(" ")
        );
    }
    page.push_str("\n## Documents\n\n| | title | year | kind |\n|---|---|---|---|\n");
    for (id, document) in &catalogue.documents {
        let title = match &document.url {
            Some(url) if url.starts_with("http") => format!("[{}]({url})", cell(&document.title)),
            _ => cell(&document.title),
        };
        let _ = writeln!(
            page,
            "| {id} | {title} | {} | {} |",
            document.year,
            word(&document.kind)
        );
    }
    check("docs/reference/rules.md", &page);
}

fn counts(page: &mut String, rules: &[&Rule]) {
    let mut by_origin: BTreeMap<Origin, BTreeMap<String, usize>> = BTreeMap::new();
    for rule in rules {
        let row = by_origin.entry(rule.origin).or_default();
        *row.entry(word(&rule.status)).or_default() += 1;
        *row.entry(word(&rule.severity)).or_default() += 1;
        *row.entry("all".to_owned()).or_default() += 1;
    }
    let columns = [
        "all",
        "current",
        "adapt",
        "context",
        "obsolete",
        "dangerous",
        "critical",
        "high",
        "medium",
        "low",
        "info",
    ];
    let _ = writeln!(page, "| source | {} |", columns.join(" | "));
    let _ = writeln!(page, "|---|{}", "---|".repeat(columns.len()));
    for (origin, row) in &by_origin {
        let cells: Vec<String> = columns
            .iter()
            .map(|name| row.get(*name).unwrap_or(&0).to_string())
            .collect();
        let name = match origin {
            Origin::Seed => "the four papers",
            Origin::Newer => "later publications",
            Origin::Derived => "this project",
        };
        let _ = writeln!(page, "| {name} | {} |", cells.join(" | "));
    }
}

fn coverage(page: &mut String, document: &str, title: &str, rules: &[&Rule]) {
    let mut sections: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = BTreeMap::new();
    for rule in rules {
        for source in rule
            .source
            .iter()
            .filter(|source| source.document == document)
        {
            if let Some(quote) = &source.quote {
                let of = sections.entry(&source.section).or_default();
                of.entry(quote).or_default().push(&rule.id);
            }
        }
    }
    if sections.is_empty() {
        return;
    }
    let _ = writeln!(
        page,
        "\n### {document}: {title}\n\n| section | sentence | rules |\n|---|---|---|"
    );
    for (section, quotes) in sections {
        for (quote, ids) in quotes {
            let _ = writeln!(
                page,
                "| {} | {} | {} |",
                cell(section),
                cell(quote),
                ids.join(" ")
            );
        }
    }
}

#[derive(serde::Deserialize)]
struct Expected {
    #[serde(default)]
    sample: Vec<Sample>,
    #[serde(default)]
    sources: Vec<String>,
}

#[derive(serde::Deserialize)]
struct Sample {
    source: String,
    file: Option<String>,
    document: Option<String>,
}

#[test]
fn the_page_of_sources_is_made_of_the_table_of_sources() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/expected");
    let (mut real, mut synthetic, mut sosreport) =
        (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    for entry in fs::read_dir(folder).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        let expected: Expected = toml::from_str(&text).unwrap();
        sosreport.extend(expected.sources);
        for sample in expected.sample {
            if sample.file.is_some() {
                *real.entry(sample.source).or_insert(0_usize) += 1;
            } else if let Some(document) = sample.document {
                synthetic.entry(sample.source).or_insert(document);
            }
        }
    }
    let mut page = String::from(
        "# Sources that the audit reads\n\nMade of `crates/host/src/facts/sources.rs` and of what \
         its tests expect; do not \
         edit. The name is that of `--also NAME=FILE`. *Real*: captures of real hosts, whose facts \
         were written down by hand before the parser. *Sosreport*: read in a complete sosreport of \
         RHEL 8. *Synthetic*: no real capture was at hand, \
         the test's text follows the document named. *None*: only that it never panics is tested.\n\n\
         | name | where | tells | tested with |\n|---|---|---|---|\n",
    );
    for source in sources::all() {
        let tested = tested(source.name, &real, &synthetic, &sosreport);
        let tells = match source.layer {
            Layer::Running => "what runs",
            Layer::Persisted => "what is persisted",
        };
        let places = cell(&places(source));
        let _ = writeln!(
            page,
            "| {} | {places} | {tells} | {} |",
            source.name,
            cell(&tested)
        );
    }
    page.push_str(
        "\nTwo tests of `crates/host/tests/node.rs` also read a synthetic node from all its files \
         at once. In a virtual machine settings were changed, seen and repaired: \
         [findings/audit-repair.md](../findings/audit-repair.md). Systems: [systems.md](../systems.md).\n",
    );
    check("docs/reference/sources.md", &page);
}

/// Where a source is read.
fn places(source: &sources::Source) -> String {
    let mut places: Vec<String> = source
        .paths
        .iter()
        .map(|path| format!("`{path}`"))
        .collect();
    if places.len() > 4 {
        let more = places.len() - 3;
        places.truncate(3);
        places.push(format!("and {more} more"));
    }
    if let Some(command) = source.command {
        let words = &command.argv[..command.argv.len().min(3)];
        let captured = command.captured.iter().take(2);
        if words.is_empty() {
            places.extend(captured.map(|path| format!("`{path}` of a capture")));
        } else {
            places.insert(0, format!("`{}`", words.join(" ")));
        }
    }
    places.join(", ")
}

/// What a source was tested with.
fn tested(
    name: &str,
    real: &BTreeMap<String, usize>,
    synthetic: &BTreeMap<String, String>,
    sosreport: &BTreeSet<String>,
) -> String {
    let mut tested: Vec<String> = real
        .get(name)
        .map(|count| format!("real: {count}"))
        .into_iter()
        .collect();
    if sosreport.contains(name) {
        tested.push("sosreport".to_owned());
    }
    tested.extend(
        synthetic
            .get(name)
            .map(|document| format!("*synthetic*: {document}")),
    );
    if tested.is_empty() {
        tested.push("none".to_owned());
    }
    tested.join("; ")
}
