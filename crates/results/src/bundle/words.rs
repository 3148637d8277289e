//! Words that the records of a run consist of: a host may have one of them as its name.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;

/// Words of what Gristmill and SAS write themselves, in logs, verdicts and tables.
const OWN: &str = "all allowed and at available batch block bytes cache calls capability channel channels close cold \
    complete compress context copies core cores count cpu create data datasets dataset delete demonstration device \
    devices directory disk dirty disturbed drift elapsed end engine error errors exit expected fail failed fast \
    feeding file files flush format from fullstimer grid gristmill group has high high-water host hosts idle in \
    inconclusive index infile information initialization input inputs involuntary is job jobs key keys kernel label \
    latency length level libname libref library license limit local lock locks log logs low mean means memory merge \
    metadata missing mixed mount mounts network no node nodes none not note notes number observation observations of \
    on open operation operations options os out output outputs page pages part pass paper path peak permanent \
    physical plan pressure procedure process processor processors proc program programs pure quit ran rate ratio read \
    reads real reclaims record records release remove rename report required response result results row rows run \
    runs samples sas scale second seconds seek server servers set share shared site size software sort source sources \
    sql stage statement step steps storage suite sustained swap swaps switch switches sync system table tables test \
    the their there this time timestamp to total truncate unlock unused update use used user util utility value \
    values var variable variables verdict verified version view voluntary wait wanted warm warning warnings was were \
    where which with work write writes written";

/// Fields whose values are words of a suite or of Gristmill.
const TERMS: [&str; 16] = [
    "bottleneck",
    "class",
    "directories",
    "event",
    "file_systems",
    "job",
    "kind",
    "measure",
    "name",
    "part",
    "persona",
    "result",
    "severity",
    "suite",
    "unit",
    "variant",
];

/// Fields of findings that hold the catalogue's own texts.
const TEXTS: [&str; 4] = ["expected", "id", "title", "why"];

/// Lines of a file that are looked at: later ones have the same fields.
const LINES: usize = 1000;

/// Names that letters alone make and that are as short as this are part of many words.
const SHORT: usize = 2;

/// Words that cannot be replaced wherever they stand.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// In small letters.
    words: BTreeSet<String>,
}

impl Words {
    /// Those of Gristmill and of a run's records. Files that cannot be read here fail when they are packed.
    pub(super) fn of(root: &Path, nodes: &[String]) -> Self {
        let mut words = Self::default();
        words.split(OWN);
        for path in super::files(root).unwrap_or_default() {
            let inside = path.strip_prefix(root).unwrap_or(&path);
            words.place(inside);
            let text = fs::read_to_string(&path).unwrap_or_default();
            let audited = inside.starts_with("audits");
            let documents: Vec<&str> = match path.extension().and_then(|one| one.to_str()) {
                Some("json") => vec![&text],
                Some("jsonl") => text.lines().take(LINES).collect(),
                _ => continue,
            };
            for document in documents {
                if let Ok(value) = serde_json::from_str(document) {
                    words.record(&value, (audited, nodes));
                }
            }
        }
        words
    }

    /// Whether a name is one of them, in capitals or not.
    pub(super) fn has(&self, name: &str) -> bool {
        let is_short = name.len() <= SHORT && name.chars().all(|one| one.is_ascii_alphabetic());
        is_short || self.words.contains(&name.to_lowercase())
    }

    fn add(&mut self, word: &str) {
        self.words.insert(word.to_lowercase());
    }

    fn split(&mut self, text: &str) {
        let apart = |letter: char| !letter.is_alphanumeric() && letter != '_';
        for word in text.split(apart).filter(|word| !word.is_empty()) {
            self.add(word);
        }
    }

    /// Folders and endings of files; files of a node are called as it is.
    fn place(&mut self, inside: &Path) {
        for folder in inside.parent().into_iter().flat_map(Path::iter) {
            self.add(&folder.to_string_lossy());
        }
        if let Some(ending) = inside.extension() {
            self.add(&ending.to_string_lossy());
        }
    }

    /// Keys, and what is no name of a node or text of the user's.
    fn record(&mut self, value: &Value, of: (bool, &[String])) {
        match value {
            Value::Object(fields) => {
                for (key, value) in fields {
                    self.add(key);
                    self.field(key, value, of);
                    self.record(value, of);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.record(value, of)),
            _ => {}
        }
    }

    fn field(&mut self, key: &str, value: &Value, (audited, nodes): (bool, &[String])) {
        let values = match value {
            Value::Array(values) => &values[..],
            other => std::slice::from_ref(other),
        };
        for text in values.iter().filter_map(Value::as_str) {
            if audited && TEXTS.contains(&key) {
                self.split(text);
            }
            // What limited a run may be a node, by its name.
            if TERMS.contains(&key) && !nodes.iter().any(|node| node == text) {
                self.add(text);
            }
        }
    }
}

/// Text of a record with strings replaced that are the whole value of one of these fields, or of its list. What is no
/// JSON stays as it is.
pub(super) fn fields(
    text: &str,
    named: &[&str],
    mut replaced: impl FnMut(&str) -> Option<String>,
) -> String {
    let mut out = String::with_capacity(text.len());
    // The field that each open object or list is at.
    let mut open: Vec<&str> = vec![""];
    let mut rest = text;
    while let Some(at) = rest.find(['"', '{', '[', '}', ']']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let field = open.last().copied().unwrap_or_default();
        let mut taken = 1;
        match rest.as_bytes()[0] {
            b'{' => open.push(""),
            b'[' => open.push(field),
            b'"' => {
                taken = string(rest);
                let content = rest[..taken].trim_matches('"');
                if rest[taken..].trim_start().starts_with(':') {
                    if let Some(last) = open.last_mut() {
                        *last = content;
                    }
                } else if let Some(by) = replaced(content).filter(|_| named.contains(&field)) {
                    out.push_str(&Value::from(by).to_string());
                    rest = &rest[taken..];
                    continue;
                }
            }
            _ => drop(open.pop()),
        }
        out.push_str(&rest[..taken]);
        rest = &rest[taken..];
    }
    out.push_str(rest);
    out
}

/// Length of the string, with its quotes, that a text begins with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.bytes().enumerate().skip(1) {
        match letter {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_values_of_fields_are_replaced() {
        let text = r#"{"node": "input", "nodes":["input","b"],
            "channels":{"input":{"name":"input"}}, "detail":"a \"node\": \"input\"", "x":{"node":"input"}}
            {"node":"input"}"#;
        let by = |value: &str| (value == "input").then(|| "host1".to_owned());
        assert_eq!(
            fields(text, &["node", "nodes"], by),
            r#"{"node": "host1", "nodes":["host1","b"],
            "channels":{"input":{"name":"input"}}, "detail":"a \"node\": \"input\"", "x":{"node":"host1"}}
            {"node":"host1"}"#
        );
        for odd in ["", "\"", "}]", "{\"node\":\"inp", "no record", "\"\\"] {
            assert_eq!(fields(odd, &["node"], by), odd);
        }
    }

    #[test]
    fn words_of_records_and_logs_are_no_names() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("audits")).unwrap();
        let audit = r#"{"node":"zeus","findings":[{"id":"VM-105","title":"Swap little","evidence":["hera"]}]}"#;
        fs::write(folder.path().join("audits/zeus.json"), audit).unwrap();
        let result = r#"{"suite":"multiuser","limited_by":{"kind":"node","name":"zeus"}}"#;
        fs::write(folder.path().join("result.json"), result).unwrap();
        let words = Words::of(folder.path(), &["zeus".to_owned()]);
        for word in [
            "SAS",
            "vm",
            "little",
            "findings",
            "json",
            "multiuser",
            "real",
        ] {
            assert!(words.has(word), "{word}");
        }
        for name in ["zeus", "hera", "n2", "gridnode1", "filer"] {
            assert!(!words.has(name), "{name}");
        }
    }
}
