//! The run of a cell: prepared, mounted, set, read back, run, and looked at once more.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use ::io::process::{die_with_parent, terminate};
use base::units::parse_size;
use results::matrix::read::wrong;
use results::matrix::record::{MountRecord, PlannedRun, RunRecord, SettingRecord};
use results::run::RunDirectory;

use super::design::{Cell, Volume};
use super::journal::{Journal, Undo};
use super::plan::{Channel, Kind, VolumeText};
use super::series::Config;
use super::setting::{Knob, Of, Wanted, write};
use super::{device, filesystem, image, lvm, tool, tuned};
use crate::clean;
use crate::marker::{self, Holds};

/// How often the run of a cell is looked at.
const LOOK: Duration = Duration::from_millis(100);

/// Exit codes of `gristmill run` with which its figures are there: good, verdict failed, no verdict.
const WITH_FIGURES: [i32; 3] = [0, 1, 4];

/// A series asks for no verdict on storage.
const NO_CEILING: &str = "--no-ceiling";

/// What the record calls TuneD's setting, and its value where no profile is active.
const PROFILE: &str = "profile of TuneD";
const NONE: &str = "none";

/// A cell on its way.
pub(super) struct Workshop<'a> {
    pub config: &'a Config<'a>,
    pub journal: &'a mut Journal,
    pub record: &'a mut RunRecord,
    stop: &'a AtomicBool,
    /// Where the data of each volume lie.
    directories: BTreeMap<String, PathBuf>,
    knobs: Vec<Knob>,
}

/// How the run of a cell ended; everything is still mounted and set.
pub(super) enum Ended {
    /// Its run directory, within the run's folder.
    Well(PathBuf),
    /// It was interrupted.
    Interrupted,
}

impl<'a> Workshop<'a> {
    pub fn new(
        config: &'a Config<'a>,
        (journal, record): (&'a mut Journal, &'a mut RunRecord),
        stop: &'a AtomicBool,
    ) -> Self {
        Self {
            config,
            journal,
            record,
            stop,
            directories: BTreeMap::new(),
            knobs: Vec::new(),
        }
    }

    /// Does everything but put back; an error is the reason why it failed.
    pub fn carry_out(&mut self, cell: &Cell) -> Result<Ended, String> {
        let ended = self.prepare_and_run(cell);
        // What was left on volumes that stay goes in any case; why the run failed is said before why that failed.
        let cleared = self.clear();
        let ended = ended?;
        cleared.map(|()| ended)
    }

    fn prepare_and_run(&mut self, cell: &Cell) -> Result<Ended, String> {
        self.settings(cell, false)?;
        for (name, text) in &self.config.matrix.text.volumes {
            let name = name.get_ref();
            let directory = self.volume(name, text, &cell.volumes[name])?;
            self.directories.insert(name.clone(), directory);
        }
        self.settings(cell, true)?;
        if self.stop.load(Ordering::Relaxed) {
            return Ok(Ended::Interrupted);
        }
        let planned = self.record.planned.clone();
        let ended = self.run(cell, &planned)?;
        if let Ended::Well(_) = ended {
            self.look_again()?;
        }
        Ok(ended)
    }

    fn command(&mut self, words: &[String]) -> Result<String, String> {
        self.record.commands.push(tool::shown(words));
        tool::run(words).map_err(|error| error.to_string())
    }

    fn announce(&mut self, undo: Undo) -> Result<(), String> {
        let announced = self.journal.announce(undo);
        announced
            .map(|_| ())
            .map_err(|error| format!("failed to write the journal: {error}"))
    }

    /// Settings of the host, those that move others first; then those of what is mounted.
    fn settings(&mut self, cell: &Cell, of_volumes: bool) -> Result<(), String> {
        let first = |wanted: &&Wanted| match wanted.kind {
            Kind::Tuned => 0,
            Kind::Smt => 1,
            _ => 2,
        };
        let mut all: Vec<&Wanted> = cell
            .settings
            .iter()
            .filter(|wanted| wanted.kind.is_of_volumes() == of_volumes)
            .collect();
        all.sort_by_key(first);
        for wanted in all {
            if wanted.kind == Kind::Tuned {
                self.profile(&wanted.value)?;
                continue;
            }
            let mut places: Vec<Of<'_>> = vec![Of::Host];
            if of_volumes {
                let directories = wanted
                    .volumes
                    .iter()
                    .filter_map(|name| self.directories.get(name));
                places = directories.map(|path| Of::Mounted(path)).collect();
            }
            let mut knobs: Vec<Knob> = Vec::new();
            for of in places {
                let found = self.config.kernel.knobs(wanted, of);
                let found =
                    found.map_err(|why| format!("{} {}: {why}", wanted.factor, wanted.value))?;
                // Volumes may share a disk.
                knobs.extend(found.into_iter().filter(|knob| !self.knobs.contains(knob)));
            }
            for knob in knobs {
                self.turn(knob)?;
            }
        }
        Ok(())
    }

    fn turn(&mut self, knob: Knob) -> Result<(), String> {
        let what = knob.path.display().to_string();
        let failed =
            |action: &str, error: std::io::Error| format!("failed to {action} {what}: {error}");
        let before = knob.now().map_err(|error| failed("read", error))?;
        if before != knob.wanted {
            let undo = knob.undo().map_err(|error| failed("read", error))?;
            self.announce(undo)?;
            write(&knob.path, &knob.wanted).map_err(|error| failed("set", error))?;
        }
        let read_back = knob.now().map_err(|error| failed("read", error))?;
        let is_wrong = read_back != knob.wanted;
        if is_wrong {
            // The kernel made something else of it: that, too, is the series' own doing and is put back.
            let made = knob.made(&before, &read_back);
            self.announce(made)?;
        }
        let why = format!(
            "{what} reads back as {read_back}, although it was set to {}",
            knob.wanted
        );
        self.record.settings.push(SettingRecord {
            what,
            before,
            wanted: knob.wanted.clone(),
            read_back,
            after: None,
        });
        if is_wrong {
            return Err(why);
        }
        self.knobs.push(knob);
        Ok(())
    }

    fn profile(&mut self, profile: &str) -> Result<(), String> {
        let before = tuned::active()?;
        let shown = |profile: &Option<String>| profile.clone().unwrap_or_else(|| NONE.to_owned());
        if before.as_deref() != Some(profile) {
            self.announce(tuned::undo(&self.config.kernel, before.clone()))?;
            self.command(&tuned::set(profile))?;
        }
        let now = tuned::active()?;
        self.record.settings.push(SettingRecord {
            what: PROFILE.to_owned(),
            before: shown(&before),
            wanted: profile.to_owned(),
            read_back: shown(&now),
            after: None,
        });
        if now.as_deref() == Some(profile) {
            return Ok(());
        }
        Err(format!(
            "the profile of TuneD is {}, although {profile} was set",
            shown(&now)
        ))
    }

    /// Prepares and mounts a volume; where its data are to lie.
    fn volume(
        &mut self,
        name: &str,
        text: &VolumeText,
        volume: &Volume,
    ) -> Result<PathBuf, String> {
        let own = format!("{}{}", super::FOLDER, self.config.plan.name);
        if let Some(directory) = &text.directory {
            return fresh(&Path::new(directory.get_ref()).join(own));
        }
        let source = self.source(name, text, volume)?;
        if let Some(file_system) = volume.file_system {
            self.command(&file_system.mkfs(&source, &volume.mkfs))?;
        }
        let point = self.config.folder.path().join("mounts").join(name);
        fs::create_dir_all(&point)
            .map_err(|error| format!("failed to make {}: {error}", point.display()))?;
        self.announce(Undo::Mount {
            point: point.clone(),
        })?;
        let path = point.display().to_string();
        self.command(&filesystem::mount(
            &volume.kind,
            &source,
            &path,
            &volume.mount,
        ))?;
        let mounted = filesystem::mounted_at(&point);
        let mounted = mounted
            .ok_or_else(|| format!("nothing is mounted at {path}, although mount said so"))?;
        let is_kind =
            mounted.kind == volume.kind || (volume.kind == "nfs" && mounted.kind == "nfs4");
        let notes = filesystem::read_back(&volume.mount, &mounted.options);
        let kind = mounted.kind.clone();
        self.record.mounts.push(MountRecord {
            volume: name.to_owned(),
            source: mounted.source,
            kind: mounted.kind,
            options: mounted.options,
        });
        if !is_kind {
            return Err(format!(
                "{path} is mounted as {kind}, although {} was asked for",
                volume.kind
            ));
        }
        for note in notes? {
            self.note(note);
        }
        if text.source.is_some() {
            return fresh(&point.join(own));
        }
        Ok(point)
    }

    fn note(&mut self, note: String) {
        if !self.record.notes.contains(&note) {
            self.record.notes.push(note);
        }
    }

    /// The device of a volume.
    fn source(&mut self, name: &str, text: &VolumeText, volume: &Volume) -> Result<String, String> {
        if let Some(source) = &text.source {
            return Ok(source.get_ref().clone());
        }
        if let Some(size) = &text.image {
            let path = self.config.image(name);
            let bytes = parse_size(size.get_ref()).map_or(0, |size| size.0);
            image::make(&path, bytes, self.stop)
                .map_err(|error| format!("failed to make {}: {error}", path.display()))?;
            self.announce(Undo::Loop {
                image: path.clone(),
            })?;
            let (device, note) = image::attach(&path)?;
            if let Some(note) = note {
                self.note(note);
            }
            return Ok(device.display().to_string());
        }
        if let Some(device) = &text.device {
            // Looked at anew before each cell: hours may have passed.
            device::check(device.get_ref())?;
            return Ok(device.get_ref().clone());
        }
        let devices = text.devices.iter().flatten();
        let devices: Vec<String> = devices.map(|device| device.get_ref().clone()).collect();
        for device in &devices {
            device::check(device)?;
        }
        let group = lvm::group(&self.config.plan.name, name);
        let stripe = text
            .stripe_size
            .as_ref()
            .map_or(lvm::STRIPE, |size| size.get_ref());
        let (commands, path) = lvm::make(&group, &devices, volume.stripes, stripe);
        self.announce(Undo::VolumeGroup {
            name: group,
            devices,
        })?;
        for words in &commands {
            self.command(words)?;
        }
        Ok(path.display().to_string())
    }

    /// Runs the suite as a process of its own, whose records outlive this one.
    fn run(&mut self, cell: &Cell, planned: &PlannedRun) -> Result<Ended, String> {
        let folder = self.config.folder.run(planned.number);
        let words = self.arguments(cell, &folder);
        self.record.commands.push(tool::shown(
            &[vec!["gristmill".to_owned()], words.clone()].concat(),
        ));
        let file = |name: &str| {
            File::create(folder.join(name))
                .map_err(|error| format!("failed to make {name}: {error}"))
        };
        let (output, messages) = (file("result.jsonl")?, file("messages.txt")?);
        let mut command = Command::new(&self.config.program);
        command
            .args(&words)
            .stdin(Stdio::null())
            .stdout(output)
            .stderr(messages);
        die_with_parent(&mut command);
        let child = command
            .spawn()
            .map_err(|error| format!("failed to start gristmill run: {error}"))?;
        let (exit, interrupted) = wait(child, self.stop)?;
        if interrupted || exit == Some(130) {
            return Ok(Ended::Interrupted);
        }
        let said = fs::read_to_string(folder.join("messages.txt")).unwrap_or_default();
        let run = said
            .lines()
            .rev()
            .find_map(|line| line.strip_prefix("Run directory: "));
        let run = run
            .map(Path::new)
            .and_then(Path::file_name)
            .map(PathBuf::from);
        self.record.run.clone_from(&run);
        let has_figures = exit.is_some_and(|exit| WITH_FIGURES.contains(&exit));
        let Some(run) = run.filter(|_| has_figures) else {
            let mut last = said.lines().rev().filter(|line| !line.trim().is_empty());
            // What is wrong stands before what to do about it.
            let error = said.lines().rfind(|line| line.starts_with("error:"));
            let last = error.or(last.next()).unwrap_or("it said nothing");
            let how = exit.map_or("was ended by a signal".to_owned(), |exit| {
                format!("ended with exit code {exit}")
            });
            return Err(format!("gristmill run {how}: {last}"));
        };
        let result = RunDirectory::open(&folder.join(&run))
            .result()
            .map_err(|error| error.to_string())?;
        let Some(result) = result else {
            return Err(format!("the run {} has no result", run.display()));
        };
        if let Some(why) = wrong(&result.jobs) {
            return Err(why);
        }
        Ok(Ended::Well(run))
    }

    fn arguments(&self, cell: &Cell, folder: &Path) -> Vec<String> {
        let mut words = vec!["run".to_owned(), cell.suite.clone()];
        let mut add = |flag: &str, value: String| words.extend([flag.to_owned(), value]);
        for (channel, directory) in self.config.channels(&self.directories) {
            add(
                &format!("--{}", channel.name()),
                directory.display().to_string(),
            );
        }
        add("--runs", folder.display().to_string());
        if let Some(scale) = cell.scale {
            add("--scale", scale.to_string());
        }
        for (name, value) in &cell.options {
            let option = if value.is_empty() {
                name.clone()
            } else {
                format!("{name}={value}")
            };
            add("--option", option);
        }
        for (name, value) in self.config.plan.labels.iter().chain(&cell.levels) {
            add("--label", format!("{name}={value}"));
        }
        let more = self.config.matrix.text.arguments.iter();
        words.extend(more.map(|word| word.get_ref().clone()));
        // The verdict on storage is not what a series asks for.
        words.push("--json".to_owned());
        if !words.iter().any(|word| word == NO_CEILING) {
            words.push(NO_CEILING.to_owned());
        }
        words
    }

    /// What was set must still be so, or the figures are not those of the cell.
    fn look_again(&mut self) -> Result<(), String> {
        let profile = self
            .record
            .settings
            .iter_mut()
            .find(|one| one.what == PROFILE);
        if let Some(profile) = profile {
            let now = tuned::active()?.unwrap_or_else(|| NONE.to_owned());
            let wanted = &profile.wanted;
            let is_other = (now != *wanted).then(|| {
                format!("the profile of TuneD was {wanted} before the run and {now} after it")
            });
            profile.after = Some(now);
            if let Some(why) = is_other {
                return Err(why);
            }
        }
        for knob in &self.knobs {
            let what = knob.path.display().to_string();
            let now = knob
                .now()
                .map_err(|error| format!("failed to read {what}: {error}"))?;
            let of_it = self.record.settings.iter_mut().find(|one| one.what == what);
            if let Some(setting) = of_it {
                setting.after = Some(now.clone());
            }
            if now != knob.wanted {
                return Err(format!(
                    "{what} was {} before the run and {now} after it",
                    knob.wanted
                ));
            }
        }
        Ok(())
    }

    /// Removes what the run left on volumes that stay: every cell begins with the same.
    fn clear(&self) -> Result<(), String> {
        for (name, text) in &self.config.matrix.text.volumes {
            let stays = text.directory.is_some() || text.source.is_some();
            let directory = self.directories.get(name.get_ref()).filter(|_| stays);
            if let Some(directory) = directory {
                remove(directory)?;
            }
        }
        Ok(())
    }
}

/// A folder of ours with nothing in it.
fn fresh(path: &Path) -> Result<PathBuf, String> {
    if marker::read(path) == Some(Holds::Data) {
        remove(path)?;
    }
    let made = marker::make(path, Holds::Data);
    made.map(|_| path.to_owned())
        .map_err(|error| format!("failed to make {}: {error}", path.display()))
}

fn remove(path: &Path) -> Result<(), String> {
    let found = clean::Found {
        path: path.to_owned(),
        holds: Holds::Data,
        bytes: 0,
        files: 0,
        in_use: false,
    };
    clean::remove(&found).map_err(|error| format!("failed to remove {}: {error}", path.display()))
}

/// Waits for the run to end; asked to stop, asks it to stop. Its exit code, and whether it was asked.
fn wait(mut child: Child, stop: &AtomicBool) -> Result<(Option<i32>, bool), String> {
    let mut asked = false;
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok((status.code(), asked)),
            Ok(None) => {}
            Err(error) => return Err(format!("failed to wait for gristmill run: {error}")),
        }
        if stop.load(Ordering::Relaxed) && !asked {
            asked = true;
            terminate(child.id(), false);
        }
        thread::sleep(LOOK);
    }
}

impl Config<'_> {
    /// Where each channel lies, those that the plan names.
    fn channels(&self, directories: &BTreeMap<String, PathBuf>) -> Vec<(Channel, PathBuf)> {
        let volumes = &self.matrix.text.volumes;
        let mut found = Vec::new();
        for channel in Channel::ALL {
            let holds =
                |volume: &VolumeText| volume.holds.iter().any(|one| *one.get_ref() == channel);
            let on = volumes.iter().find(|(_, volume)| holds(volume));
            // A single volume that says nothing holds all.
            let single = volumes.iter().next().filter(|(_, volume)| {
                volumes.len() == 1 && channel == Channel::Data && volume.holds.is_empty()
            });
            if let Some(directory) = on
                .or(single)
                .and_then(|(name, _)| directories.get(name.get_ref()))
            {
                found.push((channel, directory.clone()));
            }
        }
        found
    }
}
