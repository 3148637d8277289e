//! Data set options, checked once and sorted by what they do.

mod table;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use base::diag::Span;
use lang::ast::{DatasetRef, Expr, VariableKind, VariableList};
use sas7bdat::{Compression, Kind};

use crate::failure::{Failure, Outcome};
use crate::index::definition::Definition;

pub use table::dataset_options;

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
    /// INDEX=.
    pub indexes: Vec<Definition>,
    /// IDXWHERE=.
    pub idxwhere: Option<bool>,
}

impl<'a> DatasetOptions<'a> {
    /// Reads the options of `dataset`; what is not known is refused by name.
    pub fn read(dataset: &'a DatasetRef) -> Outcome<Self> {
        let mut read = Self::default();
        for option in &dataset.options {
            let name = option.name.to_ascii_uppercase();
            table::read(&mut read, &name, &option.value)
                .map_err(|message| Failure::at(&option.span, message))?;
        }
        Ok(read)
    }
}

/// A named, typed thing that variable lists choose from.
pub trait Named {
    /// The name as written.
    fn name(&self) -> &str;
    /// Numeric or character.
    fn kind(&self) -> Kind;
}

/// The numbers of `x1-x9`, if a data set can have as many variables.
pub fn numbers(first: u32, last: u32, span: &Span) -> Outcome<RangeInclusive<u32>> {
    let limit = base::limits::VARIABLES_MAX;
    if last.saturating_sub(first) >= limit {
        let message = format!(
            "The list from {first} to {last} has more than the {limit} variables that a data set \
             can have."
        );
        return Err(Failure::at(span, message));
    }
    Ok(first..=last)
}

/// Positions in `all` that `list` names, in the order of the list.
///
/// `missing` makes the error for a single name that is not there.
pub fn select(
    all: &[impl Named],
    list: &VariableList,
    missing: impl Fn(&str, &Span) -> Failure,
) -> Outcome<Vec<usize>> {
    Names::of(all).select(all, list, &mut |name, span| Err(missing(name, span)))
}

/// Positions that several lists name, without repeats.
pub fn select_all(
    all: &[impl Named],
    lists: &[VariableList],
    missing: impl Fn(&str, &Span) -> Failure,
) -> Outcome<Vec<usize>> {
    once(all, lists, |name, span| Err(missing(name, span)))
}

/// Positions that several lists name, without repeats; single names that are not there are passed
/// over and added to `unknown`.
pub fn select_known(
    all: &[impl Named],
    lists: &[VariableList],
    unknown: &mut BTreeSet<String>,
) -> Outcome<Vec<usize>> {
    once(all, lists, |name, _| {
        unknown.insert(name.to_owned());
        Ok(())
    })
}

fn once(
    all: &[impl Named],
    lists: &[VariableList],
    mut missing: impl FnMut(&str, &Span) -> Outcome<()>,
) -> Outcome<Vec<usize>> {
    if lists.is_empty() {
        return Ok(Vec::new());
    }
    let names = Names::of(all);
    let mut seen = vec![false; all.len()];
    let mut found = Vec::new();
    for list in lists {
        for index in names.select(all, list, &mut missing)? {
            if !std::mem::replace(&mut seen[index], true) {
                found.push(index);
            }
        }
    }
    Ok(found)
}

/// Positions by upper-case name.
struct Names(HashMap<String, usize>);

impl Names {
    fn of(all: &[impl Named]) -> Self {
        let mut names = HashMap::with_capacity(all.len());
        for (index, one) in all.iter().enumerate() {
            names
                .entry(one.name().to_ascii_uppercase())
                .or_insert(index);
        }
        Self(names)
    }

    fn one(
        &self,
        name: &str,
        span: &Span,
        missing: &mut impl FnMut(&str, &Span) -> Outcome<()>,
    ) -> Outcome<Option<usize>> {
        let found = self.0.get(&name.to_ascii_uppercase()).copied();
        if found.is_none() {
            missing(name, span)?;
        }
        Ok(found)
    }

    fn select(
        &self,
        all: &[impl Named],
        list: &VariableList,
        missing: &mut impl FnMut(&str, &Span) -> Outcome<()>,
    ) -> Outcome<Vec<usize>> {
        let wanted = |only: Option<VariableKind>, index: &usize| match only {
            None => true,
            Some(VariableKind::Numeric) => all[*index].kind() == Kind::Numeric,
            Some(VariableKind::Character) => all[*index].kind() == Kind::Character,
        };
        let every = 0..all.len();
        Ok(match list {
            VariableList::Name(name, span) => self.one(name, span, missing)?.into_iter().collect(),
            VariableList::Numbered {
                prefix,
                first,
                last,
                digits,
                span,
            } => {
                let mut found = Vec::new();
                for number in numbers(*first, *last, span)? {
                    found.extend(self.one(&format!("{prefix}{number:0digits$}"), span, missing)?);
                }
                found
            }
            VariableList::Range {
                from,
                to,
                only,
                span,
            } => match (self.one(from, span, missing)?, self.one(to, span, missing)?) {
                (Some(first), Some(last)) if first <= last => (first..=last)
                    .filter(|index| wanted(*only, index))
                    .collect(),
                (Some(_), Some(_)) => {
                    let message = format!("Starting variable {from} comes after {to}.");
                    return Err(Failure::at(span, message));
                }
                _ => Vec::new(),
            },
            VariableList::Prefix(prefix, _) => every
                .filter(|index| {
                    let name = all[*index].name();
                    name.get(..prefix.len())
                        .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
                })
                .collect(),
            VariableList::Array(name, span) => {
                let message = format!("{name}{{*}} names an array, which cannot stand here.");
                return Err(Failure::at(span, message));
            }
            VariableList::All(only, _) => every.filter(|index| wanted(*only, index)).collect(),
        })
    }
}

/// Renames items, all at once: `x=y y=x` swaps. Returns the old names that are not there; two items
/// of one name are an error.
pub fn rename_all<T>(
    items: &mut [T],
    pairs: &[(String, String)],
    name: impl Fn(&mut T) -> &mut String,
) -> Outcome<Vec<String>> {
    if pairs.is_empty() {
        return Ok(Vec::new());
    }
    let mut new_names = HashMap::with_capacity(pairs.len());
    for (old, new) in pairs {
        if new_names.insert(old.to_ascii_uppercase(), new).is_some() {
            let message = format!("Variable {old} is renamed more than once.");
            return Err(Failure::world(message));
        }
    }
    let mut names = HashSet::with_capacity(items.len());
    for item in items {
        let current = name(item);
        if let Some(new) = new_names.remove(&current.to_ascii_uppercase()) {
            current.clone_from(new);
        }
        if !names.insert(current.to_ascii_uppercase()) {
            let message =
                format!("After renaming there would be more than one variable {current}.");
            return Err(Failure::world(message));
        }
    }
    let absent = pairs.iter().map(|(old, _)| old);
    Ok(absent
        .filter(|old| new_names.contains_key(&old.to_ascii_uppercase()))
        .cloned()
        .collect())
}
