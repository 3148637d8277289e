//! Data set options, checked once and sorted by what they do.

use base::diag::Span;
use base::units::{Bytes, parse_size};
use lang::ast::{DatasetOptionValue, DatasetRef, Expr, VariableKind, VariableList};
use sas7bdat::{Compression, Kind};

use crate::failure::{Failure, Outcome};
use crate::options::compression;

/// Options of one data set reference.
#[derive(Debug, Clone, Default)]
pub struct DatasetOptions<'a> {
    /// KEEP=.
    pub keep: Option<&'a [VariableList]>,
    /// DROP=.
    pub drop: Option<&'a [VariableList]>,
    /// RENAME=.
    pub rename: &'a [(String, String)],
    /// WHERE=.
    pub condition: Option<&'a Expr>,
    /// FIRSTOBS=.
    pub firstobs: Option<u64>,
    /// OBS=.
    pub obs: Option<u64>,
    /// COMPRESS=.
    pub compress: Option<Compression>,
    /// BUFSIZE=, bytes.
    pub bufsize: Option<u64>,
    /// LABEL=.
    pub label: Option<&'a str>,
}

impl<'a> DatasetOptions<'a> {
    /// Reads the options of `dataset`; what is not known is refused by name.
    pub fn read(dataset: &'a DatasetRef) -> Outcome<Self> {
        let mut read = Self::default();
        for option in &dataset.options {
            let name = option.name.to_ascii_uppercase();
            match (&option.value, name.as_str()) {
                (DatasetOptionValue::Variables(list), "KEEP") => read.keep = Some(list),
                (DatasetOptionValue::Variables(list), "DROP") => read.drop = Some(list),
                (DatasetOptionValue::Renames(pairs), "RENAME") => read.rename = pairs,
                (DatasetOptionValue::Where(condition), "WHERE") => read.condition = Some(condition),
                (DatasetOptionValue::Text(text), name) => {
                    read.text(name, text)
                        .map_err(|message| Failure::at(&option.span, message))?;
                }
                _ => return Err(Failure::at(&option.span, unknown(&name))),
            }
        }
        Ok(read)
    }

    fn text(&mut self, name: &str, text: &'a str) -> Result<(), String> {
        match name {
            "FIRSTOBS" => self.firstobs = Some(count(name, text)?.max(1)),
            "OBS" => self.obs = Some(count(name, text)?),
            "COMPRESS" => self.compress = Some(compression(text)?),
            "BUFSIZE" => {
                let size = parse_size(text).filter(|size| size.0 <= base::limits::PAGE_BYTES_MAX);
                let Some(Bytes(bytes)) = size else {
                    return Err(format!(
                        "BUFSIZE={text} is not valid; give a size such as 128k."
                    ));
                };
                self.bufsize = Some(bytes);
            }
            "LABEL" => self.label = Some(text),
            _ => return Err(unknown(name)),
        }
        Ok(())
    }
}

fn unknown(name: &str) -> String {
    format!("The data set option {name}= is not recognized or not implemented yet.")
}

fn count(name: &str, text: &str) -> Result<u64, String> {
    if text.eq_ignore_ascii_case("max") {
        return Ok(u64::MAX);
    }
    parse_size(text)
        .map(|number| number.0)
        .ok_or_else(|| format!("{name}={text} is not valid; give a number of observations or MAX."))
}

/// A named, typed thing that variable lists choose from.
pub trait Named {
    /// The name as written.
    fn name(&self) -> &str;
    /// Numeric or character.
    fn kind(&self) -> Kind;
}

/// Positions in `all` that `list` names, in the order of the list.
///
/// `missing` decides about a single name that is not there: an error to return, or `None` to pass
/// over it.
pub fn select(
    all: &[impl Named],
    list: &VariableList,
    missing: impl Fn(&str, &Span) -> Option<Failure>,
) -> Outcome<Vec<usize>> {
    let find = |name: &str| {
        all.iter()
            .position(|one| one.name().eq_ignore_ascii_case(name))
    };
    let one = |name: &str, span: &Span| match (find(name), missing(name, span)) {
        (Some(index), _) => Ok(Some(index)),
        (None, Some(failure)) => Err(failure),
        (None, None) => Ok(None),
    };
    let wanted = |only: Option<VariableKind>, index: &usize| match only {
        None => true,
        Some(VariableKind::Numeric) => all[*index].kind() == Kind::Numeric,
        Some(VariableKind::Character) => all[*index].kind() == Kind::Character,
    };
    match list {
        VariableList::Name(name, span) => Ok(one(name, span)?.into_iter().collect()),
        VariableList::Numbered {
            prefix,
            first,
            last,
            digits,
            span,
        } => {
            let mut found = Vec::new();
            for number in *first..=*last {
                found.extend(one(&format!("{prefix}{number:0digits$}"), span)?);
            }
            Ok(found)
        }
        VariableList::Range {
            from,
            to,
            only,
            span,
        } => match (one(from, span)?, one(to, span)?) {
            (Some(from), Some(to)) if from <= to => {
                Ok((from..=to).filter(|index| wanted(*only, index)).collect())
            }
            (Some(_), Some(_)) => {
                let message = format!("Starting variable {from} comes after {to}.");
                Err(Failure::at(span, message))
            }
            _ => Ok(Vec::new()),
        },
        VariableList::Prefix(prefix, _) => Ok((0..all.len())
            .filter(|index| {
                let name = all[*index].name();
                name.get(..prefix.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
            })
            .collect()),
        VariableList::All(only, _) => Ok((0..all.len())
            .filter(|index| wanted(*only, index))
            .collect()),
    }
}

/// Positions that several lists name, without repeats.
pub fn select_all(
    all: &[impl Named],
    lists: &[VariableList],
    missing: impl Fn(&str, &Span) -> Option<Failure>,
) -> Outcome<Vec<usize>> {
    let mut found = Vec::new();
    for list in lists {
        for index in select(all, list, &missing)? {
            if !found.contains(&index) {
                found.push(index);
            }
        }
    }
    Ok(found)
}
