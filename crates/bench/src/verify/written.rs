//! What jobs wrote to permanent files, compared block by block with what is read back from storage.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use ::io::cache;
use base::rowhash::hash_bytes;
use results::verdict::CACHED_SHARE_MAX;
use results::written::{BlockRun, ChangeKind, FileChange};

use super::located;

/// The permanent files that jobs left, and what they must hold.
#[derive(Debug, Default)]
pub struct Left {
    files: BTreeMap<PathBuf, LeftFile>,
}

#[derive(Debug, Default)]
struct LeftFile {
    /// In the order in which they were written.
    blocks: Vec<Block>,
    /// Whether all of it was written by these jobs.
    whole: bool,
    /// The job that changed it last.
    job: String,
    /// The jobs that wrote to it.
    writers: BTreeSet<String>,
}

#[derive(Debug, Clone, Copy)]
struct Block {
    offset: u64,
    bytes: u32,
    hash: u64,
}

impl Block {
    const fn end(&self) -> u64 {
        self.offset + self.bytes as u64
    }
}

/// What was found when the files of a job were read back.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct ReadBack {
    /// Bytes that were compared.
    pub bytes: u64,
    /// Bytes of these that surely came from storage.
    pub from_storage: u64,
    /// What is wrong, a sentence for each file.
    pub findings: Vec<String>,
}

impl Left {
    /// What is there after these changes, each by a job of a name. Those of a job come in their order, jobs in any.
    pub fn after(mut changes: Vec<(String, FileChange)>) -> Self {
        // A clock that is set back does not change what a job did first.
        let mut latest: HashMap<String, u64> = HashMap::new();
        for (job, change) in &mut changes {
            let so_far = latest.entry(job.clone()).or_default();
            *so_far = change.unix_ns.max(*so_far);
            change.unix_ns = *so_far;
        }
        changes.sort_by_key(|(_, change)| change.unix_ns);
        let mut left = Self::default();
        for (job, change) in changes {
            left.apply(job, change);
        }
        left
    }

    fn apply(&mut self, job: String, change: FileChange) {
        let path = PathBuf::from(change.file);
        match change.kind {
            ChangeKind::Created => {
                let file = self.files.entry(path).or_default();
                (file.whole, file.job) = (true, job);
                file.blocks.clear();
                file.writers.clear();
            }
            ChangeKind::Written { blocks } => {
                let file = self.files.entry(path).or_default();
                file.writers.insert(job.clone());
                file.job = job;
                // A hash that is no number is left out, so that its bytes are found missing.
                let blocks = blocks.iter().flat_map(BlockRun::blocks).flatten();
                file.blocks
                    .extend(blocks.map(|(offset, bytes, hash)| Block {
                        offset,
                        bytes,
                        hash,
                    }));
            }
            ChangeKind::Truncated { bytes } => {
                let file = self.files.entry(path).or_default();
                file.job = job;
                file.blocks.retain(|block| block.end() <= bytes);
            }
            ChangeKind::Renamed { to } => {
                let to = PathBuf::from(to);
                match self.files.remove(&path) {
                    Some(file) => self.files.insert(to, LeftFile { job, ..file }),
                    None => self.files.remove(&to),
                };
            }
            ChangeKind::Removed => _ = self.files.remove(&path),
        }
    }

    /// Reads the files back that `wanted` jobs wrote to, several at a time; jobs that ran `elsewhere` left
    /// nothing in a cache of this machine. Returns what was found by job, and the files that were read.
    pub fn read_back(
        self,
        wanted: &(dyn Fn(&str) -> bool + Sync),
        elsewhere: &(dyn Fn(&str) -> bool + Sync),
        stopped: &(dyn Fn() -> bool + Sync),
    ) -> (BTreeMap<String, ReadBack>, Vec<PathBuf>) {
        let files: Vec<(PathBuf, LeftFile)> = self.files.into_iter().collect();
        let next = AtomicUsize::new(0);
        let found = Mutex::new((BTreeMap::<String, ReadBack>::new(), Vec::new()));
        let work = || {
            while let Some((path, file)) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                if stopped() {
                    return;
                }
                let writers = std::iter::once(&file.job).chain(&file.writers);
                let Some(job) = writers.into_iter().find(|job| wanted(job)) else {
                    continue;
                };
                let outcome = compare(path, file, elsewhere);
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                let of_job = found.0.entry(job.clone()).or_default();
                match outcome {
                    Ok((bytes, from_storage)) => {
                        of_job.bytes += bytes;
                        of_job.from_storage += if from_storage { bytes } else { 0 };
                    }
                    Err(finding) => of_job
                        .findings
                        .push(format!("{}: {finding}", path.display())),
                }
                found.1.push(path.clone());
            }
        };
        let threads = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        thread::scope(|scope| {
            for _ in 0..threads.min(files.len()) {
                scope.spawn(work);
            }
        });
        let (mut by_job, read) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        for one in by_job.values_mut() {
            one.findings.sort();
        }
        (by_job, read)
    }
}

/// Of blocks in the order in which they were written those that are still there, by place.
fn latest(blocks: &[Block]) -> Result<Vec<Block>, String> {
    let mut numbered: Vec<(usize, Block)> = blocks.iter().copied().enumerate().collect();
    numbered.sort_unstable_by_key(|(number, block)| (block.offset, *number));
    let mut kept: Vec<Block> = Vec::with_capacity(numbered.len());
    for (_, block) in numbered {
        match kept.last() {
            Some(last) if last.offset == block.offset && last.bytes == block.bytes => {
                kept.pop();
            }
            Some(last) if last.end() > block.offset => {
                return Err(format!(
                    "bytes {} to {} were written over in part: what they hold cannot be compared",
                    last.offset,
                    last.end() - 1
                ));
            }
            _ => {}
        }
        kept.push(block);
    }
    Ok(kept)
}

/// Whether what is read of an evicted file comes from storage. File systems with caches of their own do not tell,
/// and in some memory is all there is.
fn is_out_of_cache(path: &Path) -> Option<bool> {
    let share = cache::cached_share(path).ok().flatten()?;
    Some(share <= CACHED_SHARE_MAX)
}

/// How many bytes are as they were written, all that are known, and whether they surely came from storage; or what
/// is wrong.
fn compare(
    path: &Path,
    expected: &LeftFile,
    elsewhere: &dyn Fn(&str) -> bool,
) -> Result<(u64, bool), String> {
    let blocks = latest(&expected.blocks)?;
    let file = match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err("it is gone, though no job removed it".to_owned());
        }
        other => other.map_err(|error| error.to_string())?,
    };
    cache::evict(path).map_err(|error| format!("failed to evict it: {error}"))?;
    let all_elsewhere = expected.writers.iter().all(|job| elsewhere(job));
    let from_storage = is_out_of_cache(path).unwrap_or(all_elsewhere);
    let failed = |error: io::Error| format!("failed to read it back: {error}");
    let length = file.metadata().map_err(failed)?.len();
    let end = blocks.last().map_or(0, Block::end);
    if length < end || (expected.whole && length > end) {
        return Err(format!("it has {length} bytes instead of {end}"));
    }
    let mut known = 0;
    let mut differing: Vec<Block> = Vec::new();
    let mut buffer = Vec::new();
    for block in &blocks {
        if expected.whole && block.offset != known {
            let last = block.offset - 1;
            return Err(format!(
                "nothing is known of bytes {known} to {last}, which no job wrote"
            ));
        }
        known = block.end();
        buffer.resize(block.bytes as usize, 0);
        file.read_exact_at(&mut buffer, block.offset)
            .map_err(failed)?;
        if hash_bytes(&buffer) != block.hash {
            differing.push(*block);
        }
    }
    match differing.first() {
        None => {
            let bytes = blocks.iter().map(|block| u64::from(block.bytes)).sum();
            Ok((bytes, from_storage))
        }
        Some(first) => Err(said(path, *first, differing.len())),
    }
}

/// Where a file differs from what was written.
fn said(path: &Path, first: Block, all: usize) -> String {
    let bytes = format!("bytes {} to {}", first.offset, first.end() - 1);
    let place = located::place(path, first.offset);
    let place = place.map_or_else(|| bytes.clone(), |place| format!("{place} ({bytes})"));
    let more = match all {
        1 => String::new(),
        more => format!("; {more} such blocks differ"),
    };
    format!("{place}: what was read back is not what the job wrote{more}")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::verify::samples;

    fn change(unix_ns: u64, file: &Path, kind: ChangeKind) -> FileChange {
        FileChange {
            unix_ns,
            file: file.to_str().unwrap().to_owned(),
            kind,
        }
    }

    /// A file as if written in blocks of these lengths.
    fn written(path: &Path, lengths: &[u32]) -> ChangeKind {
        let bytes = fs::read(path).unwrap();
        let mut offset = 0;
        let blocks = lengths.iter().map(|length| {
            let from = offset;
            offset += *length as usize;
            let hash = hash_bytes(&bytes[from..offset.min(bytes.len())]);
            (from as u64, *length, hash)
        });
        let blocks = BlockRun::gather(blocks.collect::<Vec<_>>());
        ChangeKind::Written { blocks }
    }

    fn read_back(changes: Vec<(usize, FileChange)>) -> BTreeMap<String, ReadBack> {
        read_back_of(changes, &|_| false)
    }

    fn read_back_of(
        changes: Vec<(usize, FileChange)>,
        elsewhere: &(dyn Fn(&str) -> bool + Sync),
    ) -> BTreeMap<String, ReadBack> {
        let named = |(job, change): (usize, FileChange)| (job.to_string(), change);
        Left::after(changes.into_iter().map(named).collect())
            .read_back(&|_| true, elsewhere, &|| false)
            .0
    }

    /// A file in blocks that two jobs wrote, in a folder.
    fn of_two_jobs(folder: &Path) -> Vec<(usize, FileChange)> {
        let path = folder.join("a");
        fs::write(&path, vec![7; 1 << 20]).unwrap();
        let half = |at: u64| ChangeKind::Written {
            blocks: BlockRun::gather([(at, 1 << 19, hash_bytes(&vec![7; 1 << 19]))]),
        };
        vec![
            (1, change(1, &path, ChangeKind::Created)),
            (1, change(2, &path, half(0))),
            (2, change(3, &path, half(1 << 19))),
        ]
    }

    #[test]
    fn only_what_is_seen_to_leave_the_cache_is_read_from_storage() {
        let told = |folder: &Path, elsewhere: &(dyn Fn(&str) -> bool + Sync)| {
            let found = read_back_of(of_two_jobs(folder), elsewhere);
            (found["2"].bytes, found["2"].from_storage)
        };
        // The usual temporary directory may be a tmpfs, which has nothing but cache.
        let disk = tempfile::tempdir_in("/var/tmp").unwrap();
        assert_eq!(told(disk.path(), &|_| false), (1 << 20, 1 << 20));
        if let Ok(memory) = tempfile::tempdir_in("/dev/shm") {
            assert_eq!(told(memory.path(), &|_| false), (1 << 20, 0));
            // What one of the writers left in a cache of this machine may be read from there.
            assert_eq!(told(memory.path(), &|job| job == "2"), (1 << 20, 0));
            assert_eq!(told(memory.path(), &|_| true), (1 << 20, 1 << 20));
        }
    }

    #[test]
    fn a_clock_that_was_set_back_does_not_undo_what_came_after() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&new, [7; 100]).unwrap();
        let rename = ChangeKind::Renamed {
            to: new.to_str().unwrap().to_owned(),
        };
        let found = read_back(vec![
            (1, change(9, &old, ChangeKind::Created)),
            (1, change(10, &old, written(&new, &[100]))),
            (1, change(2, &old, rename)),
        ]);
        assert_eq!((found["1"].bytes, found["1"].findings.len()), (100, 0));
    }

    #[test]
    fn what_is_there_is_what_the_last_change_left() {
        let folder = tempfile::tempdir().unwrap();
        let (old, new) = (folder.path().join("old"), folder.path().join("new"));
        fs::write(&new, [7; 300]).unwrap();
        let other = folder.path().join("other");
        let rename = |to: &Path| ChangeKind::Renamed {
            to: to.to_str().unwrap().to_owned(),
        };
        let changes = vec![
            // The second job appends what the first one made and renamed.
            (2, change(9, &new, written(&new, &[100, 100, 100]))),
            (1, change(1, &old, ChangeKind::Created)),
            (1, change(2, &old, written(&new, &[100, 100]))),
            (1, change(3, &old, rename(&new))),
            (1, change(4, &other, ChangeKind::Created)),
            (1, change(5, &other, written(&new, &[100]))),
            (1, change(6, &other, ChangeKind::Removed)),
        ];
        let found = read_back(changes);
        let jobs: Vec<&String> = found.keys().collect();
        assert_eq!(jobs, ["2"]);
        assert_eq!((found["2"].bytes, &*found["2"].findings), (300, &[][..]));
    }

    #[test]
    fn every_harm_is_found_and_named() {
        type Harm = fn(&Path);
        let harms: [(Harm, &str); 6] = [
            (|_| (), ""),
            (
                |path| samples::flip(path, 3, 1000),
                "page 3, whose first row is ",
            ),
            (|path| samples::swap(path, 2, 4), "2 such blocks differ"),
            (|path| samples::cut(path, 5), " bytes instead of "),
            (
                |path| fs::write(path, [fs::read(path).unwrap(), vec![0]].concat()).unwrap(),
                " bytes instead of ",
            ),
            (|path| fs::remove_file(path).unwrap(), "it is gone"),
        ];
        for (harm, wanted) in harms {
            let folder = tempfile::tempdir().unwrap();
            let numbers: Vec<f64> = (0..500).map(f64::from).collect();
            let path = samples::write(folder.path(), "a", &numbers);
            let pages = fs::metadata(&path).unwrap().len() / 4096;
            let lengths = vec![4096; pages as usize];
            let changes = vec![
                (0, change(1, &path, ChangeKind::Created)),
                (0, change(2, &path, written(&path, &lengths))),
            ];
            harm(&path);
            let found = read_back(changes)["0"].clone();
            assert_eq!(found.findings.is_empty(), wanted.is_empty(), "{found:?}");
            let said = found.findings.concat();
            assert!(said.contains(wanted), "{wanted}: {said}");
        }
    }

    #[test]
    fn of_files_that_were_there_before_only_what_was_written_is_compared() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, [7; 300]).unwrap();
        let kind = ChangeKind::Written {
            blocks: BlockRun::gather([(100, 100, hash_bytes(&[7; 100]))]),
        };
        let changes = vec![(0, change(1, &path, kind))];
        assert_eq!(read_back(changes.clone())["0"].bytes, 100);
        fs::write(&path, [8; 300]).unwrap();
        let said = read_back(changes)["0"].findings.concat();
        assert!(said.contains("bytes 100 to 199: "), "{said}");
    }

    #[test]
    fn what_cannot_be_compared_is_no_success() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, [7; 300]).unwrap();
        let hash = hash_bytes(&[7; 100]);
        for (blocks, wanted) in [
            (
                vec![(0, 100, hash), (50, 100, hash)],
                "written over in part",
            ),
            (
                vec![(0, 100, hash), (200, 100, hash)],
                "bytes 100 to 199, which no job wrote",
            ),
        ] {
            let blocks = BlockRun::gather(blocks);
            let changes = vec![
                (0, change(1, &path, ChangeKind::Created)),
                (0, change(2, &path, ChangeKind::Written { blocks })),
            ];
            let said = read_back(changes)["0"].findings.concat();
            assert!(said.contains(wanted), "{said}");
        }
    }
}
