//! The program data vector in the log: `x=1 c=abc _ERROR_=1 _N_=3`.

use std::collections::HashMap;
use std::sync::Arc;

use sas7bdat::{Format, Kind, Variable};

use super::pdv::{Pdv, PdvVariable};
use crate::expr::Slot;
use crate::expr::evaluate::trimmed;
use crate::format;
use crate::format::user::Formats;

/// How the variables of a step are shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Dump {
    pub(super) pdv: Pdv,
    formats: Arc<Formats>,
    /// Variables that have a format, by their offsets.
    formatted: HashMap<u32, usize>,
}

impl Dump {
    pub(super) fn new(pdv: Pdv, formats: Arc<Formats>) -> Self {
        let variables = pdv.variables.iter().enumerate();
        let formatted = variables.filter(|(_, one)| one.variable.format != Format::default());
        let formatted = formatted.map(|(index, one)| (one.slot.offset, index));
        Self {
            formatted: formatted.collect(),
            pdv,
            formats,
        }
    }

    /// The format of the variable at `slot`, wherever in the step it was given; `None` if it has none.
    pub(super) fn format_at(&self, slot: Slot) -> Option<&Format> {
        let index = *self.formatted.get(&slot.offset)?;
        Some(&self.pdv.variables[index].variable.format)
    }

    /// The attributes of the variable `name`, which is there.
    pub(super) fn variable(&self, name: &str) -> Variable {
        let is = |one: &&PdvVariable| one.variable.name.eq_ignore_ascii_case(name);
        let found = self.pdv.variables.iter().find(is);
        found.map_or_else(|| Variable::numeric(name), |one| one.variable.clone())
    }

    /// The name of the variable at `slot`, if a program can name it.
    pub(super) fn name_at(&self, slot: Slot) -> Option<&str> {
        let mut variables = self.pdv.variables.iter();
        let found = variables.find(|one| one.slot.offset == slot.offset)?;
        let name = found.variable.name.as_str();
        (!name.starts_with(' ')).then_some(name)
    }

    /// `name=value` of every variable in order, of `_INFILE_`, `_ERROR_` and `_N_` last.
    pub(super) fn items<'a>(&'a self, row: &'a [u8]) -> impl Iterator<Item = String> + use<'a> {
        let (own, others): (Vec<_>, Vec<_>) = self
            .pdv
            .variables
            .iter()
            .filter(|variable| !variable.variable.name.starts_with(' '))
            .partition(|one| ["_N_", "_ERROR_", "_INFILE_"].contains(&one.variable.name.as_str()));
        let shown_in_order = others.into_iter().chain(own.into_iter().rev());
        shown_in_order.map(|one| {
            let value = shown(&one.slot, &one.variable.format, row, &self.formats);
            format!("{}={value}", one.variable.name)
        })
    }

    /// All of them in lines of at most `width` characters.
    pub(super) fn lines(&self, row: &[u8], width: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let mut line = String::new();
        for item in self.items(row) {
            if !line.is_empty() && line.len() + 1 + item.len() > width {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&item);
        }
        lines.push(line);
        lines
    }
}

/// A value in its format, without blanks around it.
fn shown(slot: &Slot, format: &Format, row: &[u8], formats: &Formats) -> String {
    match slot.kind {
        Kind::Numeric => {
            let value = slot.number(row);
            let text = format::number_with(value, format, formats);
            let text = text.unwrap_or_else(|| format::best(value, 12));
            text.trim().to_owned()
        }
        Kind::Character => {
            let text = format::text_with(slot.bytes(row), format, formats);
            String::from_utf8_lossy(trimmed(&text)).into_owned()
        }
    }
}
