//! Which index serves a condition: the parts of it that hold for every row wanted and bind the
//! variables of a key, and how many rows they leave.

use lang::ast::{BinaryOp, Comparison, Expr, ExprKind, InItem, UnaryOp};
use sas7bdat::btree::{IndexEntry, KeyPart, Span, encode_number, encode_text};
use sas7bdat::{Encoding, missing};

/// Below this share of the rows an index always pays, beyond the other one never; between them it
/// does if it reads fewer pages (SAS 9.4 Language Reference: Concepts, "Understanding SAS indexes").
const ALWAYS: f64 = 0.03;
const NEVER: f64 = 1.0 / 3.0;
/// More combinations of values than these are not looked up one by one.
const MOST_SPANS: usize = 1000;

/// What a condition asks of one variable.
#[derive(Debug, Clone, PartialEq)]
enum Bound {
    /// One of these.
    Values(Vec<Constant>),
    /// Between these, both included; `None` for no bound.
    Range(Option<Constant>, Option<Constant>),
    /// Between these, both included, whichever is the smaller one.
    Between(Constant, Constant),
    /// A text that begins so.
    Prefix(String),
}

#[derive(Debug, Clone, PartialEq)]
enum Constant {
    Number(f64),
    Text(String),
}

/// Keys of `entry` that rows meeting `condition` have; `None` if the condition does not bind its
/// first variable. `name` gives the step's name of a column.
pub(crate) fn spans(
    condition: &Expr,
    entry: &IndexEntry,
    encoding: Encoding,
    name: impl Fn(usize) -> Option<String>,
) -> Option<Vec<Span>> {
    let mut prefixes = vec![Vec::new()];
    for (place, part) in entry.parts.iter().enumerate() {
        let variable = name(usize::from(part.column) - 1);
        let bounds = variable.map(|variable| bounds(condition, &variable));
        let bounds = bounds.unwrap_or_default();
        let values = bounds.iter().find_map(|bound| match bound {
            Bound::Values(values) => keys(values, *part, encoding),
            _ => None,
        });
        if let Some(values) = values.filter(|values| values.len() * prefixes.len() <= MOST_SPANS) {
            prefixes = prefixes
                .iter()
                .flat_map(|prefix| {
                    values
                        .iter()
                        .map(|value| [prefix.as_slice(), value].concat())
                })
                .collect();
            continue;
        }
        let (low, high) = range(&bounds, *part, encoding);
        if low.is_empty() && high.is_empty() {
            if place == 0 {
                return None;
            }
            break;
        }
        let span = |prefix: &Vec<u8>| Span {
            low: [prefix.as_slice(), &low].concat(),
            high: [prefix.as_slice(), &high].concat(),
        };
        return Some(sorted(prefixes.iter().map(span).collect()));
    }
    Some(sorted(prefixes.into_iter().map(Span::of).collect()))
}

fn sorted(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by(|left, right| left.low.cmp(&right.low));
    spans.dedup();
    spans
}

/// Whether reading by the index pays: `rows` on `pages`.
pub(crate) fn pays(entry: &IndexEntry, spans: &[Span], rows: u64, pages: u64) -> bool {
    let share = share_of(entry, spans);
    let reads = (share * rows as f64).min(rows as f64);
    share <= ALWAYS || share <= NEVER && reads <= pages as f64
}

/// The share of the rows whose keys lie in the spans, by the centiles.
pub(crate) fn share_of(entry: &IndexEntry, spans: &[Span]) -> f64 {
    spans
        .iter()
        .map(|span| share(entry, span))
        .sum::<f64>()
        .min(1.0)
}

/// The share of the rows whose keys lie in a span, by the centiles.
fn share(entry: &IndexEntry, span: &Span) -> f64 {
    if entry.keys == 0 || entry.centiles.is_empty() {
        return 0.0;
    }
    let begins = |key: &Vec<u8>, bound: &[u8]| key.get(..bound.len()).unwrap_or(key).cmp(bound);
    let below = entry
        .centiles
        .iter()
        .filter(|key| begins(key, &span.low).is_lt())
        .count();
    let upto = entry
        .centiles
        .iter()
        .filter(|key| begins(key, &span.high).is_le())
        .count();
    let inside = upto.saturating_sub(below) as f64;
    // A key between two centiles stands for an even part of what lies between them.
    let least = 1.0 / entry.keys as f64;
    if inside <= 1.0 && span.low == span.high {
        return least;
    }
    if inside == 0.0 {
        return (0.5 / 20.0_f64).max(least);
    }
    (inside / 20.0).max(least).min(1.0)
}

/// Keys of constants, in order; `None` if one is not of the kind of the variable.
fn keys(values: &[Constant], part: KeyPart, encoding: Encoding) -> Option<Vec<Vec<u8>>> {
    let mut keys = Vec::with_capacity(values.len());
    for value in values {
        let key = key(value, part, encoding)?;
        // A text that is longer than the variable is not equal to any of its values.
        if let Constant::Text(text) = value
            && text.trim_end_matches(' ').len() > usize::from(part.length)
        {
            continue;
        }
        keys.push(key);
    }
    keys.sort();
    keys.dedup();
    Some(keys)
}

fn key(value: &Constant, part: KeyPart, encoding: Encoding) -> Option<Vec<u8>> {
    let mut key = Vec::new();
    match value {
        Constant::Number(number) if part.numeric => {
            encode_number(*number, usize::from(part.length), &mut key);
        }
        Constant::Text(text) if !part.numeric => {
            let bytes = encoding.encode(text).ok()?;
            encode_text(&bytes, usize::from(part.length), &mut key);
        }
        _ => return None,
    }
    Some(key)
}

/// The tightest range that the bounds make; empty keys stand for no bound.
fn range(bounds: &[Bound], part: KeyPart, encoding: Encoding) -> (Vec<u8>, Vec<u8>) {
    let (mut lowest, mut highest): (Vec<u8>, Vec<u8>) = (Vec::new(), Vec::new());
    for bound in bounds {
        let (low, high) = match bound {
            Bound::Range(low, high) => {
                let find =
                    |one: &Option<Constant>| one.as_ref().and_then(|one| key(one, part, encoding));
                (find(low), find(high))
            }
            Bound::Between(one, other) => {
                match (key(one, part, encoding), key(other, part, encoding)) {
                    (Some(one), Some(other)) if one > other => (Some(other), Some(one)),
                    (Some(one), Some(other)) => (Some(one), Some(other)),
                    _ => (None, None),
                }
            }
            Bound::Prefix(text) if !part.numeric => {
                let bytes = encoding.encode(text).ok().map(std::borrow::Cow::into_owned);
                let bytes = bytes.filter(|bytes| bytes.len() <= usize::from(part.length));
                (bytes.clone(), bytes)
            }
            Bound::Prefix(_) | Bound::Values(_) => (None, None),
        };
        if let Some(low) = low
            && low > lowest
        {
            lowest = low;
        }
        if let Some(high) = high
            && (highest.is_empty() || high < highest)
        {
            highest = high;
        }
    }
    (lowest, highest)
}

/// What `expr`, or the parts of it that AND joins, ask of a variable.
fn bounds(expr: &Expr, variable: &str) -> Vec<Bound> {
    if let ExprKind::Binary(BinaryOp::And, left, right) = &expr.kind {
        let mut found = bounds(left, variable);
        found.extend(bounds(right, variable));
        return found;
    }
    bound(expr, variable).into_iter().collect()
}

fn bound(expr: &Expr, variable: &str) -> Option<Bound> {
    let is_variable = |expr: &Expr| match &expr.kind {
        ExprKind::Variable(name) => name.eq_ignore_ascii_case(variable),
        _ => false,
    };
    match &expr.kind {
        ExprKind::Binary(BinaryOp::Compare(comparison, begins), left, right) => {
            let (comparison, value) = if is_variable(left) {
                (*comparison, constant(right)?)
            } else if is_variable(right) && !begins {
                (turned(*comparison), constant(left)?)
            } else {
                return None;
            };
            match (comparison, begins, value) {
                (Comparison::Equal, false, value) => Some(Bound::Values(vec![value])),
                (Comparison::Equal, true, Constant::Text(text)) => {
                    let text = text.trim_end_matches(' ');
                    (!text.is_empty()).then(|| Bound::Prefix(text.to_owned()))
                }
                (Comparison::Less | Comparison::LessOrEqual, false, value) => {
                    Some(Bound::Range(None, Some(value)))
                }
                (Comparison::Greater | Comparison::GreaterOrEqual, false, value) => {
                    Some(Bound::Range(Some(value), None))
                }
                _ => None,
            }
        }
        ExprKind::Between {
            value,
            low,
            high,
            negated: false,
        } if is_variable(value) => Some(Bound::Between(constant(low)?, constant(high)?)),
        ExprKind::In {
            value,
            items,
            negated: false,
        } if is_variable(value) => {
            let mut values = Vec::new();
            for item in items {
                match item {
                    InItem::Value(value) => values.push(constant(value)?),
                    InItem::Range(low, high) => {
                        if high.checked_sub(*low)? >= i64::try_from(MOST_SPANS).ok()? {
                            return None;
                        }
                        values.extend((*low..=*high).map(|one| Constant::Number(one as f64)));
                    }
                }
            }
            Some(Bound::Values(values))
        }
        _ => None,
    }
}

/// `5 < x` is `x > 5`.
const fn turned(comparison: Comparison) -> Comparison {
    match comparison {
        Comparison::Less => Comparison::Greater,
        Comparison::LessOrEqual => Comparison::GreaterOrEqual,
        Comparison::Greater => Comparison::Less,
        Comparison::GreaterOrEqual => Comparison::LessOrEqual,
        same => same,
    }
}

fn constant(expr: &Expr) -> Option<Constant> {
    match &expr.kind {
        ExprKind::Number(number) => Some(Constant::Number(*number)),
        ExprKind::Missing(code) => Some(Constant::Number(missing::encode(*code))),
        ExprKind::Text(text) => Some(Constant::Text(text.clone())),
        ExprKind::Unary(UnaryOp::Minus, inner) => match constant(inner)? {
            Constant::Number(number) if !number.is_nan() => Some(Constant::Number(-number)),
            _ => None,
        },
        _ => None,
    }
}
