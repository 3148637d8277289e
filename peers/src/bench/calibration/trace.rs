//! The file calls of a job, as `strace -f` saw them, below one directory.

use std::collections::{BTreeMap, HashMap};
use std::ffi::CString;

use anyhow::{Context, Result, bail};
use rustix::fs::{FlockOperation, OFlags};

/// A file that is open; numbers are those that the job's kernel gave.
pub(super) type Slot = usize;
/// An index into [`Trace::paths`].
pub(super) type Path = usize;

/// One call.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Call {
    Open {
        /// Where the file is; none if it was not opened.
        slot: Option<Slot>,
        path: Path,
        flags: OFlags,
        mode: u32,
    },
    Close(Slot),
    Read {
        slot: Slot,
        offset: u64,
        bytes: usize,
        /// How many came.
        moved: usize,
    },
    Write {
        slot: Slot,
        offset: u64,
        bytes: usize,
    },
    Stat(Slot),
    StatPath {
        path: Path,
        found: bool,
    },
    List(Slot),
    Lock {
        slot: Slot,
        how: FlockOperation,
    },
    Rename {
        from: Path,
        to: Path,
    },
    Unlink(Path),
    MakeDirectory(Path),
    RemoveDirectory(Path),
    Truncate {
        slot: Slot,
        bytes: u64,
    },
    Sync(Slot),
    StatFileSystem(Slot),
}

impl Call {
    /// As the page lists it.
    fn name(self) -> &'static str {
        match self {
            Self::Open { slot: None, .. } => "open, in vain",
            Self::Open { flags, .. } if flags.contains(OFlags::CREATE) => "create",
            Self::Open { .. } => "open",
            Self::Close(_) => "close",
            Self::Read { .. } => "read",
            Self::Write { .. } => "write",
            Self::Stat(_) => "stat of an open file",
            Self::StatPath { found: true, .. } => "stat",
            Self::StatPath { found: false, .. } => "stat, in vain",
            Self::List(_) => "list",
            Self::Lock { .. } => "lock, unlock",
            Self::Rename { .. } => "rename",
            Self::Unlink(_) => "unlink",
            Self::MakeDirectory(_) => "make a directory",
            Self::RemoveDirectory(_) => "remove a directory",
            Self::Truncate { .. } => "truncate",
            Self::Sync(_) => "fsync",
            Self::StatFileSystem(_) => "statfs",
        }
    }

    fn bytes(self) -> usize {
        match self {
            Self::Read { moved, .. } => moved,
            Self::Write { bytes, .. } => bytes,
            _ => 0,
        }
    }
}

/// All calls of a job, in order.
#[derive(Debug, Default)]
pub(super) struct Trace {
    pub(super) calls: Vec<Call>,
    pub(super) paths: Vec<CString>,
}

impl Trace {
    /// How often each kind of call was made, and the bytes that it moved.
    pub(super) fn counts(&self) -> BTreeMap<&'static str, (u64, u64)> {
        let mut counts = BTreeMap::new();
        for call in &self.calls {
            let count: &mut (u64, u64) = counts.entry(call.name()).or_default();
            count.0 += 1;
            count.1 += call.bytes() as u64;
        }
        counts
    }
}

/// Reads what strace wrote. Calls on files that are not below `root` are left out; any other that a
/// replay could not make is an error.
pub(super) fn read(text: &str, root: &str) -> Result<Trace> {
    let mut reader = Reader {
        root,
        trace: Trace::default(),
        paths: HashMap::new(),
        open: HashMap::new(),
    };
    let mut unfinished: HashMap<&str, String> = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let (thread, line) = line.split_once(' ').unwrap_or((line, ""));
        let line = line.trim_start();
        let whole;
        let line = if let Some(start) = line.strip_suffix("<unfinished ...>") {
            // The number is free as soon as the call has begun.
            if !start.starts_with("close(") {
                unfinished.insert(thread, start.to_owned());
                continue;
            }
            whole = format!("{}) = 0", start.trim_end());
            &whole
        } else if let Some(rest) = line.strip_prefix("<... ") {
            let (Some(start), Some((_, end))) =
                (unfinished.remove(thread), rest.split_once(" resumed>"))
            else {
                continue;
            };
            whole = start + end;
            &whole
        } else {
            line
        };
        reader
            .line(line)
            .with_context(|| format!("line {number} of what strace wrote: {line}"))?;
    }
    Ok(reader.trace)
}

struct Reader<'a> {
    root: &'a str,
    trace: Trace,
    paths: HashMap<String, Path>,
    /// Files below the root, and whether their directory entries have been listed.
    open: HashMap<Slot, bool>,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) -> Result<()> {
        let Some((name, rest)) = line.split_once('(') else {
            return Ok(());
        };
        // Signals, the end of a thread.
        if name.contains(' ') {
            return Ok(());
        }
        let (arguments, answer) = rest.rsplit_once(") ").context("it has no answer")?;
        let answer = answer.trim_start().strip_prefix("= ");
        let answer = answer.context("it has no answer")?;
        let answer = answer.split_whitespace().next().unwrap_or("");
        if answer == "?" {
            return Ok(());
        }
        let arguments = split(arguments);
        let argument = |index: usize| arguments.get(index).copied().unwrap_or("");
        let answered: i64 = answer.parse().unwrap_or(0);
        let call = match name {
            "openat" => self.opened(argument(1), argument(2), argument(3), answered)?,
            "open" => self.opened(argument(0), argument(1), argument(2), answered)?,
            "rename" => self.renamed(argument(0), argument(1))?,
            "renameat" | "renameat2" => self.renamed(argument(1), argument(3))?,
            "unlink" => self.path(argument(0))?.map(Call::Unlink),
            "mkdir" => self.path(argument(0))?.map(Call::MakeDirectory),
            "rmdir" => self.path(argument(0))?.map(Call::RemoveDirectory),
            "unlinkat" if argument(2) == "AT_REMOVEDIR" => {
                self.path(argument(1))?.map(Call::RemoveDirectory)
            }
            "unlinkat" => self.path(argument(1))?.map(Call::Unlink),
            "stat" | "lstat" => self.stat(argument(0), answered)?,
            "statx" | "newfstatat" if argument(1) != "\"\"" => self.stat(argument(1), answered)?,
            _ => {
                // Calls whose first argument is a file.
                let Some(slot) = self.slot(argument(0)) else {
                    return self.deny(name, &arguments);
                };
                if answered < 0 {
                    bail!("it failed");
                }
                self.on_file(name, slot, &argument, answered)?
            }
        };
        let may_fail = matches!(call, Some(Call::Open { .. } | Call::StatPath { .. }) | None);
        if answered < 0 && !may_fail {
            bail!("it failed");
        }
        self.trace.calls.extend(call);
        Ok(())
    }

    /// A call on an open file.
    fn on_file<'t>(
        &mut self,
        name: &str,
        slot: Slot,
        argument: &dyn Fn(usize) -> &'t str,
        answered: i64,
    ) -> Result<Option<Call>> {
        Ok(Some(match name {
            "close" => {
                self.open.remove(&slot);
                Call::Close(slot)
            }
            "pread64" => Call::Read {
                slot,
                offset: argument(3).parse()?,
                bytes: argument(2).parse()?,
                moved: usize::try_from(answered)?,
            },
            "pwrite64" => {
                let bytes = argument(2).parse()?;
                if usize::try_from(answered)? != bytes {
                    bail!("it wrote less than it was given");
                }
                let offset = argument(3).parse()?;
                Call::Write {
                    slot,
                    offset,
                    bytes,
                }
            }
            "fstat" | "statx" | "newfstatat" => Call::Stat(slot),
            "fstatfs" => Call::StatFileSystem(slot),
            "ftruncate" => Call::Truncate {
                slot,
                bytes: argument(1).parse()?,
            },
            "fsync" | "fdatasync" => Call::Sync(slot),
            "fcntl" if argument(1) == "F_SETLK" => Call::Lock {
                slot,
                how: lock(argument(2))?,
            },
            // One call of the replay reads a directory to its end.
            "getdents64" => {
                let is_listed = self.open.insert(slot, true).unwrap_or(false);
                if is_listed {
                    return Ok(None);
                }
                Call::List(slot)
            }
            _ => bail!("the replay has no {name}"),
        }))
    }

    fn opened(
        &mut self,
        path: &str,
        flags: &str,
        mode: &str,
        answered: i64,
    ) -> Result<Option<Call>> {
        let Some(path) = self.path(path)? else {
            return Ok(None);
        };
        let slot = usize::try_from(answered).ok();
        if let Some(slot) = slot {
            self.open.insert(slot, false);
        }
        let flags = flags
            .split('|')
            .map(flag)
            .try_fold(OFlags::empty(), |all, one| one.map(|one| all | one))?;
        let mode = u32::from_str_radix(mode, 8).unwrap_or(0);
        Ok(Some(Call::Open {
            slot,
            path,
            flags,
            mode,
        }))
    }

    fn renamed(&mut self, from: &str, to: &str) -> Result<Option<Call>> {
        let (from, to) = (self.path(from)?, self.path(to)?);
        Ok(from.zip(to).map(|(from, to)| Call::Rename { from, to }))
    }

    fn stat(&mut self, path: &str, answered: i64) -> Result<Option<Call>> {
        let found = answered == 0;
        let path = self.path(path)?;
        Ok(path.map(|path| Call::StatPath { path, found }))
    }

    /// A call that the replay does not know must not be one below the root.
    fn deny(&self, name: &str, arguments: &[&str]) -> Result<()> {
        let quoted = format!("\"{}", self.root);
        if arguments.iter().any(|text| text.starts_with(&quoted)) {
            bail!("the replay has no {name}");
        }
        Ok(())
    }

    fn slot(&self, text: &str) -> Option<Slot> {
        let slot = text.parse().ok()?;
        self.open.contains_key(&slot).then_some(slot)
    }

    /// The number of a path, if it is below the root.
    fn path(&mut self, quoted: &str) -> Result<Option<Path>> {
        let path = quoted
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
            .context("a path is cut off")?;
        if !path.starts_with(self.root) {
            return Ok(None);
        }
        if path.contains('\\') {
            bail!("a path has characters that strace writes by their codes");
        }
        if let Some(known) = self.paths.get(path) {
            return Ok(Some(*known));
        }
        let number = self.trace.paths.len();
        self.trace.paths.push(CString::new(path)?);
        self.paths.insert(path.to_owned(), number);
        Ok(Some(number))
    }
}

/// Arguments, at commas that are not inside of quotes, braces or brackets.
fn split(text: &str) -> Vec<&str> {
    let mut arguments = Vec::new();
    let (mut start, mut depth, mut is_quoted, mut is_escaped) = (0, 0u32, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_quoted => is_escaped = true,
            b'"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            b'{' | b'[' | b'(' => depth += 1,
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b',' if depth == 0 => {
                arguments.push(text[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    arguments.push(text[start..].trim());
    arguments
}

fn flag(name: &str) -> Result<OFlags> {
    Ok(match name {
        "O_RDONLY" => OFlags::RDONLY,
        "O_WRONLY" => OFlags::WRONLY,
        "O_RDWR" => OFlags::RDWR,
        "O_CREAT" => OFlags::CREATE,
        "O_EXCL" => OFlags::EXCL,
        "O_TRUNC" => OFlags::TRUNC,
        "O_NOFOLLOW" => OFlags::NOFOLLOW,
        "O_CLOEXEC" => OFlags::CLOEXEC,
        "O_DIRECTORY" => OFlags::DIRECTORY,
        "O_NONBLOCK" => OFlags::NONBLOCK,
        _ => bail!("the replay does not open with {name}"),
    })
}

fn lock(text: &str) -> Result<FlockOperation> {
    if !text.contains("l_whence=SEEK_SET, l_start=0, l_len=0") {
        bail!("the replay locks whole files only");
    }
    let kinds = [
        ("F_RDLCK", FlockOperation::NonBlockingLockShared),
        ("F_WRLCK", FlockOperation::NonBlockingLockExclusive),
        ("F_UNLCK", FlockOperation::NonBlockingUnlock),
    ];
    let found = kinds.iter().find(|(name, _)| text.contains(name));
    Ok(found.context("a lock of an unknown kind")?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEEN: &str = r#"7 execve("/usr/bin/gristmill", ["gristmill", "exec"], 0x7ffd /* 20 vars */) = 0
7 openat(AT_FDCWD, "/etc/ld.so.cache", O_RDONLY|O_CLOEXEC) = 3
7 read(3, ""..., 832) = 832
7 close(3) = 0
7 statx(AT_FDCWD, "/m/in/a", AT_STATX_SYNC_AS_STAT, STATX_ALL, 0x7ffd) = -1 ENOENT (No such file or directory)
7 openat(AT_FDCWD, "/m/work/a.lck", O_RDWR|O_CREAT|O_EXCL|O_CLOEXEC, 0666) = 3
7 fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=0, l_len=0}) = 0
8 pwrite64(3, ""..., 65536, 131072 <unfinished ...>
7 fstat(1, {st_mode=S_IFREG|0644, st_size=0, ...}) = 0
8 <... pwrite64 resumed>) = 65536
7 pread64(3,  <unfinished ...>
8 +++ exited with 0 +++
7 <... pread64 resumed>""..., 65536, 131072) = 12
7 rename("/m/work/a.lck", "/m/work/a") = 0
7 close(3 <unfinished ...>
7 <... close resumed>) = 0
7 --- SIGCHLD {si_signo=SIGCHLD, si_code=CLD_EXITED, si_pid=9} ---
7 unlink("/m/work/a") = 0
7 exit_group(0) = ?
"#;

    #[test]
    fn calls_below_the_root_are_found() {
        let trace = read(SEEN, "/m/").unwrap();
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let expected = [
            Call::StatPath {
                path: 0,
                found: false,
            },
            Call::Open {
                slot: Some(3),
                path: 1,
                flags,
                mode: 0o666,
            },
            Call::Lock {
                slot: 3,
                how: FlockOperation::NonBlockingLockExclusive,
            },
            Call::Write {
                slot: 3,
                offset: 131_072,
                bytes: 65_536,
            },
            Call::Read {
                slot: 3,
                offset: 131_072,
                bytes: 65_536,
                moved: 12,
            },
            Call::Rename { from: 1, to: 2 },
            Call::Close(3),
            Call::Unlink(2),
        ];
        assert_eq!(trace.calls, expected);
        assert_eq!(trace.counts()["write"], (1, 65_536));
    }

    #[test]
    fn what_cannot_be_replayed_is_refused() {
        let opened = "7 open(\"/m/a\", O_RDONLY) = 3\n";
        for call in [
            "7 mmap(3, 4096) = 0",
            "7 readv(3, [{iov_base=\"\"..., iov_len=9}], 1) = 9",
            "7 truncate(\"/m/a\", 9) = 0",
            "7 pread64(3, 0x1, 9, 0) = -1 EIO (Input/output error)",
            "7 fcntl(3, F_SETLK, {l_type=F_WRLCK, l_whence=SEEK_SET, l_start=1, l_len=0}) = 0",
        ] {
            assert!(read(&format!("{opened}{call}\n"), "/m/").is_err(), "{call}");
            assert!(read(&format!("{call}\n"), "/n/").is_ok(), "{call}");
        }
    }
}
