//! Whether what is read is what was written.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use base::random::Stream;

use super::agent::{Agent, Answer, Request, hash, lock, unlock};
use super::figures::Report;
use super::ground::Ground;
use super::stream::BLOCK_BYTES;
use super::{Error, Experiment, Said, failed, papers};
use crate::iotest::Content;
use crate::iotest::blocks::Blocks;

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "corruption",
    title: "Whether what is read is what was written",
    shows: "how many bytes are not what they must be: of a large file that is read back from storage; of a file \
            after hundreds of writes, cuts, extensions, renames and flushes at odd places, from memory and from \
            storage; of a file that this process and another, or another client, write in turn under locks",
    why: "storage that returns wrong bytes without an error spoils results that nobody looks at twice",
    papers: &[Said {
        paper: papers::SURVEY,
        says: "locks prevent corrupted data and reads of an inconsistent state where files are updated by several \
               processes; some devices made errors under the load of many small files",
    }],
    needs: "a file system that shows whether files have left the page cache, to read from storage; --peer for \
            another client",
    run,
};

/// The same on every run: what is found can be found again.
const SEED: u64 = 484_2013;

/// Operations on the small file, at the most.
const OPERATIONS: u64 = 2000;

/// It is no longer than this.
const SMALL_BYTES: u64 = 2 << 20;

/// One operation writes no more.
const WRITE_BYTES: u64 = 100_000;

/// Turns of writers that take turns, and the bytes of each: pages belong to both of them.
const TURNS: u32 = 40;
const TURN_BYTES: u64 = 1000;

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    large(ground, report)?;
    operations(ground, report)?;
    let agent = ground.agent()?;
    turns(ground, report, agent, "", "another process of this mount")?;
    match ground.peer()? {
        Some(peer) => turns(ground, report, peer, "_peer", "another client")?,
        None => report.absent(
            "wrong_turn_bytes_peer",
            ground.no_peer.clone().unwrap_or_default(),
        ),
    }
    if report.wrong.is_empty() {
        report.says("every byte that was read was what had been written");
    }
    Ok(())
}

/// A figure that must be 0.
fn count(report: &mut Report, name: &str, wrong: u64, detail: &str) {
    report.figure(name, wrong as f64, "bytes", detail);
    if wrong > 0 {
        report.wrong(format!(
            "WRONG DATA: {wrong} bytes {detail} are not what was written. Do not use this storage"
        ));
    }
}

/// A large file, written and read from storage.
fn large(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let bytes = ground.options.bytes;
    ground.create("large", bytes)?;
    let path = ground.path("large");
    let cold = evicted(ground, "large")?;
    let mut blocks = Blocks::new(Content::Random, BLOCK_BYTES, Stream::new(0));
    let file = File::open(&path).map_err(|source| failed("open", &path, source))?;
    let (mut number, mut wrong) = (0, 0);
    let moved = ground.moving().read_with(&mut |block, at| {
        let count = file.read_at(block, at)?;
        wrong += differing(&block[..count], &blocks.block(number)[..count]);
        number += 1;
        Ok(count)
    });
    let moved = moved.map_err(|source| failed("read", &path, source))?;
    ground.check()?;
    wrong += bytes.saturating_sub(moved.bytes);
    let detail =
        format!("of a file of {bytes} bytes that was written, flushed and read back {cold}");
    count(report, "wrong_bytes", wrong, &detail);
    fs::remove_file(&path).map_err(|source| failed("remove", &path, source))
}

/// Takes a file out of memory if it can be; from where it is read next.
fn evicted(ground: &Ground<'_>, name: &str) -> Result<&'static str, Error> {
    if ground.hidden_cache.is_some() {
        return Ok("(from memory or from storage: that cannot be seen here)");
    }
    match ground.evict(name) {
        Ok(()) => Ok("from storage"),
        Err(Error::NotCold(_)) => Ok("(in part from memory)"),
        Err(other) => Err(other),
    }
}

fn differing(found: &[u8], wanted: &[u8]) -> u64 {
    if found == wanted {
        return 0;
    }
    let apart = found
        .iter()
        .zip(wanted)
        .filter(|(found, wanted)| found != wanted)
        .count();
    (apart + found.len().abs_diff(wanted.len())) as u64
}

/// A file, and what must be in it.
struct Model {
    path: PathBuf,
    file: File,
    bytes: Vec<u8>,
}

impl Model {
    fn new(path: &Path) -> io::Result<Self> {
        Ok(Self {
            path: path.to_owned(),
            file: OpenOptions::new()
                .read(true)
                .write(true)
                .create_new(true)
                .open(path)?,
            bytes: Vec::new(),
        })
    }

    /// One operation, chosen by its number.
    fn operate(&mut self, random: Stream, number: u64) -> io::Result<()> {
        let draw = |which: u64, below: u64| random.below(number * 8 + which, below.max(1));
        let length = self.bytes.len() as u64;
        match draw(0, 20) {
            0 => self.resize(draw(1, length + 1)),
            1 => self.resize((length + draw(1, WRITE_BYTES)).min(SMALL_BYTES)),
            2 => self.file.sync_all(),
            3 => {
                let other = self.path.with_extension("lck");
                fs::rename(&self.path, &other)?;
                fs::rename(&other, &self.path)
            }
            4 => {
                self.file = OpenOptions::new().read(true).write(true).open(&self.path)?;
                Ok(())
            }
            5 => self
                .file
                .sync_data()
                .and_then(|()| ::io::cache::evict(&self.path)),
            kind => {
                let place = if kind < 12 {
                    length
                } else {
                    draw(1, length + 1)
                };
                let most = WRITE_BYTES.min(SMALL_BYTES.saturating_sub(place));
                let count = draw(2, most);
                let bytes: Vec<u8> = (0..count)
                    .map(|at| random.word(number << 20 | at).to_le_bytes()[1])
                    .collect();
                self.write(place, &bytes)
            }
        }
    }

    fn resize(&mut self, bytes: u64) -> io::Result<()> {
        self.file.set_len(bytes)?;
        self.bytes
            .resize(usize::try_from(bytes).map_err(io::Error::other)?, 0);
        Ok(())
    }

    fn write(&mut self, place: u64, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all_at(bytes, place)?;
        let from = usize::try_from(place).map_err(io::Error::other)?;
        let end = from + bytes.len();
        if self.bytes.len() < end {
            self.bytes.resize(end, 0);
        }
        self.bytes[from..end].copy_from_slice(bytes);
        Ok(())
    }

    /// Bytes of the file that are not what they must be.
    fn wrong(&self) -> io::Result<u64> {
        Ok(differing(&fs::read(&self.path)?, &self.bytes))
    }
}

/// Many operations at odd places.
fn operations(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let path = ground.path("operated");
    let failing = |source| failed("work on", &path, source);
    let mut model = Model::new(&path).map_err(failing)?;
    let (random, begin) = (Stream::new(SEED), Instant::now());
    let most = if ground.options.gentle {
        OPERATIONS / 20
    } else {
        OPERATIONS
    };
    let (mut made, mut wrong) = (0, 0);
    while made < most && begin.elapsed() < ground.options.time {
        ground.check()?;
        model.operate(random, made).map_err(failing)?;
        made += 1;
        if made.is_multiple_of(100) {
            wrong += model.wrong().map_err(failing)?;
        }
    }
    wrong += model.wrong().map_err(failing)?;
    let detail =
        format!("of a small file, compared after each 100 of {made} operations at odd places");
    count(report, "wrong_operated_bytes", wrong, &detail);
    model.file.sync_all().map_err(failing)?;
    let cold = evicted(ground, "operated")?;
    let wrong = model.wrong().map_err(failing)?;
    let detail = format!("of that file after {made} operations, read {cold}");
    count(report, "wrong_operated_cold_bytes", wrong, &detail);
    Ok(())
}

/// Two write in turn, each under a lock; after each turn the other one reads all of it.
fn turns(
    ground: &Ground<'_>,
    report: &mut Report,
    mut other: Agent<'_>,
    suffix: &str,
    whom: &str,
) -> Result<(), Error> {
    let name = format!("turns{suffix}");
    let path = ground.path(&name);
    let failing = |source| failed("write in turn", &path, source);
    let mut model = Model::new(&path).map_err(failing)?;
    if lock(&model.file, true, false).is_err() {
        report.absent(
            &format!("wrong_turn_bytes{suffix}"),
            "locks are refused here",
        );
        return Ok(());
    }
    let (mut here, mut there) = (0, 0u32);
    let file = || ground.name(&name);
    for turn in 0..TURNS {
        ground.check()?;
        let (place, byte) = (u64::from(turn) * TURN_BYTES, (turn % 250) as u8 + 1);
        let bytes = vec![byte; usize::try_from(TURN_BYTES).unwrap_or(0)];
        if turn % 2 == 0 {
            model.file = OpenOptions::new()
                .read(true)
                .write(true)
                .open(&path)
                .map_err(failing)?;
            lock(&model.file, true, true).map_err(failing)?;
            model.write(place, &bytes).map_err(failing)?;
            unlock(&model.file).map_err(failing)?;
        } else {
            locked(&mut other, file(), true)?;
            other.order(&Request::Put {
                file: file(),
                offset: place,
                bytes: TURN_BYTES,
                byte,
            })?;
            other.order(&Request::Close { slot: 0 })?;
            model.bytes.extend(bytes);
        }
        locked(&mut other, file(), false)?;
        let seen = other.ask(&Request::Hash { file: file() })?;
        other.order(&Request::Close { slot: 0 })?;
        let (hash, bytes) = (hash(&model.bytes), model.bytes.len() as u64);
        there += u32::from(seen != Answer::Hashed { hash, bytes });
        let opened = OpenOptions::new()
            .read(true)
            .write(true)
            .open(&path)
            .map_err(failing)?;
        lock(&opened, false, true).map_err(failing)?;
        here += model.wrong().map_err(failing)?;
    }
    let detail = format!(
        "read here, under a lock, of a file that this process and {whom} write in turn, {TURNS} turns of \
         {TURN_BYTES} bytes"
    );
    count(report, &format!("wrong_turn_bytes{suffix}"), here, &detail);
    let detail =
        format!("times that {whom} read something else than that file must hold, under a lock");
    report.figure(
        &format!("wrong_turns{suffix}"),
        f64::from(there),
        "turns",
        &detail,
    );
    if there > 0 {
        report.wrong(format!("WRONG OR OLD DATA: {there} {detail}"));
    }
    Ok(())
}

/// Another process opens and locks a file.
fn locked(agent: &mut Agent<'_>, file: String, exclusive: bool) -> Result<(), Error> {
    agent.order(&Request::Open { slot: 0, file })?;
    agent.order(&Request::Lock {
        slot: 0,
        exclusive,
        wait: true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_that_changed_by_itself_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let mut model = Model::new(&path).unwrap();
        for number in 0..300 {
            model.operate(Stream::new(1), number).unwrap();
        }
        assert_eq!(model.wrong().unwrap(), 0);
        assert!(model.bytes.len() > 10_000);
        let byte = model.bytes[9000];
        model.file.write_all_at(&[!byte], 9000).unwrap();
        assert_eq!(model.wrong().unwrap(), 1);
        model.file.set_len(9001).unwrap();
        assert_eq!(model.wrong().unwrap(), 1 + model.bytes.len() as u64 - 9001);
    }
}
