//! PROC SORT: BY [DESCENDING], OUT=, NODUPKEY, EQUALS/NOEQUALS, data set options. One read, runs of
//! SORTSIZE in one utility file, one merge, one write.

use std::collections::BTreeSet;

use base::diag::Span;
use engine::dataset::copy::RowCopy;
use engine::dataset::input::{Field, Input};
use engine::dataset::options::{DatasetOptions, rename_all, select, select_known};
use engine::dataset::output::{Output, OutputPlan};
use engine::dataset::restriction::Restriction;
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::options::Options;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use engine::sort::{Expected, KeyField, SortKey, SortPlan, Sorter};
use lang::ast::{ByList, DatasetRef, Expr, ProcStep};
use lang::cursor::Cursor;
use sas7bdat::{Compression, Layout, Metadata, Variable};

use crate::target::{dataset_value, input_or_last, restrict, unknown};

/// PROC SORT.
pub(crate) struct Sort;

struct Statements {
    data: DatasetRef,
    out: Option<DatasetRef>,
    by: ByList,
    by_span: Span,
    condition: Option<Expr>,
    no_duplicate_keys: bool,
    /// FORCE: the indexes of a data set sorted in place go.
    force: bool,
    options: Options,
}

impl Procedure for Sort {
    fn name(&self) -> &'static str {
        "SORT"
    }

    fn support(&self) -> Support {
        Support {
            yes: "BY [DESCENDING], OUT=, NODUPKEY, EQUALS, NOEQUALS (ties keep their order in both), \
                  FORCE (indexes of a data set sorted in place go), SORTSIZE=, THREADS, NOTHREADS, \
                  WHERE",
            no: "TAGSORT, NODUPRECS, DUPOUT=, SORTSEQ=, sorting a part of a data set in place",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        parse(step, world).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let statements = parse(step, world)?;
        sort(&statements, world)
    }
}

fn parse(step: &ProcStep, world: &mut World) -> Outcome<Statements> {
    let mut options = world.options.clone();
    let (mut data, mut out, mut no_duplicate_keys, mut force) = (None, None, false, false);
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "DATA" | "OUT" => {
                let is_out = cursor.eat_word("OUT");
                if !is_out {
                    cursor.expect_word("DATA")?;
                }
                let dataset = dataset_value(&mut cursor)?;
                if is_out {
                    out = Some(dataset);
                } else {
                    data = Some(dataset);
                }
                continue;
            }
            "NODUPKEY" => no_duplicate_keys = true,
            // Rows with equal keys always keep their order; NOEQUALS only allows to lose it.
            "EQUALS" | "NOEQUALS" => {}
            "FORCE" => force = true,
            "THREADS" => options.threads = true,
            "NOTHREADS" => options.threads = false,
            "SORTSIZE" => {
                let setting = cursor.setting()?;
                let set = options.set(&setting.name, setting.value.as_deref());
                set.map_err(|message| Failure::at(&setting.span, message))?;
                continue;
            }
            _ => return Err(unknown(&cursor, "SORT", "option")),
        }
        cursor.next();
    }
    cursor.expect_end()?;
    let data = input_or_last(data, world, &step.span)?;
    let mut by = None;
    let mut condition = None;
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        if cursor.eat_word("BY") {
            by = Some((cursor.by_list()?, statement.span.clone()));
        } else if cursor.eat_word("WHERE") {
            restrict(&mut condition, cursor.restriction()?, world)?;
        } else {
            return Err(unknown(&cursor, "SORT", "statement"));
        }
        cursor.expect_end()?;
    }
    let Some((by, by_span)) = by else {
        return Err(Failure::at(
            &step.span,
            "No BY statement used or no sort keys given.",
        ));
    };
    Ok(Statements {
        data,
        out,
        by,
        by_span,
        condition,
        no_duplicate_keys,
        force,
        options,
    })
}

fn sort(statements: &Statements, world: &mut World) -> Outcome<()> {
    let mut input = Input::open(world, &statements.data)?;
    if let Some(condition) = &statements.condition {
        input.filter(condition)?;
    }
    let out = output_target(statements, &input, world)?;
    let member = world.libraries.resolve(out)?;
    let in_place = member == *input.member();
    if in_place && !statements.force {
        refuse_indexes(&input, &out.span)?;
    }
    let out_options = DatasetOptions::read(out)?;
    let mut unknown = BTreeSet::new();
    let kept = kept_fields(input.fields(), &out_options, &mut unknown)?;

    // Rows travel in the layout of an uncompressed data set of the kept variables, the key variables
    // behind it if they are not kept.
    let variables: Vec<Variable> = kept.iter().map(|field| field.variable.clone()).collect();
    let layout = Layout::new(&variables, Compression::None);
    let mut pairs = pairs(&kept, &layout);
    let (key, row_bytes) = key(statements, &input, &mut pairs, layout.row_bytes)?;
    let copy = RowCopy::new(&pairs);
    let renamed = rename(variables, &out_options, unknown, world)?;
    let encoding = input.metadata().encoding;
    let mut restriction = Restriction::of(world, out, &out_options, &renamed, encoding)?;
    let plan = sort_plan(statements, key, row_bytes, world);
    let rows = input.metadata().rows;
    let expected = if input.is_filtered() {
        Expected::AtMost(rows)
    } else {
        Expected::Exactly(rows)
    };
    let mut sorter = Sorter::new(plan, expected);
    while let Some(row) = input.next_row()? {
        copy.apply(row, sorter.next_slot(world)?);
        sorter.added();
    }
    let plan = output_plan(&out_options, input.metadata(), in_place);
    let read = input.finish(world)?;
    let mut output = Output::create(world, member, &renamed, plan)?;
    let written_bytes = output.layout().row_bytes as usize;
    let mut rows = 0u64;
    let sorted = sorter.finish(world, |row, _| {
        rows += 1;
        let row = &row[..written_bytes];
        if let Some(restriction) = &mut restriction
            && !restriction.meets(row)?
        {
            return Ok(());
        }
        output.write_row(row)
    });
    match sorted {
        Ok(summary) => world.sort = Some(summary),
        Err(failure) => {
            output.discard(world);
            return Err(failure);
        }
    }
    if statements.no_duplicate_keys {
        let dropped = read - rows;
        world.note(&format!(
            "{dropped} observations with duplicate key values were deleted."
        ));
    }
    output.finish(world)?;
    Ok(())
}

fn sort_plan(statements: &Statements, key: SortKey, row_bytes: u32, world: &World) -> SortPlan {
    SortPlan {
        key,
        row_bytes,
        memory_bytes: statements.options.sort_memory(),
        block_bytes: statements.options.ubufsize,
        threads: if statements.options.threads {
            world.threads()
        } else {
            1
        },
        unique: statements.no_duplicate_keys,
    }
}

/// What the output is made with: it keeps the input's label and encoding, in place its compression
/// too.
fn output_plan(options: &DatasetOptions<'_>, input: &Metadata, in_place: bool) -> OutputPlan {
    OutputPlan {
        compress: options.compress.or(in_place.then_some(input.compression)),
        bufsize: options.bufsize,
        label: options.label.unwrap_or(&input.label).to_owned(),
        creator: "SORT",
        encoding: input.encoding,
        indexes: options.indexes.clone(),
    }
}

/// A sort in place deletes the indexes, which needs FORCE.
fn refuse_indexes(input: &Input, span: &Span) -> Outcome<()> {
    if input.metadata().indexes.is_empty() {
        return Ok(());
    }
    let message = format!(
        "{}.DATA has indexes, which a sort in place would delete: use FORCE, or name another data \
         set with OUT=",
        input.member().full_name()
    );
    Err(Failure::at(span, message))
}

/// OUT=, or the input itself; then what chooses rows or variables may not lose any silently.
fn output_target<'a>(
    statements: &'a Statements,
    input: &Input,
    world: &World,
) -> Outcome<&'a DatasetRef> {
    let whole = !input.is_filtered() && input.has_every_variable();
    let unseen = world.options.firstobs > 1 || world.options.obs < u64::MAX;
    let (target, allowed) = match &statements.out {
        None => (
            &statements.data,
            whole && statements.data.options.is_empty(),
        ),
        // OUT= that names the input says what it does; OPTIONS OBS= somewhere before does not.
        Some(out) => {
            let in_place = world.libraries.resolve(out)? == *input.member();
            (out, whole || !(in_place && unseen))
        }
    };
    if allowed {
        return Ok(target);
    }
    Err(Failure::at(
        &target.span,
        "Sorting a part of a data set in place would lose the rest, and FORCE does not allow it yet: \
         name another data set with OUT=. Data set options, WHERE, and the system options OBS= and \
         FIRSTOBS= choose a part.",
    ))
}

/// The fields that are written, by KEEP= and DROP= of the output; names that are not there are added
/// to `unknown`.
fn kept_fields(
    fields: &[Field],
    options: &DatasetOptions<'_>,
    unknown: &mut BTreeSet<String>,
) -> Outcome<Vec<Field>> {
    let mut kept = vec![options.keep.is_none(); fields.len()];
    for index in select_known(fields, options.keep.unwrap_or_default(), unknown)? {
        kept[index] = true;
    }
    for index in select_known(fields, options.drop.unwrap_or_default(), unknown)? {
        kept[index] = false;
    }
    let kept = fields.iter().zip(kept).filter(|(_, kept)| *kept);
    Ok(kept.map(|(field, _)| field.clone()).collect())
}

/// The variables under the names they are written with. As in SAS, a name of the output's options
/// that is not there is a warning.
fn rename(
    mut variables: Vec<Variable>,
    options: &DatasetOptions<'_>,
    mut unknown: BTreeSet<String>,
    world: &mut World,
) -> Outcome<Vec<Variable>> {
    unknown.extend(rename_all(&mut variables, options.rename, |variable| {
        &mut variable.name
    })?);
    for name in unknown {
        world.log.warning(&format!(
            "The variable {name} in the DROP, KEEP, or RENAME list has never been referenced."
        ));
    }
    Ok(variables)
}

fn pairs(kept: &[Field], layout: &Layout) -> Vec<(Slot, Slot)> {
    let place = |(field, offset): (&Field, &u32)| {
        (
            field.slot,
            Slot {
                offset: *offset,
                big_endian: false,
                ..field.slot
            },
        )
    };
    kept.iter().zip(&layout.offsets).map(place).collect()
}

/// The key over the travelling rows; key variables that are not kept are added to them.
fn key(
    statements: &Statements,
    input: &Input,
    pairs: &mut Vec<(Slot, Slot)>,
    mut row_bytes: u32,
) -> Outcome<(SortKey, u32)> {
    let fields = input.fields();
    let name = input.member().full_name();
    let mut keys = Vec::new();
    for by in &statements.by.keys {
        let found = select(fields, &by.variable, |variable, span| {
            let message = format!("Variable {variable} not found on file {name}.");
            Failure::at(span, message)
        })?;
        for index in found {
            let from = fields[index].slot;
            let travelling = pairs
                .iter()
                .find(|(source, _)| *source == from)
                .map(|(_, to)| *to);
            let slot = travelling.unwrap_or_else(|| {
                let to = Slot {
                    offset: row_bytes,
                    big_endian: false,
                    ..from
                };
                pairs.push((from, to));
                row_bytes += from.length;
                to
            });
            keys.push(KeyField {
                slot,
                descending: by.descending,
            });
        }
    }
    if keys.is_empty() {
        let message = "No BY statement used or no sort keys given.";
        return Err(Failure::at(&statements.by_span, message));
    }
    Ok((SortKey::new(keys), row_bytes))
}
