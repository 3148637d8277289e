//! Which variables a DATA step writes, and under which names. SAS's order: the KEEP and DROP
//! statements, the RENAME statement, then of each data set KEEP= and DROP= (by the new names) and
//! RENAME=.

use std::borrow::Cow;
use std::collections::BTreeSet;

use base::diag::Span;
use lang::ast::{DataStep, DatasetRef, Expr, VariableList};
use sas7bdat::{Encoding, Variable};

use super::pdv::{Pdv, PdvVariable};
use crate::dataset::options::{DatasetOptions, rename_all, select, select_known};
use crate::dataset::output::OutputPlan;
use crate::dataset::restriction::refuse_ranges;
use crate::expr::compile::{Compiler, Scope, Sites};
use crate::expr::{Number, Slot};
use crate::failure::{Failure, Outcome};
use crate::format::user::Formats;
use crate::library::Member;
use crate::session::World;

/// A data set to be made.
pub(super) struct Target {
    pub(super) member: Member,
    pub(super) variables: Vec<Variable>,
    pub(super) slots: Vec<Slot>,
    pub(super) plan: OutputPlan,
    /// WHERE=: over the PDV.
    pub(super) condition: Option<Number>,
}

/// What the KEEP, DROP and RENAME statements say.
#[derive(Default)]
pub(super) struct Declared {
    pub(super) keep: Option<Vec<VariableList>>,
    pub(super) drop: Vec<VariableList>,
    pub(super) rename: Vec<(String, String)>,
}

/// `step` with names in the place of `_DATA_`: DATA1, DATA2 and so on, the first that nothing has.
pub(super) fn numbered<'a>(step: &'a DataStep, world: &World) -> Outcome<Cow<'a, DataStep>> {
    let unnamed = |output: &DatasetRef| {
        let work = |libref: &String| libref.eq_ignore_ascii_case("WORK");
        output.libref.as_ref().is_none_or(work) && output.member.eq_ignore_ascii_case("_DATA_")
    };
    if !step.outputs.iter().any(unnamed) {
        return Ok(Cow::Borrowed(step));
    }
    let mut step = step.clone();
    let mut number = 0_u64;
    for index in 0..step.outputs.len() {
        while unnamed(&step.outputs[index]) {
            number += 1;
            let name = format!("DATA{number}");
            let member = world.libraries.member("WORK", &name, &step.span)?;
            let named = |output: &DatasetRef| {
                world.libraries.resolve(output).ok().as_ref() == Some(&member)
            };
            if !member.is_there(world.store.as_ref())? && !step.outputs.iter().any(named) {
                step.outputs[index].member = name;
            }
        }
    }
    Ok(Cow::Owned(step))
}

/// The data sets of the DATA statement.
pub(super) fn targets(
    world: &mut World,
    pdv: &Pdv,
    declared: &Declared,
    outputs: &[DatasetRef],
) -> Outcome<Vec<Target>> {
    let mut unknown = BTreeSet::new();
    let mut written: Vec<PdvVariable> = pdv
        .variables
        .iter()
        .filter(|variable| !variable.automatic)
        .cloned()
        .collect();
    choose(
        &mut written,
        declared.keep.as_deref(),
        &declared.drop,
        &mut unknown,
    )?;
    let absent = rename_all(&mut written, &declared.rename, name)?;
    // A variable that is dropped may be renamed: nothing comes of it.
    unknown.extend(absent.into_iter().filter(|old| pdv.find(old).is_none()));
    warn(world, pdv, &unknown);
    outputs
        .iter()
        .map(|output| target(world, pdv, written.clone(), output))
        .collect()
}

fn target(
    world: &mut World,
    pdv: &Pdv,
    mut written: Vec<PdvVariable>,
    output: &DatasetRef,
) -> Outcome<Target> {
    let member = world.libraries.resolve(output)?;
    let options = DatasetOptions::read(output)?;
    refuse_ranges(output, &options)?;
    let mut unknown = BTreeSet::new();
    choose(
        &mut written,
        options.keep,
        options.drop.unwrap_or_default(),
        &mut unknown,
    )?;
    unknown.extend(rename_all(&mut written, options.rename, name)?);
    warn(world, pdv, &unknown);
    let condition = options.condition.map(|expr| {
        let name = member.full_name();
        condition(expr, &written, &name, pdv, &world.formats)
    });
    Ok(Target {
        condition: condition.transpose()?,
        member,
        slots: written.iter().map(|variable| variable.slot).collect(),
        variables: written.into_iter().map(|v| v.variable).collect(),
        plan: OutputPlan {
            compress: options.compress,
            bufsize: options.bufsize,
            label: options.label.unwrap_or_default().to_owned(),
            creator: "DATASTEP",
            encoding: pdv.encoding().unwrap_or(Encoding::UTF_8),
            indexes: options.indexes,
        },
    })
}

/// WHERE= sees the variables that are written, under the names they are written with.
fn condition(
    expr: &Expr,
    written: &[PdvVariable],
    dataset: &str,
    pdv: &Pdv,
    formats: &Formats,
) -> Outcome<Number> {
    let mut sites = Sites::default();
    let mut scope = Written { written, dataset };
    Compiler {
        scope: &mut scope,
        sites: &mut sites,
        encoding: pdv.encoding(),
        formats,
    }
    .number(expr)
}

/// Names in a WHERE= of an output data set.
struct Written<'a> {
    written: &'a [PdvVariable],
    dataset: &'a str,
}

impl Scope for Written<'_> {
    fn variable(&mut self, name: &str, span: &Span) -> Outcome<Slot> {
        let list = VariableList::Name(name.to_owned(), span.clone());
        Ok(self.list(&list)?[0])
    }

    fn list(&mut self, list: &VariableList) -> Outcome<Vec<Slot>> {
        let unknown = |name: &str, span: &Span| {
            let message = format!("Variable {name} is not on file {}.", self.dataset);
            Failure::at(span, message)
        };
        let found = select(self.written, list, unknown)?;
        Ok(found
            .into_iter()
            .map(|index| self.written[index].slot)
            .collect())
    }
}

fn name(variable: &mut PdvVariable) -> &mut String {
    &mut variable.variable.name
}

/// Applies a KEEP and a DROP list; names that are not there are added to `unknown`.
fn choose(
    written: &mut Vec<PdvVariable>,
    keep: Option<&[VariableList]>,
    drop: &[VariableList],
    unknown: &mut BTreeSet<String>,
) -> Outcome<()> {
    if let Some(lists) = keep {
        let chosen = select_known(written, lists, unknown)?;
        retain(written, &chosen, true);
    }
    let dropped = select_known(written, drop, unknown)?;
    retain(written, &dropped, false);
    Ok(())
}

fn retain(written: &mut Vec<PdvVariable>, chosen: &[usize], keep: bool) {
    let mut wanted = vec![!keep; written.len()];
    for index in chosen {
        wanted[*index] = keep;
    }
    let mut wanted = wanted.into_iter();
    written.retain(|_| wanted.next().unwrap_or(!keep));
}

/// Variables of END=, NOBS= and the like are known; that they are never written is as it should be.
fn warn(world: &mut World, pdv: &Pdv, unknown: &BTreeSet<String>) {
    let automatic = |name: &String| {
        let found = pdv.find(name);
        found.is_some_and(|index| pdv.variables[index].automatic)
    };
    for name in unknown.iter().filter(|name| !automatic(name)) {
        world.log.warning(&format!(
            "The variable {name} in the DROP, KEEP, or RENAME list has never been referenced."
        ));
    }
}
