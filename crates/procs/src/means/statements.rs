//! The statements of PROC MEANS and PROC SUMMARY.

use base::diag::Span;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use lang::ast::{ByList, DatasetRef, Expr, ProcStep, TokenKind, VariableList};
use lang::cursor::Cursor;

use super::statistic::{Vardef, Wanted};
use crate::target::{Attributes, dataset_value, input_or_last, restrict, unknown};

/// A step as it was written.
pub(super) struct Statements {
    pub(super) data: DatasetRef,
    pub(super) printed: bool,
    pub(super) nway: bool,
    pub(super) missing: bool,
    pub(super) chartype: bool,
    pub(super) max_decimals: Option<usize>,
    pub(super) alpha: f64,
    pub(super) vardef: Vardef,
    /// What is printed.
    pub(super) wanted: Vec<Wanted>,
    pub(super) by: Option<ByList>,
    pub(super) class: Vec<ClassStatement>,
    pub(super) variables: Option<Vec<VariableList>>,
    pub(super) weight: Option<(String, Span)>,
    pub(super) freq: Option<(String, Span)>,
    pub(super) condition: Option<Expr>,
    pub(super) types: Option<Types>,
    pub(super) outputs: Vec<OutputStatement>,
    pub(super) attributes: Attributes,
    /// PROC SUMMARY without VAR: observations are counted.
    pub(super) counts: bool,
    /// The first statistic of the PROC statement.
    pub(super) named: Option<Wanted>,
}

/// A CLASS statement.
pub(super) struct ClassStatement {
    pub(super) variables: Vec<VariableList>,
    pub(super) descending: bool,
    pub(super) missing: bool,
}

/// Which sets of class variables are wanted.
pub(super) enum Types {
    /// TYPES: each a list of names; empty for the whole.
    Named(Vec<Vec<(String, Span)>>),
    /// WAYS: how many variables at once.
    Ways(Vec<u64>),
}

/// An OUTPUT statement.
pub(super) struct OutputStatement {
    pub(super) out: DatasetRef,
    pub(super) items: Vec<OutputItem>,
    pub(super) autoname: bool,
    pub(super) noinherit: bool,
}

/// `mean(a b)=ma mb`.
pub(super) struct OutputItem {
    pub(super) wanted: Wanted,
    /// The analysis variables, all of them if none are named.
    pub(super) variables: Vec<VariableList>,
    pub(super) names: Vec<String>,
    pub(super) span: Span,
}

/// Reads the step; `summary` for PROC SUMMARY, which prints only if told to.
pub(super) fn parse(step: &ProcStep, world: &mut World, name: &'static str) -> Outcome<Statements> {
    let mut parsed = Statements {
        data: DatasetRef {
            span: step.span.clone(),
            libref: None,
            member: String::new(),
            options: Vec::new(),
        },
        printed: name == "MEANS",
        nway: false,
        missing: false,
        chartype: false,
        max_decimals: None,
        alpha: 0.05,
        vardef: Vardef::Df,
        wanted: Vec::new(),
        by: None,
        class: Vec::new(),
        variables: None,
        weight: None,
        freq: None,
        condition: None,
        types: None,
        outputs: Vec::new(),
        attributes: Attributes::default(),
        counts: false,
        named: None,
    };
    let data = options(step, &mut parsed, name)?;
    parsed.data = input_or_last(data, world, &step.span)?;
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        parsed.statement(&mut cursor, world, name)?;
        cursor.expect_end()?;
    }
    parsed.counts = name == "SUMMARY" && parsed.variables.is_none();
    parsed.named = parsed.wanted.first().copied();
    if parsed.wanted.is_empty() {
        parsed.wanted = Wanted::usual();
    }
    Ok(parsed)
}

fn options(step: &ProcStep, parsed: &mut Statements, name: &str) -> Outcome<Option<DatasetRef>> {
    let mut data = None;
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        let word = word.to_ascii_uppercase();
        let start = cursor.index();
        cursor.next();
        match word.as_str() {
            "DATA" => data = Some(dataset_value(&mut cursor)?),
            "PRINT" => parsed.printed = true,
            "NOPRINT" => parsed.printed = false,
            "NWAY" => parsed.nway = true,
            "MISSING" => parsed.missing = true,
            "CHARTYPE" => parsed.chartype = true,
            // Threads change nothing that can be seen, and the listing has no other columns.
            "THREADS" | "NOTHREADS" | "NONOBS" => {}
            "MAXDEC" | "FW" | "QNTLDEF" | "PCTLDEF" | "ALPHA" | "VARDEF" | "QMETHOD" | "ORDER" => {
                cursor.expect_symbol("=")?;
                parsed.value(&word, &mut cursor)?;
            }
            "CLM" => {
                parsed.wanted.extend(Wanted::find("LCLM"));
                parsed.wanted.extend(Wanted::find("UCLM"));
            }
            _ => {
                let Some(wanted) = Wanted::find(&word) else {
                    cursor.rewind(start);
                    return Err(unknown(&cursor, name, "option"));
                };
                parsed.wanted.push(wanted);
            }
        }
    }
    cursor.expect_end()?;
    Ok(data)
}

impl Statements {
    /// The value of an option of the PROC statement.
    fn value(&mut self, option: &str, cursor: &mut Cursor<'_>) -> Outcome<()> {
        let span = cursor.span();
        let refuse = |message: &str| Err(Failure::at(&span, message));
        match option {
            "MAXDEC" => self.max_decimals = Some(cursor.expect_count()?.min(8) as usize),
            // The width of columns follows from what stands in them.
            "FW" => {
                cursor.expect_count()?;
            }
            "QNTLDEF" | "PCTLDEF" => {
                if cursor.expect_count()? != 5 {
                    return refuse("Only QNTLDEF=5 is implemented");
                }
            }
            "ALPHA" => {
                self.alpha = cursor.expect_number()?;
                if !(self.alpha > 0.0 && self.alpha < 1.0) {
                    return refuse("ALPHA= must lie between 0 and 1");
                }
            }
            "VARDEF" => {
                let (word, _) = cursor.expect_name("a divisor")?;
                self.vardef = match word.to_ascii_uppercase().as_str() {
                    "DF" => Vardef::Df,
                    "N" => Vardef::N,
                    "WEIGHT" | "WGT" => Vardef::Weight,
                    "WDF" => Vardef::Wdf,
                    _ => return refuse("VARDEF= is DF, N, WEIGHT or WDF"),
                };
            }
            "QMETHOD" => {
                if !cursor.eat_word("OS") {
                    return refuse("Only QMETHOD=OS is implemented");
                }
            }
            _ => {
                if !cursor.eat_word("INTERNAL") && !cursor.eat_word("UNFORMATTED") {
                    return refuse("Only ORDER=INTERNAL is implemented");
                }
            }
        }
        Ok(())
    }

    fn statement(
        &mut self,
        cursor: &mut Cursor<'_>,
        world: &mut World,
        name: &'static str,
    ) -> Outcome<()> {
        if cursor.eat_word("VAR") {
            self.variables = Some(cursor.variable_list()?);
        } else if cursor.eat_word("CLASS") || cursor.eat_word("CLASSES") {
            self.class.push(class(cursor)?);
        } else if cursor.eat_word("BY") {
            self.by = Some(cursor.by_list()?);
        } else if cursor.eat_word("WHERE") {
            restrict(&mut self.condition, cursor.restriction()?, world)?;
        } else if cursor.eat_word("WEIGHT") {
            self.weight = Some(cursor.expect_name("a variable")?);
        } else if cursor.eat_word("FREQ") {
            self.freq = Some(cursor.expect_name("a variable")?);
        } else if cursor.eat_word("TYPES") {
            self.types = Some(Types::Named(types(cursor)?));
        } else if cursor.eat_word("WAYS") {
            let mut ways = Vec::new();
            while !cursor.is_at_end() {
                ways.push(cursor.expect_count()?);
            }
            self.types = Some(Types::Ways(ways));
        } else if cursor.eat_word("OUTPUT") {
            self.outputs.push(output(cursor)?);
        } else if !self.attributes.eat(cursor)? {
            return Err(unknown(cursor, name, "statement"));
        }
        Ok(())
    }
}

fn class(cursor: &mut Cursor<'_>) -> Outcome<ClassStatement> {
    let mut class = ClassStatement {
        variables: cursor.variable_list()?,
        descending: false,
        missing: false,
    };
    if cursor.eat_symbol("/") {
        while !cursor.is_at_end() {
            if cursor.eat_word("DESCENDING") || cursor.eat_word("DESC") {
                class.descending = true;
            } else if cursor.eat_word("MISSING") {
                class.missing = true;
            } else {
                return Err(unknown(cursor, "MEANS", "option of CLASS"));
            }
        }
    }
    Ok(class)
}

/// `() a b a*b a*(b c)`
fn types(cursor: &mut Cursor<'_>) -> Outcome<Vec<Vec<(String, Span)>>> {
    let mut types = Vec::new();
    while !cursor.is_at_end() {
        let mut crossed: Vec<Vec<(String, Span)>> = vec![Vec::new()];
        loop {
            let alternatives = if cursor.eat_symbol("(") {
                let mut names = Vec::new();
                while !cursor.eat_symbol(")") {
                    names.push(vec![cursor.expect_name("a class variable")?]);
                }
                if names.is_empty() {
                    vec![Vec::new()]
                } else {
                    names
                }
            } else {
                vec![vec![cursor.expect_name("a class variable")?]]
            };
            crossed = crossed
                .iter()
                .flat_map(|left| {
                    alternatives
                        .iter()
                        .map(|right| [left.as_slice(), right].concat())
                })
                .collect();
            if crossed.len() > 4096 {
                return Err(cursor.fail("TYPES asks for more than 4096 types").into());
            }
            if !cursor.eat_symbol("*") {
                break;
            }
        }
        types.extend(crossed);
    }
    Ok(types)
}

fn output(cursor: &mut Cursor<'_>) -> Outcome<OutputStatement> {
    let (mut out, mut items) = (None, Vec::new());
    let (mut autoname, mut noinherit) = (false, false);
    while !cursor.is_at_end() && !cursor.at_symbol("/") {
        if cursor.at_word("OUT") && cursor.is_symbol_at(1, "=") {
            cursor.next();
            out = Some(dataset_value(cursor)?);
        } else {
            items.push(item(cursor)?);
        }
    }
    if cursor.eat_symbol("/") {
        while !cursor.is_at_end() {
            if cursor.eat_word("AUTONAME") {
                autoname = true;
            } else if cursor.eat_word("NOINHERIT") {
                noinherit = true;
            } else {
                return Err(unknown(cursor, "MEANS", "option of OUTPUT"));
            }
        }
    }
    let Some(out) = out else {
        return Err(cursor.fail("OUTPUT needs OUT=").into());
    };
    Ok(OutputStatement {
        out,
        items,
        autoname,
        noinherit,
    })
}

fn item(cursor: &mut Cursor<'_>) -> Outcome<OutputItem> {
    let span = cursor.span();
    let Some(wanted) = cursor.peek_word().and_then(Wanted::find) else {
        let others = ["IDGROUP", "IDGRP", "MAXID", "MINID"];
        let what = if others.iter().any(|word| cursor.at_word(word)) {
            "option of OUTPUT"
        } else {
            "statistic"
        };
        return Err(unknown(cursor, "MEANS", what));
    };
    cursor.next();
    let mut variables = Vec::new();
    if cursor.eat_symbol("(") {
        variables = cursor.variable_list()?;
        cursor.expect_symbol(")")?;
    }
    cursor.expect_symbol("=")?;
    let mut names = Vec::new();
    while let Some(token) = cursor.peek() {
        let next_item = cursor.is_symbol_at(1, "=") || cursor.is_symbol_at(1, "(");
        match &token.kind {
            TokenKind::Word(_) | TokenKind::Name(_) if !next_item => {
                let (name, span) = cursor.expect_name("a name")?;
                if cursor.eat_symbol("-") {
                    let (last, _) = cursor.expect_name("the last name of the list")?;
                    names.extend(numbered(&name, &last, &span)?);
                } else {
                    names.push(name);
                }
            }
            _ => break,
        }
    }
    Ok(OutputItem {
        wanted,
        variables,
        names,
        span,
    })
}

/// `m1-m10`.
fn numbered(first: &str, last: &str, span: &Span) -> Outcome<Vec<String>> {
    let split = |name: &str| {
        let digits = name.bytes().rev().take_while(u8::is_ascii_digit).count();
        let (prefix, number) = name.split_at(name.len() - digits);
        number
            .parse::<u32>()
            .ok()
            .map(|number| (prefix.to_owned(), number))
    };
    let (Some((prefix, from)), Some((other, to))) = (split(first), split(last)) else {
        return Err(Failure::at(
            span,
            format!("{first}-{last} is not a numbered list"),
        ));
    };
    if !prefix.eq_ignore_ascii_case(&other) || from > to {
        return Err(Failure::at(
            span,
            format!("{first}-{last} is not a numbered list"),
        ));
    }
    let numbers = engine::dataset::options::numbers(from, to, span)?;
    Ok(numbers.map(|number| format!("{prefix}{number}")).collect())
}
