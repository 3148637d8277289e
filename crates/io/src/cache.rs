//! The page cache: dropping it, evicting single files, measuring what is still in it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSliceMut};
use std::path::Path;

use rustix::fs::Advice;
use rustix::io::{Errno, ReadWriteFlags};

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

/// Share of a file's bytes that can be read without waiting for a device, 0 to 1, from evenly
/// spread samples (`preadv2` with `RWF_NOWAIT`); `None` where the file system cannot tell or the
/// file is empty.
pub fn cached_share(path: &Path) -> io::Result<Option<f64>> {
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    if length == 0 {
        return Ok(None);
    }
    let samples = SAMPLES.min(length.div_ceil(4096));
    let mut cached = 0u64;
    for sample in 0..samples {
        let offset = u128::from(length) * u128::from(sample) / u128::from(samples);
        let offset = u64::try_from(offset).expect("below the length");
        let mut byte = [0];
        let mut slices = [IoSliceMut::new(&mut byte)];
        match rustix::io::preadv2(&file, &mut slices, offset, ReadWriteFlags::NOWAIT) {
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
    }
}
