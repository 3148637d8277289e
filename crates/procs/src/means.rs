//! PROC MEANS and PROC SUMMARY: one pass over the input. Every row is added to its group of all class
//! variables; the groups of fewer are made from these at the end.

mod cell;
mod cells;
mod groups;
mod listing;
mod output;
mod spill;
mod statements;
mod statistic;

use std::ops::Range;

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStep, VariableList};
use sas7bdat::{Encoding, Kind, Rows};

use self::cell::Depth;
use self::cells::{Asked, filled_up};
use self::groups::Groups;
use self::listing::Printed;
use self::output::OutputTable;
use self::spill::Spill;
use self::statements::{Statements, Types, parse};
use self::statistic::{Rules, Wanted};
use crate::by::{ByGroups, open_by};
use crate::levels::{ClassVariable, Classes, Recent};
use crate::target::named_fields;

/// PROC MEANS, and PROC SUMMARY, which prints only if told to.
pub(crate) struct Means(pub(crate) &'static str);

/// More class variables than this would make too many types.
const CLASS_MAX: usize = 30;

/// Of more types than these groups do not go to a utility file: each would go there for each type.
const SPILLED_TYPES_MAX: usize = 64;

/// What so many rows change is fetched from memory at a time.
const AHEAD: usize = 16;

impl Procedure for Means {
    fn name(&self) -> &'static str {
        self.0
    }

    fn support(&self) -> Support {
        Support {
            yes: "FORMAT, LABEL; CLASS (DESCENDING, MISSING), BY, VAR, WEIGHT, FREQ, TYPES, WAYS, \
                  WHERE; OUTPUT with statistics of chosen variables, names, AUTONAME, NOINHERIT; NWAY, \
                  MISSING, CHARTYPE, MAXDEC=, ALPHA=, VARDEF=; FW=, NONOBS and THREADS (of no effect); \
                  all statistics of SAS, quantiles by definition 5 or, with WEIGHT, of the weights. \
                  Classes group by formatted values. Groups that do not fit into memory go to a \
                  utility file; with quantiles or grouped by a format they stop the step",
            no: "ID, ORDER= but INTERNAL, COMPLETETYPES; IDGROUP, MINID, MAXID, AUTOLABEL, WAYS, \
                 LEVELS and INHERIT of OUTPUT; other quantile definitions",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        statements(step, world, self.0).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let statements = statements(step, world, self.0)?;
        let mut input = open_by(
            world,
            &statements.data,
            statements.condition.as_ref(),
            statements.by.as_ref(),
        )?;
        let mut analysis = Analysis::new(&statements, &input, world)?;
        let mut outputs = Vec::new();
        for statement in &statements.outputs {
            let made = (statements.chartype, self.0);
            outputs.push(OutputTable::create(
                world, statement, &input, &analysis, made,
            )?);
        }
        if statements.printed {
            world.listing.begin();
            let title = if self.0 == "MEANS" {
                "MEANS"
            } else {
                "SUMMARY"
            };
            world
                .listing
                .centered_line(&format!("The {title} Procedure"));
            world.listing.line("");
        }
        let done = analysis.pass(&mut input, &statements, &mut outputs, world);
        if let Err(failure) = done {
            for output in outputs {
                output.discard(world);
            }
            return Err(failure);
        }
        if statements.printed {
            world.listing.end();
        }
        input.finish(world)?;
        for output in outputs {
            output.finish(world)?;
        }
        Ok(())
    }
}

/// The statements, of which something comes.
fn statements(step: &ProcStep, world: &mut World, name: &'static str) -> Outcome<Statements> {
    let statements = parse(step, world, name)?;
    if statements.counts {
        no_statistics(&statements, step)?;
    }
    if !statements.printed && statements.outputs.is_empty() {
        let message = "Neither the PRINT option nor a valid output statement has been given";
        return Err(Failure::at(&step.span, message));
    }
    Ok(statements)
}

/// Without a VAR statement PROC SUMMARY counts observations: there is nothing to have statistics of.
fn no_statistics(statements: &Statements, step: &ProcStep) -> Outcome<()> {
    let items = statements.outputs.iter().flat_map(|output| &output.items);
    let asked = items
        .map(|item| (item.wanted.keyword, &item.span))
        .chain(statements.named.map(|wanted| (wanted.keyword, &step.span)))
        .next();
    match asked {
        None => Ok(()),
        Some((keyword, span)) => Err(Failure::at(
            span,
            format!(
                "PROC SUMMARY without a VAR statement only counts observations: name the variables of \
                 {keyword} in a VAR statement"
            ),
        )),
    }
}

/// A step bound to its input.
struct Analysis {
    fields: Vec<Field>,
    classes: Classes,
    /// Groups that rows led to, since there are other groups.
    recent: Option<Recent>,
    by: Option<ByGroups>,
    weight: Option<Slot>,
    freq: Option<Slot>,
    rules: Rules,
    asked: Asked,
    with_values: bool,
    /// Of the present row, filled up with zeros.
    values: Vec<f64>,
    /// Rows of a block and their groups.
    found: Vec<(u8, usize)>,
    /// Where they are.
    runs: Vec<Run>,
    /// Sets of class variables, the last variable being bit 0.
    output_types: Vec<u64>,
    printed_types: Vec<u64>,
    memory_bytes: u64,
    encoding: Encoding,
}

impl Analysis {
    fn new(statements: &Statements, input: &Input, world: &World) -> Outcome<Self> {
        let by = statements.by.as_ref();
        let by = by
            .map(|list| ByGroups::new(input, list, &statements.attributes, world))
            .transpose()?;
        let classes = class_variables(statements, input, world)?;
        let number = |named: &Option<(String, Span)>| {
            let (name, span) = named.as_ref()?;
            Some(numeric(
                input,
                &VariableList::Name(name.clone(), span.clone()),
            ))
        };
        let weight = number(&statements.weight).transpose()?;
        let freq = number(&statements.freq).transpose()?;
        let mut fields = match &statements.variables {
            Some(lists) => named_fields(input, lists)?,
            // PROC SUMMARY counts observations then.
            None if statements.counts => Vec::new(),
            None => others(input, by.as_ref(), &classes, &[&weight, &freq]),
        };
        statements.attributes.apply(input, &mut fields, world)?;
        if let Some(text) = fields
            .iter()
            .find(|field| field.variable.kind == Kind::Character)
        {
            return Err(Failure::at(
                &statements.data.span,
                format!(
                    "Variable {} in list does not match type prescribed for this list",
                    text.variable.name
                ),
            ));
        }
        let printed = statements.printed.then_some(statements.wanted.as_slice());
        let wanted: Vec<Wanted> = statements
            .outputs
            .iter()
            .flat_map(OutputTable::wanted)
            .chain(printed.unwrap_or_default().iter().copied())
            .collect();
        let depth = wanted.iter().map(|one| one.statistic.depth()).max();
        let depth = depth.unwrap_or(Depth::Sums);
        let (output_types, printed_types) = types(statements, &classes)?;
        Ok(Self {
            runs: runs(&fields),
            values: vec![0.0; filled_up(fields.len())],
            found: Vec::new(),
            fields,
            recent: Recent::new(&classes),
            classes: Classes::new(classes),
            by,
            asked: Asked {
                extremes: wanted.iter().any(|one| one.statistic.needs_extremes()),
                depth,
                weights: weight.is_some(),
            },
            rules: Rules {
                depth,
                weighted: weight.is_some(),
                vardef: statements.vardef,
                alpha: statements.alpha,
            },
            weight: weight.map(|field| field.slot),
            freq: freq.map(|field| field.slot),
            with_values: wanted.iter().any(|one| one.statistic.needs_values()),
            output_types,
            printed_types,
            memory_bytes: world.options.summary_memory(),
            encoding: input.metadata().encoding,
        })
    }

    fn groups(&self) -> Groups {
        let (memory, spills) = (self.memory_bytes, self.spills());
        let groups = Groups::new(
            self.fields.len(),
            self.classes.key_bytes(),
            self.asked,
            self.with_values,
            // The other half is for sorting what is spilled.
            if spills { memory / 2 } else { memory },
        );
        if spills { groups.spilling() } else { groups }
    }

    /// Takes all groups away and goes on with none.
    fn take(&mut self, groups: &mut Groups) -> Groups {
        if let Some(recent) = &mut self.recent {
            recent.forget();
        }
        std::mem::replace(groups, self.groups())
    }

    /// Whether groups can go to a utility file: not the values of quantiles, nor levels that only
    /// their format makes one.
    fn spills(&self) -> bool {
        let plain = !self.with_values && !self.classes.is_by_format();
        plain
            && !self.classes.variables.is_empty()
            && self.wanted_types().len() <= SPILLED_TYPES_MAX
    }

    /// The types that are printed or written, ascending.
    fn wanted_types(&self) -> Vec<u64> {
        let mut types = [self.output_types.as_slice(), &self.printed_types].concat();
        types.sort_unstable();
        types.dedup();
        types
    }

    fn pass(
        &mut self,
        input: &mut Input,
        statements: &Statements,
        outputs: &mut [OutputTable],
        world: &mut World,
    ) -> Outcome<()> {
        let mut groups = self.groups();
        let mut spill = None;
        loop {
            if self.goes_by_blocks()
                && let Some((rows, active)) = input.ready()?
            {
                self.add_block(&mut groups, &rows, active.rows())?;
                input.take(active.rows().len())?;
            } else if let Some(row) = input.next_row()? {
                if let Some(by) = &mut self.by
                    && by.begins(row)?
                {
                    if !by.row().is_empty() {
                        let full = self.take(&mut groups);
                        self.emit(full, spill.take(), statements, outputs, world)?;
                    }
                    self.by.as_mut().expect("it is there").enter(row);
                }
                self.add(&mut groups, row)?;
            } else {
                break;
            }
            if groups.is_full() {
                let full = self.take(&mut groups);
                let spill = spill.get_or_insert_with(|| self.new_spill(world));
                spill.take(&full, world)?;
            }
        }
        let any_group = self.by.as_ref().is_none_or(|by| !by.row().is_empty());
        if any_group {
            if self.classes.variables.is_empty() {
                // Without rows there is still the whole.
                groups.find(&[], &[])?;
            }
            self.emit(groups, spill, statements, outputs, world)?;
        }
        Ok(())
    }

    fn new_spill(&self, world: &World) -> Spill {
        let ranges = |mask| {
            self.parts_of(mask)
                .into_iter()
                .map(|(_, part)| part)
                .collect()
        };
        let types = self.wanted_types().into_iter();
        let types = types.map(|mask| (mask, ranges(mask))).collect();
        let key_bytes = self.classes.key_bytes();
        Spill::new(
            world,
            self.fields.len(),
            key_bytes,
            types,
            self.memory_bytes / 2,
        )
    }

    /// Whether rows are added to their groups alone.
    fn goes_by_blocks(&self) -> bool {
        let plain = self.by.is_none() && self.freq.is_none() && self.weight.is_none();
        plain && !self.with_values
    }

    /// Adds some rows of a block: the groups of all are looked up first, so that what they have is
    /// fetched from memory for several at a time.
    fn add_block(&mut self, groups: &mut Groups, rows: &Rows<'_>, which: &[u8]) -> Outcome<()> {
        let mut found = std::mem::take(&mut self.found);
        found.clear();
        let row_at = |row: u8| {
            let start = usize::from(row) * rows.row_bytes;
            &rows.bytes[start..start + rows.row_bytes]
        };
        for row in which {
            if let Some(group) = self.group_of(groups, row_at(*row))? {
                found.push((*row, group));
            }
        }
        for few in found.chunks(AHEAD) {
            groups.look_at(few.iter().map(|(_, group)| *group));
            for (row, group) in few {
                self.read(row_at(*row));
                groups.add(*group, &self.values, 1.0, 1.0);
            }
        }
        self.found = found;
        Ok(())
    }

    #[inline]
    fn add(&mut self, groups: &mut Groups, row: &[u8]) -> Outcome<()> {
        let mut times = 1.0;
        if let Some(slot) = &self.freq {
            times = slot.number(row).trunc();
            if times.is_nan() || times < 1.0 {
                return Ok(());
            }
        }
        let mut weight = 1.0;
        if let Some(slot) = &self.weight {
            weight = slot.number(row);
            if weight.is_nan() {
                return Ok(());
            }
            weight = weight.max(0.0);
        }
        let Some(group) = self.group_of(groups, row)? else {
            return Ok(());
        };
        self.read(row);
        groups.add(group, &self.values, times, weight);
        if self.with_values {
            for (variable, value) in self.values[..self.fields.len()].iter().enumerate() {
                if !value.is_nan() {
                    groups.keep(group, variable, *value, (times, weight))?;
                }
            }
        }
        Ok(())
    }

    /// Reads the analysis variables of a row.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "each half of sixteen bytes is a number"
    )]
    fn read(&mut self, row: &[u8]) {
        let mut values = self.values.as_mut_slice();
        for run in &self.runs {
            let (these, others) = values.split_at_mut(run.count);
            values = others;
            if !run.first.is_plain() {
                these[0] = run.first.number(row);
                continue;
            }
            let start = run.first.offset as usize;
            let bytes = &row[start..start + 8 * run.count];
            // Two at a time, as they are taken later: a processor hands on whole what was stored whole.
            let (twos, last) = bytes.as_chunks::<16>();
            let (places, last_place) = these.as_chunks_mut::<2>();
            for (two, bytes) in places.iter_mut().zip(twos) {
                let both = u128::from_le_bytes(*bytes);
                *two = [both as u64, (both >> 64) as u64].map(f64::from_bits);
            }
            if let ([value], Some(bytes)) = (last_place, last.first_chunk()) {
                *value = f64::from_le_bytes(*bytes);
            }
        }
    }

    /// The group of a row, made if it is new; `None` if the row is left out.
    #[inline]
    fn group_of(&mut self, groups: &mut Groups, row: &[u8]) -> Outcome<Option<usize>> {
        let unseen = match self.recent.as_ref().map(|recent| recent.group(row)) {
            Some(Ok(group)) => return Ok(group),
            Some(Err(unseen)) => Some(unseen),
            None => None,
        };
        let group = match self.classes.key(row) {
            Some((key, told)) => Some(groups.find(key, told)?),
            None => None,
        };
        if let (Some(recent), Some(unseen)) = (&mut self.recent, unseen) {
            recent.remember(&unseen, group);
        }
        Ok(group)
    }

    /// Prints and writes what a BY group came to.
    fn emit(
        &self,
        mut groups: Groups,
        spill: Option<Spill>,
        statements: &Statements,
        outputs: &mut [OutputTable],
        world: &mut World,
    ) -> Outcome<()> {
        if let (Some(by), true) = (&self.by, statements.printed) {
            let heading = format!("---------- {} ----------", by.heading());
            world.listing.centered_line(&heading);
            world.listing.line("");
        }
        if let Some(mut spill) = spill {
            spill.take(&groups, world)?;
            drop(groups);
            return spill.finish(
                world,
                || self.groups(),
                |mask, of_type, world| self.emit_type(mask, of_type, statements, outputs, world),
            );
        }
        groups.unify(&self.classes);
        let full = (1 << self.classes.variables.len()) - 1;
        for mask in self.wanted_types() {
            let mut merged;
            let of_type = if mask == full {
                &mut groups
            } else {
                merged = self.merged(&groups, mask)?;
                &mut merged
            };
            self.emit_type(mask, of_type, statements, outputs, world)?;
        }
        Ok(())
    }

    /// Prints and writes the groups of one type. Where memory does not hold them all, the table is
    /// printed in pieces.
    fn emit_type(
        &self,
        mask: u64,
        of_type: &mut Groups,
        statements: &Statements,
        outputs: &mut [OutputTable],
        world: &mut World,
    ) -> Outcome<()> {
        if self.with_values {
            of_type.sort_values();
        }
        if statements.printed && self.printed_types.contains(&mask) {
            let printed = Printed {
                analysis: &self.fields,
                classes: &self.classes,
                wanted: &statements.wanted,
                rules: self.rules,
                max_decimals: statements.max_decimals,
                encoding: self.encoding,
            };
            printed.print(world, mask, of_type);
        }
        if self.output_types.contains(&mask) {
            for output in &mut *outputs {
                output.write(self.by.as_ref(), &self.classes, mask, of_type, self.rules)?;
            }
        }
        Ok(())
    }

    /// The class variables of a type by number, and where their parts of the key lie.
    fn parts_of(&self, mask: u64) -> Vec<(usize, Range<usize>)> {
        let count = self.classes.variables.len();
        let here = |(index, _): &(usize, Range<usize>)| mask >> (count - 1 - index) & 1 == 1;
        let parts = self.classes.parts().into_iter().enumerate();
        parts.filter(here).collect()
    }

    fn merged(&self, groups: &Groups, mask: u64) -> Outcome<Groups> {
        let kept = self.parts_of(mask);
        let ranges: Vec<Range<usize>> = kept.iter().map(|(_, part)| part.clone()).collect();
        groups.merged(&ranges, |key| self.classes.told(key, &kept))
    }
}

/// Variables side by side in a row.
struct Run {
    first: Slot,
    count: usize,
}

/// Where the values of `fields` are: plain numbers that follow each other are one run.
fn runs(fields: &[Field]) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for Field { slot, .. } in fields {
        let follows = |run: &&mut Run| {
            let end = run.first.offset as usize + 8 * run.count;
            run.first.is_plain() && slot.is_plain() && slot.offset as usize == end
        };
        match runs.last_mut().filter(follows) {
            Some(run) => run.count += 1,
            None => runs.push(Run {
                first: *slot,
                count: 1,
            }),
        }
    }
    runs
}

fn class_variables(
    statements: &Statements,
    input: &Input,
    world: &World,
) -> Outcome<Vec<ClassVariable>> {
    let mut classes = Vec::new();
    for statement in &statements.class {
        let mut fields = named_fields(input, &statement.variables)?;
        statements.attributes.apply(input, &mut fields, world)?;
        for field in fields {
            let missing = statements.missing || statement.missing;
            let descending = statement.descending;
            classes.push(ClassVariable::new(
                field,
                descending,
                missing,
                &world.formats,
            ));
        }
    }
    if classes.len() > CLASS_MAX {
        return Err(Failure::at(
            &statements.data.span,
            format!("More than {CLASS_MAX} class variables are not implemented"),
        ));
    }
    Ok(classes)
}

fn numeric(input: &Input, list: &VariableList) -> Outcome<Field> {
    let field = named_fields(input, std::slice::from_ref(list))?.remove(0);
    if field.variable.kind == Kind::Numeric {
        return Ok(field);
    }
    let VariableList::Name(name, span) = list else {
        return Ok(field);
    };
    let message = format!("Variable {name} in list does not match type prescribed for this list");
    Err(Failure::at(span, message))
}

/// The numeric variables that have no other part in the step.
fn others(
    input: &Input,
    by: Option<&ByGroups>,
    classes: &[ClassVariable],
    more: &[&Option<Field>],
) -> Vec<Field> {
    let by_fields = by.map_or(&[][..], ByGroups::fields);
    let taken: Vec<&Slot> = by_fields
        .iter()
        .map(|field| &field.slot)
        .chain(classes.iter().map(|class| &class.field.slot))
        .chain(
            more.iter()
                .filter_map(|field| field.as_ref())
                .map(|field| &field.slot),
        )
        .collect();
    let free =
        |field: &&Field| field.variable.kind == Kind::Numeric && !taken.contains(&&field.slot);
    input.fields().iter().filter(free).cloned().collect()
}

/// The types that are written and those that are printed.
fn types(statements: &Statements, classes: &[ClassVariable]) -> Outcome<(Vec<u64>, Vec<u64>)> {
    let count = classes.len();
    let full: u64 = (1 << count) - 1;
    let (mut written, mut printed) = match &statements.types {
        None => ((0..=full).collect(), vec![full]),
        Some(Types::Ways(ways)) => {
            let wanted = |mask: &u64| ways.contains(&u64::from(mask.count_ones()));
            let masks: Vec<u64> = (0..=full).filter(wanted).collect();
            (masks.clone(), masks)
        }
        Some(Types::Named(named)) => {
            let mut masks = named
                .iter()
                .map(|names| mask_of(names, classes))
                .collect::<Outcome<Vec<u64>>>()?;
            masks.sort_unstable();
            masks.dedup();
            (masks.clone(), masks)
        }
    };
    if statements.nway {
        written = vec![full];
        printed = vec![full];
    }
    if statements.outputs.is_empty() {
        written.clear();
    }
    Ok((written, printed))
}

fn mask_of(names: &[(String, Span)], classes: &[ClassVariable]) -> Outcome<u64> {
    let mut mask = 0;
    for (name, span) in names {
        let place = classes
            .iter()
            .position(|class| class.field.variable.name.eq_ignore_ascii_case(name));
        let Some(place) = place else {
            let message = format!("Variable {name} of TYPES is not a class variable");
            return Err(Failure::at(span, message));
        };
        mask |= 1 << (classes.len() - 1 - place);
    }
    Ok(mask)
}
