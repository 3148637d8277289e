//! Automatic macro variables.

use base::diag::Severity;

use super::world::World;
use crate::datetime;
use crate::log::Counts;

/// Those of the session's start.
pub(super) fn define(world: &mut World, process_id: u32) {
    let now = world.meter.wall().sas_datetime;
    let (date, second) = datetime::split(now);
    let month = datetime::MONTHS
        .get(date.month as usize - 1)
        .unwrap_or(&"JAN");
    let short = date.year.rem_euclid(100);
    let (hour, minute) = (second / 3600, second / 60 % 60);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a remainder of seven"
    )]
    let weekday = (now / 86_400.0).floor().rem_euclid(7.0) as usize;
    let day = datetime::WEEKDAYS.get(weekday).unwrap_or(&"Friday");
    for (name, value) in [
        ("SYSDATE", format!("{:02}{month}{short:02}", date.day)),
        (
            "SYSDATE9",
            format!("{:02}{month}{:04}", date.day, date.year),
        ),
        ("SYSDAY", (*day).to_owned()),
        ("SYSTIME", format!("{hour:02}:{minute:02}")),
        ("SYSJOBID", process_id.to_string()),
        ("SYSVER", "9.4".to_owned()),
        ("SYSSCP", "LIN X64".to_owned()),
        ("SYSSCPL", "Linux".to_owned()),
        ("SYSENV", "BACK".to_owned()),
        ("SYSERR", "0".to_owned()),
        ("SYSINDEX", "0".to_owned()),
        ("SYSMACRONAME", String::new()),
    ] {
        world.macros.set_automatic(name, &value, true);
    }
    for (name, value) in [
        ("SYSCC", "0"),
        ("SYSLAST", "_NULL_"),
        ("SYSDSN", "       _NULL_"),
        ("SYSPARM", ""),
        ("SYSRC", "0"),
        ("SYSLCKRC", "0"),
    ] {
        world.macros.set_automatic(name, value, false);
    }
}

/// A variable given on the command line, also in the place of an automatic one.
pub(super) fn define_from_outside(world: &mut World, name: &str, value: &str) {
    match name.to_ascii_uppercase().as_str() {
        name @ ("SYSJOBID" | "SYSPARM") => {
            let read_only = name == "SYSJOBID";
            world.macros.set_automatic(name, value, read_only);
        }
        name => {
            if let Err(text) = world.macros.set(name, value) {
                world.log.error(&format!("{text}."));
            }
        }
    }
}

/// SYSERR, SYSCC and SYSLAST after a step that said so much.
pub(super) fn step_ended(world: &mut World, said: Counts) {
    let worst = match said {
        Counts { errors: 1.., .. } => Some(Severity::Error),
        Counts { warnings: 1.., .. } => Some(Severity::Warning),
        _ => None,
    };
    let code = match worst {
        Some(Severity::Error) => 1012,
        Some(Severity::Warning) => 4,
        _ => 0,
    };
    world
        .macros
        .set_automatic("SYSERR", &code.to_string(), true);
    let before: u32 = world
        .macros
        .get("SYSCC")
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(0);
    if code > before {
        world
            .macros
            .set_automatic("SYSCC", &code.to_string(), false);
    }
    if let Some((libref, member)) = &world.last_dataset {
        let last = format!("{libref}.{member}").to_ascii_uppercase();
        world.macros.set_automatic("SYSLAST", &last, false);
        let padded = format!(
            "{:<8}{}",
            libref.to_ascii_uppercase(),
            member.to_ascii_uppercase()
        );
        world.macros.set_automatic("SYSDSN", &padded, false);
    }
}
