//! WHERE expressions as the log shows them.

use std::fmt::Write;

use lang::ast::{
    Argument, BinaryOp, Comparison, Expr, ExprKind, IN_PREFIX, InItem, SUM_CHAIN, UnaryOp,
    VariableList,
};

use super::between;

/// Longer texts are left out of the log.
const LONGEST: usize = 4096;

/// The text of a condition, normalised; `None` where it cannot be shown faithfully.
pub fn where_text(expr: &Expr) -> Option<String> {
    if let ExprKind::Number(value) = expr.kind {
        // As SAS puts it.
        let (value, truth) = if value == 0.0 {
            (0, "FALSE")
        } else {
            (1, "TRUE")
        };
        return Some(format!("{value} /* an obviously {truth} WHERE clause */ "));
    }
    let mut text = String::new();
    print(expr, &mut text)?;
    Some(text)
}

fn print(expr: &Expr, out: &mut String) -> Option<()> {
    if out.len() > LONGEST {
        return None;
    }
    match &expr.kind {
        ExprKind::Number(value) => out.push_str(&number(*value)),
        ExprKind::Missing(0) => out.push('.'),
        ExprKind::Missing(code) => out.extend(['.', char::from(*code)]),
        ExprKind::Text(text) => quoted(text, out)?,
        ExprKind::Variable(name) => out.push_str(name),
        ExprKind::Call(name, arguments) if name == IN_PREFIX => {
            prefix_of(arguments, false, out)?;
        }
        ExprKind::Unary(UnaryOp::Not, operand) if let Some(arguments) = in_prefix(operand) => {
            prefix_of(arguments, true, out)?;
        }
        ExprKind::Unary(operator, operand) => {
            out.push_str(match operator {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
                UnaryOp::Not => "not ",
            });
            print_operand(operand, out)?;
        }
        ExprKind::Binary(operator, left, right) => {
            print_operand(left, out)?;
            out.push_str(&symbol(*operator));
            print_operand(right, out)?;
        }
        ExprKind::In {
            value,
            items,
            negated,
        } => {
            print_operand(value, out)?;
            out.push_str(if *negated { " not in (" } else { " in (" });
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index == 0 { "" } else { ", " });
                match item {
                    InItem::Value(value) => print(value, out)?,
                    InItem::Range(low, high) => write!(out, "{low}:{high}").ok()?,
                }
            }
            out.push(')');
        }
        ExprKind::Call(name, _) if name == SUM_CHAIN => return None,
        ExprKind::Call(name, arguments) => call(name, arguments, out)?,
        _ => where_only(expr, out)?,
    }
    Some(())
}

/// The operators that only WHERE has.
fn where_only(expr: &Expr, out: &mut String) -> Option<()> {
    let not = |negated: bool| if negated { "not " } else { "" };
    match &expr.kind {
        ExprKind::Between {
            value,
            low,
            high,
            negated,
        } => {
            if let Some((low, high)) = between::ordered(low, high) {
                return range(value, low, high, *negated, out);
            }
            print_operand(value, out)?;
            write!(out, " {}between ", not(*negated)).ok()?;
            print_operand(low, out)?;
            out.push_str(" and ");
            print_operand(high, out)
        }
        ExprKind::IsMissing(value, negated) => {
            print_operand(value, out)?;
            write!(out, " is {}missing", not(*negated)).ok()?;
            Some(())
        }
        ExprKind::Like {
            value,
            pattern,
            contains,
            negated,
        } => {
            print_operand(value, out)?;
            let operator = if *contains { "contains" } else { "like" };
            write!(out, " {}{operator} ", not(*negated)).ok()?;
            quoted(pattern, out)
        }
        _ => None,
    }
}

/// BETWEEN with constants, as the comparisons it stands for; it has parentheses of its own.
fn range(value: &Expr, low: &Expr, high: &Expr, negated: bool, out: &mut String) -> Option<()> {
    out.push_str(if negated { "not (" } else { "(" });
    print_operand(value, out)?;
    out.push_str(">=");
    print_operand(low, out)?;
    out.push_str(" and ");
    print_operand(value, out)?;
    out.push_str("<=");
    print_operand(high, out)?;
    out.push(')');
    Some(())
}

fn has_parentheses(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Between {
            low,
            high,
            negated: false,
            ..
        } => between::ordered(low, high).is_some(),
        _ => false,
    }
}

fn in_prefix(expr: &Expr) -> Option<&[Argument]> {
    match &expr.kind {
        ExprKind::Call(name, arguments) if name == IN_PREFIX => Some(arguments),
        _ => None,
    }
}

/// `value in: (texts)`
fn prefix_of(arguments: &[Argument], negated: bool, out: &mut String) -> Option<()> {
    for (index, argument) in arguments.iter().enumerate() {
        let Argument::Value(value) = argument else {
            return None;
        };
        match index {
            0 => {
                print_operand(value, out)?;
                out.push_str(if negated { " not in: (" } else { " in: (" });
            }
            _ => {
                out.push_str(if index == 1 { "" } else { ", " });
                print(value, out)?;
            }
        }
    }
    out.push(')');
    Some(())
}

/// Parentheses around everything that is more than one word keep the grouping as it was parsed.
fn print_operand(expr: &Expr, out: &mut String) -> Option<()> {
    let simple = matches!(
        expr.kind,
        ExprKind::Number(_)
            | ExprKind::Missing(_)
            | ExprKind::Text(_)
            | ExprKind::Variable(_)
            | ExprKind::Call(..)
    );
    if simple && in_prefix(expr).is_none() || has_parentheses(expr) {
        return print(expr, out);
    }
    out.push('(');
    print(expr, out)?;
    out.push(')');
    Some(())
}

fn call(name: &str, arguments: &[Argument], out: &mut String) -> Option<()> {
    out.push_str(&name.to_ascii_uppercase());
    out.push('(');
    for (index, argument) in arguments.iter().enumerate() {
        out.push_str(if index == 0 { "" } else { ", " });
        match argument {
            Argument::Value(value) => print(value, out)?,
            Argument::Of(lists) => {
                out.push_str("of");
                for list in lists {
                    let VariableList::Name(name, _) = list else {
                        return None;
                    };
                    out.push(' ');
                    out.push_str(name);
                }
            }
            Argument::Omitted(_) => {}
            Argument::Format(_) => return None,
        }
    }
    out.push(')');
    Some(())
}

/// The shortest text that gives the same number.
fn number(value: f64) -> String {
    let magnitude = value.abs();
    if value == 0.0 || (1e-5..1e15).contains(&magnitude) {
        value.to_string()
    } else {
        format!("{value:E}")
    }
}

fn quoted(text: &str, out: &mut String) -> Option<()> {
    if text.chars().any(char::is_control) {
        return None;
    }
    out.push('\'');
    out.push_str(&text.replace('\'', "''"));
    out.push('\'');
    Some(())
}

fn symbol(operator: BinaryOp) -> String {
    let text = match operator {
        BinaryOp::Compare(comparison, prefix) => {
            let text = match comparison {
                Comparison::Equal => "=",
                Comparison::NotEqual => " not = ",
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
            };
            return match (prefix, comparison) {
                (false, _) => text.to_owned(),
                (true, Comparison::NotEqual) => " ne: ".to_owned(),
                (true, _) => format!("{text}:"),
            };
        }
        BinaryOp::Power => "**",
        BinaryOp::Min => " min ",
        BinaryOp::Max => " max ",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Concatenate => "||",
        BinaryOp::And => " and ",
        BinaryOp::Or => " or ",
    };
    text.to_owned()
}
