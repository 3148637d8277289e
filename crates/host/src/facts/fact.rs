//! Facts by their names.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{Key, Value};

/// A value and where it was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// The value.
    pub value: Value,
    /// A file and line, or a command: `/etc/fstab:12`, `lvs`.
    pub from: String,
}

/// What is known about one setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// What holds now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub running: Option<Seen>,
    /// What files ask for, in the order in which they are applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub persisted: Vec<Seen>,
    /// Which of them wins at the next boot.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub boot: Option<Seen>,
}

/// All facts of a host, sorted by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Facts(BTreeMap<Key, Fact>);

impl Facts {
    /// Everything that is known of a setting.
    pub fn get(&self, key: &Key) -> Option<&Fact> {
        self.0.get(key)
    }

    /// The running value of a setting.
    pub fn running(&self, key: &Key) -> Option<&Value> {
        Some(&self.get(key)?.running.as_ref()?.value)
    }

    /// The running value of `class.name`.
    pub fn plain(&self, class: &str, name: &str) -> Option<&Value> {
        self.running(&Key::plain(class, name))
    }

    /// The running value of `class[subject].name`.
    pub fn of(&self, class: &str, subject: &str, name: &str) -> Option<&Value> {
        self.running(&Key::of(class, subject, name))
    }

    /// The running value of `class[subject].name` as a text.
    pub fn text(&self, class: &str, subject: &str, name: &str) -> Option<String> {
        self.of(class, subject, name).map(ToString::to_string)
    }

    /// The running value of `class.name` as a number.
    pub fn number(&self, class: &str, name: &str) -> Option<f64> {
        self.plain(class, name)?.amount()
    }

    /// The subjects of a class that have a fact, sorted.
    pub fn subjects(&self, class: &str) -> BTreeSet<&str> {
        self.class(class)
            .filter_map(|(key, _)| key.subject.as_deref())
            .collect()
    }

    /// Facts of a class.
    pub fn class<'facts, 'name>(
        &'facts self,
        class: &'name str,
    ) -> impl Iterator<Item = (&'facts Key, &'facts Fact)> + use<'facts, 'name> {
        self.0
            .range(Key::plain(class, "")..)
            .take_while(move |(key, _)| key.class == class)
    }

    /// Every fact, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Fact)> {
        self.0.iter()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Says what runs, unless a source before said it.
    pub fn run(&mut self, key: Key, value: impl Into<Value>, from: &str) {
        let fact = self.0.entry(key).or_default();
        fact.running.get_or_insert_with(|| Seen {
            value: value.into(),
            from: from.to_owned(),
        });
    }

    /// Says what a file asks for; a later call is applied later.
    pub fn persist(&mut self, key: Key, value: impl Into<Value>, from: &str) {
        let seen = Seen {
            value: value.into(),
            from: from.to_owned(),
        };
        self.0.entry(key).or_default().persisted.push(seen);
    }

    /// Says who wins at the next boot.
    pub(crate) fn win(&mut self, key: &Key, seen: Seen) {
        if let Some(fact) = self.0.get_mut(key) {
            fact.boot = Some(seen);
        }
    }

    /// Forgets what `gone` says is of no use.
    pub(crate) fn forget(&mut self, gone: impl Fn(&Key) -> bool) {
        self.0.retain(|key, _| !gone(key));
    }

    /// Names of all facts.
    pub(crate) fn keys(&self) -> Vec<Key> {
        self.0.keys().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_source_says_what_runs_and_the_last_file_counts() {
        let mut facts = Facts::default();
        let key = Key::of("mount", "/a", "rsize");
        facts.run(key.clone(), 1_i64, "/proc/self/mountstats:2");
        facts.run(key.clone(), 2_i64, "mount");
        facts.persist(key.clone(), 3_i64, "/etc/fstab:1");
        facts.persist(key.clone(), 4_i64, "/etc/fstab:2");
        assert_eq!(facts.running(&key), Some(&Value::Number(1)));
        assert_eq!(facts.get(&key).unwrap().persisted.len(), 2);
        assert_eq!(facts.subjects("mount").len(), 1);
        assert!(facts.subjects("moun").is_empty());
    }
}
