//! Settings of the host and of devices: which files of the kernel they are, what this host offers.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use base::units::parse_size;

use super::journal::{Undo, Value};
use super::plan::Kind;

/// Where the kernel shows its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kernel {
    /// `/sys`.
    pub sys: PathBuf,
    /// `/proc`.
    pub proc: PathBuf,
}

/// A setting with the level that it is to have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// The factor.
    pub factor: String,
    /// What it sets.
    pub kind: Kind,
    /// The sysctl, if it is one.
    pub setting: Option<String>,
    /// What is to be set.
    pub value: String,
    /// Names of the volumes it is of.
    pub volumes: Vec<String>,
}

/// Where a volume is, for settings of its device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of<'a> {
    /// Of no volume.
    Host,
    /// What is mounted at a directory.
    Mounted(&'a Path),
    /// A device.
    Device(&'a Path),
}

/// A file of the kernel and what it is to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Knob {
    /// Which.
    pub path: PathBuf,
    /// What it is to say.
    pub wanted: String,
    /// True if it lists all choices, with the one in force in brackets.
    pub lists: bool,
}

impl Kernel {
    /// That of this host.
    pub fn live() -> Self {
        Self {
            sys: "/sys".into(),
            proc: "/proc".into(),
        }
    }

    /// The files that a level sets; or why this host cannot have it.
    pub fn knobs(&self, wanted: &Wanted, of: Of<'_>) -> Result<Vec<Knob>, String> {
        let value = &wanted.value;
        let knobs = match wanted.kind {
            Kind::Thp => vec![Knob::list(self.huge_pages()?, value)],
            Kind::Smt => vec![Knob::plain(
                self.sys.join("devices/system/cpu/smt/control"),
                value,
            )],
            Kind::Governor => self.governors(value)?,
            Kind::CStates => self.idle_states(value)?,
            Kind::Sysctl => {
                let name = wanted.setting.as_deref().unwrap_or_default();
                vec![Knob::plain(
                    self.proc.join("sys").join(name.replace('.', "/")),
                    value,
                )]
            }
            Kind::Scheduler => self.of_disks(of, "scheduler", value, true)?,
            Kind::RqAffinity => self.of_disks(of, "rq_affinity", value, false)?,
            Kind::ReadAhead => {
                let kib = parse_size(value).map_or(0, |size| size.0 / 1024);
                vec![Knob::plain(self.read_ahead(of)?, &kib.to_string())]
            }
            _ => Vec::new(),
        };
        for knob in &knobs {
            knob.check()?;
        }
        Ok(knobs)
    }

    fn huge_pages(&self) -> Result<PathBuf, String> {
        let memory = self.sys.join("kernel/mm");
        // The second is what RHEL 6 called it.
        let names = ["transparent_hugepage", "redhat_transparent_hugepage"];
        let mut paths = names.iter().map(|name| memory.join(name).join("enabled"));
        let found = paths.find(|path| path.exists());
        found.ok_or_else(|| "this kernel has no transparent huge pages".to_owned())
    }

    fn governors(&self, value: &str) -> Result<Vec<Knob>, String> {
        let policies = self.sys.join("devices/system/cpu/cpufreq");
        let mut knobs = Vec::new();
        for policy in numbered(&policies, "policy") {
            let offered = policy.join("scaling_available_governors");
            let offered = fs::read_to_string(&offered).unwrap_or_default();
            if !offered.split_whitespace().any(|one| one == value) {
                return Err(format!("the processors' governors are {}", offered.trim()));
            }
            knobs.push(Knob::plain(policy.join("scaling_governor"), value));
        }
        if knobs.is_empty() {
            return Err(
                "this host does not let its processors' frequency be governed (no cpufreq)"
                    .to_owned(),
            );
        }
        Ok(knobs)
    }

    fn idle_states(&self, value: &str) -> Result<Vec<Knob>, String> {
        let limit = match value {
            "all" => u32::MAX,
            number => number
                .parse()
                .map_err(|_| format!("{number} is no latency"))?,
        };
        let mut knobs = Vec::new();
        for cpu in numbered(&self.sys.join("devices/system/cpu"), "cpu") {
            for state in numbered(&cpu.join("cpuidle"), "state") {
                let latency: Option<u32> = read(&state.join("latency"))
                    .ok()
                    .and_then(|text| text.parse().ok());
                let Some(latency) = latency else { continue };
                let disabled = if latency > limit { "1" } else { "0" };
                knobs.push(Knob::plain(state.join("disable"), disabled));
            }
        }
        if knobs.is_empty() {
            return Err("this host shows no idle states of its processors (no cpuidle)".to_owned());
        }
        Ok(knobs)
    }

    fn of_disks(
        &self,
        of: Of<'_>,
        name: &str,
        value: &str,
        lists: bool,
    ) -> Result<Vec<Knob>, String> {
        let disks = self.disks(number(of)?);
        if disks.is_empty() {
            return Err(format!("{} is on no block device", shown(of)));
        }
        let knob = |disk: PathBuf| Knob {
            path: disk.join("queue").join(name),
            wanted: value.to_owned(),
            lists,
        };
        Ok(disks.into_iter().map(knob).collect())
    }

    /// The disks below a device: those that a logical volume or an array is made of, the whole disk of a partition.
    fn disks(&self, (major, minor): (u32, u32)) -> Vec<PathBuf> {
        let mut found = Vec::new();
        let mut waiting = vec![self.sys.join(format!("dev/block/{major}:{minor}"))];
        while let Some(link) = waiting.pop() {
            let Ok(mut device) = fs::canonicalize(&link) else {
                continue;
            };
            if device.join("partition").exists() {
                device.pop();
            }
            let slaves = numbered(&device.join("slaves"), "");
            if slaves.is_empty() {
                if !found.contains(&device) {
                    found.push(device);
                }
            } else {
                waiting.extend(slaves);
            }
        }
        found.sort();
        found
    }

    fn read_ahead(&self, of: Of<'_>) -> Result<PathBuf, String> {
        let (major, minor) = number(of)?;
        let own = self
            .sys
            .join(format!("class/bdi/{major}:{minor}/read_ahead_kb"));
        if own.exists() {
            return Ok(own);
        }
        let device = self.sys.join(format!("dev/block/{major}:{minor}"));
        if let Ok(mut device) = fs::canonicalize(device) {
            if device.join("partition").exists() {
                device.pop();
            }
            return Ok(device.join("queue/read_ahead_kb"));
        }
        // btrfs has a number and a read-ahead of its own.
        let Of::Mounted(point) = of else {
            return Err(format!("{} is no block device", shown(of)));
        };
        let source = super::filesystem::mounted_at(point).map(|mount| mount.source);
        let device = source
            .as_ref()
            .and_then(|source| fs::canonicalize(source).ok());
        let name = device.as_ref().and_then(|device| device.file_name());
        let all = numbered(&self.sys.join("fs/btrfs"), "");
        let mut own = all
            .into_iter()
            .filter(|one| name.is_some_and(|name| one.join("devices").join(name).exists()));
        let found = own.next().map(|one| one.join("bdi/read_ahead_kb"));
        found.filter(|path| path.exists()).ok_or_else(|| {
            format!(
                "the kernel shows no read-ahead of what is mounted at {}",
                point.display()
            )
        })
    }
}

fn shown(of: Of<'_>) -> String {
    match of {
        Of::Host => "the host".to_owned(),
        Of::Mounted(path) | Of::Device(path) => path.display().to_string(),
    }
}

/// Number of the device.
fn number(of: Of<'_>) -> Result<(u32, u32), String> {
    let number = match of {
        Of::Host => return Err("a volume is needed".to_owned()),
        Of::Mounted(point) => fs::metadata(point).map(|there| there.dev()),
        Of::Device(device) => fs::metadata(device).map(|there| there.rdev()),
    };
    let number = number.map_err(|error| format!("failed to look at {}: {error}", shown(of)))?;
    Ok((rustix::fs::major(number), rustix::fs::minor(number)))
}

/// Entries of a folder whose names are the prefix and, if there is one, a number; sorted.
fn numbered(folder: &Path, prefix: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries
        .filter(|entry| {
            let name = entry.file_name();
            let rest = name.to_str().and_then(|name| name.strip_prefix(prefix));
            rest.is_some_and(|rest| {
                prefix.is_empty() || (!rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
            })
        })
        .map(|entry| entry.path())
        .collect();
    found.sort();
    found
}

/// What a file of the kernel says, blanks made single.
pub fn read(path: &Path) -> io::Result<String> {
    let text = fs::read_to_string(path)?;
    let words: Vec<&str> = text.split_whitespace().collect();
    Ok(words.join(" "))
}

/// Says something to the kernel.
pub fn write(path: &Path, value: &str) -> io::Result<()> {
    // Not made where there is none: a file that the kernel does not know would be read back well.
    let mut file = fs::OpenOptions::new().write(true).open(path)?;
    io::Write::write_all(&mut file, value.as_bytes())
}

impl Knob {
    fn plain(path: PathBuf, wanted: &str) -> Self {
        Self {
            path,
            wanted: wanted.to_owned(),
            lists: false,
        }
    }

    fn list(path: PathBuf, wanted: &str) -> Self {
        Self {
            lists: true,
            ..Self::plain(path, wanted)
        }
    }

    /// What it says now.
    pub fn now(&self) -> io::Result<String> {
        let text = read(&self.path)?;
        Ok(if self.lists { chosen(&text) } else { text })
    }

    /// Whether the host offers what is wanted.
    fn check(&self) -> Result<(), String> {
        let text = match read(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(format!("this host has no {}", self.path.display()));
            }
            other => {
                other.map_err(|error| format!("failed to read {}: {error}", self.path.display()))?
            }
        };
        if self.lists {
            let mut offered = text
                .split_whitespace()
                .map(|one| one.trim_matches(['[', ']']));
            if !offered.any(|one| one == self.wanted) {
                return Err(format!("{} offers {text}", self.path.display()));
            }
        }
        if text == "notsupported" || text == "notimplemented" {
            return Err(format!("{} says {text}", self.path.display()));
        }
        Ok(())
    }

    /// How it is put back where the kernel made something else of what was set.
    pub fn made(&self, before: &str, read_back: &str) -> Undo {
        let value = |value: &str| Value {
            path: self.path.clone(),
            value: value.to_owned(),
        };
        Undo::Setting {
            what: self.path.display().to_string(),
            set: value(read_back),
            restore: value(before),
        }
    }

    /// How the change is put back.
    pub fn undo(&self) -> io::Result<Undo> {
        let now = self.now()?;
        let mut restore = Value {
            path: self.path.clone(),
            value: now.clone(),
        };
        // A limit of 0 cannot be written: the kernel shows it where the other view of it is in force.
        if let Some(other) = other_view(&self.path).filter(|_| now == "0") {
            restore = Value {
                value: read(&other)?,
                path: other,
            };
        }
        Ok(Undo::Setting {
            what: self.path.display().to_string(),
            set: Value {
                path: self.path.clone(),
                value: self.wanted.clone(),
            },
            restore,
        })
    }
}

/// `always [madvise] never` is `madvise`.
pub fn chosen(text: &str) -> String {
    let inside = text
        .split_once('[')
        .and_then(|(_, rest)| rest.split_once(']'));
    inside.map_or(text, |(inside, _)| inside).to_owned()
}

/// Limits of dirty memory are given in bytes or in percent; the one that is set last is in force.
fn other_view(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let other = match name {
        "dirty_bytes" => "dirty_ratio",
        "dirty_ratio" => "dirty_bytes",
        "dirty_background_bytes" => "dirty_background_ratio",
        "dirty_background_ratio" => "dirty_background_bytes",
        _ => return None,
    };
    Some(path.with_file_name(other))
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// A kernel of files.
    pub fn kernel(root: &Path, files: &[(&str, &str)]) -> Kernel {
        for (name, text) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Kernel {
            sys: root.join("sys"),
            proc: root.join("proc"),
        }
    }

    pub fn wanted(kind: Kind, setting: Option<&str>, value: &str) -> Wanted {
        Wanted {
            factor: "a".to_owned(),
            kind,
            setting: setting.map(str::to_owned),
            value: value.to_owned(),
            volumes: Vec::new(),
        }
    }

    #[test]
    fn levels_that_a_host_does_not_have_are_refused_with_the_reason() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            (
                "sys/kernel/mm/transparent_hugepage/enabled",
                "always [madvise] never\n",
            ),
            ("sys/devices/system/cpu/smt/control", "notsupported\n"),
            (
                "sys/devices/system/cpu/cpufreq/policy0/scaling_available_governors",
                "performance powersave\n",
            ),
            (
                "sys/devices/system/cpu/cpufreq/policy0/scaling_governor",
                "powersave\n",
            ),
        ];
        let kernel = kernel(root.path(), &files);
        let of = |kind, setting, value| kernel.knobs(&wanted(kind, setting, value), Of::Host);
        let found = of(Kind::Thp, None, "never").unwrap();
        assert_eq!(found[0].now().unwrap(), "madvise");
        assert_eq!(of(Kind::Governor, None, "performance").unwrap().len(), 1);
        let refused = [
            of(Kind::Governor, None, "ondemand"),
            of(Kind::Smt, None, "off"),
            of(Kind::CStates, None, "10"),
            of(Kind::Sysctl, Some("vm.no_such"), "1"),
        ];
        let reasons = refused.map(Result::unwrap_err);
        let reasons = reasons.map(|text| text.replace(&root.path().display().to_string(), ""));
        assert_eq!(
            reasons,
            [
                "the processors' governors are performance powersave",
                "/sys/devices/system/cpu/smt/control says notsupported",
                "this host shows no idle states of its processors (no cpuidle)",
                "this host has no /proc/sys/vm/no_such",
            ]
        );
    }

    #[test]
    fn idle_states_that_wake_up_too_late_are_disabled() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/latency", "0\n"),
            ("sys/devices/system/cpu/cpu0/cpuidle/state0/disable", "0\n"),
            (
                "sys/devices/system/cpu/cpu0/cpuidle/state1/latency",
                "133\n",
            ),
            ("sys/devices/system/cpu/cpu0/cpuidle/state1/disable", "0\n"),
        ];
        let kernel = kernel(root.path(), &files);
        let values = |value| -> Vec<String> {
            let knobs = kernel
                .knobs(&wanted(Kind::CStates, None, value), Of::Host)
                .unwrap();
            knobs.into_iter().map(|knob| knob.wanted).collect()
        };
        assert_eq!(values("10"), ["0", "1"]);
        assert_eq!(values("all"), ["0", "0"]);
    }

    #[test]
    fn a_limit_of_nothing_is_put_back_by_its_other_view() {
        let root = tempfile::tempdir().unwrap();
        let files = [
            ("proc/sys/vm/dirty_bytes", "0\n"),
            ("proc/sys/vm/dirty_ratio", "20\n"),
        ];
        let kernel = kernel(root.path(), &files);
        let knobs = kernel.knobs(
            &wanted(Kind::Sysctl, Some("vm.dirty_bytes"), "1048576"),
            Of::Host,
        );
        let Undo::Setting { restore, .. } = knobs.unwrap()[0].undo().unwrap() else {
            panic!("a setting");
        };
        assert_eq!(restore.value, "20");
        assert!(restore.path.ends_with("dirty_ratio"));
    }
}
