//! Functions of characters and words of a text, how far texts are apart, and their digest.

use super::character::{Characters, DELIMITERS, folded, number, position, refuse_modifiers, whole};
use super::table::{Entry, Gives, general};
use crate::expr::evaluate::trimmed;
use crate::expr::general::{Call, Given, Result};

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("CHAR", "cn", Gives::Length(1), |call| {
        let place = whole(call.number(1)).and_then(|place| usize::try_from(place).ok());
        let index = place.and_then(|place| place.checked_sub(1));
        let found = index.and_then(|index| call.text(0).get(index).copied());
        Result::Text(vec![found.unwrap_or(b' ')])
    }),
    general("FIRST", "c", Gives::Length(1), |call| {
        Result::Text(vec![call.text(0).first().copied().unwrap_or(b' ')])
    }),
    general("FINDW", "cc?aaa", Gives::Number, findw),
    general("COMPLEV", "cc?aa", Gives::Number, complev),
    general("MD5", "c", Gives::Length(200), |call| {
        Result::Text(super::md5::digest(&call.text(0)).to_vec())
    }),
];

/// The list of delimiters is the first text behind the word, modifiers the second one; the number is
/// where to start.
fn findw(call: &mut Call<'_, '_>) -> Result {
    let (mut texts, mut start) = (Vec::new(), None);
    for given in call.given.iter().skip(2) {
        match given {
            Given::Number(value) => start = Some(whole(*value).unwrap_or(0)),
            Given::Text(text) => texts.push(text.to_vec()),
        }
    }
    let mut texts = texts.into_iter();
    let own = texts.next().unwrap_or_else(|| DELIMITERS.to_vec());
    let modifiers = texts.next().unwrap_or_default();
    let Some(delimiters) = Characters::new(&own, &modifiers, b"beikorst") else {
        refuse_modifiers(call, "FINDW", &modifiers);
        return number(0);
    };
    let fold = delimiters.has(b'i');
    let (value, word) = (
        folded(&call.text(0), fold),
        folded(trimmed(&call.text(1)), fold),
    );
    let mut word = &word[..];
    if delimiters.has(b'r') {
        let is_part = |byte: &u8| !delimiters.lists(*byte);
        let first = word.iter().position(is_part).unwrap_or(word.len());
        let end = word
            .iter()
            .rposition(is_part)
            .map_or(first, |last| last + 1);
        word = &word[first..end];
    }
    let stands = |at: &usize| {
        let behind = value.get(at + word.len());
        value[*at..].starts_with(word)
            && (*at == 0 || delimiters.lists(value[at - 1]))
            && behind.is_none_or(|byte| delimiters.lists(*byte))
    };
    if word.is_empty() || start == Some(0) {
        return number(0);
    }
    let backwards = delimiters.has(b'b') || start.is_some_and(|start| start < 0);
    let place = start.and_then(|start| usize::try_from(start.unsigned_abs()).ok());
    let found = if backwards {
        let end = place.unwrap_or(value.len()).min(value.len());
        (0..end).rev().find(stands)
    } else {
        (place.unwrap_or(1) - 1..value.len()).find(stands)
    };
    if !delimiters.has(b'e') {
        return position(found);
    }
    let begins =
        |at: &usize| !delimiters.lists(value[*at]) && (*at == 0 || delimiters.lists(value[at - 1]));
    let passed = |found: usize| {
        let words = if backwards {
            found..value.len()
        } else {
            0..found + 1
        };
        words.filter(begins).count()
    };
    number(found.map_or(0, passed))
}

/// Texts longer than this are compared over their first characters: the work grows with the square.
const COMPARED_MAX: usize = 32_767;

/// The fewest insertions, deletions and replacements that make one text the other.
fn complev(call: &mut Call<'_, '_>) -> Result {
    let (mut cutoff, mut modifiers) = (None, Vec::new());
    for given in call.given.iter().skip(2) {
        match given {
            Given::Number(value) => cutoff = whole(*value),
            Given::Text(text) => modifiers = text.to_ascii_lowercase(),
        }
    }
    if !modifiers.iter().all(|letter| b"il ".contains(letter)) {
        refuse_modifiers(call, "COMPLEV", &modifiers);
        return number(0);
    }
    let prepared = |index: usize| {
        let text = call.text(index);
        let text = if modifiers.contains(&b'l') {
            text.trim_ascii_start()
        } else {
            &text
        };
        let text = &trimmed(text)[..trimmed(text).len().min(COMPARED_MAX)];
        folded(text, modifiers.contains(&b'i'))
    };
    let (left, right) = (prepared(0), prepared(1));
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (done, one) in left.iter().enumerate() {
        let mut corner = done;
        row[0] = done + 1;
        for (place, other) in right.iter().enumerate() {
            let above = row[place + 1];
            row[place + 1] = (corner + usize::from(one != other))
                .min(above + 1)
                .min(row[place] + 1);
            corner = above;
        }
    }
    let distance = row[right.len()];
    let limit = cutoff.and_then(|cutoff| usize::try_from(cutoff).ok());
    number(limit.map_or(distance, |limit| distance.min(limit)))
}
