//! A file system of its own on a loop device, gone again when it is dropped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// A mounted file system.
pub(super) struct Disk {
    pub(super) mounted: PathBuf,
    image: PathBuf,
    device: String,
}

impl Disk {
    /// Makes one of so many bytes, in a sparse file below `folder`. The page cache holds its files once
    /// and not twice: the device reads and writes its image directly.
    pub(super) fn make(kind: &str, bytes: u64, folder: &Path) -> Result<Self> {
        if !rustix::process::geteuid().is_root() {
            bail!("only root may attach loop devices and mount file systems");
        }
        let image = folder.join(format!("{kind}.img"));
        let mounted = folder.join(kind);
        fs::create_dir_all(&mounted)?;
        fs::File::create(&image)?.set_len(bytes)?;
        let attach = ["losetup", "--find", "--show", "--direct-io=on"];
        let device = said(&[&attach[..], &[text(&image)?]].concat())?;
        // From here on what was made goes again.
        let disk = Self {
            mounted,
            image,
            device,
        };
        let make: &[&str] = match kind {
            // All of its tables at once: nothing is left for the kernel to write during a measurement.
            "ext4" => &["-F", "-E", "lazy_itable_init=0,lazy_journal_init=0"],
            _ => &["-f"],
        };
        let program = format!("mkfs.{kind}");
        said(&[&[program.as_str(), "-q"], make, &[&disk.device]].concat())?;
        said(&["mount", "-t", kind, &disk.device, text(&disk.mounted)?])?;
        Ok(disk)
    }

    /// Writes what is not yet written and gives the image's unused blocks back to its own file system.
    pub(super) fn settle(&self) -> Result<()> {
        said(&["sync"])?;
        // A device that cannot discard only costs space.
        let _ = said(&["fstrim", text(&self.mounted)?]);
        Ok(())
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let mounted = self.mounted.display().to_string();
        // Nothing is mounted yet if making it failed.
        let _ = said(&["umount", &mounted]);
        if let Err(error) = said(&["losetup", "--detach", &self.device]) {
            eprintln!("{} stays attached: {error:#}", self.device);
        }
        let _ = fs::remove_file(&self.image);
        let _ = fs::remove_dir(&self.mounted);
    }
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("the folder's name is not UTF-8")
}

/// Runs a program and returns what it says.
pub(super) fn said(command: &[&str]) -> Result<String> {
    let (program, arguments) = command.split_first().context("a command")?;
    let output = Command::new(program)
        .args(arguments)
        .output()
        .with_context(|| format!("{program} cannot be started; is it installed?"))?;
    if !output.status.success() {
        let complained = String::from_utf8_lossy(&output.stderr);
        bail!("{} failed: {}", command.join(" "), complained.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
