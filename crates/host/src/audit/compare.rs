//! Comparisons of a value with what a rule asks for.

use std::cmp::Ordering;

use super::rule::{Check, Op};
use crate::facts::Value;
pub(crate) use crate::facts::value::versions;

/// Whether a value is as the check asks; `None` if they cannot be compared.
pub(crate) fn holds(check: &Check, value: &Value) -> Option<bool> {
    let wanted = check.value.as_ref();
    match check.op {
        Op::Eq => all(value, |value| Some(equal(value, wanted?))),
        Op::Ne => all(value, |value| Some(!equal(value, wanted?))),
        Op::In => all(value, |value| one_of(value, wanted?)),
        Op::NotIn => all(value, |value| one_of(value, wanted?).map(|one| !one)),
        Op::Ge => all(value, |value| Some(amount_of(value)? >= number(wanted?)?)),
        Op::Le => all(value, |value| Some(amount_of(value)? <= number(wanted?)?)),
        Op::Between => {
            let bounds = wanted?.as_array()?;
            let (low, high) = (number(bounds.first()?)?, number(bounds.get(1)?)?);
            all(value, |value| {
                let amount = amount_of(value)?;
                Some(low <= amount && amount <= high)
            })
        }
        Op::Has => {
            let texts = value.texts();
            Some(words(wanted?).iter().all(|word| texts.contains(word)))
        }
        Op::Lacks => {
            let texts = value.texts();
            Some(!words(wanted?).iter().any(|word| texts.contains(word)))
        }
        Op::Exists => Some(!value.to_string().is_empty()),
        Op::Empty => Some(value.to_string().is_empty()),
        Op::EachGe => each_ge(value, wanted?),
        Op::VersionGe => Some(versions(&value.to_string(), wanted?.as_str()?) != Ordering::Less),
        Op::VersionLt => Some(versions(&value.to_string(), wanted?.as_str()?) == Ordering::Less),
        Op::Report => Some(true),
        Op::Ask | Op::Fleet | Op::Named => None,
    }
}

/// A list holds if all of it does.
fn all(value: &Value, holds: impl Fn(&str) -> Option<bool>) -> Option<bool> {
    for text in value.texts() {
        if !holds(&text)? {
            return Some(false);
        }
    }
    Some(true)
}

fn equal(text: &str, wanted: &toml::Value) -> bool {
    let wanted_text = shown(wanted);
    let amounts = amount_of(text).zip(number(wanted));
    text == wanted_text || amounts.is_some_and(|(left, right)| (left - right).abs() < 1e-9)
}

fn one_of(text: &str, wanted: &toml::Value) -> Option<bool> {
    let wanted = wanted.as_array()?;
    Some(wanted.iter().any(|one| equal(text, one)))
}

fn amount_of(text: &str) -> Option<f64> {
    match text {
        "unlimited" | "infinity" => Some(f64::INFINITY),
        text => Value::of(text).amount(),
    }
}

fn number(value: &toml::Value) -> Option<f64> {
    match value {
        toml::Value::Integer(number) => Some(*number as f64),
        toml::Value::Float(number) => Some(*number),
        toml::Value::String(text) => amount_of(text),
        _ => None,
    }
}

fn words(value: &toml::Value) -> Vec<String> {
    match value {
        toml::Value::Array(values) => values.iter().map(shown).collect(),
        one => vec![shown(one)],
    }
}

fn each_ge(value: &Value, wanted: &toml::Value) -> Option<bool> {
    let text = value.to_string();
    let found: Vec<f64> = text.split(' ').map(amount_of).collect::<Option<_>>()?;
    let wanted: Vec<f64> = wanted
        .as_array()?
        .iter()
        .map(number)
        .collect::<Option<_>>()?;
    (found.len() == wanted.len()).then(|| {
        found
            .iter()
            .zip(&wanted)
            .all(|(found, wanted)| found >= wanted)
    })
}

/// A value of a rule as people read it.
pub(crate) fn shown(value: &toml::Value) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(values) => values.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

/// What a check expects, in words.
pub(crate) fn expected(check: &Check) -> String {
    if let Some(expected) = &check.expected {
        return expected.clone();
    }
    let value = check.value.as_ref().map(shown).unwrap_or_default();
    match check.op {
        Op::Eq => value,
        Op::Ne => format!("not {value}"),
        Op::Ge | Op::VersionGe => format!("at least {value}"),
        Op::Le => format!("at most {value}"),
        Op::VersionLt => format!("below {value}"),
        Op::Between => format!("between {}", value.replacen(", ", " and ", 1)),
        Op::In => format!("one of {value}"),
        Op::NotIn => format!("none of {value}"),
        Op::Has => format!("with {value}"),
        Op::Lacks => format!("without {value}"),
        Op::Exists => "set".to_owned(),
        Op::Empty => "none".to_owned(),
        Op::EachGe => format!("each at least {value}"),
        Op::Report => "reported only".to_owned(),
        Op::Ask => "an answer of a person".to_owned(),
        Op::Fleet => "the same on all nodes".to_owned(),
        Op::Named => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(op: &str, value: &str, found: &str) -> Option<bool> {
        let text = format!("op = \"{op}\"\nvalue = {value}\n");
        holds(&toml::from_str(&text).unwrap(), &Value::of(found))
    }

    #[test]
    fn numbers_and_texts_are_compared() {
        assert_eq!(check("ge", "15360", "128"), Some(false));
        assert_eq!(check("ge", "\"128k\"", "131072"), Some(true));
        assert_eq!(check("eq", "\"none\"", "none"), Some(true));
        assert_eq!(check("eq", "0", "0x0"), Some(true));
        assert_eq!(check("between", "[1, 30]", "60"), Some(false));
        assert_eq!(check("in", "[\"a\", 3]", "3"), Some(true));
        assert_eq!(check("not_in", "[\"nfs\"]", "xfs"), Some(true));
        assert_eq!(check("ge", "1", "auto"), None);
        assert_eq!(check("ge", "20480", "unlimited"), Some(true));
        assert_eq!(
            check(
                "each_ge",
                "[512, 32000, 256, 1024]",
                "32000 1024000000 500 32000"
            ),
            Some(true)
        );
        assert_eq!(check("each_ge", "[512]", "1 2"), None);
    }

    #[test]
    fn options_are_whole_words() {
        let holds = |op: &str, value: &str| {
            let text = format!("op = \"{op}\"\nvalue = {value}\n");
            let options = Value::list(["rw", "noatime", "vers=3"]);
            super::holds(&toml::from_str(&text).unwrap(), &options)
        };
        assert_eq!(holds("has", "[\"noatime\"]"), Some(true));
        assert_eq!(holds("has", "\"atime\""), Some(false));
        assert_eq!(holds("lacks", "[\"soft\", \"vers=3\"]"), Some(false));
    }
}
