//! What the audit reads of the file system of a lab.

use serde_json::Value;

use super::{dir, gristmill, say};

/// Facts and findings of `gristmill audit --json`.
pub(super) struct Facts {
    facts: Value,
    findings: Value,
}

/// Reads them, the mounted directory in the role of permanent data.
pub(super) fn audit() -> Facts {
    let role = format!("sasdata={}", dir().display());
    let output = gristmill(&["audit", "--json", "--role", &role], &dir());
    let said = String::from_utf8_lossy(&output.stderr);
    let mut json: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{said}");
    Facts {
        facts: json["facts"].take(),
        findings: json["findings"].take(),
    }
}

impl Facts {
    /// A value that is in force; null where there is none.
    pub(super) fn value(&self, key: &str) -> &Value {
        &self.facts[key]["running"]["value"]
    }

    pub(super) fn is(&self, key: &str, wanted: impl Into<Value>) {
        let (found, wanted) = (self.value(key), wanted.into());
        if *found != wanted {
            let class = key.split(['[', '.']).next().unwrap();
            let of_class = self.facts.as_object().unwrap().iter();
            for (key, fact) in of_class.filter(|(key, _)| key.starts_with(class)) {
                say(&format!("{key} {fact}"));
            }
        }
        assert_eq!(*found, wanted, "{key}");
    }

    /// What became of a rule, on whatever subject that is not the host's own.
    pub(super) fn rule_is(&self, id: &str, wanted: &str) {
        let all = self.findings.as_array().unwrap().iter();
        let of_rule: Vec<&Value> = all.filter(|finding| finding["id"] == id).collect();
        let results: Vec<&str> = of_rule
            .iter()
            .filter_map(|finding| finding["result"].as_str())
            .collect();
        if !results.contains(&wanted) {
            say(&format!("{of_rule:#?}"));
        }
        assert!(
            results.contains(&wanted),
            "{id} is {results:?}, not {wanted}"
        );
    }

    /// A fact of the mounted directory.
    pub(super) fn mount_is(&self, name: &str, wanted: impl Into<Value>) {
        self.is(&format!("mount[{}].{name}", dir().display()), wanted);
    }

    /// Options of the mounted directory.
    pub(super) fn has_option(&self, option: &str) -> bool {
        let key = format!("mount[{}].options", dir().display());
        let options = self.value(&key).as_array();
        options.is_some_and(|options| options.iter().any(|one| one == option))
    }
}
