//! Copying data sets: PROC COPY, COPY of PROC DATASETS, and PROC APPEND where there is no BASE= yet.

use base::diag::Span;
use engine::dataset::copy::RowCopy;
use engine::dataset::input::Input;
use engine::dataset::output::{Output, OutputPlan};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::index::build;
use engine::library::Member;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::ProcStep;
use lang::cursor::Cursor;
use sas7bdat::{Layout, Variable};

use crate::datasets::{Names, delete, members};
use crate::target::{library, member_type, unknown};

/// PROC COPY.
pub(crate) struct Copy;

impl Procedure for Copy {
    fn name(&self) -> &'static str {
        "COPY"
    }

    fn support(&self) -> Support {
        Support {
            yes: "IN=, OUT=, SELECT, EXCLUDE, MOVE, CLONE, NOCLONE; indexes are made again",
            no: "INDEX=NO, other member types",
        }
    }

    fn check(&self, step: &ProcStep, _: &mut World) -> Outcome<()> {
        request(step).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        request(step)?.run(world)
    }
}

fn request(step: &ProcStep) -> Outcome<Request> {
    let mut request = Request::read(&mut Cursor::new(&step.options, &step.span), "COPY", None)?;
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        if !request.eat_choice(&mut cursor)? {
            return Err(unknown(&cursor, "COPY", "statement"));
        }
    }
    Ok(request)
}

/// What is to be copied where.
pub(crate) struct Request {
    from: (String, Span),
    to: (String, Span),
    /// COMPRESS= and BUFSIZE= of the original stay.
    clone: bool,
    /// The original goes once it is copied.
    moved: bool,
    select: Option<Names>,
    exclude: Option<Names>,
}

impl Request {
    /// The options of PROC COPY, or of a COPY statement, where `library` is the one of the procedure.
    pub(crate) fn read(
        cursor: &mut Cursor<'_>,
        procedure: &str,
        library: Option<&str>,
    ) -> Outcome<Self> {
        let start = cursor.span();
        let mut from = library.map(|name| (name.to_owned(), start.clone()));
        let (mut to, mut clone, mut moved) = (None, true, false);
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "IN" | "INLIB" | "INDD" => {
                    cursor.next();
                    cursor.expect_symbol("=")?;
                    from = Some(cursor.expect_name("a libref")?);
                }
                "OUT" | "OUTLIB" | "OUTDD" => {
                    cursor.next();
                    cursor.expect_symbol("=")?;
                    to = Some(cursor.expect_name("a libref")?);
                }
                "CLONE" | "NOCLONE" => {
                    clone = word.eq_ignore_ascii_case("CLONE");
                    cursor.next();
                }
                "MOVE" => {
                    moved = true;
                    cursor.next();
                }
                "MT" | "MEMTYPE" => member_type(cursor)?,
                _ => return Err(unknown(cursor, procedure, "option")),
            }
        }
        cursor.expect_end()?;
        let missing =
            |what| Failure::at(&start, format!("The required option {what}= is missing."));
        Ok(Self {
            from: from.ok_or_else(|| missing("IN"))?,
            to: to.ok_or_else(|| missing("OUT"))?,
            clone,
            moved,
            select: None,
            exclude: None,
        })
    }

    /// SELECT or EXCLUDE; false if it is another statement.
    pub(crate) fn eat_choice(&mut self, cursor: &mut Cursor<'_>) -> Outcome<bool> {
        let choice = if cursor.eat_word("SELECT") {
            &mut self.select
        } else if cursor.eat_word("EXCLUDE") {
            &mut self.exclude
        } else {
            return Ok(false);
        };
        *choice = Some(Names::read(cursor)?);
        Ok(true)
    }

    /// Copies the data sets, one after the other in the order of their names.
    pub(crate) fn run(self, world: &mut World) -> Outcome<()> {
        let (from, to) = (
            library(world, &self.from.0, &self.from.1)?,
            library(world, &self.to.0, &self.to.1)?,
        );
        if from.directory == to.directory {
            let message =
                "IN= and OUT= are the same library: a data set cannot be copied onto itself";
            return Err(Failure::at(&self.to.1, message));
        }
        let names = match &self.select {
            Some(chosen) => chosen.expand(world, &from)?,
            None => members(world, &from)?,
        };
        let left_out = match &self.exclude {
            Some(chosen) => chosen.expand(world, &from)?,
            None => Vec::new(),
        };
        for name in names {
            if left_out.contains(&name) {
                continue;
            }
            let source = world.libraries.member(&from.libref, &name, &self.from.1)?;
            let target = world.libraries.member(&to.libref, &name, &self.to.1)?;
            let source = source.located(world.store.as_ref())?;
            if source.path() == target.path() {
                let name = source.full_name();
                let message = format!("{name}: a data set cannot be copied onto itself");
                return Err(Failure::at(&self.to.1, message));
            }
            let verb = if self.moved { "Moving" } else { "Copying" };
            let (old, new) = (source.full_name(), target.full_name());
            world.note(&format!("{verb} {old} to {new} (memtype=DATA)."));
            let input = Input::open_member(world, source.clone())?;
            let indexes = input.metadata().indexes.clone();
            copy_to(world, input, target.clone(), self.clone)?;
            if !indexes.is_empty() {
                build::rebuild(world, &target, &indexes)?;
            }
            if self.moved {
                delete(world, &source, &self.from.1)?;
            }
        }
        Ok(())
    }
}

/// Makes `target` of the rows that `input` delivers, with the variables that it shows. A `clone` has
/// the original's compression and page size.
pub(crate) fn copy_to(
    world: &mut World,
    mut input: Input,
    target: Member,
    clone: bool,
) -> Outcome<u64> {
    let metadata = input.metadata();
    let plan = OutputPlan {
        compress: clone.then_some(metadata.compression),
        bufsize: clone.then_some(u64::from(metadata.page_bytes)),
        label: metadata.label.clone(),
        creator: "COPY",
        encoding: metadata.encoding,
        indexes: Vec::new(),
    };
    let fields = input.fields();
    let variables: Vec<Variable> = fields.iter().map(|field| field.variable.clone()).collect();
    let mut output = Output::create(world, target, &variables, plan)?;
    let slots = slots(&variables, output.layout());
    let pairs: Vec<(Slot, Slot)> = fields.iter().map(|field| field.slot).zip(slots).collect();
    let copy = RowCopy::new(&pairs);
    let copied = copy_rows(&mut input, &mut output, &copy);
    if let Err(failure) = copied {
        output.discard(world);
        return Err(failure);
    }
    input.finish(world)?;
    output.finish(world)
}

fn copy_rows(input: &mut Input, output: &mut Output, copy: &RowCopy) -> Outcome<()> {
    while let Some(row) = input.next_row()? {
        output.write_row_with(|to| copy.apply(row, to))?;
    }
    Ok(())
}

/// Where variables lie in a row of `layout`.
pub(crate) fn slots(variables: &[Variable], layout: &Layout) -> Vec<Slot> {
    let places = variables.iter().zip(&layout.offsets);
    places
        .map(|(variable, offset)| Slot {
            kind: variable.kind,
            offset: *offset,
            length: variable.length,
            big_endian: false,
        })
        .collect()
}
