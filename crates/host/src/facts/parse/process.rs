//! Running processes of SAS, of its servers and of schedulers: `/proc/PID/cmdline`, and outputs of
//! `ps aux`.

use super::{Found, after, found, lines};
use crate::facts::{Key, Value};

/// Programs whose limits matter, and what they are called here.
const PROGRAMS: [(&str, &str); 14] = [
    ("sas", "sas"),
    ("objspawn", "objspawn"),
    ("elssrv", "elssrv"),
    ("cas", "cas"),
    ("res", "lsf"),
    ("sbatchd", "lsf"),
    ("mbatchd", "lsf"),
    ("slurmd", "slurm"),
    ("slurmstepd", "slurm"),
    ("mmfsd", "gpfs"),
    ("qemu-kvm", "qemu"),
    ("qemu-system-x86_64", "qemu"),
    ("sasconnect", "sas"),
    ("sasgsub", "sas"),
];

/// Options of SAS that a command line may set.
const OPTIONS: [&str; 14] = [
    "WORK",
    "UTILLOC",
    "MEMSIZE",
    "SORTSIZE",
    "BUFSIZE",
    "UBUFSIZE",
    "IBUFSIZE",
    "IBUFNO",
    "CPUCOUNT",
    "FILELOCKS",
    "COMPRESS",
    "ALIGNSASIOFILES",
    "NOALIGNSASIOFILES",
    "CONFIG",
];

/// Reads `/proc/PID/cmdline`, whose arguments end with a zero byte.
pub fn parse(path: &str, text: &str) -> Vec<Found> {
    let process = after(path, "proc").filter(|process| process.parse::<u32>().is_ok());
    let arguments: Vec<&str> = text.split('\0').filter(|part| !part.is_empty()).collect();
    process.map_or_else(Vec::new, |process| facts(process, &arguments, 0))
}

/// Reads `ps aux`: user, process, nine columns, command.
pub fn parse_ps(_path: &str, text: &str) -> Vec<Found> {
    let mut all = Vec::new();
    for (number, line) in lines(text) {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        if let [_, process, _, _, _, _, _, _, _, _, arguments @ ..] = fields.as_slice()
            && process.parse::<u32>().is_ok()
        {
            all.extend(facts(process, arguments, number));
        }
    }
    all
}

fn facts(process: &str, arguments: &[&str], line: usize) -> Vec<Found> {
    let program = arguments.first().copied().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    let Some((_, kind)) = PROGRAMS.iter().find(|(name, _)| *name == program) else {
        return Vec::new();
    };
    let mut facts = vec![found(Key::of("process", process, "kind"), *kind, line)];
    if *kind != "sas" {
        return facts;
    }
    let mut rest = arguments.iter().skip(1).peekable();
    while let Some(argument) = rest.next() {
        let Some(name) = argument.strip_prefix('-') else {
            continue;
        };
        let name = name.to_ascii_uppercase();
        if !OPTIONS.contains(&name.as_str()) {
            continue;
        }
        let value = rest.next_if(|next| !next.starts_with('-'));
        let value = value.map_or(Value::from(""), |value| Value::of(value));
        let key = Key::of("process", process, &format!("option.{name}"));
        facts.push(found(key, value, line));
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_a_running_sas_are_read() {
        let text =
            "/opt/sas/SASFoundation/9.4/sasexe/sas\0-WORK\0/saswork\0-NOTERMINAL\0-memsize\08G\0";
        let facts = parse("/proc/77/cmdline", text);
        let found: Vec<String> = facts
            .iter()
            .map(|fact| format!("{}={}", fact.key, fact.value))
            .collect();
        assert_eq!(
            found,
            [
                "process[77].kind=sas",
                "process[77].option.WORK=/saswork",
                "process[77].option.MEMSIZE=8G"
            ]
        );
        assert!(parse("/proc/78/cmdline", "/bin/bash\0").is_empty());
    }
}
