//! Figures as logs print them.

/// `0.25 seconds`, `1:05.27`, `1:08:26.10`, `00:00:00.02`; with a decimal comma where a language has one.
pub fn seconds(text: &[u8]) -> Option<f64> {
    let text = first_word(text);
    let (whole, fraction) = match text.iter().position(|byte| matches!(byte, b'.' | b',')) {
        Some(at) => (&text[..at], &text[at + 1..]),
        None => (text, &[][..]),
    };
    if whole.is_empty() || fraction.len() > 9 {
        return None;
    }
    let parts = whole.split(|byte| *byte == b':');
    if parts.clone().count() > 3 {
        return None;
    }
    let mut total: u64 = 0;
    for part in parts {
        total = total.checked_mul(60)?.checked_add(digits(part)?)?;
    }
    // One rounding, so that 24:56.85 is the number nearest to 1496.85.
    let mut scale = 1u64;
    for byte in fraction {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        scale *= 10;
        total = total.checked_mul(10)?.checked_add(digit)?;
    }
    Some(total as f64 / scale as f64)
}

/// `458.00k`, `69 K`, `1.75 M`, `756.70G` as bytes; a bare number is none.
pub fn bytes(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii();
    let end = text
        .iter()
        .position(|byte| !byte.is_ascii_digit() && !matches!(byte, b'.' | b','))?;
    let number = seconds(&text[..end])?;
    let unit = match text[end..].trim_ascii_start().first()? {
        b'k' | b'K' => 1024.0,
        b'm' | b'M' => 1024.0 * 1024.0,
        b'g' | b'G' => 1024.0 * 1024.0 * 1024.0,
        b't' | b'T' => 1024.0 * 1024.0 * 1024.0 * 1024.0,
        _ => return None,
    };
    let value = (number * unit).round();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what is not within the range of u64 is refused first"
    )]
    (value < 1e19).then_some(value as u64)
}

/// A whole number at the begin of a text, thousands apart by commas, points or not at all; and the rest.
pub fn count(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut value: u64 = 0;
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'0'..=b'9' => {
                value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
            }
            b',' | b'.' if at > 0 && thousands(&text[at + 1..]) => {}
            _ => break,
        }
        at += 1;
    }
    (at > 0).then_some((value, &text[at..]))
}

/// Three digits and no fourth.
fn thousands(text: &[u8]) -> bool {
    let digit = |at: usize| text.get(at).is_some_and(u8::is_ascii_digit);
    digit(0) && digit(1) && digit(2) && !digit(3)
}

/// `08/25/2016 08:37:42 AM` as `2016-08-25T08:37:42`. Without AM or PM, which only the American form has,
/// it is not known which of two small numbers is the month, unless points say that the day comes first.
pub fn timestamp(text: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(text).ok()?;
    let mut words = text.split_ascii_whitespace();
    let (date, time, half) = (words.next()?, words.next()?, words.next());
    let separator = date.chars().find(|letter| !letter.is_ascii_digit())?;
    let [first, second, third] = numbers(date, separator)?;
    let [mut hour, minute, second_of] = numbers(time, ':')?;
    let (year, month, day) = match (separator, half) {
        ('/', Some("AM" | "PM")) => (third, first, second),
        ('.', _) => (third, second, first),
        ('/', None) if first > 12 => (third, second, first),
        ('/', None) if second > 12 => (third, first, second),
        ('-', _) => (first, second, third),
        _ => return None,
    };
    hour = match half {
        Some("AM" | "PM") if !(1..=12).contains(&hour) => return None,
        Some("AM") => hour % 12,
        Some("PM") => hour % 12 + 12,
        _ => hour,
    };
    let valid = (1900..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second_of < 61;
    valid.then(|| format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second_of:02}"))
}

/// Three numbers.
fn numbers(text: &str, separator: char) -> Option<[u32; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse().ok());
    let all = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(all)
}

fn digits(text: &[u8]) -> Option<u64> {
    match count(text)? {
        (value, []) => Some(value),
        _ => None,
    }
}

fn first_word(text: &[u8]) -> &[u8] {
    let text = text.trim_ascii_start();
    let end = text.iter().position(u8::is_ascii_whitespace);
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_sas_prints_them() {
        for (text, expected) in [
            ("0.25 seconds", Some(0.25)),
            ("1:05.27", Some(65.27)),
            ("24:56.85", Some(1496.85)),
            ("1:08:26.10", Some(4106.10)),
            ("2:27:44.66", Some(8864.66)),
            ("00:00:00.02", Some(0.02)),
            ("0.034244 seconds", Some(0.034_244)),
            ("0,05 Sekunden", Some(0.05)),
            ("12", Some(12.0)),
            ("", None),
            ("seconds", None),
            ("1:2:3:4", None),
            (":1", None),
            ("1.2.3", None),
            ("99999999999999999999", None),
        ] {
            assert_eq!(seconds(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn memory_is_read_in_every_unit() {
        for (text, expected) in [
            ("458.00k", Some(468_992)),
            ("4199548.31k", Some(4_300_337_469)),
            ("236k", Some(241_664)),
            ("69 K", Some(70_656)),
            ("1.75 M", Some(1_835_008)),
            ("5101K (44K data, 5057K program)", Some(5_223_424)),
            ("1.5G", Some(1_610_612_736)),
            ("0", None),
            ("k", None),
            ("12 apples", None),
        ] {
            assert_eq!(bytes(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn counts_end_where_digits_do() {
        assert_eq!(count(b"10,000,000 observations").unwrap().0, 10_000_000);
        assert_eq!(count(b"10.000 Beobachtungen").unwrap().0, 10_000);
        assert_eq!(count(b"19."), Some((19, &b"."[..])));
        assert_eq!(count(b"1,2"), Some((1, &b",2"[..])));
        assert_eq!(count(b"99999999999999999999999"), None);
        assert_eq!(count(b"x"), None);
    }

    #[test]
    fn timestamps_are_dates_only_where_that_is_certain() {
        for (text, expected) in [
            ("08/25/2016 08:37:42 AM", Some("2016-08-25T08:37:42")),
            ("3/16/2011  9:13:39 AM", Some("2011-03-16T09:13:39")),
            ("11/23/2016 10:51:11 PM", Some("2016-11-23T22:51:11")),
            ("01/05/2015 12:00:00 AM", Some("2015-01-05T00:00:00")),
            ("25.08.2016 14:37:42", Some("2016-08-25T14:37:42")),
            ("25/08/2016 14:37:42", Some("2016-08-25T14:37:42")),
            ("05/06/2016 14:37:42", None),
            ("13/45/2016 08:37:42 AM", None),
            ("today", None),
        ] {
            assert_eq!(timestamp(text.as_bytes()).as_deref(), expected, "{text}");
        }
    }
}
