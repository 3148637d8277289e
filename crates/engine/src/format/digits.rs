//! Decimal digits of numbers. Whole numbers, which most are, go by integers: the standard library's exact decimals
//! need big numbers for them.

/// Below this all whole numbers are exact.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// As many significant digits as a double holds; more would be made up.
const SIGNIFICANT: usize = 15;

/// A text at the right of its width.
pub(super) fn right(text: &str, width: usize) -> String {
    let free = width.saturating_sub(text.chars().count());
    let mut out = String::with_capacity(free + text.len());
    out.extend(std::iter::repeat_n(' ', free));
    out.push_str(text);
    out
}

/// The number, if it is a whole one and no negative zero.
#[expect(
    clippy::cast_possible_truncation,
    reason = "it is whole and below 2^53"
)]
fn whole(value: f64) -> Option<i64> {
    let is_whole = value.abs() < EXACT && value.fract() == 0.0;
    (is_whole && (value != 0.0 || value.is_sign_positive())).then_some(value as i64)
}

/// Whether the number lies halfway between two of so many decimals: an odd multiple of a power of two that has exactly
/// one decimal more, which is a 5.
fn is_halfway(value: f64, decimals: i32) -> bool {
    let scaled = value.abs() * 2_f64.powi(decimals + 1);
    scaled < EXACT && scaled % 2.0 - 1.0 == 0.0
}

/// Digits of a number halfway, with one more than are wanted, a 5: without it, and away from zero. The standard library
/// rounds those to even digits.
fn away(text: &str) -> String {
    let mut digits = text.as_bytes()[..text.len() - 1].to_vec();
    if digits.last() == Some(&b'.') {
        digits.pop();
    }
    let (mut at, mut carried) = (digits.len(), true);
    while carried && at > 0 {
        at -= 1;
        (digits[at], carried) = match digits[at] {
            b'9' => (b'0', true),
            digit @ b'0'..=b'8' => (digit + 1, false),
            other => (other, true),
        };
    }
    if carried {
        digits.insert(usize::from(digits[0] == b'-'), b'1');
    }
    String::from_utf8(digits).unwrap_or_default()
}

/// With so many decimals, rounded; halves away from zero.
pub fn decimal(value: f64, decimals: usize) -> String {
    let Some(whole) = whole(value) else {
        if i32::try_from(decimals).is_ok_and(|places| is_halfway(value, places)) {
            return away(&format!("{value:.0$}", decimals + 1));
        }
        return format!("{value:.decimals$}");
    };
    let mut text = whole.to_string();
    if decimals > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', decimals));
    }
    text
}

/// With so many digits behind the first one and a power of ten (`1.5E2`), rounded; halves away from zero.
pub(super) fn exponential(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$E}");
    let longer = format!("{value:.0$E}", digits + 1);
    let Some((mantissa, power)) = longer
        .split_once('E')
        .filter(|(text, _)| text.ends_with('5'))
    else {
        return text;
    };
    let power = power.parse().unwrap_or(0);
    let is_halfway = match i32::try_from(digits)
        .unwrap_or(i32::MAX)
        .saturating_sub(power)
    {
        places @ 0.. => is_halfway(value, places),
        // Greater powers of ten than 10^22 are no divisors of twice a double.
        places @ -22.. => {
            let unit = 10_f64.powi(-places);
            value.abs() % unit - unit / 2.0 == 0.0
        }
        _ => false,
    };
    if !is_halfway {
        return text;
    }
    let mantissa = away(mantissa);
    // 9.95 is 10.0 then.
    if mantissa.trim_start_matches('-').starts_with("10") {
        let mantissa = mantissa.replacen("10", "1", 1);
        return format!("{mantissa}E{}", power + 1);
    }
    format!("{mantissa}E{power}")
}

/// With so many decimals and zeros in front, as wide as it shall be or wider.
pub(super) fn zero_padded(value: f64, width: usize, decimals: usize) -> String {
    let text = decimal(value, decimals);
    let digits = text.strip_prefix('-');
    let sign = if digits.is_some() { "-" } else { "" };
    let digits = digits.unwrap_or(&text);
    let zeros = width.saturating_sub(text.len());
    let mut out = String::with_capacity(width.max(text.len()));
    out.push_str(sign);
    out.extend(std::iter::repeat_n('0', zeros));
    out.push_str(digits);
    out
}

/// The most significant digits that fit, trailing zeros dropped.
pub(super) fn best(value: f64, width: usize) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e15).contains(&value.abs()) {
        let found = match whole(value) {
            Some(whole) => Some(whole.to_string()).filter(|text| text.len() <= width),
            None => fraction(value, width),
        };
        if let Some(text) = found {
            return text;
        }
    }
    scientific(value, width)
}

/// A number that is not whole, between 1e-4 and 1e15; `None` if nothing of it would be left.
fn fraction(value: f64, width: usize) -> Option<String> {
    // The shortest text that reads as this number is what fewer than so many digits make of it, too.
    let shortest = value.to_string();
    let significant = shortest.trim_start_matches(['-', '0', '.']);
    let digits = significant.bytes().filter(u8::is_ascii_digit).count();
    if shortest.len() <= width && digits <= SIGNIFICANT {
        return Some(shortest);
    }
    let magnitude = value.abs();
    let leading = (0..4)
        .take_while(|zeros| magnitude < 10_f64.powi(-1 - zeros))
        .count();
    let before = if magnitude < 1.0 {
        0
    } else {
        shortest.find('.').unwrap_or(shortest.len()) - usize::from(value < 0.0)
    };
    let most = (SIGNIFICANT + leading).saturating_sub(before);
    // More decimals fit only if they are zeros, which fewer show as well.
    let fitting = width.saturating_sub(before.max(1) + usize::from(value < 0.0) + 1);
    (0..=fitting.min(most)).rev().find_map(|decimals| {
        let text = decimal(value, decimals);
        let text = without_zeros(&text);
        let all_lost = text == "0" || text == "-0";
        (text.len() <= width && !all_lost).then(|| text.to_owned())
    })
}

/// `1.2346E8`: as many digits as fit, no `+`, no padding of the exponent.
fn scientific(value: f64, width: usize) -> String {
    for digits in (0..=SIGNIFICANT).rev() {
        let text = exponential(value, digits);
        let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
        let text = format!("{}E{exponent}", without_zeros(mantissa));
        if text.len() <= width {
            return text;
        }
    }
    "*".repeat(width)
}

/// Without zeros at the end of decimals.
fn without_zeros(text: &str) -> &str {
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.')
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `value` with so many decimals, halves away from zero: all of its digits, one added to those that stay.
    fn exact(value: f64, decimals: usize) -> String {
        let all = format!("{:.1080}", value.abs());
        let (whole, fraction) = all.split_once('.').unwrap();
        let mut digits: Vec<u8> = whole
            .bytes()
            .chain(fraction.bytes().take(decimals))
            .collect();
        if fraction.as_bytes()[decimals] >= b'5' {
            let mut carried = true;
            for digit in digits.iter_mut().rev() {
                (*digit, carried) = match (carried, *digit) {
                    (true, b'9') => (b'0', true),
                    (true, digit) => (digit + 1, false),
                    (false, digit) => (digit, false),
                };
            }
            if carried {
                digits.insert(0, b'1');
            }
        }
        if decimals > 0 {
            digits.insert(digits.len() - decimals, b'.');
        }
        let sign = if value.is_sign_negative() { "-" } else { "" };
        format!("{sign}{}", String::from_utf8(digits).unwrap())
    }

    /// What BEST is, tried from the most decimals down.
    fn tried(value: f64, width: usize) -> String {
        if value == 0.0 {
            return "0".to_owned();
        }
        let magnitude = value.abs();
        if (1e-4..1e15).contains(&magnitude) {
            let before = (0..=15)
                .find(|digits| magnitude < 10_f64.powi(*digits))
                .unwrap_or(15);
            let leading = (0..4)
                .take_while(|zeros| magnitude < 10_f64.powi(-1 - zeros))
                .count();
            let most = SIGNIFICANT - usize::try_from(before).unwrap() + leading;
            for decimals in (0..=width.min(most)).rev() {
                let text = exact(value, decimals);
                let text = without_zeros(&text);
                if text.len() <= width && text != "0" && text != "-0" {
                    return text.to_owned();
                }
            }
        }
        scientific(value, width)
    }

    /// Numbers as data have them: whole, of few decimals, of all magnitudes, and any.
    fn numbers() -> impl Strategy<Value = f64> {
        let whole = (-2_000_000_000_i64..2_000_000_000).prop_map(|value| value as f64);
        let cents = (-10_000_000_i32..10_000_000, 0_i32..9)
            .prop_map(|(value, decimals)| f64::from(value) / 10_f64.powi(decimals));
        let wide =
            (-1.0..1.0_f64, -8_i32..18).prop_map(|(value, power)| value * 10_f64.powi(power));
        let edge = (0_i32..16, -2_i32..3).prop_map(|(power, steps)| {
            let power = 10_f64.powi(power);
            power + f64::from(steps) * power * f64::EPSILON
        });
        let halves = (-1_000_000_i32..1_000_000, 0_i32..12)
            .prop_map(|(value, power)| f64::from(value) / 2_f64.powi(power));
        prop_oneof![whole, cents, wide, edge, halves, any::<f64>()]
            .prop_filter("there", |value| value.is_finite())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn best_is_what_trying_all_decimals_finds(value in numbers(), width in 1_usize..33) {
            prop_assert_eq!(best(value, width), tried(value, width));
        }

        #[test]
        fn decimals_are_those_of_all_digits(value in numbers(), decimals in 0_usize..12) {
            prop_assert_eq!(decimal(value, decimals), exact(value, decimals));
            prop_assert_eq!(decimal(-0.0, decimals), format!("{:.decimals$}", -0.0));
            let padded = zero_padded(value, 9, decimals);
            prop_assert!(padded.len() >= 9);
            let bare = |text: &str| text.trim_start_matches(['-', '0']).to_owned();
            prop_assert_eq!(bare(&padded), bare(&exact(value, decimals)));
        }
    }

    #[test]
    fn halves_go_away_from_zero() {
        for (value, decimals, text) in [
            (0.5, 0, "1"),
            (2.5, 0, "3"),
            (-2.5, 0, "-3"),
            (0.125, 2, "0.13"),
            (28.125, 2, "28.13"),
            (-99.5, 0, "-100"),
            (9.995_117_187_5, 9, "9.995117188"),
            (1_000_000_000_000.000_2, 11, "1000000000000.00024414063"),
            // Somewhat less than it looks.
            (1.005, 2, "1.00"),
        ] {
            assert_eq!(decimal(value, decimals), text);
        }
        for (value, digits, text) in [
            (2.5, 0, "3E0"),
            (0.125, 1, "1.3E-1"),
            (12_500_000.0, 1, "1.3E7"),
            (12_500_001.0, 1, "1.3E7"),
            (12_499_999.0, 1, "1.2E7"),
            (-4.5e15, 0, "-5E15"),
            (9.5, 0, "1E1"),
            (-9.96875, 4, "-9.9688E0"),
            (99.5, 1, "1.0E2"),
        ] {
            assert_eq!(exponential(value, digits), text);
        }
    }
}
