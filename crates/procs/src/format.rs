//! PROC FORMAT: VALUE, PICTURE and INVALUE, and formats in data sets.

mod control;
mod made;
mod statements;

use engine::failure::{Failure, Outcome};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{DatasetRef, ProcStep, Token};
use lang::cursor::Cursor;

use self::control::Choice;
use self::made::{Budget, Made};
use crate::target::{dataset_value, unknown};

/// PROC FORMAT.
pub(crate) struct Formats;

impl Procedure for Formats {
    fn name(&self) -> &'static str {
        "FORMAT"
    }

    fn support(&self) -> Support {
        Support {
            yes: "VALUE, INVALUE and PICTURE of numbers and texts: lists, ranges with LOW, HIGH, `<`, \
                  OTHER; other formats in brackets, `_SAME_`, `_ERROR_`; DEFAULT=, MIN=, MAX=, FUZZ=, \
                  UPCASE, JUST, ROUND; PREFIX=, FILL=, MULT=, NOEDIT, DECSEP=, DIG3SEP=, DATATYPE= of \
                  pictures; CNTLIN=, CNTLOUT= with SELECT and EXCLUDE; in WORK, within MEMSIZE",
            no: "FMTLIB, PAGE, MULTILABEL, NOTSORTED, REGEXP, LANGUAGE= but English, functions as \
                 formats, permanent libraries",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        // Formats are the session's own and cost nothing; steps that follow name them. Data sets
        // are not touched.
        let mut request = request(step)?;
        request.from = None;
        request.out = None;
        request.run(step, world)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        request(step)?.run(step, world)
    }
}

/// Options of the PROC statement.
struct Request {
    /// CNTLIN=
    from: Option<DatasetRef>,
    /// CNTLOUT=
    out: Option<DatasetRef>,
}

fn request(step: &ProcStep) -> Outcome<Request> {
    let mut cursor = Cursor::new(&step.options, &step.span);
    let (mut from, mut out) = (None, None);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "LIB" | "LIBRARY" => {
                let span = cursor.span();
                let library = cursor.setting()?.value.unwrap_or_default();
                let known = ["WORK", "WORK.FORMATS"];
                if !known.iter().any(|one| library.eq_ignore_ascii_case(one)) {
                    let what = format!("permanent format library {library}");
                    return Err(Cursor::new(&[], &span).not_yet(what).into());
                }
            }
            "CNTLIN" => {
                cursor.next();
                from = Some(dataset_value(&mut cursor)?);
            }
            "CNTLOUT" => {
                cursor.next();
                out = Some(dataset_value(&mut cursor)?);
            }
            _ => return Err(unknown(&cursor, "FORMAT", "option")),
        }
    }
    cursor.expect_end()?;
    Ok(Request { from, out })
}

impl Request {
    fn run(self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        // They stay beside the steps that follow.
        let limit = world.options.procedure_memory();
        let mut budget = Budget::new(limit, world.formats.bytes());
        if let Some(from) = &self.from {
            control::read(world, from, &mut budget)?;
        }
        // The statements are in memory as long as the step is.
        let tokens = step.statements.iter().map(|one| one.tokens.len()).sum();
        budget.take(token_bytes(tokens))?;
        let mut choice = Choice::default();
        for statement in &step.statements {
            let mut cursor = Cursor::new(&statement.tokens, &statement.span);
            let word = cursor.peek_word().unwrap_or_default().to_ascii_uppercase();
            match word.as_str() {
                "VALUE" | "PICTURE" | "INVALUE" => {
                    cursor.next();
                    let (name, made) = match word.as_str() {
                        "VALUE" => statements::value(&mut cursor, world, &mut budget)?,
                        "PICTURE" => statements::picture(&mut cursor, &mut budget)?,
                        _ => statements::invalue(&mut cursor, world, &mut budget)?,
                    };
                    keep(world, name, made);
                }
                "SELECT" | "EXCLUDE" => {
                    cursor.next();
                    choice.read(&mut cursor, word == "EXCLUDE")?;
                }
                _ => return Err(unknown(&cursor, "FORMAT", "statement")),
            }
        }
        match &self.out {
            Some(out) => control::write(world, out, &choice),
            None => Ok(()),
        }
    }
}

/// What tokens take with their texts, about.
fn token_bytes(count: usize) -> u64 {
    const TEXT: usize = 24;
    (count * (size_of::<Token>() + TEXT)) as u64
}

/// Makes a format known, as the log tells.
fn keep(world: &mut World, name: String, made: Made) {
    let formats = std::sync::Arc::make_mut(&mut world.formats);
    let shown = name.clone();
    let (what, already) = match made {
        Made::Format(format) => ("Format", formats.insert(name, format)),
        Made::Informat(informat) => ("Informat", formats.insert_informat(name, informat)),
    };
    if already {
        world.note(&format!(
            "{what} {shown} is already on the library WORK.FORMATS."
        ));
    }
    world.note(&format!("{what} {shown} has been output."));
}

/// The step's memory does not suffice.
fn out_of_memory() -> Failure {
    Failure::world(
        "The SAS System stopped processing this step because of insufficient memory: the formats do \
         not fit into MEMSIZE=.",
    )
}
