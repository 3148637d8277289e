//! systemd: lists of units (`systemctl list-units`, `list-unit-files`), and its files of settings
//! (`system.conf`, drop-ins).

use super::{Found, base, found, lines, said};
use crate::facts::{Key, Value};

/// Services that the rules ask for, or that fight with them.
const SERVICES: [&str; 24] = [
    "chronyd",
    "chrony",
    "ntpd",
    "ntp",
    "systemd-timesyncd",
    "tuned",
    "tlp",
    "power-profiles-daemon",
    "cpupower",
    "ktune",
    "saptune",
    "irqbalance",
    "multipathd",
    "multipath-tools",
    "fstrim",
    "nfs-server",
    "rpc-statd",
    "slurmd",
    "lsf",
    "lsfd",
    "beegfs-client",
    "vmtoolsd",
    "dlm",
    "pacemaker",
];

/// Reads `list-units` (`tuned.service loaded active running …`) and `list-unit-files`
/// (`tuned.service enabled …`).
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in lines(text) {
        let line = line.trim_start_matches(['●', '*', ' ', '×']);
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let Some(unit) = fields.first() else {
            continue;
        };
        let name = unit
            .strip_suffix(".service")
            .or_else(|| unit.strip_suffix(".timer"));
        let Some(name) = name.filter(|name| SERVICES.contains(name)) else {
            continue;
        };
        let (fact, value) = match fields.as_slice() {
            [_, "loaded" | "not-found" | "masked" | "error", active, ..] => ("active", *active),
            [_, state, ..] => ("enabled", *state),
            _ => continue,
        };
        facts.push(found(Key::of("service", name, fact), value, number));
    }
    facts
}

/// Reads `system.conf`, `user-.slice.d/*.conf` and drop-ins: `[Manager] DefaultLimitNOFILE=…`. The
/// subject is the unit.
pub fn parse_settings(path: &str, text: &str) -> Vec<Found> {
    let folder = path.rsplit('/').nth(1).unwrap_or_default();
    let unit = match base(path) {
        "system.conf" | "user.conf" => "manager",
        _ => folder.strip_suffix(".d").unwrap_or(folder),
    };
    let unit = unit.trim_end_matches(".conf");
    let unit = if unit == "system" { "manager" } else { unit };
    let fact = |(number, line): (usize, &str)| {
        let (name, value) = line.split_once('=')?;
        let known = name.contains("Limit") || name.contains("TasksMax") || name.contains("Timeout");
        known.then(|| found(Key::of("unit", unit, name.trim()), Value::of(value), number))
    };
    said(text, &['#', ';', '[']).filter_map(fact).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_settings_are_read() {
        let text = [
            "tuned.service  loaded active running Dynamic System Tuning Daemon",
            "● chronyd.service not-found inactive dead chronyd",
            "irqbalance.service enabled enabled",
            "foo.service enabled",
        ]
        .join("\n");
        let facts = parse("systemctl", &text);
        let values: Vec<String> = facts
            .iter()
            .map(|fact| format!("{}={}", fact.key, fact.value))
            .collect();
        assert_eq!(
            values,
            [
                "service[tuned].active=active",
                "service[chronyd].active=inactive",
                "service[irqbalance].enabled=enabled"
            ]
        );
        let facts = parse_settings(
            "/etc/systemd/system/user-.slice.d/10-a.conf",
            "[Slice]\nTasksMax=infinity\n",
        );
        assert_eq!(facts[0].key.to_string(), "unit[user-.slice].TasksMax");
        let facts = parse_settings(
            "/etc/systemd/system.conf",
            "[Manager]\n#DefaultTasksMax=1\nDefaultTasksMax=80%\n",
        );
        assert_eq!(facts[0].key.to_string(), "unit[manager].DefaultTasksMax");
    }
}
