//! Overrides of a site: rules that are waived, and values of its own, with a reason and an end.

use serde::Deserialize;

/// One override.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Override {
    /// Which rule.
    pub rule: String,
    /// Only for this mount, device or path.
    #[serde(default)]
    pub subject: Option<String>,
    /// The value that is right here; without one the rule is waived.
    #[serde(default)]
    pub value: Option<toml::Value>,
    /// Why.
    pub reason: String,
    /// Who answers for it.
    pub owner: String,
    /// The last day, `2027-03-31`.
    pub expires: String,
}

/// A file of overrides.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Overrides {
    /// In the order of the file; a later one counts.
    #[serde(default, rename = "override")]
    pub overrides: Vec<Override>,
}

/// What is wrong with a file of overrides.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It is no TOML, or has keys that are unknown.
    #[error("failed to read overrides")]
    Unreadable(#[from] toml::de::Error),
    /// A day is not written as a day.
    #[error("override of {rule}: expires = \"{expires}\" is no day such as 2027-03-31")]
    NoDay {
        /// Which.
        rule: String,
        /// What is written.
        expires: String,
    },
    /// Nothing is said.
    #[error("override of {0}: reason and owner must be said")]
    Unsaid(String),
    /// There is no such rule.
    #[error("override of {0}: there is no such rule")]
    NoRule(String),
}

impl Overrides {
    /// Reads a file; `is_rule` tells which rules there are.
    pub fn parse(text: &str, is_rule: impl Fn(&str) -> bool) -> Result<Self, Error> {
        let overrides: Self = toml::from_str(text)?;
        for one in &overrides.overrides {
            if !is_rule(&one.rule) {
                return Err(Error::NoRule(one.rule.clone()));
            }
            if !is_day(&one.expires) {
                return Err(Error::NoDay {
                    rule: one.rule.clone(),
                    expires: one.expires.clone(),
                });
            }
            if one.reason.trim().is_empty() || one.owner.trim().is_empty() {
                return Err(Error::Unsaid(one.rule.clone()));
            }
        }
        Ok(overrides)
    }

    /// The override of a rule for a subject, and whether it still holds on a day.
    pub fn of(&self, rule: &str, subject: Option<&str>, today: &str) -> Option<(&Override, bool)> {
        let fits = |one: &&Override| {
            one.rule.eq_ignore_ascii_case(rule)
                && one
                    .subject
                    .as_deref()
                    .is_none_or(|known| Some(known) == subject)
        };
        let found = self.overrides.iter().rev().find(fits)?;
        Some((found, found.expires.as_str() >= today))
    }
}

fn is_day(text: &str) -> bool {
    let digits = |text: &str| text.chars().all(|letter| letter.is_ascii_digit());
    let parts: Vec<&str> = text.split('-').collect();
    matches!(parts.as_slice(), [year, month, day]
        if year.len() == 4 && month.len() == 2 && day.len() == 2
            && digits(year) && digits(month) && digits(day)
            && ("01"..="12").contains(month) && ("01"..="31").contains(day))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[[override]]\nrule = \"VM-105\"\nreason = \"r\"\nowner = \"o\"\nexpires = \"2027-03-31\"\n";

    #[test]
    fn an_override_ends() {
        let overrides = Overrides::parse(TEXT, |_| true).unwrap();
        assert!(overrides.of("vm-105", None, "2027-03-31").unwrap().1);
        assert!(!overrides.of("VM-105", Some("/a"), "2027-04-01").unwrap().1);
        assert!(overrides.of("VM-106", None, "2027-01-01").is_none());
    }

    #[test]
    fn what_is_not_said_is_refused() {
        assert!(Overrides::parse(TEXT, |_| false).is_err());
        for (from, to) in [
            ("2027-03-31", "soon"),
            ("\"r\"", "\" \""),
            ("rule", "rules"),
        ] {
            assert!(
                Overrides::parse(&TEXT.replace(from, to), |_| true).is_err(),
                "{to}"
            );
        }
    }
}
