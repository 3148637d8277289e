//! Macro quoting: a quoted character is kept as a character of its own, which nothing acts on, until
//! it leaves the macro processor. SAS uses control characters for this; here it is the end of
//! Unicode's private use area, which no program has a use for.

use std::borrow::Cow;

const BASE: u32 = 0x10_0000;

/// Words that are operators of macro expressions.
pub(crate) const MNEMONICS: &[&str] =
    &["AND", "OR", "NOT", "EQ", "NE", "LE", "LT", "GE", "GT", "IN"];

/// The quoted form of an ASCII character; others have none.
pub(crate) fn mask(character: char) -> char {
    if character.is_ascii() {
        char::from_u32(BASE + u32::from(character)).unwrap_or(character)
    } else {
        character
    }
}

pub(crate) const fn is_masked(character: char) -> bool {
    let code = character as u32;
    code >= BASE && code < BASE + 128
}

/// The character that this one stands for.
#[inline]
pub(crate) fn unmask(character: char) -> char {
    if is_masked(character) {
        u8::try_from(u32::from(character) - BASE).map_or(character, char::from)
    } else {
        character
    }
}

pub(crate) fn has_masked(text: &str) -> bool {
    // All masked characters start with this byte.
    text.as_bytes().contains(&0xF4) && text.chars().any(is_masked)
}

/// `text` as it leaves the macro processor.
pub(crate) fn unmasked(text: &str) -> Cow<'_, str> {
    if has_masked(text) {
        Cow::Owned(text.chars().map(unmask).collect())
    } else {
        Cow::Borrowed(text)
    }
}

/// `text` with all special characters and operator words quoted; `&` and `%` if `triggers`, quotes
/// and parentheses if `paired`.
pub(crate) fn masked(text: &str, triggers: bool, paired: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut word = String::new();
    for character in text.chars() {
        if character.is_ascii_alphanumeric() || character == '_' {
            word.push(character);
            continue;
        }
        flush_word(&mut out, &mut word);
        let special = match character {
            '&' | '%' => triggers,
            '\'' | '"' | '(' | ')' => paired,
            _ => character.is_ascii_punctuation() || character.is_ascii_whitespace(),
        };
        out.push(if special { mask(character) } else { character });
    }
    flush_word(&mut out, &mut word);
    out
}

fn flush_word(out: &mut String, word: &mut String) {
    let operator = MNEMONICS.iter().any(|name| name.eq_ignore_ascii_case(word));
    for (index, character) in word.chars().enumerate() {
        let quoted = operator && index == 0;
        out.push(if quoted { mask(character) } else { character });
    }
    word.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masking_is_undone_exactly() {
        let text = "a&b %c;'d\"(e) or é, not\n";
        let hidden = masked(text, true, true);
        assert!(!hidden.contains(['&', '%', ';', '(', ',', ' ', '\n']));
        assert!(!hidden.contains("or"));
        assert_eq!(unmasked(&hidden), text);
        assert_eq!(unmasked(text), text);
    }
}
