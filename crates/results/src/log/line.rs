//! One line: what people and programs put around it taken away, and what kind of line it is.

use std::borrow::Cow;

/// What a line that SAS wrote begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Note,
    Warning,
    Error,
}

/// The line without blanks around it, carriage return, byte order mark, escape sequences of colours, tags, and
/// the marks of a comment that it was pasted into.
pub(super) fn clean(raw: &[u8]) -> Cow<'_, [u8]> {
    let raw = raw.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(raw);
    let text = if raw.contains(&0x1B) {
        Cow::Owned(without_colours(raw))
    } else {
        Cow::Borrowed(raw)
    };
    let begins = |text: &[u8]| matches!(text.trim_ascii().first(), Some(b'/' | b'*' | b'<'));
    if begins(&text) || text.trim_ascii().ends_with(b"*/") {
        return Cow::Owned(undecorated(text.trim_ascii()).to_vec());
    }
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(trimmed(text)),
        Cow::Owned(text) => Cow::Owned(trimmed(&text).to_vec()),
    }
}

/// Without blanks around it; a form feed, which begins a page, stays.
fn trimmed(text: &[u8]) -> &[u8] {
    let end = text.trim_ascii_end();
    let blanks = end.iter().take_while(|byte| matches!(byte, b' ' | b'\t'));
    &end[blanks.count()..]
}

fn undecorated(text: &[u8]) -> &[u8] {
    let mut text = text;
    while let Some(rest) = tag(text) {
        text = rest.trim_ascii();
    }
    while let Some(at) = text.iter().rposition(|byte| *byte == b'<') {
        // What is left of a line after its text: </font>, <br>.
        match tag(&text[at..]) {
            Some([]) => text = text[..at].trim_ascii(),
            _ => break,
        }
    }
    let text = text.strip_suffix(b"*/").unwrap_or(text).trim_ascii();
    let text = text.strip_prefix(b"/*").unwrap_or(text);
    let text = text.strip_prefix(b"* ").unwrap_or(text);
    text.trim_ascii()
}

/// What follows a tag.
fn tag(text: &[u8]) -> Option<&[u8]> {
    let rest = text.strip_prefix(b"<")?;
    let letter = rest.strip_prefix(b"/").unwrap_or(rest).first()?;
    let end = rest.iter().position(|byte| *byte == b'>')?;
    letter.is_ascii_alphabetic().then(|| &rest[end + 1..])
}

/// `ESC [ … m` and its kin.
fn without_colours(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if byte != 0x1B {
            out.push(byte);
        } else if bytes.next_if_eq(&b'[').is_some() {
            let _ = bytes.find(|byte| (0x40..=0x7E).contains(byte));
        }
    }
    out
}

/// Blanks before a line.
pub(super) fn indentation(raw: &[u8]) -> usize {
    raw.iter().take_while(|byte| **byte == b' ').count()
}

/// The kind of a message and what follows its colon; the number of `ERROR 22-322:` is left out.
pub(super) fn message(text: &[u8]) -> Option<(Kind, &[u8])> {
    let (kind, word) = match text.first()? {
        b'N' => (Kind::Note, &b"NOTE"[..]),
        b'H' => (Kind::Note, &b"HINWEIS"[..]),
        b'W' if text.starts_with(b"WARNUNG") => (Kind::Warning, &b"WARNUNG"[..]),
        b'W' => (Kind::Warning, &b"WARNING"[..]),
        b'E' => (Kind::Error, &b"ERROR"[..]),
        b'F' => (Kind::Error, &b"FEHLER"[..]),
        _ => return None,
    };
    let rest = text.strip_prefix(word)?;
    if let Some(rest) = rest.strip_prefix(b":") {
        return Some((kind, rest.trim_ascii_start()));
    }
    let number = rest.strip_prefix(b" ")?;
    let digits = |text: &[u8]| text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let first = digits(number);
    let second = digits(number.get(first..)?.strip_prefix(b"-")?);
    if first == 0 || second == 0 {
        return None;
    }
    let rest = &number[first + 1 + second..];
    let rest = rest.strip_prefix(b":").unwrap_or(rest);
    Some((kind, rest.trim_ascii_start()))
}

/// The first line of a page: a form feed, or the page's number, a title, and time and date of the session.
pub(super) fn is_page_header(text: &[u8]) -> bool {
    if text.first() == Some(&0x0C) {
        return true;
    }
    // Cheap first: most lines are source, which begins with a number too.
    let ends = text.last().is_some_and(u8::is_ascii_digit);
    if !ends || !text.first().is_some_and(u8::is_ascii_digit) {
        return false;
    }
    let number = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if text.get(number) != Some(&b' ') {
        return false;
    }
    let tail = &text[number.max(text.len().saturating_sub(60))..];
    has_time(tail) && has_year(tail)
}

/// `09:16` within a text.
fn has_time(text: &[u8]) -> bool {
    text.windows(5).any(|part| {
        let digit = |at: usize| part[at].is_ascii_digit();
        part[2] == b':' && digit(1) && digit(3) && digit(4) && (digit(0) || part[0] == b' ')
    })
}

/// A year as a word of its own.
fn has_year(text: &[u8]) -> bool {
    let year = |word: &[u8]| {
        let century = word.starts_with(b"19") || word.starts_with(b"20");
        century && word.len() == 4 && word.iter().all(u8::is_ascii_digit)
    };
    text.split(|byte| !byte.is_ascii_alphanumeric()).any(year)
}

/// Whether a line may be the heading of an accounting in any language: it ends in a colon.
pub(super) fn ends_in_colon(text: &[u8]) -> bool {
    text.ends_with(b":") || text.ends_with("：".as_bytes())
}

/// Whether a line is a figure of an accounting in any language: words, at least two blanks, a time with decimals.
pub(super) fn is_figure(text: &[u8]) -> bool {
    let gap = text.windows(2).rposition(|two| two == b"  ");
    let Some(figure) = gap.map(|at| text[at..].trim_ascii()) else {
        return false;
    };
    let word = figure.split(|byte| *byte == b' ').next();
    let word = word.unwrap_or_default();
    word.iter().any(|byte| matches!(byte, b'.' | b',')) && super::figures::seconds(word).is_some()
}

/// Bytes as text: UTF-8, or else Latin-1, whose bytes are the first letters of Unicode.
pub(super) fn decoded(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().copied().map(char::from).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_surrounds_a_line_is_taken_away() {
        for (raw, expected) in [
            (" NOTE: x. \r", "NOTE: x."),
            ("/*  NOTE: x used   */", "NOTE: x used"),
            ("    */", ""),
            ("\u{1b}[38;5;21mNOTE: x\u{1b}[0m", "NOTE: x"),
            ("      \u{1b}[0m", ""),
            ("<font color=blue>NOTE: a < b</font><br>", "NOTE: a < b"),
            ("a < b", "a < b"),
            ("\u{feff}1    data a;", "1    data a;"),
            ("\u{c}2 The SAS System", "\u{c}2 The SAS System"),
        ] {
            assert_eq!(decoded(&clean(raw.as_bytes())), expected, "{raw:?}");
        }
    }

    #[test]
    fn messages_are_known_by_their_first_word() {
        for (text, expected) in [
            ("NOTE: a", Some((Kind::Note, "a"))),
            ("ERROR 22-322: a", Some((Kind::Error, "a"))),
            ("WARNING 1-322 a", Some((Kind::Warning, "a"))),
            ("HINWEIS: a", Some((Kind::Note, "a"))),
            ("WARNUNG: a", Some((Kind::Warning, "a"))),
            ("FEHLER 180-322: a", Some((Kind::Error, "a"))),
            ("NOTE (X) a", None),
            ("ERROR", None),
            ("ERROR 22: a", None),
            ("ERRORS: a", None),
        ] {
            let found = message(text.as_bytes());
            let found = found.map(|(kind, rest)| (kind, std::str::from_utf8(rest).unwrap()));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn page_headers_are_told_from_source_lines() {
        for header in [
            "\u{c}2 The SAS System   09:16 Monday, January 5, 2015",
            "3       The SAS System     14:32 Thursday, November 17, 2016",
            "3       A title of one's own      9:32 Donnerstag, 17. November 2016",
            "1       The SAS System       Tuesday, 25 July 2023 12:51:00",
        ] {
            assert!(is_page_header(header.as_bytes()), "{header}");
        }
        for source in [
            "12         x = 2015",
            "3          set a2016",
            "2016",
            "real time           0.25 seconds",
            "14       ! a = 12:30",
            "",
        ] {
            assert!(!is_page_header(source.as_bytes()), "{source}");
        }
    }

    #[test]
    fn latin_1_is_read_where_it_is_no_utf_8() {
        assert_eq!(decoded(b"(\xA9) M\xFCller"), "(©) Müller");
        assert_eq!(decoded("Müller".as_bytes()), "Müller");
    }
}
