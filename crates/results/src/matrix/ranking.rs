//! What a series shows, in words. Nothing is called an effect whose interval holds 0.

use super::effects::{Cells, Interaction, against};
use super::model::Fit;
use super::{Analysed, Factor, Response};
use crate::statistics::ratio::{Finding, Ratio};

/// From here on a ratio is said as a multiple and not in percent.
const MULTIPLE: f64 = 2.0;

/// A sentence and how large what it says is.
struct Said {
    shown: bool,
    size: f64,
    text: String,
}

/// A sentence for each factor, those that make a difference first and the largest first among them, then one for
/// each interaction that is shown.
pub fn sentences(all: &Analysed, fit: &Fit, factors: &[Factor], cells: &Cells) -> Vec<String> {
    let of = |(place, factor)| of_factor(all, fit, (place, factor), cells);
    let mut said: Vec<Said> = factors.iter().enumerate().map(of).collect();
    said.sort_by(|left, right| {
        let order = right.shown.cmp(&left.shown);
        order.then(right.size.total_cmp(&left.size))
    });
    let mut texts: Vec<String> = said.into_iter().map(|one| one.text).collect();
    let mut together: Vec<&Interaction> = all
        .interactions
        .iter()
        .filter(|one| is_shown(&one.ratio))
        .collect();
    together.sort_by(|left, right| size(&right.ratio).total_cmp(&size(&left.ratio)));
    texts.extend(together.iter().map(|one| of_interaction(one)));
    if all.freedom == 0 {
        texts.push(
            "Each cell was measured once: nothing tells how much of this is noise. Repeats would"
                .to_owned(),
        );
    } else if together.is_empty() && !all.interactions.is_empty() {
        texts.push("No two factors depend on each other as far as these runs can show".to_owned());
    }
    texts
}

/// The level that took least, and what each other one took beyond it.
fn of_factor(all: &Analysed, fit: &Fit, (place, factor): (usize, &Factor), cells: &Cells) -> Said {
    let name = capital(&factor.name);
    let over = |level: usize, other: usize| against(fit, cells, place, level, other).1;
    let base = cells.base(fit, place);
    let fastest = (0..factor.levels.len())
        .filter_map(|level| {
            let ratio = if level == base {
                Some(1.0)
            } else {
                over(level, base).map(|ratio| ratio.ratio)
            };
            Some((level, ratio?))
        })
        .min_by(|left, right| left.1.total_cmp(&right.1))
        .map_or(base, |(level, _)| level);
    let others: Vec<(usize, Option<Ratio>)> = (0..factor.levels.len())
        .filter(|level| *level != fastest)
        .map(|level| (level, over(level, fastest)))
        .collect();
    let known: Vec<(usize, Ratio)> = others
        .iter()
        .filter_map(|(level, ratio)| Some((*level, (*ratio)?)))
        .collect();
    if known.is_empty() {
        let text = format!("{name}: not known, since no two measured cells differ in it alone");
        return Said {
            shown: false,
            size: 0.0,
            text,
        };
    }
    let best = &factor.levels[fastest];
    let largest = known
        .iter()
        .map(|(_, ratio)| size(ratio))
        .fold(0.0, f64::max);
    let shown = known.iter().any(|(_, ratio)| is_shown(ratio));
    let claims = shown || all.freedom == 0;
    let mut parts: Vec<String> = known
        .iter()
        .map(|(level, ratio)| {
            let level = &factor.levels[*level];
            if claims && (all.freedom == 0 || is_shown(ratio)) {
                return format!("{level} took {}", longer(all.response, ratio, best));
            }
            format!(
                "{level} against {best} {}{}",
                change(ratio),
                if claims { ", not shown" } else { "" }
            )
        })
        .collect();
    let not_known = others.iter().filter(|(_, ratio)| ratio.is_none());
    parts.extend(
        not_known
            .map(|(level, _)| format!("{} cannot be held against {best}", factor.levels[*level])),
    );
    let parts = parts.join("; ");
    let text = if claims {
        format!("{name}: {parts}")
    } else {
        format!("{name}: no difference that these runs can show ({parts})")
    };
    Said {
        shown,
        size: largest,
        text,
    }
}

/// The effect of one factor at both levels of the other.
fn of_interaction(one: &Interaction) -> String {
    let (factor, level, first) = &one.one;
    let (other, beside, without) = &one.other;
    format!(
        "{} and {other} depend on each other: {level} against {first} is {} with {beside}, and {} with {without}",
        capital(factor),
        change(&one.at_level),
        change(&one.at_first)
    )
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).collect()
}

fn is_shown(ratio: &Ratio) -> bool {
    matches!(ratio.finding(), Finding::Less | Finding::More)
}

fn size(ratio: &Ratio) -> f64 {
    ratio.ratio.ln().abs()
}

/// `12 % (8 to 16 %) longer than xfs`, of something that took more or less.
fn longer(response: Response, ratio: &Ratio, best: &str) -> String {
    let amount = amount(ratio);
    let system = response == Response::SystemSum;
    match (system, ratio.ratio >= MULTIPLE, ratio.ratio >= 1.0) {
        (false, true, _) => format!("{amount} as long as {best}"),
        (false, _, true) => format!("{amount} longer than {best}"),
        (true, true, _) => format!("{amount} as much system time as {best}"),
        (true, _, true) => format!("{amount} more system time than {best}"),
        (_, _, false) => format!("{amount} less than {best}"),
    }
}

/// `12 % (8 to 16 %)` of a difference, without its direction; `2.4 times (2.1 to 2.8)`.
fn amount(ratio: &Ratio) -> String {
    if ratio.ratio >= MULTIPLE {
        let range = |(low, high): (f64, f64)| format!(" ({low:.1} to {high:.1})");
        return format!(
            "{:.1} times{}",
            ratio.ratio,
            ratio.interval.map_or(String::new(), range)
        );
    }
    let sign = if ratio.ratio >= 1.0 { 1.0 } else { -1.0 };
    let percent = |value: f64| sign * (value - 1.0) * 100.0;
    let range = |(low, high): (f64, f64)| {
        let (one, other) = (percent(low), percent(high));
        format!(
            " ({} to {} %)",
            digits(one.min(other)),
            digits(one.max(other))
        )
    };
    format!(
        "{} %{}",
        digits(percent(ratio.ratio)),
        ratio.interval.map_or(String::new(), range)
    )
}

/// `-1 % (-4 to +2 %)`; `2.4 times (2.1 to 2.8)`.
fn change(ratio: &Ratio) -> String {
    if ratio.ratio >= MULTIPLE {
        return amount(ratio);
    }
    let signed = |value: f64| {
        let percent = (value - 1.0) * 100.0;
        let text = digits(percent);
        if percent > 0.0 && text != "0" {
            format!("+{text}")
        } else {
            text
        }
    };
    let range = |(low, high): (f64, f64)| format!(" ({} to {} %)", signed(low), signed(high));
    format!(
        "{} %{}",
        signed(ratio.ratio),
        ratio.interval.map_or(String::new(), range)
    )
}

/// Whole percent from 10 on, one decimal below.
fn digits(percent: f64) -> String {
    let decimals = usize::from(percent.abs() < 9.95);
    let text = format!("{percent:.decimals$}");
    match text.as_str() {
        "-0.0" | "0.0" => "0".to_owned(),
        _ => text,
    }
}
