//! What type a column of texts has.

use std::collections::HashSet;

use sas7bdat::{Variable, missing};

use super::super::value::missing_code;

/// A label has at most 256 bytes, and a character at most four.
const LABEL_CHARACTERS: usize = 64;

/// A double holds all whole numbers of so many digits.
const EXACT_DIGITS: usize = 15;

/// What is known of a column after the rows seen so far.
#[derive(Debug, Clone, Default)]
pub struct Guess {
    /// A value was there.
    seen: bool,
    text: bool,
    /// Bytes of the longest value.
    longest: u32,
}

impl Guess {
    /// Takes one more value.
    pub fn see(&mut self, value: &str) {
        self.longest = self
            .longest
            .max(u32::try_from(value.trim_end_matches(' ').len()).unwrap_or(u32::MAX));
        if !self.text && !value.trim().is_empty() {
            self.seen = true;
            self.text = number(value).is_none();
        }
    }

    /// Bytes of the longest value.
    pub fn longest(&self) -> u32 {
        self.longest
    }

    /// The variable that holds what was seen; a column without any value is text.
    pub fn variable(&self, name: String) -> Variable {
        if self.seen && !self.text {
            Variable::numeric(name)
        } else {
            Variable::character(name, self.longest.max(1))
        }
    }
}

/// The number that a text stands for: `.` and nothing are missing, `.A` is special missing.
///
/// `007` is a code and no number: its zeros would be lost. Nor are whole numbers that a double rounds:
/// two keys could become the same. Nor are words such as `nan`.
pub fn number(text: &str) -> Option<f64> {
    let text = text.trim();
    if text.is_empty() {
        return Some(missing::missing());
    }
    if let Some(code) = missing_code(text) {
        return Some(missing::encode(code));
    }
    let digits = text.trim_start_matches(['+', '-']);
    let leading_zero =
        digits.len() > 1 && digits.starts_with('0') && digits.as_bytes()[1].is_ascii_digit();
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if leading_zero || !plain {
        return None;
    }
    let value = text.parse().ok().filter(|value: &f64| value.is_finite());
    value.filter(|value| keeps_digits(digits, *value))
}

/// Whether a value has all digits of the whole number that it was read from, if it is one.
fn keeps_digits(digits: &str, value: f64) -> bool {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let is_whole = whole.bytes().all(|b| b.is_ascii_digit()) && fraction.bytes().all(|b| b == b'0');
    whole.len() <= EXACT_DIGITS || !is_whole || format!("{:.0}", value.abs()) == whole
}

/// Names that SAS takes: letters, digits and underscores, at most 32, each once.
pub fn names(headers: &[String]) -> Vec<String> {
    let mut taken = HashSet::new();
    let mut names = Vec::new();
    for (number, header) in (1..).zip(headers) {
        let mut name: String = header
            .trim()
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
            .take(32)
            .collect();
        if name.is_empty() {
            name = format!("VAR{number}");
        }
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            name.insert(0, '_');
            name.truncate(32);
        }
        let stem = name.clone();
        let mut suffix = 1;
        while !taken.insert(name.to_ascii_uppercase()) {
            suffix += 1;
            let suffix = format!("_{suffix}");
            name = format!("{}{suffix}", &stem[..stem.len().min(32 - suffix.len())]);
        }
        names.push(name);
    }
    names
}

/// Keeps what a column was called in its label, where its name had to change.
pub fn label_renamed(variables: &mut [Variable], headers: &[String]) {
    for (variable, header) in variables.iter_mut().zip(headers) {
        if variable.name != *header {
            variable.label = header.chars().take(LABEL_CHARACTERS).collect();
        }
    }
}

#[cfg(test)]
mod tests {
    use sas7bdat::Kind;

    use super::super::super::value::shortest;
    use super::*;

    fn guess(values: &[&str]) -> Variable {
        let mut guess = Guess::default();
        for value in values {
            guess.see(value);
        }
        guess.variable("x".to_owned())
    }

    #[test]
    fn a_column_is_numeric_if_every_value_is_a_number_or_missing() {
        let numeric = Variable::numeric("x");
        assert_eq!(guess(&["1", "", "-2.5e3", ".", ".A", " 3 "]), numeric);
        assert_eq!(guess(&["1", "x12"]), Variable::character("x", 3));
        assert_eq!(guess(&["007"]), Variable::character("x", 3));
        assert_eq!(guess(&["0", "0.5", "-0"]), numeric);
        assert_eq!(guess(&["", ""]), Variable::character("x", 1));
        for word in ["nan", "inf", "-inf"] {
            assert_eq!(guess(&[word]).kind, Kind::Character, "{word}");
        }
        assert_eq!(guess(&["1", "ab   "]), Variable::character("x", 2));
    }

    #[test]
    fn whole_numbers_that_a_double_rounds_are_text() {
        let numeric = Variable::numeric("x");
        assert_eq!(guess(&["9007199254740992", "-9007199254740994"]), numeric);
        assert_eq!(guess(&["10000000000000000000000", "1e5", "1e300"]), numeric);
        assert_eq!(guess(&["0.12345678901234567890", "12.50"]), numeric);
        for rounded in [
            "9007199254740993",
            "+12345678901234567890",
            "9007199254740993.00",
        ] {
            let length = u32::try_from(rounded.len()).unwrap();
            let text = Variable::character("x", length);
            assert_eq!(guess(&["1", rounded]), text, "{rounded}");
        }
    }

    #[test]
    fn numbers_that_were_written_are_numbers_again() {
        for bits in 50..60 {
            for more in 0..64 {
                let value = 2f64.powi(bits) + f64::from(more * 2) * 2f64.powi(bits - 52);
                let text = shortest(value);
                assert_eq!(number(&text), Some(value), "{text}");
            }
        }
    }

    #[test]
    fn headers_become_names_that_sas_takes() {
        let headers = ["id", "ID", "2nd value", "", "größe", &"x".repeat(40)];
        let headers: Vec<String> = headers.iter().map(|&h| h.to_owned()).collect();
        let long = "x".repeat(32);
        assert_eq!(
            names(&headers),
            ["id", "ID_2", "_2nd_value", "VAR4", "gr__e", &long]
        );
    }
}
