//! What this host cannot do of a plan, found before anything is run: programs and file systems that are missing,
//! settings that it does not have, mount options that its kernel refuses.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::design::{Cell, Volume};
use super::filesystem::{self, FileSystem};
use super::plan::{Kind, MatrixText, VolumeText};
use super::setting::{Kernel, Of, Wanted};
use super::{tool, tuned};

/// A file system is tried on a file of this size, without holes filled.
const TRIAL_BYTES: u64 = 2 << 30;

/// What is known of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It works.
    Yes,
    /// It does not; why.
    No(String),
    /// It could not be tried; why.
    Unknown(String),
}

/// Looks at a host, each question once.
pub struct Host<'a> {
    text: &'a MatrixText,
    kernel: Kernel,
    /// Where a file system may be tried; none where nothing is to be written.
    scratch: Option<&'a Path>,
    answers: BTreeMap<String, Answer>,
}

impl<'a> Host<'a> {
    /// This host.
    pub fn new(text: &'a MatrixText, kernel: Kernel, scratch: Option<&'a Path>) -> Self {
        Self {
            text,
            kernel,
            scratch,
            answers: BTreeMap::new(),
        }
    }

    /// Whether a cell can be run; a refusal before what is not known.
    pub fn cell(&mut self, cell: &Cell) -> Answer {
        if let Some(why) = &cell.contradiction {
            return Answer::No(why.clone());
        }
        let mut unknown = None;
        let mut take = |answer: Answer| match answer {
            Answer::Yes => None,
            Answer::No(why) => Some(Answer::No(why)),
            Answer::Unknown(why) => {
                unknown.get_or_insert(why);
                None
            }
        };
        for (name, volume) in &cell.volumes {
            if let Some(no) = take(self.volume(name, volume)) {
                return no;
            }
        }
        for wanted in &cell.settings {
            if let Some(no) = take(self.setting(wanted)) {
                return no;
            }
        }
        unknown.map_or(Answer::Yes, Answer::Unknown)
    }

    fn once(&mut self, question: String, answer: impl FnOnce(&mut Self) -> Answer) -> Answer {
        if let Some(known) = self.answers.get(&question) {
            return known.clone();
        }
        let found = answer(self);
        self.answers.insert(question, found.clone());
        found
    }

    fn volume(&mut self, name: &str, volume: &Volume) -> Answer {
        if let Some(file_system) = volume.file_system {
            let known = self.once(file_system.name().to_owned(), |_| makes(file_system));
            if known != Answer::Yes {
                return known;
            }
            let is_logical = self
                .place(name)
                .is_some_and(|place| place.devices.is_some());
            if let Some(no) = no_volumes().filter(|_| is_logical) {
                return no;
            }
            let question = format!("{} {:?} {}", file_system.name(), volume.mkfs, volume.mount);
            return self.once(question, |host| host.tried(file_system, volume));
        }
        let source = self.place(name).and_then(|place| place.source.as_ref());
        let Some(source) = source.map(|source| source.get_ref().clone()) else {
            return Answer::Yes;
        };
        let Some(folder) = self.scratch else {
            return Answer::Unknown(format!(
                "whether {source} can be mounted is tried when the series starts"
            ));
        };
        let question = format!("{source} {} {}", volume.kind, volume.mount);
        let point = folder.to_owned();
        self.once(question, |_| {
            of_mount(
                mounted(&volume.kind, &source, &point, &volume.mount),
                &volume.kind,
                &volume.mount,
            )
        })
    }

    fn place(&self, name: &str) -> Option<&'a VolumeText> {
        let mut volumes = self.text.volumes.iter();
        volumes
            .find(|(key, _)| key.get_ref() == name)
            .map(|(_, volume)| volume)
    }

    /// Makes the file system on a scratch file and mounts it where nobody else sees it.
    fn tried(&mut self, file_system: FileSystem, volume: &Volume) -> Answer {
        let asked = if volume.mount.is_empty() {
            "default options"
        } else {
            &volume.mount
        };
        let name = file_system.name();
        let Some(folder) = self.scratch else {
            return Answer::Unknown(format!("{name} with {asked}: to try that needs root"));
        };
        let image = folder.join("trial.img");
        let made = fs::File::create(&image)
            .and_then(|file| file.set_len(TRIAL_BYTES))
            .map_err(|error| error.to_string())
            .and_then(|()| {
                let words = file_system.mkfs(&image.display().to_string(), &volume.mkfs);
                tool::run(&words)
                    .map(|_| ())
                    .map_err(|error| error.to_string())
            });
        let answer = match made {
            // Options may fit the volume and not the scratch file: the cell itself will tell.
            Err(why) => Answer::Unknown(format!("{name} on a scratch file: {why}")),
            Ok(()) => {
                let point = folder.join("trial");
                let found = fs::create_dir_all(&point)
                    .map_err(|error| error.to_string())
                    .and_then(|()| {
                        let options = ["loop", &volume.mount];
                        let options = options.join(",");
                        mounted(
                            name,
                            &image.display().to_string(),
                            &point,
                            options.trim_end_matches(','),
                        )
                    });
                match found {
                    Err(why) if !volume.mount.is_empty() => {
                        self.refused(file_system, &image, &volume.mount, &why)
                    }
                    found => of_mount(found, name, &volume.mount),
                }
            }
        };
        let _ = fs::remove_file(&image);
        answer
    }

    /// Names the options that the kernel refuses, each tried alone.
    fn refused(&self, file_system: FileSystem, image: &Path, options: &str, why: &str) -> Answer {
        let Some(folder) = self.scratch else {
            return Answer::No(why.to_owned());
        };
        let point = folder.join("trial");
        let alone = |option: &str| {
            let options = if option.is_empty() {
                "loop".to_owned()
            } else {
                format!("loop,{option}")
            };
            mounted(
                file_system.name(),
                &image.display().to_string(),
                &point,
                &options,
            )
        };
        if let Err(why) = alone("") {
            return Answer::No(format!(
                "{} cannot be mounted here: {why}",
                file_system.name()
            ));
        }
        let refused: Vec<&str> = options
            .split(',')
            .filter(|option| alone(option).is_err())
            .collect();
        let names = if refused.is_empty() {
            options.to_owned()
        } else {
            refused.join(", ")
        };
        let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        Answer::No(format!(
            "{} of Linux {} refuses the mount option {names}{}",
            file_system.name(),
            kernel.trim(),
            known_to_be_gone(file_system, &names)
        ))
    }

    fn setting(&mut self, wanted: &Wanted) -> Answer {
        let question = format!("{wanted:?}");
        let wanted = wanted.clone();
        self.once(question, |host| match wanted.kind {
            Kind::Tuned => tuned::missing(&wanted.value).map_or(Answer::Yes, Answer::No),
            _ if wanted.kind.is_of_volumes() => host.of_devices(&wanted),
            _ => match host.kernel.knobs(&wanted, Of::Host) {
                Ok(_) => Answer::Yes,
                Err(why) => Answer::No(format!("{} {}: {why}", wanted.factor, wanted.value)),
            },
        })
    }

    /// Settings of devices that are there already; those of loop devices are seen in the cell.
    fn of_devices(&self, wanted: &Wanted) -> Answer {
        for name in &wanted.volumes {
            let Some(place) = self.place(name) else {
                continue;
            };
            let devices = place.device.iter().chain(place.devices.iter().flatten());
            let devices: Vec<&Path> = devices.map(|device| Path::new(device.get_ref())).collect();
            let directory = place
                .directory
                .as_ref()
                .map(|directory| Path::new(directory.get_ref()));
            let ofs = devices
                .into_iter()
                .map(Of::Device)
                .chain(directory.map(Of::Mounted));
            for of in ofs {
                if let Err(why) = self.kernel.knobs(wanted, of) {
                    return Answer::No(format!("{} {}: {why}", wanted.factor, wanted.value));
                }
            }
        }
        Answer::Yes
    }
}

/// Why this host has no logical volumes, if so.
fn no_volumes() -> Option<Answer> {
    if !tool::is_there("lvcreate") {
        let why = "LVM's programs (vgcreate, lvcreate) are not installed";
        return Some(Answer::No(why.to_owned()));
    }
    let known = fs::read_to_string("/proc/misc").unwrap_or_default();
    let is_built_in = known
        .lines()
        .any(|line| line.split_whitespace().last() == Some("device-mapper"));
    (!is_built_in && !loads("dm-mod")).then(|| {
        Answer::No("the kernel has no device mapper, which logical volumes need".to_owned())
    })
}

/// True if the kernel has a module that it could load.
fn loads(module: &str) -> bool {
    tool::run(&tool::words(&["modprobe", "--dry-run", "--quiet", module])).is_ok()
}

/// Whether a file system can be made and the kernel knows it.
fn makes(file_system: FileSystem) -> Answer {
    let name = file_system.name();
    let program = format!("mkfs.{name}");
    let mut missing = Vec::new();
    if !tool::is_there(&program) {
        missing.push(format!("{program} is not installed"));
    }
    let known = fs::read_to_string("/proc/filesystems").unwrap_or_default();
    let is_built_in = known
        .lines()
        .any(|line| line.split_whitespace().last() == Some(name));
    if !is_built_in && !loads(name) {
        missing.push(format!("the kernel has no {name}"));
    }
    if missing.is_empty() {
        return Answer::Yes;
    }
    Answer::No(format!("{name}: {}", missing.join(", and ")))
}

/// Mounts something in a mount namespace that ends with the command, so that nothing stays mounted whatever
/// happens; what the kernel then says of all mounts.
fn mounted(
    kind: &str,
    source: &str,
    point: &Path,
    options: &str,
) -> Result<Vec<host::file_systems::Mount>, String> {
    let path = point.display().to_string();
    let mount = filesystem::mount(kind, source, &path, options);
    let script = "\"$@\" && cat /proc/self/mountinfo";
    let head = tool::words(&[
        "unshare",
        "--mount",
        "--propagation",
        "private",
        "sh",
        "-c",
        script,
        "sh",
    ]);
    match tool::run(&[head, mount].concat()) {
        Ok(text) => {
            let mut mounts = host::file_systems::parse(&text);
            mounts.retain(|mount| mount.point == point);
            Ok(mounts)
        }
        Err(tool::Error::Failed { said, .. }) => Err(said),
        Err(error) => Err(error.to_string()),
    }
}

/// A mount that was tried: refused, or with other options than those asked for.
fn of_mount(
    found: Result<Vec<host::file_systems::Mount>, String>,
    kind: &str,
    options: &str,
) -> Answer {
    match found {
        Err(why) => Answer::No(format!("{kind} cannot be mounted here: {why}")),
        Ok(mounts) => match mounts
            .last()
            .map(|mount| filesystem::read_back(options, &mount.options))
        {
            Some(Err(why)) => Answer::No(format!("{kind}: {why}")),
            _ => Answer::Yes,
        },
    }
}

/// What became of options that papers use.
fn known_to_be_gone(file_system: FileSystem, names: &str) -> &'static str {
    match file_system {
        FileSystem::Xfs if names.contains("barrier") => {
            " (XFS lost it in Linux 4.19: it always orders writes by flushes)"
        }
        _ => "",
    }
}
