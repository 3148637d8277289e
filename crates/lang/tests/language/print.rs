//! Steps and expressions as compact S-expressions.

use lang::ast::{
    Argument, BinaryOp, ByList, Comparison, DatasetOptionValue, DatasetRef, Expr, ExprKind,
    FormatRef, GlobalKind, InItem, LoopRange, MethodArgument, Restriction, Setting, Statement,
    StatementKind, Step, UnaryOp, VariableKind, VariableList,
};
use lang::cursor::{format_text, text_of};

use crate::print_text as text;

pub(crate) fn join<T>(items: &[T], print: impl Fn(&T) -> String) -> String {
    items.iter().map(print).collect::<Vec<_>>().join(" ")
}

pub(crate) fn node(name: &str, parts: &[String]) -> String {
    let parts: Vec<&str> = parts
        .iter()
        .map(String::as_str)
        .filter(|p| !p.is_empty())
        .collect();
    if parts.is_empty() {
        format!("({name})")
    } else {
        format!("({name} {})", parts.join(" "))
    }
}

pub(crate) fn step(step: &Step) -> String {
    match step {
        Step::Global(global) => match &global.kind {
            GlobalKind::Options(settings_) => node("options", &[settings(settings_)]),
            other @ GlobalKind::Libname { .. } => text::libname(other),
            GlobalKind::Title {
                footnote,
                number,
                text,
            } => {
                let name = if *footnote { "footnote" } else { "title" };
                let text = text
                    .as_ref()
                    .map_or(String::new(), |text| format!("{text:?}"));
                node(name, &[number.to_string(), text])
            }
            GlobalKind::Put(text) => format!("(put {text:?})"),
            other @ GlobalKind::Filename { .. } => text::filename(other),
            GlobalKind::Appearance(statement) => format!("(appearance {statement})"),
            GlobalKind::Lock {
                dataset: locked,
                action,
                quiet,
            } => {
                let quiet = if *quiet { "nomsg" } else { "" };
                node(
                    "lock",
                    &[dataset(locked), format!("{action:?}"), quiet.to_owned()],
                )
            }
            GlobalKind::EndSas => "(endsas)".to_owned(),
        },
        Step::Data(step) => node(
            "data",
            &[
                format!("[{}]", join(&step.outputs, dataset)),
                statements(&step.statements),
                step.data_lines
                    .as_ref()
                    .map_or(String::new(), |lines| format!("{lines:?}")),
            ],
        ),
        Step::Proc(step) => {
            let body = join(&step.statements, |s| format!("<{}>", text_of(&s.tokens)));
            let group = if step.ended {
                String::new()
            } else {
                format!("group {}", step.group)
            };
            node(
                "proc",
                &[
                    step.name.clone(),
                    format!("<{}>", text_of(&step.options)),
                    body,
                    group,
                ],
            )
        }
    }
}

pub(crate) fn settings(settings: &[Setting]) -> String {
    join(settings, |setting| match &setting.value {
        Some(value) => format!("{}={value:?}", setting.name),
        None => setting.name.clone(),
    })
}

pub(crate) fn dataset(dataset: &DatasetRef) -> String {
    let libref = dataset
        .libref
        .as_ref()
        .map_or(String::new(), |libref| format!("{libref}."));
    let options = join(&dataset.options, |option| {
        let value = match &option.value {
            DatasetOptionValue::Variables(list) => variables(list),
            DatasetOptionValue::Renames(list) => renames(list),
            DatasetOptionValue::Where(condition) => expr(condition),
            DatasetOptionValue::Text(text) => format!("{text:?}"),
        };
        format!("{}={value}", option.name)
    });
    let options = if options.is_empty() {
        options
    } else {
        format!("({options})")
    };
    format!("{libref}{}{options}", dataset.member)
}

fn renames(list: &[(String, String)]) -> String {
    join(list, |(old, new)| format!("{old}>{new}"))
}

pub(crate) fn variables(list: &[VariableList]) -> String {
    join(list, variable)
}

fn kind(kind: VariableKind) -> &'static str {
    match kind {
        VariableKind::Numeric => "numeric",
        VariableKind::Character => "character",
    }
}

pub(crate) fn variable(item: &VariableList) -> String {
    match item {
        VariableList::Name(name, _) => name.clone(),
        VariableList::Numbered {
            prefix,
            first,
            last,
            digits,
            ..
        } => {
            format!("{prefix}[{first:0digits$}..{last}]")
        }
        VariableList::Range { from, to, only, .. } => {
            format!("{from}-{}-{to}", only.map_or("", kind))
        }
        VariableList::Prefix(name, _) => format!("{name}:"),
        VariableList::Array(name, _) => format!("{name}{{*}}"),
        VariableList::All(None, _) => "_all_".to_owned(),
        VariableList::All(Some(only), _) => format!("_{}_", kind(*only)),
    }
}

pub(crate) fn by_list(list: &ByList) -> String {
    let keys = join(&list.keys, |key| {
        format!(
            "{}{}",
            if key.descending { "-" } else { "" },
            variable(&key.variable)
        )
    });
    if list.not_sorted {
        format!("{keys} notsorted")
    } else {
        keys
    }
}

fn statements(list: &[Statement]) -> String {
    join(list, |statement| self::statement(&statement.kind))
}

fn formats(name: &str, list: &[(VariableList, Option<FormatRef>)]) -> String {
    node(
        name,
        &[join(list, |(item, format)| {
            format!(
                "{}:{}",
                variable(item),
                format.as_ref().map_or(String::new(), format_text)
            )
        })],
    )
}

fn source(name: &str, datasets: &[DatasetRef], options: &[Setting]) -> String {
    node(name, &[join(datasets, dataset), settings(options)])
}

fn restriction(restriction: &Restriction) -> String {
    let name = if restriction.also {
        "where-also"
    } else {
        "where"
    };
    node(name, &[expr(&restriction.condition)])
}

pub(crate) fn statement(kind: &StatementKind) -> String {
    match kind {
        StatementKind::Set { datasets, options } => source("set", datasets, options),
        StatementKind::Merge { datasets, options } => source("merge", datasets, options),
        StatementKind::Update { datasets, options } => source("update", datasets, options),
        StatementKind::Assign { target, value } => format!("(= {target} {})", expr(value)),
        StatementKind::Sum { target, value } => format!("(+= {target} {})", expr(value)),
        StatementKind::If {
            condition,
            then,
            otherwise,
        } => {
            let otherwise = otherwise
                .as_ref()
                .map_or(String::new(), |s| statement(&s.kind));
            node("if", &[expr(condition), statement(&then.kind), otherwise])
        }
        StatementKind::SubsettingIf(condition) => format!("(if {})", expr(condition)),
        StatementKind::Where(one) => restriction(one),
        StatementKind::Block(body) => node("do", &[statements(body)]),
        StatementKind::Loop(it) => {
            let index = it.index.as_ref().map_or(String::new(), |(name, ranges)| {
                format!("{name} {}", join(ranges, range))
            });
            let (while_, until) = (
                condition("while", it.while_.as_ref()),
                condition("until", it.until.as_ref()),
            );
            node("loop", &[index, while_, until, statements(&it.body)])
        }
        StatementKind::Keep(list) => node("keep", &[variables(list)]),
        StatementKind::Drop(list) => node("drop", &[variables(list)]),
        StatementKind::Rename(list) => node("rename", &[renames(list)]),
        StatementKind::Retain(list) => node(
            "retain",
            &[join(list, |(item, value)| match value {
                Some(value) => format!("{}={}", variable(item), expr(value)),
                None => variable(item),
            })],
        ),
        StatementKind::Length(list) => node(
            "length",
            &[join(list, |(item, of, bytes)| {
                let dollar = if *of == VariableKind::Character {
                    "$"
                } else {
                    ""
                };
                format!("{}:{dollar}{bytes}", variable(item))
            })],
        ),
        StatementKind::Format(list) => formats("format", list),
        StatementKind::Informat(list) => formats("informat", list),
        StatementKind::Label(list) => node(
            "label",
            &[join(list, |(name, text)| format!("{name}={text:?}"))],
        ),
        StatementKind::By(list) => node("by", &[by_list(list)]),
        StatementKind::Output(list) => node("output", &[join(list, dataset)]),
        StatementKind::Delete => "(delete)".to_owned(),
        StatementKind::Call(name, list) => node("call", &[name.clone(), join(list, argument)]),
        StatementKind::Stop => "(stop)".to_owned(),
        StatementKind::List => "(list)".to_owned(),
        StatementKind::Abort(None) => "(abort)".to_owned(),
        StatementKind::Abort(Some((ends, code))) => format!("(abort {ends:?} {code:?})"),
        StatementKind::Return => "(return)".to_owned(),
        StatementKind::Leave => "(leave)".to_owned(),
        StatementKind::Continue => "(continue)".to_owned(),
        StatementKind::Empty => "()".to_owned(),
        other => text::statement(other),
    }
}

fn condition(name: &str, condition: Option<&Expr>) -> String {
    condition.map_or(String::new(), |condition| {
        format!("({name} {})", expr(condition))
    })
}

fn range(range: &LoopRange) -> String {
    node(
        "range",
        &[
            expr(&range.start),
            range
                .stop
                .as_ref()
                .map_or(String::new(), |stop| format!("to {}", expr(stop))),
            range
                .step
                .as_ref()
                .map_or(String::new(), |step| format!("by {}", expr(step))),
            condition("while", range.while_.as_ref()),
            condition("until", range.until.as_ref()),
        ],
    )
}

pub(crate) fn expr(it: &Expr) -> String {
    match &it.kind {
        ExprKind::Number(value) => value.to_string(),
        ExprKind::Missing(0) => ".".to_owned(),
        ExprKind::Missing(code) => format!(".{}", char::from(*code)),
        ExprKind::Text(text) => format!("{text:?}"),
        ExprKind::Variable(name) => name.clone(),
        ExprKind::Unary(op, operand) => {
            let name = match op {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
                UnaryOp::Not => "not",
            };
            format!("({name} {})", expr(operand))
        }
        ExprKind::Binary(op, left, right) => {
            format!("({} {} {})", operator(*op), expr(left), expr(right))
        }
        ExprKind::In {
            value,
            items,
            negated,
        } => {
            let items = join(items, |item| match item {
                InItem::Value(value) => expr(value),
                InItem::Range(low, high) => format!("{low}:{high}"),
            });
            node(if *negated { "notin" } else { "in" }, &[expr(value), items])
        }
        ExprKind::Call(name, arguments) => format!("{name}({})", join(arguments, argument)),
        ExprKind::Method {
            object,
            method,
            arguments,
        } => {
            let list = |list: &Vec<MethodArgument>| format!("({})", method_arguments(list));
            let arguments = arguments.as_ref().map_or(String::new(), list);
            format!("{object}.{method}{arguments}")
        }
        ExprKind::Element(name, subscripts) => format!("{name}[{}]", join(subscripts, expr)),
        ExprKind::Between {
            value,
            low,
            high,
            negated,
        } => {
            let name = if *negated { "notbetween" } else { "between" };
            node(name, &[expr(value), expr(low), expr(high)])
        }
        ExprKind::IsMissing(value, negated) => node(
            if *negated { "notmissing" } else { "missing" },
            &[expr(value)],
        ),
        ExprKind::Like {
            value,
            pattern,
            contains,
            negated,
        } => {
            let name = if *contains { "contains" } else { "like" };
            let not = if *negated { "not" } else { "" };
            format!("({not}{name} {} {pattern:?})", expr(value))
        }
    }
}

pub(crate) fn method_arguments(list: &[MethodArgument]) -> String {
    join(list, |argument| {
        let tag = argument.tag.as_ref();
        let tag = tag.map_or(String::new(), |tag| format!("{tag}:"));
        format!("{tag}{}", expr(&argument.value))
    })
}

fn argument(argument: &Argument) -> String {
    match argument {
        Argument::Value(value) => expr(value),
        Argument::Of(list) => format!("of<{}>", variables(list)),
        Argument::Format(format) => format_text(format),
        Argument::Omitted(_) => "omitted".to_owned(),
    }
}

fn operator(op: BinaryOp) -> String {
    let name = match op {
        BinaryOp::Power => "**",
        BinaryOp::Min => "min",
        BinaryOp::Max => "max",
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::Concatenate => "||",
        BinaryOp::And => "and",
        BinaryOp::Or => "or",
        BinaryOp::Compare(comparison, shorter) => {
            let name = match comparison {
                Comparison::Equal => "=",
                Comparison::NotEqual => "ne",
                Comparison::Less => "<",
                Comparison::LessOrEqual => "<=",
                Comparison::Greater => ">",
                Comparison::GreaterOrEqual => ">=",
            };
            return format!("{name}{}", if shorter { ":" } else { "" });
        }
    };
    name.to_owned()
}
