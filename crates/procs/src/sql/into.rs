//! SELECT … INTO: macro variables from the rows of a query.

use engine::dataset::input::Field;
use engine::failure::{Failure, Outcome};
use engine::format::{best, number_with, text_with};
use engine::session::World;
use lang::Scope;
use sas7bdat::Kind;

use super::Run;
use super::syntax::{Into, Target};

/// Width of a number without a format.
const WIDTH: usize = 8;

/// The macro variables of one query.
pub(super) struct Variables<'a> {
    targets: &'a [Into],
    lists: Vec<Option<String>>,
}

impl<'a> Variables<'a> {
    pub(super) fn new(targets: &'a [Into], columns: usize, world: &mut World) -> Self {
        if targets.len() > columns {
            world.log.warning(
                "INTO clause specifies more host variables than columns listed in the SELECT clause. \
                 Surplus host variables will not be set.",
            );
        } else if !targets.is_empty() && targets.len() < columns {
            world.log.warning(
                "INTO clause specifies fewer host variables than columns listed in the SELECT clause.",
            );
        }
        Self {
            targets,
            lists: targets.iter().map(|_| None).collect(),
        }
    }

    /// Whether the first row is all that is wanted: that of plain targets.
    pub(super) fn want_one_row(&self) -> bool {
        let plain = |one: &Into| one.separator.is_none() && matches!(one.target, Target::One(_));
        !self.targets.is_empty() && self.targets.iter().all(plain)
    }

    /// Takes the values of row `number` over.
    pub(super) fn take(
        &mut self,
        texts: impl Iterator<Item = String>,
        number: u64,
        world: &mut World,
    ) -> Outcome<()> {
        for ((into, text), list) in self.targets.iter().zip(texts).zip(&mut self.lists) {
            take(into, &text, list, number, world)?;
        }
        Ok(())
    }

    /// All rows were taken.
    pub(super) fn finish(self, world: &mut World) -> Outcome<()> {
        for (into, list) in self.targets.iter().zip(self.lists) {
            if let (Target::One(name), Some(list)) = (&into.target, list) {
                set(name, &list, into, world)?;
            }
        }
        Ok(())
    }
}

impl Run {
    /// A value as its format shows it, with its blanks.
    pub(super) fn text(&self, field: &Field, row: &[u8], world: &World) -> String {
        let format = &field.variable.format;
        match field.variable.kind {
            Kind::Numeric => {
                let value = field.slot.number(row);
                let plain = format.name.is_empty() && format.width == 0;
                let shown = (!plain).then(|| number_with(value, format, &world.formats));
                shown
                    .flatten()
                    .unwrap_or_else(|| format!("{:>WIDTH$}", best(value, WIDTH).trim()))
            }
            Kind::Character => {
                let value = field.slot.bytes(row);
                let encoding = self.context.encoding();
                if format.name.is_empty() {
                    return encoding.decode(value).into_owned();
                }
                let shown = text_with(value, format, &world.formats);
                encoding.decode(&shown).into_owned()
            }
        }
    }
}

/// A value of row `number`.
fn take(
    into: &Into,
    text: &str,
    list: &mut Option<String>,
    number: u64,
    world: &mut World,
) -> Outcome<()> {
    match &into.target {
        Target::Range {
            prefix,
            first,
            last,
            digits,
        } => {
            let place = u64::from(*first) + number - 1;
            if place <= u64::from(*last) {
                let digits = *digits;
                let name = format!("{prefix}{place:0digits$}");
                let trimmed = if into.trimmed == Some(false) {
                    text
                } else {
                    text.trim()
                };
                set(&name, trimmed, into, world)?;
            }
        }
        Target::One(_) => match (&into.separator, list) {
            (Some(separator), Some(list)) => {
                list.push_str(separator);
                list.push_str(piece(into, text));
                if list.len() > base::limits::MACRO_VALUE_BYTES_MAX {
                    return Err(too_long(into));
                }
            }
            (Some(_), list @ None) => *list = Some(piece(into, text).to_owned()),
            (None, list) => {
                let text = if into.trimmed == Some(true) {
                    text.trim()
                } else {
                    text
                };
                list.get_or_insert_with(|| text.to_owned());
            }
        },
    }
    Ok(())
}

/// Values of a list come without the blanks around them unless NOTRIM says otherwise.
fn piece<'a>(into: &Into, text: &'a str) -> &'a str {
    if into.trimmed == Some(false) {
        text
    } else {
        text.trim()
    }
}

fn too_long(into: &Into) -> Failure {
    let most = base::limits::MACRO_VALUE_BYTES_MAX;
    Failure::at(
        &into.span,
        format!(
            "The length of the value of the macro variable exceeds the maximum length ({most})."
        ),
    )
}

fn set(name: &str, value: &str, into: &Into, world: &mut World) -> Outcome<()> {
    world
        .symput(name, value, Scope::Nearest)
        .map_err(|text| Failure::at(&into.span, text))
}
