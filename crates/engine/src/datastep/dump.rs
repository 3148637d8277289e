//! The program data vector in the log: `x=1 c=abc _ERROR_=1 _N_=3`.

use std::sync::Arc;

use sas7bdat::{Format, Kind, Variable};

use super::pdv::Pdv;
use crate::expr::Slot;
use crate::expr::evaluate::trimmed;
use crate::format;
use crate::format::user::Formats;

/// How the variables of a step are shown.
#[derive(Debug, Clone, Default)]
pub(super) struct Dump {
    variables: Vec<(String, Slot, Format)>,
    attributes: Vec<Variable>,
    formats: Arc<Formats>,
}

impl Dump {
    /// All variables in order, `_ERROR_` and `_N_` last.
    pub(super) fn new(pdv: &Pdv, formats: Arc<Formats>) -> Self {
        let (own, others): (Vec<_>, Vec<_>) = pdv
            .variables
            .iter()
            .filter(|variable| !variable.variable.name.starts_with(' '))
            .partition(|variable| ["_N_", "_ERROR_"].contains(&variable.variable.name.as_str()));
        let shown = others.into_iter().chain(own.into_iter().rev());
        let variables = shown
            .map(|variable| {
                let one = &variable.variable;
                (one.name.clone(), variable.slot, one.format.clone())
            })
            .collect();
        let attributes = pdv.variables.iter().map(|one| one.variable.clone());
        Self {
            variables,
            attributes: attributes.collect(),
            formats,
        }
    }

    /// The attributes of the variable `name`, which is there.
    pub(super) fn variable(&self, name: &str) -> Variable {
        let is = |one: &&Variable| one.name.eq_ignore_ascii_case(name);
        let found = self.attributes.iter().find(is);
        found.cloned().unwrap_or_else(|| Variable::numeric(name))
    }

    /// `name=value` of every variable.
    pub(super) fn items<'a>(&'a self, row: &'a [u8]) -> impl Iterator<Item = String> + use<'a> {
        self.variables.iter().map(|(name, slot, format)| {
            format!("{name}={}", shown(slot, format, row, &self.formats))
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
