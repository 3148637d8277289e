//! Expressions as texts that are the same for expressions that mean the same.

use base::diag::Span;
use lang::ast::{Argument, Expr, ExprKind};

use super::scope::{Context, Meaning, Names, Scope, children};
use super::syntax::Part;

impl Scope {
    /// An expression as text that is the same for expressions that mean the same.
    pub(super) fn canonical(&self, expr: &Expr, context: &Context, names: Names) -> String {
        let mut text = String::new();
        self.write(expr, context, names, 0, &mut text);
        text
    }

    fn write(&self, expr: &Expr, context: &Context, names: Names, depth: u32, out: &mut String) {
        if depth > base::limits::NESTING_MAX {
            return;
        }
        if let Some((number, part)) = context.part(expr) {
            self.write_part(number, part, &expr.span, context, depth, out);
            return;
        }
        match &expr.kind {
            ExprKind::Variable(name) => match self.meaning(None, name, &expr.span, names) {
                Ok(Meaning::Column(column)) => add(out, format_args!("#{column}")),
                Ok(Meaning::Given(expr)) => {
                    self.write(&expr, context, Names::Columns, depth + 1, out);
                    return;
                }
                Ok(Meaning::Outside(value)) => add(out, format_args!("{value:?}")),
                Err(_) => out.push_str(name),
            },
            ExprKind::Unary(operator, _) => add(out, format_args!("{operator:?}")),
            ExprKind::Binary(operator, ..) => add(out, format_args!("{operator:?}")),
            ExprKind::Call(name, arguments) => {
                out.push_str(&name.to_ascii_uppercase());
                for argument in arguments {
                    if let Argument::Format(format) = argument {
                        out.push_str(&lang::cursor::format_text(format));
                    }
                }
            }
            ExprKind::In { items, negated, .. } => {
                out.push_str(if *negated { "notin" } else { "in" });
                for item in items {
                    match item {
                        lang::ast::InItem::Value(value) => {
                            self.write(value, context, names, depth + 1, out);
                        }
                        lang::ast::InItem::Range(low, high) => {
                            add(out, format_args!("{low}:{high},"));
                        }
                    }
                }
            }
            ExprKind::Between { negated, .. } => add(out, format_args!("between{negated}")),
            ExprKind::IsMissing(_, negated) => add(out, format_args!("missing{negated}")),
            ExprKind::Like {
                pattern,
                contains,
                negated,
                ..
            } => add(out, format_args!("like{pattern:?}{contains}{negated}")),
            other => add(out, format_args!("{other:?}")),
        }
        out.push('(');
        for child in children(expr) {
            self.write(child, context, names, depth + 1, out);
            out.push(',');
        }
        out.push(')');
    }

    fn write_part(
        &self,
        number: usize,
        part: &Part,
        span: &Span,
        context: &Context,
        depth: u32,
        out: &mut String,
    ) {
        let names = Names::Columns;
        match part {
            Part::Column { table, name } => match self.meaning(Some(table), name, span, names) {
                Ok(Meaning::Column(column)) => add(out, format_args!("#{column}()")),
                Ok(Meaning::Outside(value)) => add(out, format_args!("{value:?}()")),
                _ => add(out, format_args!("{table}.{name}")),
            },
            Part::Calculated(name) => {
                if let Ok(expr) = self.calculated(name, span) {
                    self.write(&expr, context, names, depth + 1, out);
                }
            }
            Part::Case(case) => {
                out.push_str("case(");
                let arms = case.arms.iter().flat_map(|(when, then)| [when, then]);
                let all = case.operand.iter().chain(arms).chain(&case.otherwise);
                add(
                    out,
                    format_args!("{}{}", case.operand.is_some(), case.otherwise.is_some()),
                );
                for one in all {
                    self.write(one, context, names, depth + 1, out);
                    out.push(',');
                }
                out.push(')');
            }
            _ => add(out, format_args!("part{number}")),
        }
    }
}

fn add(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a text cannot fail.
    let _ = std::fmt::Write::write_fmt(out, text);
}
