//! SAS configuration files (`sasv9.cfg`, `sasv9_local.cfg`, `sasv9_usermods.cfg`): `-OPTION value`,
//! a later line counts.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the file: `/* … */` and `#` are comments, a value may be in quotation marks or brackets,
/// `-SET NAME VALUE`, `-INSERT` and `-APPEND` name an option and add to it, and take no part in
/// what the option is.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let mut comment = false;
    let mut words: Vec<(String, usize)> = Vec::new();
    for (number, line) in lines(text) {
        let line = uncommented(line, &mut comment);
        if line.trim_start().starts_with('#') {
            continue;
        }
        words.extend(split(&line).into_iter().map(|word| (word, number)));
    }
    let mut rest = words.into_iter().peekable();
    while let Some((word, line)) = rest.next() {
        let Some(name) = word.strip_prefix('-').filter(|name| is_name(name)) else {
            continue;
        };
        let name = name.to_ascii_uppercase();
        if matches!(name.as_str(), "SET" | "INSERT" | "APPEND") {
            rest.next();
            rest.next_if(|(next, _)| !is_option(next));
            continue;
        }
        let value = rest.next_if(|(next, _)| !is_option(next));
        let value = value.map_or(String::new(), |(value, _)| value);
        let value = if value.starts_with('(') {
            Value::list(
                split(value.trim_matches(['(', ')']))
                    .into_iter()
                    .map(|part| part.trim_matches(',').to_owned()),
            )
        } else {
            Value::of(&value)
        };
        facts.push(found(Key::plain("sas", &name), value, line));
    }
    facts
}

fn is_name(name: &str) -> bool {
    name.starts_with(|letter: char| letter.is_ascii_alphabetic())
        && name
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_')
}

fn is_option(word: &str) -> bool {
    word.strip_prefix('-').is_some_and(is_name)
}

fn uncommented(line: &str, comment: &mut bool) -> String {
    let mut out = String::new();
    let mut rest = line;
    loop {
        if *comment {
            let Some((_, tail)) = rest.split_once("*/") else {
                return out;
            };
            (*comment, rest) = (false, tail);
        } else {
            let Some((head, tail)) = rest.split_once("/*") else {
                out.push_str(rest);
                return out;
            };
            out.push_str(head);
            (*comment, rest) = (true, tail);
        }
    }
}

/// Words of a line; quotation marks and brackets hold words together, outer quotation marks fall
/// away.
fn split(line: &str) -> Vec<String> {
    let (mut words, mut word) = (Vec::new(), String::new());
    let (mut quote, mut depth) = (None, 0_u32);
    for letter in line.chars() {
        match letter {
            '"' | '\'' if quote == Some(letter) => {
                quote = None;
                if depth > 0 {
                    word.push(letter);
                }
            }
            '"' | '\'' if quote.is_none() => {
                quote = Some(letter);
                if depth > 0 {
                    word.push(letter);
                }
            }
            '(' if quote.is_none() => {
                depth += 1;
                word.push(letter);
            }
            ')' if quote.is_none() => {
                depth = depth.saturating_sub(1);
                word.push(letter);
            }
            letter if letter.is_whitespace() && quote.is_none() && depth == 0 => {
                if !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                }
            }
            letter => word.push(letter),
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_values_and_comments_are_told_apart() {
        let text = "/* site */ -WORK \"/sas work\" -NOTERMINAL\n# -MEMSIZE 1G\n/* -SORTSIZE 1G\n*/ -memsize 8G\n\
                    -SET SASROOT /opt/sas\n-INSERT SASAUTOS /a\n-UTILLOC ('/u1' '/u2')\n-ALIGNSASIOFILES\n";
        let facts = parse("/opt/sas/sasv9.cfg", text);
        let found: Vec<String> = facts
            .iter()
            .map(|fact| format!("{}={}", fact.key, fact.value))
            .collect();
        assert_eq!(
            found,
            [
                "sas.WORK=/sas work",
                "sas.NOTERMINAL=",
                "sas.MEMSIZE=8G",
                "sas.UTILLOC=/u1,/u2",
                "sas.ALIGNSASIOFILES="
            ]
        );
    }
}
