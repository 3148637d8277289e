//! Names of facts: `class.name` and `class[subject].name`.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// The name of a fact.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// `sysctl`, `mount`, `block`, …
    pub class: String,
    /// Which mount, which device; absent where there is only one of the class.
    pub subject: Option<String>,
    /// `vm.swappiness`, `rsize`, `read_ahead_kb`, …
    pub name: String,
}

impl Key {
    /// `class.name`.
    pub fn plain(class: &str, name: &str) -> Self {
        Self {
            class: class.to_owned(),
            subject: None,
            name: name.to_owned(),
        }
    }

    /// `class[subject].name`.
    pub fn of(class: &str, subject: &str, name: &str) -> Self {
        Self {
            class: class.to_owned(),
            subject: Some(subject.to_owned()),
            name: name.to_owned(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Some(subject) => write!(formatter, "{}[{subject}].{}", self.class, self.name),
            None => write!(formatter, "{}.{}", self.class, self.name),
        }
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A text that is no key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("\"{0}\" is no key of a fact: class.name or class[subject].name")]
pub struct NoKey(String);

impl FromStr for Key {
    type Err = NoKey;

    fn from_str(text: &str) -> Result<Self, NoKey> {
        let fail = || NoKey(text.to_owned());
        let key = match (text.find('['), text.find('.')) {
            // The last bracket closes: subjects may have brackets of their own.
            (Some(open), dot) if dot.is_none_or(|dot| open < dot) => {
                let close = text.rfind("].").filter(|close| *close > open);
                let close = close.ok_or_else(fail)?;
                Self::of(&text[..open], &text[open + 1..close], &text[close + 2..])
            }
            (_, Some(dot)) => Self::plain(&text[..dot], &text[dot + 1..]),
            _ => return Err(fail()),
        };
        if key.class.is_empty() || key.name.is_empty() {
            return Err(fail());
        }
        Ok(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_written_as_they_are_read() {
        for text in [
            "sysctl.vm.swappiness",
            "mount[/a].rsize",
            "udev[/etc/udev/rules.d/a.rules:3].queue/scheduler",
            "lv[vg/[tdata]].segment_type",
        ] {
            assert_eq!(text.parse::<Key>().unwrap().to_string(), text);
        }
        for text in ["", "a", "a[b", "a[b].", ".b", "a[b]c"] {
            assert!(text.parse::<Key>().is_err(), "{text}");
        }
    }
}
