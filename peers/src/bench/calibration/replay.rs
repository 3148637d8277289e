//! The bare loop: the calls of a recorded job again, and nothing else.

use std::ffi::CStr;
use std::io::{BufRead, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use anyhow::{Context, Result, bail};
use base::meter::Meter;
use io::process::ProcessMeter;
use rustix::fs::{self, AtFlags, CWD, Mode, OFlags, StatxFlags};

use super::trace::{self, Call, Trace};

/// Reads a recorded job, says that it is ready, waits to be told and makes its calls. Prints what they
/// took, without the preparation.
pub(in super::super) fn run(recorded: &Path, root: &str) -> Result<()> {
    let text = std::fs::read_to_string(recorded)?;
    let trace = trace::read(&text, root)?;
    drop(text);
    let mut files = Files::new(&trace);
    println!("ready");
    std::io::stdout().flush()?;
    std::io::stdin().lock().read_line(&mut String::new())?;
    let meter = ProcessMeter::start();
    let before = meter.usage();
    for (number, call) in trace.calls.iter().enumerate() {
        files
            .repeat(*call)
            .with_context(|| format!("call {number}, {call:?}"))?;
    }
    let after = meter.usage();
    let cpu = (after.user + after.system).saturating_sub(before.user + before.system);
    println!(
        "cpu_s={:.6} wall_s={:.6} calls={}",
        cpu.as_secs_f64(),
        after.real.saturating_sub(before.real).as_secs_f64(),
        trace.calls.len()
    );
    Ok(())
}

/// Files that are open, and one buffer for all that is read and written.
struct Files<'a> {
    paths: Vec<&'a CStr>,
    open: Vec<Option<OwnedFd>>,
    buffer: Vec<u8>,
    names: Vec<MaybeUninit<u8>>,
}

impl<'a> Files<'a> {
    fn new(trace: &'a Trace) -> Self {
        let (mut slots, mut bytes) = (0, 0);
        for call in &trace.calls {
            match *call {
                Call::Open {
                    slot: Some(slot), ..
                } => slots = slots.max(slot + 1),
                Call::Read { bytes: length, .. } | Call::Write { bytes: length, .. } => {
                    bytes = bytes.max(length);
                }
                _ => {}
            }
        }
        Self {
            paths: trace
                .paths
                .iter()
                .map(std::ffi::CString::as_c_str)
                .collect(),
            open: std::iter::repeat_with(|| None).take(slots).collect(),
            buffer: vec![b'x'; bytes],
            names: vec![MaybeUninit::uninit(); 32_768],
        }
    }

    fn file(&self, slot: usize) -> Result<&OwnedFd> {
        self.open[slot].as_ref().context("the file is not open")
    }

    #[inline]
    fn repeat(&mut self, call: Call) -> Result<()> {
        match call {
            Call::Open {
                slot,
                path,
                flags,
                mode,
            } => self.open(slot, self.paths[path], flags, mode)?,
            Call::Close(slot) => self.open[slot] = None,
            Call::Read {
                slot,
                offset,
                bytes,
                moved,
            } => {
                let file = self.open[slot].as_ref().context("the file is not open")?;
                let came = rustix::io::pread(file, &mut self.buffer[..bytes], offset)?;
                if came != moved {
                    bail!("{came} bytes came");
                }
            }
            Call::Write {
                slot,
                offset,
                bytes,
            } => {
                if rustix::io::pwrite(self.file(slot)?, &self.buffer[..bytes], offset)? != bytes {
                    bail!("not all was written");
                }
            }
            Call::Stat(slot) => stat(self.file(slot)?, c"", AtFlags::EMPTY_PATH)?,
            Call::StatPath { path, found } => {
                if stat(CWD, self.paths[path], AtFlags::empty()).is_ok() != found {
                    bail!("it ended otherwise");
                }
            }
            Call::List(slot) => {
                let file = self.open[slot].as_ref().context("the file is not open")?;
                let mut names = fs::RawDir::new(file, &mut self.names);
                while let Some(name) = names.next() {
                    name?;
                }
            }
            Call::Lock { slot, how } => fs::fcntl_lock(self.file(slot)?, how)?,
            Call::Rename { from, to } => fs::rename(self.paths[from], self.paths[to])?,
            Call::Unlink(path) => fs::unlink(self.paths[path])?,
            Call::MakeDirectory(path) => fs::mkdir(self.paths[path], Mode::from_raw_mode(0o777))?,
            Call::RemoveDirectory(path) => fs::rmdir(self.paths[path])?,
            Call::Truncate { slot, bytes } => fs::ftruncate(self.file(slot)?, bytes)?,
            Call::Sync(slot) => fs::fsync(self.file(slot)?)?,
            Call::StatFileSystem(slot) => {
                fs::fstatfs(self.file(slot)?)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, slot: Option<usize>, path: &CStr, flags: OFlags, mode: u32) -> Result<()> {
        let opened = fs::open(path, flags, Mode::from_raw_mode(mode));
        match slot {
            Some(slot) => self.open[slot] = Some(opened?),
            None if opened.is_ok() => bail!("it ended otherwise"),
            None => {}
        }
        Ok(())
    }
}

fn stat(file: impl AsFd, path: &CStr, flags: AtFlags) -> rustix::io::Result<()> {
    fs::statx(file, path, flags, StatxFlags::ALL).map(|_| ())
}
