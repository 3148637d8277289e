//! Output of `PROC OPTIONS`: ` BUFSIZE=131072   Specifies the size …`; an option that is off is
//! `NOALIGNSASIOFILES`.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads a log or a listing. A line of an option begins in the second column with its name.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let fact = |(number, line): (usize, &str)| {
        let line = line.strip_prefix(' ')?;
        if line.starts_with(' ') {
            return None;
        }
        let word = line.split_ascii_whitespace().next()?;
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        let upper = name.len() > 2
            && name
                .chars()
                .all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit());
        // A value may have blanks: `WORK=/sas work`; two blanks begin the explanation.
        let value = match line.split_once('=') {
            Some((before, rest)) if before == name => {
                rest.split("  ").next().unwrap_or_default().trim()
            }
            _ => value,
        };
        upper.then(|| found(Key::plain("sas", name), Value::of(value), number))
    };
    lines(text).filter_map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_from_a_log() {
        let text = [
            "1    proc options; run;",
            "",
            "    SAS (r) Proprietary Software Release 9.4  TS1M7",
            "Portable Options:",
            " ALIGNSASIOFILES   Aligns output files.",
            " BUFSIZE=131072    Specifies the size.",
            "                   of a page.",
            " MEMSIZE=2147483648",
        ]
        .join("\n");
        let facts = parse("options.log", &text);
        let found: Vec<String> = facts
            .iter()
            .map(|fact| format!("{}={}", fact.key, fact.value))
            .collect();
        assert_eq!(
            found,
            [
                "sas.ALIGNSASIOFILES=",
                "sas.BUFSIZE=131072",
                "sas.MEMSIZE=2147483648"
            ]
        );
    }
}
