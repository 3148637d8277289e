//! The page cache: dropping it, evicting single files, measuring what is still in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSliceMut};
use std::path::Path;

use rustix::fs::Advice;
use rustix::io::{Errno, ReadWriteFlags};

use crate::{cachestat, mincore};

/// Places looked at per file when the cached share is measured.
const SAMPLES: u64 = 2048;

/// Writes everything dirty back, then drops the page cache of the whole host. Needs root.
pub fn drop_all() -> io::Result<()> {
    rustix::fs::sync();
    fs::write("/proc/sys/vm/drop_caches", "3\n")
}

/// Writes everything dirty of the file system that `directory` is on to its device (`syncfs`).
pub fn flush(directory: &Path) -> io::Result<()> {
    Ok(rustix::fs::syncfs(File::open(directory)?)?)
}

/// Flushes a file and asks the kernel to forget its pages. Pages mapped or in use elsewhere stay.
pub fn evict(path: &Path) -> io::Result<()> {
    let file = OpenOptions::new().read(true).open(path)?;
    file.sync_data()?;
    rustix::fs::fadvise(&file, 0, None, Advice::DontNeed)?;
    Ok(())
}

/// Keeps files in memory (tmpfs, ramfs): nothing is evicted, and nothing else is behind it. Numbers of file systems
/// are those that `statfs` gives.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// Has a cache of its own beside the kernel's, which nothing tells of (GPFS, ZFS, StorNext).
const OWN_CACHE: [i64; 3] = [0x4750_4653, 0x2fc1_2fc1, 0xbeef_dead];

/// Its files are those of another file system below, which has a cache of its own (overlay, FUSE).
const OVERLAY: i64 = 0x794c_7630;
const FUSE: i64 = 0x6573_5546;

/// Whether it can be told what of a file is nowhere in memory.
fn is_told(kind: i64) -> bool {
    !IN_MEMORY.contains(&kind) && !OWN_CACHE.contains(&kind) && kind != OVERLAY && kind != FUSE
}

/// Whether a file is nowhere in memory of this host once the page cache is dropped, as far as its file system is one
/// that keeps files nowhere else there.
pub fn is_dropped_with_pages(path: &Path) -> io::Result<bool> {
    Ok(is_told(rustix::fs::statfs(path)?.f_type))
}

/// Whether files of a directory may be kept by what does not keep them for this process's control group, so that
/// the group's limit says nothing of how much: a cache of the file system's own, or that of the process behind FUSE.
pub fn is_beside_group(directory: &Path) -> io::Result<bool> {
    Ok(keeps_beside_group(rustix::fs::statfs(directory)?.f_type))
}

fn keeps_beside_group(kind: i64) -> bool {
    OWN_CACHE.contains(&kind) || kind == FUSE
}

/// What of a file is in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pages {
    /// Pages that are.
    pub cached: u64,
    /// Pages of the file.
    pub all: u64,
}

impl Pages {
    /// 0 to 1.
    pub fn share(self) -> f64 {
        (self.cached as f64 / self.all as f64).min(1.0)
    }
}

/// Pages of a file that the page cache of this host keeps for its file system, whatever is below that; `None`
/// where files are in memory anyhow or in a cache of the file system's own, or the file is empty. It leaves the
/// cache as it is. The caller must own the file, or be able to write to it.
pub fn pages(path: &Path) -> io::Result<Option<Pages>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    let kind = rustix::fs::fstatfs(&file)?.f_type;
    if length == 0 || IN_MEMORY.contains(&kind) || OWN_CACHE.contains(&kind) {
        return Ok(None);
    }
    let cached = if kind == OVERLAY {
        mincore::pages(&file, length)?
    } else {
        match cachestat::pages(&file) {
            Err(error) if is_refused(&error) => mincore::pages(&file, length)?,
            other => other?,
        }
    };
    let all = length.div_ceil(rustix::param::page_size() as u64);
    Ok(Some(Pages { cached, all }))
}

/// Share of a file's bytes that are in the page cache of this host, 0 to 1; `None` where that cannot be told
/// or the file is empty. Asked of the kernel where it can be (`cachestat`), which leaves the cache as it is;
/// else from a mapping (`mincore`, for files that the caller may write), else from evenly spread samples (`preadv2`
/// with `RWF_NOWAIT`), for which kernels may read ahead.
pub fn cached_share(path: &Path) -> io::Result<Option<f64>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length == 0 || !is_told(rustix::fs::fstatfs(&file)?.f_type) {
        return Ok(None);
    }
    match cachestat::pages(&file) {
        Ok(pages) => {
            let page_bytes = rustix::param::page_size() as u64;
            let share = pages as f64 / length.div_ceil(page_bytes) as f64;
            Ok(Some(share.min(1.0)))
        }
        Err(error) if is_refused(&error) && is_writable(path) => {
            let all = length.div_ceil(rustix::param::page_size() as u64);
            Ok(Some(mincore::pages(&file, length)? as f64 / all as f64))
        }
        Err(error) if is_refused(&error) => sampled_share(&file, length),
        Err(other) => Err(other),
    }
}

/// Whether `cachestat` is not there (before Linux 6.5, or for containers that may not call it), or is not for this
/// caller.
fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM))
}

fn is_writable(path: &Path) -> bool {
    rustix::fs::access(path, rustix::fs::Access::WRITE_OK).is_ok()
}

fn sampled_share(file: &File, length: u64) -> io::Result<Option<f64>> {
    let samples = SAMPLES.min(length.div_ceil(4096));
    let mut cached = 0u64;
    for sample in 0..samples {
        let offset = u128::from(length) * u128::from(sample) / u128::from(samples);
        let offset = u64::try_from(offset).expect("below the length");
        let mut byte = [0];
        let mut slices = [IoSliceMut::new(&mut byte)];
        match rustix::io::preadv2(file, &mut slices, offset, ReadWriteFlags::NOWAIT) {
            Ok(_) => cached += 1,
            Err(Errno::AGAIN) => {}
            Err(Errno::OPNOTSUPP | Errno::NOSYS) => return Ok(None),
            Err(other) => return Err(other.into()),
        }
    }
    Ok(Some(cached as f64 / samples as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_evicted_file_is_mostly_not_cached() {
        // The usual temporary directory may be a tmpfs, which has nothing but cache.
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = directory.path().join("a");
        fs::write(&path, vec![1; 8 << 20]).unwrap();
        let before = cached_share(&path).unwrap();
        let before = before.expect("the file system of /var/tmp can tell what is cached");
        assert!(before > 0.9, "{before}");
        evict(&path).unwrap();
        let after = cached_share(&path).unwrap().unwrap();
        assert!(after < 0.5, "{after}");
        assert!(is_dropped_with_pages(&path).unwrap());
        // Looking is not reading.
        assert!(cached_share(&path).unwrap().unwrap() <= after);
    }

    #[test]
    fn samples_say_what_the_kernel_says() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = directory.path().join("a");
        fs::write(&path, vec![1; 8 << 20]).unwrap();
        let file = File::open(&path).unwrap();
        let sampled = sampled_share(&file, 8 << 20).unwrap().unwrap();
        assert!((cached_share(&path).unwrap().unwrap() - sampled).abs() < 0.05);
    }

    #[test]
    fn caches_that_nobody_tells_of_are_not_taken_for_empty() {
        let (gpfs, zfs, ext4, nfs) = (0x4750_4653, 0x2fc1_2fc1, 0xef53, 0x6969);
        assert!(!is_told(gpfs) && !is_told(zfs) && !is_told(FUSE) && !is_told(OVERLAY));
        assert!(is_told(ext4) && is_told(nfs));
    }

    #[test]
    fn what_a_group_is_charged_for_is_not_beside_it() {
        let (gpfs, zfs, cvfs) = (0x4750_4653, 0x2fc1_2fc1, 0xbeef_dead);
        assert!([gpfs, zfs, cvfs, FUSE].into_iter().all(keeps_beside_group));
        let (ext4, nfs, tmpfs) = (0xef53, 0x6969, IN_MEMORY[0]);
        let charged = [ext4, nfs, tmpfs, OVERLAY];
        assert!(!charged.into_iter().any(keeps_beside_group));
        assert!(!is_beside_group(Path::new("/proc")).unwrap());
    }

    #[test]
    fn a_mapping_says_what_the_kernel_says() {
        let directory = tempfile::tempdir_in("/var/tmp").unwrap();
        let path = directory.path().join("a");
        fs::write(&path, vec![1; (8 << 20) + 1]).unwrap();
        let mapped = || mincore::pages(&File::open(&path).unwrap(), (8 << 20) + 1).unwrap();
        let told = || pages(&path).unwrap().unwrap();
        assert_eq!((told().cached, mapped()), (told().all, told().all));
        evict(&path).unwrap();
        assert_eq!(told().cached, mapped());
        assert!(told().share() < 0.5, "{:?}", told());
    }

    #[test]
    fn what_lies_in_memory_is_not_told() {
        if let Ok(directory) = tempfile::tempdir_in("/dev/shm") {
            let path = directory.path().join("a");
            fs::write(&path, [1; 4096]).unwrap();
            assert_eq!(cached_share(&path).unwrap(), None);
            assert_eq!(pages(&path).unwrap(), None);
            assert!(!is_dropped_with_pages(&path).unwrap());
        }
    }
}
