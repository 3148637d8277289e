//! Arrays, SELECT, text files and objects as compact S-expressions.

use lang::ast::{
    ArrayDeclaration, Attributes, FileName, FileOption, FileValue, Form, GlobalKind, GroupStyle,
    Location, Place, Pointer, Statement, StatementKind, Style, TextFile, TextItem, ValueItem,
    VariableKind,
};
use lang::cursor::format_text;

use crate::print::{expr, join, method_arguments, node, settings, variable};

pub(crate) fn statement(kind: &StatementKind) -> String {
    let inner = |statement: &Statement| crate::print::statement(&statement.kind);
    match kind {
        StatementKind::Array(it) => array(it),
        StatementKind::Store { place, sum, value } => {
            let place = match &**place {
                Place::Element { array, subscripts } => {
                    format!("{array}[{}]", join(subscripts, expr))
                }
                Place::Substr { of, start, length } => {
                    let length = length.as_deref().map_or(String::new(), expr);
                    format!("substr<{} {} {length}>", expr(of), expr(start))
                }
            };
            format!(
                "({} {place} {})",
                if *sum { "+=" } else { "=" },
                expr(value)
            )
        }
        StatementKind::Select(it) => node(
            "select",
            &[
                it.value.as_ref().map_or(String::new(), expr),
                join(&it.whens, |(values, statement)| {
                    format!("(when {} {})", join(values, expr), inner(statement))
                }),
                it.otherwise.as_ref().map_or(String::new(), inner),
            ],
        ),
        StatementKind::Infile(it) => file("infile", it),
        StatementKind::File(it) => file("file", it),
        StatementKind::Input(items) => node("input", &[join(items, item)]),
        StatementKind::Put { items, log } => {
            node(if *log { "putlog" } else { "put" }, &[join(items, item)])
        }
        StatementKind::Mark(name) => format!("({name}:)"),
        StatementKind::GoTo(name) => format!("(goto {name})"),
        StatementKind::Link(name) => format!("(link {name})"),
        StatementKind::Attrib(all) => node("attrib", &[join(all, attributes)]),
        StatementKind::Declare {
            iterator,
            name,
            arguments,
        } => {
            let list = arguments.as_deref().map_or(String::new(), method_arguments);
            node(
                if *iterator { "hiter" } else { "hash" },
                &[name.clone(), list],
            )
        }
        StatementKind::Method(call) => expr(call),
        other => format!("{other:?}"),
    }
}

fn array(it: &ArrayDeclaration) -> String {
    let bounds = join(&it.dimensions, |(low, high)| format!("{low}:{high}"));
    let kind = it.kind.map_or("", |kind| match kind {
        VariableKind::Numeric => "numeric",
        VariableKind::Character => "$",
    });
    let length = it.length.map_or(String::new(), |n| n.to_string());
    let temporary = if it.temporary { "temporary" } else { "" };
    let initial = format!("({})", join(&it.initial, expr));
    node(
        "array",
        &[
            if it.implicit {
                it.name.clone()
            } else {
                format!("{}{{{bounds}}}", it.name)
            },
            kind.to_owned(),
            length,
            temporary.to_owned(),
            join(&it.elements, variable),
            if it.initial.is_empty() {
                String::new()
            } else {
                initial
            },
        ],
    )
}

fn attributes(it: &Attributes) -> String {
    let format = |name: &str, format: Option<&lang::ast::FormatRef>| {
        format.map_or(String::new(), |f| format!("{name}={}", format_text(f)))
    };
    node(
        "",
        &[
            join(&it.variables, variable),
            it.length
                .map_or(String::new(), |(_, n)| format!("length={n}")),
            format("format", it.format.as_ref()),
            format("informat", it.informat.as_ref()),
            it.label
                .as_ref()
                .map_or(String::new(), |label| format!("label={label:?}")),
        ],
    )
}

fn file(name: &str, it: &TextFile) -> String {
    let path = match &it.name {
        FileName::Path(path) => format!("{path:?}"),
        FileName::Reference(name) => name.clone(),
    };
    node(name, &[path, options(&it.options)])
}

pub(crate) fn options(list: &[FileOption]) -> String {
    join(list, |option| match &option.value {
        None => option.name.clone(),
        Some(FileValue::Text(text)) => format!("{}={text:?}", option.name),
        Some(FileValue::Word(word)) => format!("{}={word}", option.name),
    })
}

fn item(it: &TextItem) -> String {
    match it {
        TextItem::Text(text, 1) => format!("{text:?}"),
        TextItem::Text(text, times) => format!("{times}*{text:?}"),
        TextItem::Value(value, style) => format!("{}{}", self::value(value), self::style(style)),
        TextItem::Group(values, styles) => format!(
            "[{}][{}]",
            join(values, value),
            join(styles, |one| match one {
                GroupStyle::Style(one, times) => format!("{times}*{}", style(one)),
                GroupStyle::Move(pointer) => self::pointer(pointer),
                GroupStyle::Text(text) => format!("{text:?}"),
            })
        ),
        TextItem::All(_) => "_all_".to_owned(),
        TextItem::Infile(_) => "_infile_".to_owned(),
        TextItem::Move(pointer) => self::pointer(pointer),
    }
}

fn value(it: &ValueItem) -> String {
    match it {
        ValueItem::Variables(list) => variable(list),
        ValueItem::Element {
            array, subscripts, ..
        } => format!("{array}[{}]", join(subscripts, expr)),
    }
}

fn style(it: &Style) -> String {
    let named = if it.named { "=" } else { "" };
    let dollar = if it.dollar { "$" } else { "" };
    let quiet = "?".repeat(it.quiet.into());
    let form = match &it.form {
        Form::List {
            format,
            ampersand,
            tilde,
        } => {
            let format = format
                .as_ref()
                .map_or(String::new(), |f| format!(":{}", format_text(f)));
            let mark = |on: bool, mark: &'static str| if on { mark } else { "" };
            format!("{}{}{format}", mark(*ampersand, "&"), mark(*tilde, "~"))
        }
        Form::Formatted(format) => format!("/{}", format_text(format)),
        Form::Columns {
            first,
            last,
            decimals,
        } => format!("<{first}-{last}.{decimals}>"),
    };
    format!("{named}{dollar}{quiet}{form}")
}

fn pointer(it: &Pointer) -> String {
    match it {
        Pointer::Column(value) | Pointer::Find(value) => format!("@{}", expr(value)),
        Pointer::Relative(value) => format!("+{}", expr(value)),
        Pointer::Line(value) => format!("#{}", expr(value)),
        Pointer::NextLine => "/".to_owned(),
        Pointer::Hold => "@".to_owned(),
        Pointer::HoldAcross => "@@".to_owned(),
    }
}

pub(crate) fn filename(kind: &GlobalKind) -> String {
    let GlobalKind::Filename {
        fileref,
        path,
        temporary,
        clear,
        options,
    } = kind
    else {
        return String::new();
    };
    let path = match path {
        Some(path) => format!("{path:?}"),
        None if *temporary => "temp".to_owned(),
        None => String::new(),
    };
    let clear = if *clear { "clear" } else { "" };
    node(
        "filename",
        &[
            fileref.clone(),
            path,
            clear.to_owned(),
            self::options(options),
        ],
    )
}

pub(crate) fn libname(kind: &GlobalKind) -> String {
    let GlobalKind::Libname {
        libref,
        locations,
        clear,
        engine,
        options,
    } = kind
    else {
        return String::new();
    };
    let path = join(locations, |location| match location {
        Location::Path(path) => format!("{path:?}"),
        Location::Libref(name) => name.clone(),
    });
    let clear = if *clear { "clear" } else { "" };
    node(
        "libname",
        &[
            libref.clone(),
            engine.clone().unwrap_or_default(),
            path,
            clear.to_owned(),
            settings(options),
        ],
    )
}
