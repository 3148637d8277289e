//! Where an experiment takes place, and what it may do there.

use std::cell::Cell;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ::io::cache;
use host::file_systems::{self, Mount};

use super::agent::{Agent, Answer, Request};
use super::physical::Side;
use super::stream::{Moved, Moving};
use super::{Error, Launch, Options, failed};

/// Files that are read may have this share of their pages in the page cache when they are to come from storage.
pub(super) const CACHED_MAX: f64 = 0.01;

/// Rounds from which on a figure has a spread worth the name.
const ROUNDS_LEAST: u32 = 5;

/// An experiment that has taken so many times its time begins no further round.
const PATIENCE: u32 = 3;

/// Where, and what is allowed.
pub(super) struct Ground<'a> {
    pub(super) options: &'a Options,
    pub(super) launch: Launch<'a>,
    pub(super) stop: &'a AtomicBool,
    /// What the physical side of the directory shows.
    pub(super) side: Side,
    /// Why it cannot be seen that files have left the page cache; `None`: it can.
    pub(super) hidden_cache: Option<String>,
    /// Why there is no other client; `None`: there is.
    pub(super) no_peer: Option<String>,
    /// The folder of the experiment that is on its way.
    pub(super) id: &'static str,
    begun: Cell<Instant>,
}

impl<'a> Ground<'a> {
    pub(super) fn new(
        options: &'a Options,
        launch: Launch<'a>,
        stop: &'a AtomicBool,
    ) -> Result<Self, Error> {
        let mut ground = Self {
            options,
            launch,
            stop,
            side: Side::of(&options.folder),
            hidden_cache: None,
            no_peer: None,
            id: "",
            begun: Cell::new(Instant::now()),
        };
        ground.hidden_cache = ground.hides_cache()?;
        ground.no_peer = ground.peer_is_missing()?;
        Ok(ground)
    }

    /// Makes the folder of an experiment.
    pub(super) fn enter(&mut self, id: &'static str) -> Result<(), Error> {
        self.id = id;
        self.begun.set(Instant::now());
        let folder = self.folder();
        fs::create_dir(&folder).map_err(|source| failed("make", &folder, source))
    }

    /// Removes it and all that is in it.
    pub(super) fn leave(&self) -> Result<(), Error> {
        let folder = self.folder();
        fs::remove_dir_all(&folder).map_err(|source| failed("remove", &folder, source))
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.options.folder.join(self.id)
    }

    /// A file of the experiment.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder().join(name)
    }

    /// The same file as agents call it.
    pub(super) fn name(&self, name: &str) -> String {
        format!("{}/{name}", self.id)
    }

    /// Another process that goes through the same mount.
    pub(super) fn agent(&self) -> Result<Agent<'a>, Error> {
        Agent::start(&mut (self.launch)(&self.options.folder), self.stop)
    }

    /// A process of the other client; `None`: there is no such client.
    pub(super) fn peer(&self) -> Result<Option<Agent<'a>>, Error> {
        match &self.options.peer {
            Some(peer) if self.no_peer.is_none() => {
                Agent::start(&mut peer.command(self.launch), self.stop).map(Some)
            }
            _ => Ok(None),
        }
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        Ok(())
    }

    /// Rounds until the time of the experiment is over, but some in any case, unless they take very long.
    pub(super) fn rounds(
        &self,
        time: Duration,
        most: u32,
        mut round: impl FnMut(u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let begin = Instant::now();
        for number in 0..most {
            let elapsed = begin.elapsed();
            let enough = number >= ROUNDS_LEAST && elapsed >= time;
            if enough || (number > 0 && elapsed >= PATIENCE * time) {
                break;
            }
            self.check()?;
            round(number)?;
        }
        Ok(())
    }

    /// A part of the time of an experiment.
    pub(super) fn share_of_time(&self, parts: u32) -> Duration {
        self.options.time / parts
    }

    /// How data are moved here.
    pub(super) fn moving(&self) -> Moving<'a> {
        Moving::all(self.options.pace, self.stop)
    }

    /// Writes a file of random blocks and flushes it.
    pub(super) fn create(&self, name: &str, bytes: u64) -> Result<Moved, Error> {
        let path = self.path(name);
        let moved = self.moving().create(&path, bytes);
        let moved = moved.map_err(|source| failed("write", &path, source))?;
        self.check()?;
        Ok(moved)
    }

    /// Takes a file out of the page cache; an error if it cannot be seen that it went.
    pub(super) fn evict(&self, name: &str) -> Result<(), Error> {
        let path = self.path(name);
        cache::evict(&path).map_err(|source| failed("evict", &path, source))?;
        let share = cache::cached_share(&path);
        match share.map_err(|source| failed("look at the page cache of", &path, source))? {
            Some(share) if share <= CACHED_MAX => Ok(()),
            _ => Err(Error::NotCold(
                "files did not leave the page cache when they were to: rates would be those of memory".to_owned(),
            )),
        }
    }

    /// Why it cannot be seen that a file has left the page cache.
    fn hides_cache(&self) -> Result<Option<String>, Error> {
        let path = self.options.folder.join("evicted");
        let trying = |source| failed("try the page cache with", &path, source);
        fs::write(&path, vec![1; 1 << 20]).map_err(trying)?;
        let tried = cache::evict(&path).and_then(|()| cache::cached_share(&path));
        fs::remove_file(&path).map_err(trying)?;
        Ok(match tried.map_err(trying)? {
            Some(share) if share <= CACHED_MAX => None,
            Some(_) => Some("files do not leave the page cache when they are told to".to_owned()),
            None => Some("it cannot be seen here what of a file is in memory".to_owned()),
        })
    }

    /// Asks the other client whether it is one, and sees the same directory.
    fn peer_is_missing(&self) -> Result<Option<String>, Error> {
        let Some(peer) = &self.options.peer else {
            return Ok(Some(
                "needs --peer DIR2, the same directory through a mount of another client, or another host (--peer-by, \
                 --slurm)"
                    .to_owned(),
            ));
        };
        let token = format!("{}\n", self.options.token);
        let path = self.options.folder.join("token");
        fs::write(&path, &token).map_err(|source| failed("write", &path, source))?;
        let mut there = Agent::start(&mut peer.command(self.launch), self.stop)?;
        let mut here = self.agent()?;
        let file = || Request::Identify {
            file: "token".to_owned(),
        };
        let there = there.ask(&file()).map_err(|error| match error {
            Error::Agent(_) if !peer.by.is_empty() => Error::OtherHost {
                by: peer.by.join(" "),
                directory: peer.directory.clone(),
            },
            // It ends if it does not find the folder.
            Error::Agent(_) => Error::OtherDirectory(peer.directory.clone()),
            other => other,
        });
        let (here, there) = (here.ask(&file())?, there?);
        let (
            Answer::Identified {
                device: here, boot, ..
            },
            Answer::Identified {
                text,
                device: there,
                boot: other_boot,
            },
        ) = (here, there)
        else {
            return Err(Error::Agent("answered something else".to_owned()));
        };
        if text.as_ref() != Some(&token) {
            return Err(Error::OtherDirectory(peer.directory.clone()));
        }
        if boot != other_boot {
            return Ok(None);
        }
        let is_one = || is_one_client(&mounted(&self.options.folder)?, &mounted(&peer.folder)?);
        Ok(if here == there {
            Some(
                "needs a second client: to the kernel the other one is the same mount (they share one device number, \
                 and so caches and locks); docs/guide/probe.md says how to make one"
                    .to_owned(),
            )
        } else if is_one().unwrap_or(false) {
            Some(
                "needs a second client: to the server of NFS 4 both mounts are one (clientaddr), which does not \
                 tell it of its own changes, so that they may show each other old data for ever; \
                 docs/guide/probe.md says how to make another"
                    .to_owned(),
            )
        } else {
            None
        })
    }
}

/// The mount of a folder.
fn mounted(folder: &Path) -> Option<Mount> {
    file_systems::live(folder).map(|(mount, _)| mount)
}

/// Whether two mounts are one client to a server of NFS 4; `None`: they are of something else.
///
/// The server delegates a file to a client, and takes the delegation back when another one changes the file. Two
/// mounts of one host with caches of their own (`nosharecache`) are the same client, from which nothing is taken back.
fn is_one_client(one: &Mount, other: &Mount) -> Option<bool> {
    let value = |mount: &Mount, name: &str| -> Option<String> {
        let mut options = mount.options.iter();
        options.find_map(|option| Some(option.strip_prefix(name)?.to_owned()))
    };
    if one.kind != "nfs4" || other.kind != "nfs4" {
        return None;
    }
    let address = "clientaddr=";
    Some(value(one, address)? == value(other, address)?)
}

/// The folder below another one that has the same name.
pub fn beside(directory: &Path, folder: &Path) -> PathBuf {
    folder
        .file_name()
        .map_or_else(|| directory.to_owned(), |name| directory.join(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mount(kind: &str, options: &[&str]) -> Mount {
        Mount {
            device: (0, 50),
            point: "/a".into(),
            kind: kind.to_owned(),
            source: "server:/a".to_owned(),
            options: options.iter().map(|one| (*one).to_owned()).collect(),
        }
    }

    #[test]
    fn mounts_of_one_host_are_one_client_of_nfs_4() {
        let (one, other) = ("clientaddr=10.0.0.1", "clientaddr=10.0.0.2");
        let of = |address| mount("nfs4", &["rw", "vers=4.2", address]);
        assert_eq!(is_one_client(&of(one), &of(one)), Some(true));
        assert_eq!(is_one_client(&of(one), &of(other)), Some(false));
        let older = mount("nfs", &["rw", "vers=3"]);
        assert_eq!(is_one_client(&older, &older), None);
        assert_eq!(is_one_client(&mount("nfs4", &[]), &of(one)), None);
    }
}
