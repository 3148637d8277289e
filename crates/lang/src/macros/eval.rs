//! Macro expressions: %EVAL, %IF and %DO in integers, %SYSEVALF in floating point.

use super::mask::{MNEMONICS, is_masked, unmasked};
use crate::ast::TokenKind;
use crate::keywords::{in_name, is_one_of};
use crate::literal;
use base::limits::NESTING_MAX;
use std::cmp::Ordering;

/// How an expression is read.
#[derive(Clone, Copy)]
pub(crate) struct Manner {
    /// %SYSEVALF.
    pub(crate) floating: bool,
    /// `IN` and `#` are operators.
    pub(crate) membership: bool,
}

/// What is wrong with an expression. The first one needs the text of the condition to be told.
#[derive(Debug, PartialEq)]
pub(crate) enum EvalError {
    /// Text where a number is needed.
    Character,
    /// No expression at all.
    Nothing,
    /// Two operands side by side.
    NoOperator,
    /// Anything else, a sentence.
    Other(String),
}

impl EvalError {
    /// SAS's sentence; `condition` is the expression as written.
    pub(crate) fn text(&self, condition: &str) -> String {
        match self {
            Self::Character => format!(
                "A character operand was found in the %EVAL function or %IF condition where a \
                 numeric operand is required. The condition was: {}",
                condition.trim()
            ),
            Self::Nothing => {
                "%EVAL function has no expression to evaluate, or %IF statement has no \
                              condition"
                    .to_owned()
            }
            Self::NoOperator => {
                format!(
                    "Required operator not found in expression: {}",
                    condition.trim()
                )
            }
            Self::Other(text) => text.clone(),
        }
    }
}

type Result<T> = std::result::Result<T, EvalError>;

#[derive(Debug, Clone, PartialEq)]
enum Item {
    Operand(String),
    Operator(&'static str),
    Open,
    Close,
    /// What follows IN.
    List(Vec<String>),
}

/// A value while it is computed.
#[derive(Debug, Clone, PartialEq)]
enum Value {
    Text(String),
    Integer(i64),
    Number(f64),
}

/// The value of `text`, whose references are resolved, as text.
pub(crate) fn evaluate(text: &str, manner: Manner) -> Result<String> {
    Ok(match compute(text, manner)? {
        Value::Text(text) if manner.floating => show(to_number(&text)?),
        Value::Text(text) => to_integer(&text)?.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => show(value),
    })
}

/// The number that `%sysevalf` makes of `text`, whose references are resolved; `None` if it is none.
pub fn number_of(text: &str) -> Option<f64> {
    let manner = Manner {
        floating: true,
        membership: false,
    };
    number(&compute(text, manner).ok()?).ok()
}

/// The integer that `text` is.
pub(crate) fn integer(text: &str, membership: bool) -> Result<i64> {
    let manner = Manner {
        floating: false,
        membership,
    };
    match compute(text, manner)? {
        Value::Text(text) => to_integer(&text),
        Value::Integer(value) => Ok(value),
        Value::Number(_) => Err(EvalError::Character),
    }
}

fn compute(text: &str, manner: Manner) -> Result<Value> {
    let items = items(text, manner);
    if items.is_empty() {
        return Err(EvalError::Nothing);
    }
    let mut parser = Parser {
        items: &items,
        index: 0,
        depth: 0,
        manner,
    };
    let value = parser.binary(0)?;
    if parser.index < items.len() {
        return Err(EvalError::NoOperator);
    }
    Ok(value)
}

const SYMBOLS: &[(&str, &str)] = &[
    ("**", "**"),
    ("^=", "NE"),
    ("~=", "NE"),
    ("¬=", "NE"),
    ("<=", "LE"),
    (">=", "GE"),
    ("=<", "LE"),
    ("=>", "GE"),
    ("=", "EQ"),
    ("<", "LT"),
    (">", "GT"),
    ("+", "+"),
    ("-", "-"),
    ("*", "*"),
    ("/", "/"),
    ("&", "AND"),
    ("|", "OR"),
    ("!", "OR"),
    ("^", "NOT"),
    ("~", "NOT"),
    ("¬", "NOT"),
];

/// Binary operators by level, loosest first.
const LEVELS: &[&[&str]] = &[
    &["OR"],
    &["AND"],
    &["EQ", "NE", "LT", "LE", "GT", "GE", "IN"],
    &["+", "-"],
    &["*", "/"],
];

fn items(text: &str, manner: Manner) -> Vec<Item> {
    let mut items = Vec::new();
    let mut operand = String::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        if matches!(character, '\'' | '"') {
            let inner = rest.get(1..).unwrap_or("");
            let length = inner.find(character).map_or(rest.len(), |at| at + 2);
            rest = take(&mut operand, rest, length);
        } else if in_name(character) || character == '.' {
            let length = word_length(rest, manner);
            let word = rest.get(..length).unwrap_or("");
            let known = MNEMONICS
                .iter()
                .find(|name| name.eq_ignore_ascii_case(word));
            match known.filter(|name| **name != "IN" || manner.membership) {
                Some(&"IN") => {
                    push_operand(&mut items, &mut operand);
                    rest = list(&mut items, rest.get(length..).unwrap_or(""));
                }
                Some(name) => {
                    push_operand(&mut items, &mut operand);
                    items.push(Item::Operator(name));
                    rest = rest.get(length..).unwrap_or("");
                }
                None => rest = take(&mut operand, rest, length),
            }
        } else if let Some((symbol, name)) = SYMBOLS.iter().find(|(s, _)| rest.starts_with(s)) {
            push_operand(&mut items, &mut operand);
            items.push(Item::Operator(name));
            rest = rest.get(symbol.len()..).unwrap_or("");
        } else if character == '#' && manner.membership {
            push_operand(&mut items, &mut operand);
            rest = list(&mut items, rest.get(1..).unwrap_or(""));
        } else if matches!(character, '(' | ')') {
            push_operand(&mut items, &mut operand);
            items.push(if character == '(' {
                Item::Open
            } else {
                Item::Close
            });
            rest = rest.get(1..).unwrap_or("");
        } else {
            rest = take(&mut operand, rest, character.len_utf8());
        }
    }
    push_operand(&mut items, &mut operand);
    items
}

fn take<'a>(operand: &mut String, rest: &'a str, length: usize) -> &'a str {
    operand.push_str(rest.get(..length).unwrap_or(""));
    rest.get(length..).unwrap_or("")
}

/// A word, or a number such as `1.5e-3` where there are such.
fn word_length(text: &str, manner: Manner) -> usize {
    let plain = text
        .chars()
        .take_while(|c| in_name(*c) || *c == '.' || is_masked(*c));
    let length: usize = plain.map(char::len_utf8).sum();
    let word = text.get(..length).unwrap_or("");
    let mantissa = word.strip_suffix(['e', 'E']).unwrap_or("");
    let after = text.get(length..).unwrap_or("");
    let exponent = after.strip_prefix(['+', '-']).unwrap_or("");
    let digits = exponent.bytes().take_while(u8::is_ascii_digit).count();
    if manner.floating && digits > 0 && !mantissa.is_empty() && mantissa.parse::<f64>().is_ok() {
        length + 1 + digits
    } else {
        length
    }
}

fn push_operand(items: &mut Vec<Item>, operand: &mut String) {
    let text = operand.trim();
    if !text.is_empty() {
        items.push(Item::Operand(text.to_owned()));
    }
    operand.clear();
}

/// Reads the list after IN and returns what follows it.
fn list<'a>(items: &mut Vec<Item>, text: &'a str) -> &'a str {
    items.push(Item::Operator("IN"));
    let text = text.trim_start();
    let (inner, rest) = match text.strip_prefix('(') {
        Some(inner) => inner.split_once(')').unwrap_or((inner, "")),
        None => text
            .split_at_checked(list_length(text))
            .unwrap_or((text, "")),
    };
    let words = inner
        .split([' ', '\n', '\t', '\r'])
        .filter(|word| !word.is_empty());
    items.push(Item::List(words.map(str::to_owned).collect()));
    rest
}

/// Where a list without parentheses ends: at AND, OR or a parenthesis.
fn list_length(text: &str) -> usize {
    let mut length = 0;
    for word in text.split_inclusive([' ', '\n', '\t']) {
        if is_one_of(word.trim(), &["AND", "OR"]) {
            break;
        }
        if let Some(end) = word.find([')', '&', '|']) {
            return length + end;
        }
        length += word.len();
    }
    length
}

struct Parser<'a> {
    items: &'a [Item],
    index: usize,
    depth: u32,
    manner: Manner,
}

impl Parser<'_> {
    fn operator(&mut self, wanted: &[&'static str]) -> Option<&'static str> {
        match self.items.get(self.index) {
            Some(Item::Operator(name)) if wanted.contains(name) => {
                self.index += 1;
                Some(name)
            }
            _ => None,
        }
    }

    fn binary(&mut self, level: usize) -> Result<Value> {
        let Some(operators) = LEVELS.get(level) else {
            return self.prefix();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            left = if operator == "IN" {
                self.membership(&left)?
            } else {
                let right = self.binary(level + 1)?;
                self.apply(operator, &left, &right)?
            };
        }
        Ok(left)
    }

    fn membership(&mut self, left: &Value) -> Result<Value> {
        let Some(Item::List(words)) = self.items.get(self.index) else {
            return Err(EvalError::Other("IN needs a list after it".to_owned()));
        };
        self.index += 1;
        let mut found = false;
        for word in words {
            let order = self.order(left, &Value::Text(word.clone()));
            found |= order == Ordering::Equal;
        }
        Ok(Value::Integer(i64::from(found)))
    }

    /// A sign or NOT and its operand, and powers, which bind closer and from the right.
    fn prefix(&mut self) -> Result<Value> {
        self.depth += 1;
        if self.depth > NESTING_MAX {
            let text = format!("The expression is nested more than {NESTING_MAX} levels deep");
            return Err(EvalError::Other(text));
        }
        let value = match self.operator(&["+", "-", "NOT"]) {
            Some("NOT") => {
                let operand = self.prefix()?;
                Value::Integer(i64::from(!self.truth(&operand)?))
            }
            Some(sign) => {
                let operand = self.prefix()?;
                let zero = Value::Integer(0);
                self.apply(sign, &zero, &operand)?
            }
            None => {
                let base = self.primary()?;
                if self.operator(&["**"]).is_some() {
                    let exponent = self.prefix()?;
                    self.apply("**", &base, &exponent)?
                } else {
                    base
                }
            }
        };
        self.depth -= 1;
        Ok(value)
    }

    fn primary(&mut self) -> Result<Value> {
        match self.items.get(self.index) {
            Some(Item::Operand(text)) => {
                self.index += 1;
                Ok(Value::Text(unmasked(text).into_owned()))
            }
            Some(Item::Open) => {
                self.index += 1;
                let value = self.binary(0)?;
                if self.items.get(self.index) != Some(&Item::Close) {
                    return Err(EvalError::Other(
                        "A closing parenthesis is missing".to_owned(),
                    ));
                }
                self.index += 1;
                Ok(value)
            }
            // An operand that is not there is an empty text.
            _ => Ok(Value::Text(String::new())),
        }
    }

    fn truth(&self, value: &Value) -> Result<bool> {
        Ok(match value {
            Value::Integer(value) => *value != 0,
            Value::Number(value) => !value.is_nan() && *value != 0.0,
            Value::Text(text) if self.manner.floating => {
                let value = to_number(text)?;
                !value.is_nan() && value != 0.0
            }
            Value::Text(text) => to_integer(text)? != 0,
        })
    }

    fn order(&self, left: &Value, right: &Value) -> Ordering {
        if self.manner.floating {
            if let (Ok(left), Ok(right)) = (number(left), number(right)) {
                // Missing values come first.
                return match (left.is_nan(), right.is_nan()) {
                    (true, true) => Ordering::Equal,
                    (true, false) => Ordering::Less,
                    (false, true) => Ordering::Greater,
                    _ => left.partial_cmp(&right).unwrap_or(Ordering::Equal),
                };
            }
        } else if let (Ok(left), Ok(right)) = (whole(left), whole(right)) {
            return left.cmp(&right);
        }
        text_of(left).cmp(&text_of(right))
    }

    fn apply(&self, operator: &str, left: &Value, right: &Value) -> Result<Value> {
        let truth = |value: bool| Ok(Value::Integer(i64::from(value)));
        match operator {
            "AND" => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                return truth(left && right);
            }
            "OR" => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                return truth(left || right);
            }
            "+" | "-" | "*" | "/" | "**" => {}
            _ => {
                let order = self.order(left, right);
                return truth(match operator {
                    "EQ" => order.is_eq(),
                    "NE" => order.is_ne(),
                    "LT" => order.is_lt(),
                    "LE" => order.is_le(),
                    "GT" => order.is_gt(),
                    _ => order.is_ge(),
                });
            }
        }
        if self.manner.floating {
            Ok(Value::Number(float(
                operator,
                number(left)?,
                number(right)?,
            )))
        } else {
            whole_arithmetic(operator, whole(left)?, whole(right)?).map(Value::Integer)
        }
    }
}

fn float(operator: &str, left: f64, right: f64) -> f64 {
    let value = match operator {
        "+" => left + right,
        "-" => left - right,
        "*" => left * right,
        "/" if right == 0.0 => f64::NAN,
        "/" => left / right,
        _ => left.powf(right),
    };
    if value.is_finite() { value } else { f64::NAN }
}

fn whole_arithmetic(operator: &str, left: i64, right: i64) -> Result<i64> {
    let value = match operator {
        "+" => left.checked_add(right),
        "-" => left.checked_sub(right),
        "*" => left.checked_mul(right),
        "/" if right == 0 => {
            return Err(EvalError::Other(
                "Division by zero in %EVAL is invalid".to_owned(),
            ));
        }
        "/" => left.checked_div(right),
        _ => match u32::try_from(right) {
            Ok(exponent) => left.checked_pow(exponent),
            Err(_) => Some(match left {
                1 => 1,
                -1 if right % 2 == 0 => 1,
                -1 => -1,
                _ => 0,
            }),
        },
    };
    value.ok_or_else(|| {
        EvalError::Other("Overflow has occurred; evaluation is terminated".to_owned())
    })
}

fn text_of(value: &Value) -> String {
    match value {
        Value::Text(text) => text.trim().to_owned(),
        Value::Integer(value) => value.to_string(),
        Value::Number(value) => show(*value),
    }
}

fn whole(value: &Value) -> Result<i64> {
    match value {
        Value::Text(text) => to_integer(text),
        Value::Integer(value) => Ok(*value),
        Value::Number(_) => Err(EvalError::Character),
    }
}

fn number(value: &Value) -> Result<f64> {
    match value {
        Value::Text(text) => to_number(text),
        #[expect(clippy::cast_precision_loss, reason = "only 0 and 1 come here")]
        Value::Integer(value) => Ok(*value as f64),
        Value::Number(value) => Ok(*value),
    }
}

/// Decimal digits with a sign, or hexadecimal ones that start with a digit and end with `x`.
fn to_integer(text: &str) -> Result<i64> {
    let text = text.trim();
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'+' | b'-'));
    if plain && let Ok(value) = text.parse() {
        return Ok(value);
    }
    let hexadecimal = text
        .strip_suffix(['x', 'X'])
        .filter(|t| t.starts_with(|c: char| c.is_ascii_digit()));
    hexadecimal
        .and_then(|digits| i64::from_str_radix(digits, 16).ok())
        .ok_or(EvalError::Character)
}

fn to_number(text: &str) -> Result<f64> {
    let text = text.trim();
    if text == "." {
        return Ok(f64::NAN);
    }
    let plain = text
        .bytes()
        .all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
    if plain && let Some(value) = text.parse().ok().filter(|value: &f64| value.is_finite()) {
        return Ok(value);
    }
    if let Some((inner, suffix)) = text
        .strip_prefix(['\'', '"'])
        .and_then(|t| t.rsplit_once(['\'', '"']))
        && is_one_of(suffix, &["d", "t", "dt"])
        && let Some(Ok(TokenKind::Number(value, _))) = literal::with_suffix(inner, suffix, '\'')
    {
        return Ok(value);
    }
    #[expect(
        clippy::cast_precision_loss,
        reason = "as SAS reads hexadecimal constants"
    )]
    to_integer(text).map(|value| value as f64)
}

/// A number as %SYSEVALF writes it: as many digits as 16 columns hold.
pub(crate) fn show(value: f64) -> String {
    const WIDTH: usize = 16;
    if value.is_nan() {
        return ".".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    if (1e-4..1e15).contains(&value.abs()) {
        for decimals in (0..=14).rev() {
            let text = format!("{value:.decimals$}");
            let text = if text.contains('.') {
                text.trim_end_matches('0').trim_end_matches('.')
            } else {
                &text
            };
            if text.len() <= WIDTH {
                return text.to_owned();
            }
        }
    }
    for digits in (0..=14).rev() {
        let text = format!("{value:.digits$E}");
        let (mantissa, exponent) = text.split_once('E').unwrap_or((&text, "0"));
        let mantissa = if mantissa.contains('.') {
            mantissa.trim_end_matches('0').trim_end_matches('.')
        } else {
            mantissa
        };
        let text = format!("{mantissa}E{exponent}");
        if text.len() <= WIDTH {
            return text;
        }
    }
    format!("{value:E}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(text: &str, floating: bool) -> String {
        let manner = Manner {
            floating,
            membership: true,
        };
        evaluate(text, manner).unwrap_or_else(|error| error.text(text))
    }

    #[test]
    fn integers_follow_the_rules_of_eval() {
        for (text, value) in [
            ("1+2*3", "7"),
            ("(1+2)*3", "9"),
            ("7/2", "3"),
            ("-7/2", "-3"),
            ("-2**2", "-4"),
            ("2**3**2", "512"),
            ("2**-1", "0"),
            ("10 < 9.5", "1"),
            ("10 > 9", "1"),
            ("abc = abc", "1"),
            ("abc = ABC", "0"),
            ("= ", "1"),
            ("a =", "0"),
            ("not 0 and 1", "1"),
            ("^(1=1) or 2 > 1", "1"),
            ("1 < 5 < 3", "1"),
            ("b ge a and 3 ne 4", "1"),
            ("\"a-b\" = \"a-b\"", "1"),
            ("0ffx", "255"),
            ("x in (a x b)", "1"),
            ("3 in (1 2)", "0"),
            ("3 # 1", "0"),
            ("new york = new york", "1"),
        ] {
            assert_eq!(run(text, false), value, "{text}");
        }
    }

    #[test]
    fn wrong_expressions_say_what_sas_says() {
        let character = "A character operand was found in the %EVAL function or %IF condition where \
                         a numeric operand is required. The condition was: ";
        for text in ["1.5 + 1", "a + 1", "a", "a and 1", "x-y = x-y"] {
            assert_eq!(run(text, false), format!("{character}{text}"));
        }
        assert!(run("", false).starts_with("%EVAL function has no expression"));
        assert!(run("1 (2)", false).starts_with("Required operator not found"));
        assert!(run("1/0", false).starts_with("Division by zero"));
        assert!(run("9223372036854775807+1", false).starts_with("Overflow"));
        assert!(run(&"(".repeat(100_000), false).contains("nested"));
        assert!(run(&"-".repeat(100_000), false).contains("nested"));
    }

    #[test]
    fn floating_values_follow_the_rules_of_sysevalf() {
        for (text, value) in [
            ("10.5+20.8", "31.3"),
            ("100/3", "33.3333333333333"),
            ("1/3", "0.33333333333333"),
            ("1.5e-3*2", "0.003"),
            ("10 > 9.5", "1"),
            ("1+.", "."),
            (". < -1", "1"),
            ("1/0", "."),
            ("'01jan1960'd + 1", "1"),
            ("1e20", "1E20"),
            ("2**0.5", "1.4142135623731"),
        ] {
            assert_eq!(run(text, true), value, "{text}");
        }
    }
}
