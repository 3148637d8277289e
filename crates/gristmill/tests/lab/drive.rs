//! What a drive of its own counts, beside what `gristmill iotest` says: `lab/test ext4`.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use serde_json::Value;

use super::{dir, gristmill};

/// Bytes of `--size`.
const FILE: u64 = 256 << 20;
const STREAMS: u64 = 2;
/// Sectors of /sys/block have this size whatever the device's is.
const SECTOR: u64 = 512;

/// Bytes that the device under a directory has read and written.
pub(super) fn counted(folder: &Path) -> (u64, u64) {
    let device = fs::metadata(folder).unwrap().dev();
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let stat = fs::read_to_string(format!("/sys/dev/block/{major}:{minor}/stat")).unwrap();
    let fields: Vec<u64> = stat
        .split_whitespace()
        .map(|field| field.parse().unwrap())
        .collect();
    (fields[2] * SECTOR, fields[6] * SECTOR)
}

/// Within 1 %; where nothing was to be moved, the file system's own is less than that of the whole files.
fn agree(what: &str, device: u64, streams: u64) {
    let all = if streams == 0 {
        FILE * STREAMS
    } else {
        streams
    };
    let allowed = all / 100;
    assert!(
        device.abs_diff(streams) <= allowed,
        "{what}: the device moved {device} bytes, streams say {streams}"
    );
}

#[test]
#[ignore = "needs a drive that nobody else uses: lab/test ext4"]
fn what_iotest_moves_is_what_the_device_counts() {
    let folder = dir();
    // What was written before does not count.
    rustix::fs::syncfs(fs::File::open(&folder).unwrap()).unwrap();
    let before = counted(&folder);
    let directory = folder.display().to_string();
    let (size, streams) = (FILE.to_string(), STREAMS.to_string());
    // Files are whole however slow the drive is.
    let output = gristmill(
        &[
            "iotest",
            &directory,
            "--streams",
            &streams,
            "--size",
            &size,
            "--seconds",
            "86400",
            "--json",
        ],
        &folder,
    );
    let after = counted(&folder);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut all = (0, 0);
    for phase in found["table"]["phases"].as_array().unwrap() {
        let name = phase["phase"].as_str().unwrap();
        let moved = |key: &str| -> u64 {
            let streams = phase["places"][0]["streams"].as_array().unwrap();
            streams.iter().map(|one| one[key].as_u64().unwrap()).sum()
        };
        let (read, written) = (moved("read_bytes"), moved("written_bytes"));
        let whole = if name == "write" { written } else { read };
        assert_eq!(whole, FILE * STREAMS, "{name}");
        let [device] = &phase["devices"].as_array().unwrap()[..] else {
            panic!("one device: {phase}");
        };
        let device = |key: &str| device[key].as_u64().unwrap();
        agree(&format!("{name}, reads"), device("read_bytes"), read);
        agree(&format!("{name}, writes"), device("written_bytes"), written);
        all = (all.0 + read, all.1 + written);
    }
    // Beside the tool's own look at the counters: the device's before and after everything.
    agree("all reads", after.0 - before.0, all.0);
    agree("all writes", after.1 - before.1, all.1);
}
