//! PROC OPTIONS: the system options in force, in the log.

use engine::failure::{Failure, Outcome};
use engine::options::Shown;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::ProcStep;
use lang::cursor::Cursor;

use crate::target::{no_statements, unknown};

/// PROC OPTIONS.
pub(crate) struct SystemOptions;

/// Columns of `NAME=value` before the description.
const SETTING_COLUMNS: usize = 18;

/// The options of the PROC statement.
#[derive(Default)]
struct Request {
    /// OPTION=; empty for all.
    names: Vec<String>,
    value: bool,
    short: bool,
}

impl Procedure for SystemOptions {
    fn name(&self) -> &'static str {
        "OPTIONS"
    }

    fn support(&self) -> Support {
        Support {
            yes: "OPTION=, VALUE (without how it was set), SHORT, LONG; the options that there are",
            no: "GROUP=, DEFINE, HOST and others",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        request(step, &world.options.shown()).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let all = world.options.shown();
        let request = request(step, &all)?;
        let wanted = |one: &&Shown| {
            request.names.is_empty() || request.names.iter().any(|name| name == one.name)
        };
        let chosen: Vec<&Shown> = all.iter().filter(wanted).collect();
        world.log.line("");
        if request.short {
            for line in lines(&chosen, world.options.linesize as usize) {
                world.log.line(&line);
            }
        } else {
            for one in chosen {
                for line in request.described(one) {
                    world.log.line(&line);
                }
            }
        }
        Ok(())
    }
}

fn request(step: &ProcStep, all: &[Shown]) -> Outcome<Request> {
    let request = Request::read(step, all)?;
    no_statements(step, "OPTIONS")?;
    Ok(request)
}

impl Request {
    fn read(step: &ProcStep, all: &[Shown]) -> Outcome<Self> {
        let mut request = Self::default();
        let mut cursor = Cursor::new(&step.options, &step.span);
        while let Some(word) = cursor.peek_word() {
            match word.to_ascii_uppercase().as_str() {
                "OPTION" => request.names(&mut cursor, all)?,
                "VALUE" => {
                    cursor.next();
                    request.value = true;
                }
                word @ ("SHORT" | "LONG" | "NOSHORT") => {
                    request.short = word == "SHORT";
                    cursor.next();
                }
                _ => return Err(unknown(&cursor, "OPTIONS", "option")),
            }
        }
        cursor.expect_end()?;
        Ok(request)
    }

    /// `OPTION=name`, `OPTION=(name name)`
    fn names(&mut self, cursor: &mut Cursor<'_>, all: &[Shown]) -> Outcome<()> {
        cursor.next();
        cursor.expect_symbol("=")?;
        let list = cursor.eat_symbol("(");
        loop {
            let (name, span) = cursor.expect_name("the name of an option")?;
            let upper = name.to_ascii_uppercase();
            if !all.iter().any(|one| one.name == upper) {
                let message = format!(
                    "Option {upper} is not recognized or not implemented yet; PROC OPTIONS without \
                     OPTION= shows what there is"
                );
                return Err(Failure::at(&span, message));
            }
            self.names.push(upper);
            if !list {
                return Ok(());
            }
            if cursor.eat_symbol(")") {
                return Ok(());
            }
        }
    }

    fn described(&self, one: &Shown) -> Vec<String> {
        if self.value {
            return vec![
                format!("Option Value Information For SAS Option {}", one.name),
                format!("    Value: {}", one.value()),
                String::new(),
            ];
        }
        let (setting, description) = (one.setting(), one.description);
        vec![format!(" {setting:<SETTING_COLUMNS$}{description}")]
    }
}

/// Settings one behind the other, in lines of `width` columns.
fn lines(chosen: &[&Shown], width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for one in chosen {
        let setting = one.setting();
        let Some(line) = lines.last_mut() else { break };
        if !line.is_empty() && line.len() + 1 + setting.len() > width {
            lines.push(setting);
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(&setting);
        }
    }
    lines
}
