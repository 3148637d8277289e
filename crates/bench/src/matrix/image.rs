//! Files that hold file systems, by loop devices.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::tool;

/// Zeros are written in blocks of this size.
const BLOCK: usize = 4 << 20;

/// Makes a file of a size, written from end to end once, so that the host does not look for room for it in the
/// middle of what is measured. One that is there with this size stays.
pub fn make(path: &Path, bytes: u64, stop: &AtomicBool) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| there.len() == bytes) {
        return Ok(());
    }
    let beside = path.with_extension("new");
    let mut file = OpenOptions::new()
        .create(true)
        .write(true)
        .truncate(true)
        .open(&beside)?;
    let zeros = vec![0; BLOCK];
    let mut left = bytes;
    while left > 0 {
        if stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let part = left.min(BLOCK as u64);
        let written = file.write(&zeros[..usize::try_from(part).unwrap_or(BLOCK)])?;
        left -= written as u64;
    }
    file.sync_all()?;
    fs::rename(beside, path)
}

/// Loop devices of a file.
fn devices(path: &Path) -> Result<Vec<String>, String> {
    let text = path.display().to_string();
    let listed = tool::run(&tool::words(&[
        "losetup",
        "--noheadings",
        "--output",
        "NAME",
        "-j",
        &text,
    ]));
    let listed = listed.map_err(|error| error.to_string())?;
    Ok(listed.split_whitespace().map(str::to_owned).collect())
}

/// Takes the loop devices of a file away.
pub fn detach(path: &Path) -> Result<(), String> {
    if !path.exists() {
        return Ok(());
    }
    for device in devices(path)? {
        tool::run(&tool::words(&["losetup", "--detach", &device]))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

/// Gives a file a loop device, past the host's page cache where the file system below lets it; the device, and
/// a note if it does not.
pub fn attach(path: &Path) -> Result<(PathBuf, Option<String>), String> {
    let text = path.display().to_string();
    let attach = |more: &[&str]| {
        let words = [&["losetup", "--find", "--show"], more, &[&*text]].concat();
        tool::run(&tool::words(&words)).map(|device| PathBuf::from(device.trim()))
    };
    let past = attach(&["--direct-io=on"]).map_err(|error| error.to_string())?;
    let name = past.file_name().unwrap_or_default();
    let is_direct = Path::new("/sys/block").join(name).join("loop/dio");
    let is_direct = fs::read_to_string(is_direct).is_ok_and(|text| text.trim() == "1");
    let note = (!is_direct).then(|| {
        format!(
            "{text} is read and written through the host's page cache as well: the file system below has no O_DIRECT"
        )
    });
    Ok((past, note))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_written_from_end_to_end_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.img");
        make(&path, 5_000_001, &AtomicBool::new(false)).unwrap();
        let there = fs::metadata(&path).unwrap();
        assert_eq!(there.len(), 5_000_001);
        fs::write(&path, vec![1; 5_000_001]).unwrap();
        make(&path, 5_000_001, &AtomicBool::new(false)).unwrap();
        assert_eq!(fs::read(&path).unwrap()[0], 1, "it stays");
        let stopped = make(&folder.path().join("b.img"), 1, &AtomicBool::new(true));
        assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert!(!folder.path().join("b.img").exists());
    }
}
