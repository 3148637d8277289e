//! PROC APPEND: rows of one data set are added to another in place.

use base::diag::Span;
use engine::dataset::copy::{RowCopy, store_number, store_text};
use engine::dataset::extend::Extension;
use engine::dataset::input::{Field, Input};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{DatasetRef, ProcStep};
use lang::cursor::Cursor;
use sas7bdat::missing::missing;
use sas7bdat::{Kind, Variable};

use crate::copy::{copy_to, slots};
use crate::target::{dataset_in, input_or_last, no_statements, unknown};

/// PROC APPEND.
pub(crate) struct Append;

impl Procedure for Append {
    fn name(&self) -> &'static str {
        "APPEND"
    }

    fn support(&self) -> Support {
        Support {
            yes: "BASE=, DATA= with data set options, FORCE, NOWARN, APPENDVER= (of no effect). Rows \
                  are added in place: those that are there are not read; indexes are made anew",
            no: "data set options of BASE=, bases with a unique index, with deleted rows, or of other \
                  hosts",
        }
    }

    fn check(&self, step: &ProcStep, _: &mut World) -> Outcome<()> {
        request(step).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        request(step)?.run(world, &step.span)
    }
}

fn request(step: &ProcStep) -> Outcome<Request> {
    let mut cursor = Cursor::new(&step.options, &step.span);
    let request = Request::read(&mut cursor, "APPEND", None)?;
    no_statements(step, "APPEND")?;
    Ok(request)
}

/// What is to be added to what.
pub(crate) struct Request {
    base: DatasetRef,
    data: Option<DatasetRef>,
    force: bool,
    quiet: bool,
}

impl Request {
    /// The options of PROC APPEND, or of an APPEND statement about data sets of `library`.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        procedure: &str,
        library: Option<&str>,
    ) -> Outcome<Self> {
        let start = cursor.span();
        let (mut base, mut data, mut force, mut quiet) = (None, None, false, false);
        while let Some(word) = cursor.peek_word() {
            let word = word.to_ascii_uppercase();
            match word.as_str() {
                "BASE" | "OUT" => {
                    cursor.next();
                    base = Some(dataset_in(cursor, library)?);
                }
                "DATA" | "NEW" => {
                    cursor.next();
                    data = Some(dataset_in(cursor, library)?);
                }
                "APPENDVER" => {
                    // V6 adds row by row to indexes, V9 sorts first: the result is the same.
                    cursor.setting()?;
                }
                "FORCE" | "NOWARN" => {
                    force |= word == "FORCE";
                    quiet |= word == "NOWARN";
                    cursor.next();
                }
                _ => return Err(unknown(cursor, procedure, "option")),
            }
        }
        cursor.expect_end()?;
        let missing = || Failure::at(&start, "The required option BASE= is missing.");
        Ok(Self {
            base: base.ok_or_else(missing)?,
            data,
            force,
            quiet,
        })
    }

    /// Adds the rows.
    pub(crate) fn run(self, world: &mut World, span: &Span) -> Outcome<()> {
        let data = input_or_last(self.data, world, span)?;
        let member = world.found(&self.base)?;
        if let Some(option) = self.base.options.first() {
            let name = option.name.to_ascii_uppercase();
            let message = format!("BASE= with the data set option {name}= is not implemented yet.");
            return Err(Failure::at(&option.span, message));
        }
        if world.found(&data)?.path() == member.path() {
            let message =
                "BASE= and DATA= are the same data set: its rows cannot be added to itself";
            return Err(Failure::at(&data.span, message));
        }
        let input = Input::open(world, &data)?;
        world.note(&format!(
            "Appending {} to {}.",
            input.member().full_name(),
            member.full_name()
        ));
        let there = world
            .store
            .stat(member.library.write_channel(), &member.path())
            .map_err(|error| Failure::store(&member.full_name(), &error))?;
        if there.is_none() {
            world.note("BASE data set does not exist. DATA file is being copied to BASE file.");
            copy_to(world, input, member, false)?;
            return Ok(());
        }
        let base = Extension::open(world, member)?;
        add(world, base, input, self.force, self.quiet)
    }
}

fn add(
    world: &mut World,
    mut base: Extension,
    mut input: Input,
    force: bool,
    quiet: bool,
) -> Outcome<()> {
    let matched = Matched::of(&base, input.fields());
    let permitted = matched.tell(world, force, quiet);
    let encodings = (base.encoding(), input.metadata().encoding);
    let texts = base
        .variables()
        .iter()
        .any(|one| one.kind == Kind::Character);
    let alike = encodings.0 == encodings.1 || encodings.1.name == "us-ascii" || !texts;
    let ready = if !permitted {
        Err(Failure::world(
            "No appending done because of anomalies listed above. Use FORCE option to append these \
             files.",
        ))
    } else if alike {
        Ok(())
    } else {
        Err(Failure::world(format!(
            "The base data set has the encoding {} and the data to add have {}: nothing is \
             transcoded. Give both the same encoding.",
            encodings.0.name, encodings.1.name
        )))
    };
    let added = ready.and_then(|()| {
        let copy = RowCopy::new(&matched.pairs);
        let mut row = matched.blank;
        while let Some(from) = input.next_row()? {
            copy.apply(from, &mut row);
            base.write_row(&row)?;
        }
        Ok(())
    });
    if let Err(failure) = added {
        base.discard(world);
        return Err(failure);
    }
    input.finish(world)?;
    if matched.changes {
        world.note("FORCE is specified, so dropping/truncating will occur.");
    }
    base.finish(world)?;
    Ok(())
}

/// How the variables of both sides go together.
struct Matched {
    pairs: Vec<(Slot, Slot)>,
    /// A row of missing values.
    blank: Vec<u8>,
    warnings: Vec<String>,
    /// Values are lost, which needs FORCE.
    changes: bool,
}

impl Matched {
    fn of(base: &Extension, fields: &[Field]) -> Self {
        let mut blank = vec![0; base.layout().row_bytes as usize];
        let (mut pairs, mut warnings, mut changes) = (Vec::new(), Vec::new(), false);
        let to = slots(base.variables(), base.layout());
        for (variable, slot) in base.variables().iter().zip(&to) {
            blank_out(slot, &mut blank);
            let same = |field: &&Field| field.variable.name.eq_ignore_ascii_case(&variable.name);
            let Some(field) = fields.iter().find(same) else {
                warnings.push(format!(
                    "Variable {} was not found on DATA file.",
                    variable.name
                ));
                continue;
            };
            if field.slot.kind != slot.kind {
                warnings.push(format!(
                    "Variable {} not appended because of type mismatch.",
                    variable.name
                ));
                changes = true;
                continue;
            }
            if field.slot.length != slot.length {
                warnings.push(lengths_differ(variable, field));
                changes |= field.slot.length > slot.length;
            }
            pairs.push((field.slot, *slot));
        }
        for field in fields {
            let name = &field.variable.name;
            if !base
                .variables()
                .iter()
                .any(|one| one.name.eq_ignore_ascii_case(name))
            {
                warnings.push(format!(
                    "Variable {name} was not found on BASE file. The variable will not be added to \
                     the BASE file."
                ));
                changes = true;
            }
        }
        Self {
            pairs,
            blank,
            warnings,
            changes,
        }
    }

    /// Warns of differences; false if they need FORCE and it is not given.
    fn tell(&self, world: &mut World, force: bool, quiet: bool) -> bool {
        let permitted = force || !self.changes;
        if !(quiet && permitted) {
            for warning in &self.warnings {
                world.log.warning(warning);
            }
        }
        permitted
    }
}

fn lengths_differ(variable: &Variable, field: &Field) -> String {
    format!(
        "Variable {} has different lengths on BASE and DATA files (BASE {} DATA {}).",
        variable.name, variable.length, field.variable.length
    )
}

/// A missing value.
fn blank_out(slot: &Slot, row: &mut [u8]) {
    match slot.kind {
        Kind::Numeric => store_number(slot, row, missing()),
        Kind::Character => store_text(slot, row, b""),
    }
}
