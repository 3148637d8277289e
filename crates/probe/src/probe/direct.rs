//! Transfers past the page cache (`O_DIRECT`).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;

use ::io::cache;
use rustix::fs::OFlags;

use super::figures::{Report, Sample, short};
use super::ground::Ground;
use super::stream::{BLOCK_BYTES, Moving};
use super::{Error, Experiment, Said, failed, papers};

pub(super) const EXPERIMENT: Experiment = Experiment {
    id: "direct",
    title: "Transfers past the page cache",
    shows: "whether O_DIRECT is accepted and what alignment it asks for, whether it leaves pages in the cache, \
            whether it sees what was written through the cache and the other way round, and its rates beside \
            buffered ones",
    why: "SAS reads and writes libraries past the cache if it is told to (ENABLEDIRECTIO, USEDIRECTIO): that \
          leaves memory to others and loses read-ahead; some file systems take the flag and go through memory \
          all the same",
    papers: &[Said {
        paper: papers::SURVEY,
        says: "the large sorts, whose files are larger than memory, gain very little from the cache",
    }],
    needs: "",
    run,
};

/// Alignments that are tried, bytes.
const ALIGNMENTS: [usize; 5] = [1, 512, 1024, 2048, 4096];

/// Memory begins at a multiple of this.
const MEMORY_ALIGNMENT: usize = 4096;

/// Rounds at the most.
const ROUNDS: u32 = 9;

/// The file.
const FILE: &str = "direct";

fn run(ground: &Ground<'_>, report: &mut Report) -> Result<(), Error> {
    let bytes = (ground.options.bytes / 2).max(1 << 20);
    ground.create(FILE, bytes)?;
    let path = ground.path(FILE);
    let failing = |source| failed("read directly", &path, source);
    let file = match open(&path, OFlags::DIRECT) {
        Ok(file) => file,
        Err(error) => {
            report.answer(
                "accepted",
                false,
                format!("whether O_DIRECT is accepted: {error}"),
            );
            report.says("O_DIRECT is refused: libraries with direct I/O cannot be opened here");
            return Ok(());
        }
    };
    report.answer(
        "accepted",
        true,
        "whether O_DIRECT is accepted when a file is opened",
    );
    let found = ALIGNMENTS.into_iter().find(|bytes| {
        aligned(4096, |buffer| {
            file.read_at(&mut buffer[..*bytes], *bytes as u64)
        })
        .is_ok()
    });
    match found {
        Some(alignment) => {
            let detail = "the smallest size and place of a direct read that are accepted; memory begins at 4096";
            report.figure("alignment_bytes", alignment as f64, "bytes", detail);
        }
        None => report.absent("alignment_bytes", "no size up to 4096 bytes is accepted"),
    }
    agreement(report, &path).map_err(failing)?;
    let left = leaves(ground, report, &path)?;
    rates(ground, report, bytes)?;
    if found == Some(1) && left.is_none() {
        report.says(
            "direct reads of any size are accepted: the file system takes O_DIRECT and may go through memory \
             all the same",
        );
    }
    if left.is_some_and(|share| share > 0.5) {
        report.says(
            "what is read directly is in the page cache afterwards: O_DIRECT goes through it here",
        );
    }
    Ok(())
}

/// Opens a file to read and write.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = i32::try_from(flags.bits()).unwrap_or(0);
    OpenOptions::new()
        .read(true)
        .write(true)
        .custom_flags(flags)
        .open(path)
}

/// A buffer that begins where direct transfers want it to.
fn aligned<T>(bytes: usize, act: impl FnOnce(&mut [u8]) -> T) -> T {
    let mut buffer = vec![0; bytes + MEMORY_ALIGNMENT];
    let from = buffer
        .as_ptr()
        .align_offset(MEMORY_ALIGNMENT)
        .min(MEMORY_ALIGNMENT);
    act(&mut buffer[from..from + bytes])
}

/// Whether both ways see what the other one wrote.
fn agreement(report: &mut Report, path: &Path) -> io::Result<()> {
    const BYTES: usize = 4096;
    let (direct, buffered) = (open(path, OFlags::DIRECT)?, open(path, OFlags::empty())?);
    let mut differing = 0;
    for (round, byte) in (0..).zip([3u8, 5, 7]) {
        let place = round * BYTES as u64;
        buffered.write_all_at(&[byte; BYTES], place)?;
        let seen = aligned(BYTES, |buffer| {
            direct.read_exact_at(buffer, place)?;
            io::Result::Ok(buffer.iter().filter(|one| **one != byte).count())
        })?;
        differing += seen;
        aligned(BYTES, |buffer| {
            buffer.fill(byte + 1);
            direct.write_all_at(buffer, place)
        })?;
        let mut buffer = [0; BYTES];
        buffered.read_exact_at(&mut buffer, place)?;
        differing += buffer.iter().filter(|one| **one != byte + 1).count();
    }
    let detail = "bytes that were read directly and not as written through the cache, or the other way round";
    report.figure("differing_bytes", differing as f64, "bytes", detail);
    if differing > 0 {
        report.wrong(format!(
            "WRONG DATA: {differing} bytes differ between what was written past the page cache and what is read \
             through it, or the other way round, in one process"
        ));
    }
    Ok(())
}

/// What of a file is in the page cache after a direct read of all of it.
fn leaves(ground: &Ground<'_>, report: &mut Report, path: &Path) -> Result<Option<f64>, Error> {
    const NAME: &str = "kept_share";
    if let Some(why) = &ground.hidden_cache {
        report.absent(NAME, why.clone());
        return Ok(None);
    }
    let failing = |source| failed("read directly", path, source);
    ground.evict(FILE)?;
    let file = open(path, OFlags::DIRECT).map_err(failing)?;
    read(&file, &ground.moving()).map_err(failing)?;
    ground.check()?;
    let share = cache::pages(path)
        .map_err(failing)?
        .map(cache::Pages::share);
    if let Some(share) = share {
        let detail = "of its pages, in the page cache after all of it was read directly";
        report.figure(NAME, share, "share", detail);
    }
    Ok(share)
}

/// Reads a file directly; MB/s.
fn read(file: &File, moving: &Moving<'_>) -> io::Result<f64> {
    aligned(moving.block_bytes, |buffer| {
        let moved = moving.read_with(&mut |_, at| file.read_at(buffer, at))?;
        Ok(moved.mb_per_s())
    })
}

/// Writes a file directly, over what is there; MB/s, flush included.
fn write(file: &File, moving: &Moving<'_>, bytes: u64) -> io::Result<f64> {
    aligned(moving.block_bytes, |buffer| {
        for (word, bytes) in (0..).zip(buffer.chunks_exact_mut(8)) {
            bytes.copy_from_slice(&base::random::mix(word).to_le_bytes());
        }
        let moved = moving.read_with(&mut |_, at| {
            if at >= bytes {
                return file.sync_data().map(|()| 0);
            }
            file.write_all_at(buffer, at).map(|()| buffer.len())
        })?;
        Ok(moved.mb_per_s())
    })
}

/// Direct and buffered, in turn.
fn rates(ground: &Ground<'_>, report: &mut Report, bytes: u64) -> Result<(), Error> {
    let path = ground.path(FILE);
    let failing = |source| failed("read or write directly", &path, source);
    let mut samples = [const { Sample::new() }; 6];
    let large = Moving {
        block_bytes: 1 << 20,
        ..ground.moving()
    };
    let readable = ground.hidden_cache.is_none();
    ground.rounds(ground.options.time, ROUNDS, |_| {
        let direct = open(&path, OFlags::DIRECT).map_err(failing)?;
        let buffered = open(&path, OFlags::empty()).map_err(failing)?;
        let usual = ground.moving();
        let written = usual.write(&buffered, bytes).map_err(failing)?;
        samples[0].push(written.mb_per_s());
        samples[1].push(write(&direct, &usual, bytes).map_err(failing)?);
        samples[2].push(write(&direct, &large, bytes).map_err(failing)?);
        ground.check()?;
        if readable {
            ground.evict(FILE)?;
            samples[3].push(usual.read(&buffered).map_err(failing)?.mb_per_s());
            ground.evict(FILE)?;
        }
        samples[4].push(read(&direct, &usual).map_err(failing)?);
        samples[5].push(read(&direct, &large).map_err(failing)?);
        ground.check()
    })?;
    fs::remove_file(&path).map_err(failing)?;
    tell(report, &samples);
    Ok(())
}

/// In the order in which they are measured.
const RATES: [(&str, &str); 6] = [
    (
        "write_buffered_mb_per_s",
        "128 KiB written over a file through the cache, and flushed",
    ),
    ("write_direct_mb_per_s", "the same past the cache"),
    (
        "write_direct_1m_mb_per_s",
        "the same past the cache in blocks of 1 MiB",
    ),
    (
        "read_buffered_mb_per_s",
        "128 KiB read from storage through the cache, with read-ahead",
    ),
    (
        "read_direct_mb_per_s",
        "128 KiB read past the cache, one at a time",
    ),
    (
        "read_direct_1m_mb_per_s",
        "1 MiB read past the cache, one at a time",
    ),
];

fn tell(report: &mut Report, samples: &[Sample; 6]) {
    for ((name, detail), sample) in RATES.iter().zip(samples) {
        report.sample(name, sample, "MB/s", detail);
    }
    let [
        write_buffered,
        write_direct,
        write_large,
        read_buffered,
        read_direct,
        read_large,
    ] = samples;
    let block = BLOCK_BYTES >> 10;
    for (direct, buffered, text) in [
        (
            write_direct,
            write_buffered,
            format!("writing {block} KiB at a time"),
        ),
        (
            write_large,
            write_buffered,
            "writing 1 MiB at a time".to_owned(),
        ),
        (
            read_direct,
            read_buffered,
            format!("reading {block} KiB at a time"),
        ),
        (
            read_large,
            read_buffered,
            "reading 1 MiB at a time".to_owned(),
        ),
    ] {
        if let Some(ratio) = direct.apart(buffered) {
            report.says(format!(
                "{text} past the cache has {} times the rate of {block} KiB through it",
                short(ratio)
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_where_direct_transfers_want_them() {
        for bytes in [1, 512, 4096, 131_072] {
            aligned(bytes, |buffer| {
                assert_eq!(buffer.as_ptr() as usize % MEMORY_ALIGNMENT, 0);
                assert_eq!(buffer.len(), bytes);
            });
        }
    }
}
