//! Numbers as the page writes them.

/// Three significant digits, thousands apart: `0.125`, `12.5`, `1,250`, `48,300`.
pub(super) fn figure(value: f64) -> String {
    let size = value.abs();
    let decimals = match size {
        0.0 => 0,
        v if v < 0.0995 => 3,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    grouped(&format!("{value:.decimals$}"))
}

/// The same, a round number without its zeros: `60`, `1.5`.
pub(super) fn short(value: f64) -> String {
    let text = figure(value);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// Thousands apart.
pub(super) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

fn grouped(plain: &str) -> String {
    let (whole, rest) = plain.split_at(plain.find('.').unwrap_or(plain.len()));
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    let mut out = sign.to_owned();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out.push_str(rest);
    out
}

/// `0.42 s`, `12.3 s`, `4 min 05 s`, `2 h 07 min`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a run are positive and far below 2^63 s"
)]
pub(super) fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match seconds {
        s if s < 59.95 => format!("{} s", short(s)),
        _ if whole < 3600 && whole.is_multiple_of(60) => format!("{} min", whole / 60),
        _ if whole < 3600 => format!("{} min {:02} s", whole / 60, whole % 60),
        _ => format!("{} h {:02} min", whole / 3600, whole / 60 % 60),
    }
}

/// As the axis counts: `0:42`, `1:02:03`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times of a run are far below 2^63 s"
)]
pub(super) fn clock(seconds: f64) -> String {
    let sign = if seconds <= -0.5 { "\u{2212}" } else { "" };
    let whole = seconds.abs().round() as u64;
    let (hours, minutes, seconds) = (whole / 3600, whole / 60 % 60, whole % 60);
    if hours > 0 {
        format!("{sign}{hours}:{minutes:02}:{seconds:02}")
    } else {
        format!("{sign}{minutes}:{seconds:02}")
    }
}

/// To four significant digits, as data for a chart.
pub(super) fn rounded(value: f64) -> f64 {
    if value == 0.0 || !value.is_finite() {
        return 0.0;
    }
    format!("{value:.3e}").parse().unwrap_or(value)
}

/// Times, as data for a chart.
pub(super) fn rounded_to_ms(seconds: f64) -> f64 {
    (seconds * 1e3).round() / 1e3
}

/// A percentage of a share.
pub(super) fn percent(share: f64) -> String {
    let value = share * 100.0;
    let decimals = usize::from(value != 0.0 && value.abs() < 9.95);
    format!("{value:.decimals$} %")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_three_digits() {
        let cases = [
            (0.0, "0"),
            (0.012_34, "0.012"),
            (1.234, "1.23"),
            (12.34, "12.3"),
            (999.6, "1,000"),
            (-1_234_567.0, "-1,234,567"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text);
        }
    }

    #[test]
    fn durations_are_read_at_once() {
        assert_eq!(duration(0.417), "0.42 s");
        assert_eq!(duration(59.97), "1 min");
        assert_eq!(duration(245.2), "4 min 05 s");
        assert_eq!(duration(3_599.8), "1 h 00 min");
        assert_eq!(duration(7_620.0), "2 h 07 min");
        assert_eq!(clock(-0.2), "0:00");
        assert_eq!(clock(3_723.0), "1:02:03");
    }

    #[test]
    fn data_are_rounded_not_shortened() {
        assert!((rounded(123_456.0) - 123_500.0).abs() < 1e-9);
        assert!((rounded(0.001_234_56) - 0.001_235).abs() < 1e-12);
    }
}
