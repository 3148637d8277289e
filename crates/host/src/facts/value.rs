//! Values of facts.

use std::cmp::Ordering;
use std::fmt;

use serde::{Deserialize, Serialize};

/// What a fact says.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A whole number, as the kernel or a tool writes it; the fact's name has the unit.
    Number(i64),
    /// Anything else.
    Text(String),
    /// Several texts, in the order in which they were found.
    List(Vec<String>),
}

impl Value {
    /// A number if the text is one as a computer writes it (`0755` and `4.0` are texts), otherwise
    /// the text.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        match text.parse::<i64>() {
            Ok(number) if number.to_string() == text => Self::Number(number),
            _ => Self::Text(text.to_owned()),
        }
    }

    /// A list of texts.
    pub fn list<S: Into<String>>(texts: impl IntoIterator<Item = S>) -> Self {
        Self::List(texts.into_iter().map(Into::into).collect())
    }

    /// The number, also of a text with a unit: `128k`, `16M`, `64.00k`, `0x28`, `32G`. Units are
    /// powers of 1024.
    pub fn amount(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number as f64),
            Self::Text(text) => amount(text),
            Self::List(_) => None,
        }
    }

    /// The texts of a list; a text or a number is a list of one.
    pub fn texts(&self) -> Vec<String> {
        match self {
            Self::List(texts) => texts.clone(),
            other => vec![other.to_string()],
        }
    }
}

/// A number with an optional unit of 1024s, or hexadecimal.
pub fn amount(text: &str) -> Option<f64> {
    let text = text.trim().trim_start_matches('<');
    if let Some(digits) = text.strip_prefix("0x") {
        return i64::from_str_radix(digits, 16)
            .ok()
            .map(|number| number as f64);
    }
    let end = text
        .find(|letter: char| !letter.is_ascii_digit() && letter != '.' && letter != '-')
        .unwrap_or(text.len());
    let (digits, unit) = text.split_at(end);
    let number: f64 = digits.parse().ok()?;
    let factor = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" | "kib" => 1024.0,
        "m" | "mb" | "mib" => 1024.0 * 1024.0,
        "g" | "gb" | "gib" => 1024.0 * 1024.0 * 1024.0,
        "t" | "tb" | "tib" => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    Some(number * factor)
}

/// Versions by their numbers: 8.10 comes after 8.9, 3.10.0-957.27.2 after 3.10.0-957.
pub(crate) fn versions(left: &str, right: &str) -> Ordering {
    let numbers = |text: &str| -> Vec<u64> {
        // What follows the numbers, as `.el8.x86_64`, says nothing.
        let end = text.find(".el").unwrap_or(text.len());
        text[..end]
            .split(|letter: char| !letter.is_ascii_digit())
            .filter(|part| !part.is_empty())
            .map(|part| part.parse().unwrap_or(u64::MAX))
            .collect()
    };
    numbers(left).cmp(&numbers(right))
}

impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
            Self::List(texts) => formatter.write_str(&texts.join(",")),
        }
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        i64::try_from(number).map_or_else(|_| Self::Text(number.to_string()), Self::Number)
    }
}

impl From<usize> for Value {
    fn from(number: usize) -> Self {
        (number as u64).into()
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_computer_writes_is_a_number() {
        assert_eq!(Value::of(" 65536\n"), Value::Number(65_536));
        assert_eq!(Value::of("-1"), Value::Number(-1));
        for text in ["0755", "4.0", "", "1e3", "+1", "18446744073709551615"] {
            assert_eq!(Value::of(text), Value::from(text));
        }
    }

    #[test]
    fn amounts_have_units() {
        let of = |text: &str| Value::of(text).amount();
        assert_eq!(of("128k"), Some(131_072.0));
        assert_eq!(of("64.00k"), Some(65_536.0));
        assert_eq!(of("32G"), Some(34_359_738_368.0));
        assert_eq!(of("0x28"), Some(40.0));
        assert_eq!(of("999G").map(|bytes| bytes > 4e9), Some(true));
        assert_eq!(of("256 sectors"), None);
        assert_eq!(of("auto"), None);
    }

    #[test]
    fn versions_are_compared_by_numbers() {
        assert_eq!(versions("8.10", "8.9"), Ordering::Greater);
        assert_eq!(
            versions("3.10.0-957.el7.x86_64", "3.10.0-957.27.2"),
            Ordering::Less
        );
        assert_eq!(
            versions("4.18.0-80.11.2.el8_0.x86_64", "4.19"),
            Ordering::Less
        );
    }
}
