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

/// With so many decimals, rounded.
pub(super) fn decimal(value: f64, decimals: usize) -> String {
    let Some(whole) = whole(value) else {
        return format!("{value:.decimals$}");
    };
    let mut text = whole.to_string();
    if decimals > 0 {
        text.push('.');
        text.extend(std::iter::repeat_n('0', decimals));
    }
    text
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
        let text = format!("{value:.decimals$}");
        let text = without_zeros(&text);
        let all_lost = text == "0" || text == "-0";
        (text.len() <= width && !all_lost).then(|| text.to_owned())
    })
}

/// `1.2346E8`: as many digits as fit, no `+`, no padding of the exponent.
fn scientific(value: f64, width: usize) -> String {
    for digits in (0..=SIGNIFICANT).rev() {
        let text = format!("{value:.digits$E}");
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
                let text = format!("{value:.decimals$}");
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
        prop_oneof![whole, cents, wide, edge, any::<f64>()]
            .prop_filter("there", |value| value.is_finite())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn best_is_what_trying_all_decimals_finds(value in numbers(), width in 1_usize..33) {
            prop_assert_eq!(best(value, width), tried(value, width));
        }

        #[test]
        fn decimals_are_those_of_the_standard_library(value in numbers(), decimals in 0_usize..12) {
            prop_assert_eq!(decimal(value, decimals), format!("{value:.decimals$}"));
            prop_assert_eq!(zero_padded(value, 9, decimals), format!("{value:09.decimals$}"));
            prop_assert_eq!(decimal(-0.0, decimals), format!("{:.decimals$}", -0.0));
        }
    }
}
