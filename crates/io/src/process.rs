//! What the kernel says of this process: clock, CPU time, memory, faults, block counts.

#![expect(
    unsafe_code,
    reason = "getrusage, wait4, close, pre_exec, mallopt, sysconf and clocks of processes have no safe \
              wrapper that says all"
)]

use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use base::meter::{Meter, Usage, WallClock};

/// Seconds from 1960-01-01 (SAS's epoch) to 1970-01-01.
pub const SAS_EPOCH_OFFSET_SECONDS: f64 = 315_619_200.0;

/// Closes a file and returns what `close` answers.
pub(crate) fn close(file: File) -> io::Result<()> {
    // SAFETY: the descriptor was just taken out of its owner, so nobody else closes or uses it.
    match unsafe { libc::close(file.into_raw_fd()) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The real meter: `CLOCK_MONOTONIC`, `getrusage(RUSAGE_SELF)`, `/proc/self/status`.
#[derive(Debug)]
pub struct ProcessMeter {
    start: Instant,
    slept_ns: AtomicU64,
    /// Looked at after every step, so they stay open; `None` where there is no `/proc`.
    status: Option<File>,
    statm: Option<File>,
    clear_refs: Option<File>,
    /// What was in memory when the peak was reset.
    at_reset: Mutex<Option<InMemory>>,
}

/// Memory at a moment. Nothing is added to it without a fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct InMemory {
    resident_pages: u64,
    faults: u64,
}

impl ProcessMeter {
    /// Starts the clock.
    pub fn start() -> Self {
        Self {
            start: Instant::now(),
            slept_ns: AtomicU64::new(0),
            status: File::open("/proc/self/status").ok(),
            statm: File::open("/proc/self/statm").ok(),
            clear_refs: File::options()
                .write(true)
                .open("/proc/self/clear_refs")
                .ok(),
            at_reset: Mutex::new(None),
        }
    }

    fn in_memory(&self) -> Option<InMemory> {
        /// Seven numbers.
        const STATM_BYTES: usize = 256;
        let mut text = [0; STATM_BYTES];
        let length = self.statm.as_ref()?.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(text.get(..length)?).ok()?;
        let usage = rusage();
        Some(InMemory {
            resident_pages: text.split_ascii_whitespace().nth(1)?.parse().ok()?,
            faults: count(usage.ru_minflt) + count(usage.ru_majflt),
        })
    }

    /// The peak since the reset, if nothing came into memory since then: it is asked for after every step,
    /// `/proc/self/status` takes longer than some steps compute, and most steps of a program of small ones do with
    /// the memory of the one before.
    fn unchanged_peak(&self) -> Option<u64> {
        let at_reset = *self.at_reset.lock().unwrap_or_else(PoisonError::into_inner);
        let then = at_reset.filter(|then| self.in_memory() == Some(*then))?;
        Some(then.resident_pages * page_bytes())
    }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let microseconds = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(microseconds)
}

fn count(value: libc::c_long) -> u64 {
    u64::try_from(value).unwrap_or(0)
}

fn page_bytes() -> u64 {
    // SAFETY: no pointer is involved.
    count(unsafe { libc::sysconf(libc::_SC_PAGESIZE) })
}

fn rusage() -> libc::rusage {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the pointer is to a whole rusage; an all-zero rusage is valid if the call failed.
    unsafe {
        libc::getrusage(libc::RUSAGE_SELF, usage.as_mut_ptr());
        usage.assume_init()
    }
}

/// Keeps a few MB of freed memory for the next allocation. Each step frees the buffers that the next one
/// of the same sizes takes; given back to the system every time, they would be cleared page by page.
pub fn keep_freed_memory() {
    /// Freed memory at the end of the heap that is not given back, bytes.
    const KEPT: libc::c_int = 16 << 20;
    /// Larger blocks go back as soon as they are freed.
    const LARGE: libc::c_int = 32 << 20;
    #[cfg(target_env = "gnu")]
    // SAFETY: both calls only set parameters of the allocator; no pointer is involved.
    unsafe {
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

/// What the scheduler counts of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FirstThread {
    /// Time on a processor.
    pub cpu: Duration,
    /// Time in which it could have run and had no processor.
    pub cpu_wait: Duration,
}

/// What a finished child used, from `wait4`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finished {
    /// Exit code; `None` if a signal ended it.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// User CPU time.
    pub user: Duration,
    /// System CPU time.
    pub system: Duration,
    /// 512-byte blocks read from devices on its behalf.
    pub block_input: u64,
    /// 512-byte blocks that it made dirty or wrote towards devices.
    pub block_output: u64,
    /// What its first thread did; `None` where the kernel does not tell.
    pub first_thread: Option<FirstThread>,
}

/// Arranges that the child gets SIGTERM when the thread that starts it ends, so that a killed
/// launcher leaves nothing running.
pub fn die_with_parent(command: &mut std::process::Command) {
    let parent = rustix::process::getpid();
    let before_exec = move || {
        rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::TERM))?;
        // The parent may have gone before the call above.
        if rustix::process::getppid() == Some(parent) {
            return Ok(());
        }
        Err(io::Error::from(io::ErrorKind::BrokenPipe))
    };
    // SAFETY: between fork and exec only system calls are made and nothing is allocated.
    unsafe {
        command.pre_exec(before_exec);
    }
}

/// The first numbers of `/proc/PID/schedstat` (Documentation/scheduler/sched-stats.rst). A kernel that does not count
/// says that the process never ran.
fn first_thread(process_id: u32) -> Option<FirstThread> {
    let text = std::fs::read_to_string(format!("/proc/{process_id}/schedstat")).ok()?;
    let mut numbers = text.split_ascii_whitespace();
    let mut next = || Some(Duration::from_nanos(numbers.next()?.parse().ok()?));
    let (cpu, cpu_wait) = (next()?, next()?);
    (!cpu.is_zero()).then_some(FirstThread { cpu, cpu_wait })
}

/// Whether child `process_id` has ended; it stays to be collected, and can be asked until then.
fn has_ended(process_id: u32) -> io::Result<bool> {
    use rustix::process::{WaitId, WaitIdOptions, waitid};
    let id = pid(process_id).ok_or(io::ErrorKind::InvalidInput)?;
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    Ok(waitid(WaitId::Pid(id), look)?.is_some())
}

/// Looks whether child `process_id` has ended; `None` while it runs.
pub fn try_wait(process_id: u32) -> io::Result<Option<Finished>> {
    if !has_ended(process_id)? {
        return Ok(None);
    }
    let first_thread = first_thread(process_id);
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    let process_id = libc::pid_t::try_from(process_id).map_err(io::Error::other)?;
    // SAFETY: both pointers are to whole values that live across the call.
    let answer = unsafe {
        libc::wait4(
            process_id,
            &raw mut status,
            libc::WNOHANG,
            usage.as_mut_ptr(),
        )
    };
    match answer {
        0 => return Ok(None),
        -1 => return Err(io::Error::last_os_error()),
        _ => {}
    }
    // SAFETY: wait4 has filled it; all-zero is valid too.
    let usage = unsafe { usage.assume_init() };
    Ok(Some(Finished {
        exit: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
        user: duration(usage.ru_utime),
        system: duration(usage.ru_stime),
        block_input: count(usage.ru_inblock),
        block_output: count(usage.ru_oublock),
        first_thread,
    }))
}

/// A handle on a child that becomes readable when it ends; `None` where the kernel has none to give
/// (before 5.3) or no more files may be open.
pub fn handle(process_id: u32) -> Option<OwnedFd> {
    let flags = rustix::process::PidfdFlags::empty();
    rustix::process::pidfd_open(pid(process_id)?, flags).ok()
}

/// Waits until a process behind one of the handles has ended, but not longer than `timeout`.
pub fn wait_for_any(handles: &[BorrowedFd<'_>], timeout: Duration) -> io::Result<()> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let mut waited: Vec<PollFd<'_>> = handles
        .iter()
        .map(|handle| PollFd::from_borrowed_fd(*handle, PollFlags::IN))
        .collect();
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    match poll(&mut waited, Some(&timeout)) {
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Lets this process and its children have `files` open at once, or as many as the hard limit allows; returns
/// how many they may.
pub fn allow_open_files(files: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(files, |most| files.min(most));
    if limit.current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            ..limit
        };
        // Without it some children have no handle, and are looked at now and then.
        let _ = setrlimit(Resource::Nofile, raised);
    }
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// CPU time of a process so far, all threads that are or were; `None` once it is collected.
pub fn cpu_of(process_id: u32) -> Option<Duration> {
    let pid = libc::clockid_t::try_from(process_id).ok()?;
    // include/linux/posix-timers.h: a process's clock is its inverted id and CPUCLOCK_SCHED.
    clock((!pid << 3) | 2)
}

/// Bytes that this process made dirty and that never had to be written, since their files were
/// removed or cut off first (/proc/self/io).
pub fn cancelled_write_bytes() -> Option<u64> {
    own_io("cancelled_write_bytes:")
}

/// Bytes that devices read for this process, read-ahead included (/proc/self/io).
pub fn device_read_bytes() -> Option<u64> {
    own_io("read_bytes:")
}

fn own_io(name: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/io").ok()?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().parse().ok()
}

/// CPU time of this process so far.
pub fn own_cpu() -> Duration {
    clock(libc::CLOCK_PROCESS_CPUTIME_ID).unwrap_or_default()
}

/// Computes until this thread has used so much CPU time more.
fn compute(time: Duration) {
    let now = || clock(libc::CLOCK_THREAD_CPUTIME_ID);
    let Some(end) = now().map(|now| now + time) else {
        return;
    };
    let mut number = 1u64;
    while now().is_some_and(|now| now < end) {
        for _ in 0..1000 {
            number = std::hint::black_box(number.wrapping_mul(6_364_136_223_846_793_005) | 1);
        }
    }
}

fn clock(id: libc::clockid_t) -> Option<Duration> {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the pointer is to a whole timespec, which is filled if the call says 0.
    let time =
        unsafe { (libc::clock_gettime(id, time.as_mut_ptr()) == 0).then(|| time.assume_init())? };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanoseconds = u32::try_from(time.tv_nsec).ok()?;
    Some(Duration::new(seconds, nanoseconds))
}

fn pid(process_id: u32) -> Option<rustix::process::Pid> {
    i32::try_from(process_id)
        .ok()
        .and_then(rustix::process::Pid::from_raw)
}

/// True if a process with this id exists on this host (whoever owns it).
pub fn is_alive(process_id: u32) -> bool {
    let Some(pid) = pid(process_id) else {
        return false;
    };
    rustix::process::test_kill_process(pid) != Err(rustix::io::Errno::SRCH)
}

/// Asks a process to end (SIGTERM), or ends it (SIGKILL).
pub fn terminate(process_id: u32, at_once: bool) {
    use rustix::process::Signal;
    if let Some(pid) = pid(process_id) {
        // It may have ended by itself meanwhile.
        let _ =
            rustix::process::kill_process(pid, if at_once { Signal::KILL } else { Signal::TERM });
    }
}

/// Ends the processes of the group that `process_id` leads, at once.
pub fn terminate_group(process_id: u32) {
    if let Some(pid) = pid(process_id) {
        // It may have ended by itself meanwhile.
        let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
    }
}

/// `VmHWM` of `/proc/self/status`, bytes.
fn peak_bytes(status: &File) -> Option<u64> {
    /// More than it has: all of it comes with one call.
    const STATUS_BYTES: usize = 8192;
    let mut status_text = [0; STATUS_BYTES];
    let count = status.read_at(&mut status_text, 0).ok()?;
    let lines = status_text.get(..count)?.split(|byte| *byte == b'\n');
    let line = lines
        .into_iter()
        .find_map(|line| line.strip_prefix(b"VmHWM:"))?;
    let text = std::str::from_utf8(line).ok()?;
    let kib: u64 = text.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kib * 1024)
}

impl Meter for ProcessMeter {
    fn sleep(&self, time: Duration) {
        let began = Instant::now();
        std::thread::sleep(time);
        let slept = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.slept_ns.fetch_add(slept, Ordering::Relaxed);
    }

    fn cpu(&self) -> Duration {
        own_cpu()
    }

    fn burn(&self, cpu: Duration, threads: usize) -> Duration {
        let began = Instant::now();
        let threads = u32::try_from(threads.max(1)).unwrap_or(u32::MAX);
        let share = cpu / threads;
        std::thread::scope(|scope| {
            // Where the system gives no more threads, this one does their part.
            let others = (1..threads)
                .take_while(|_| {
                    let builder = std::thread::Builder::new();
                    builder.spawn_scoped(scope, || compute(share)).is_ok()
                })
                .count();
            let others = u32::try_from(others).unwrap_or(u32::MAX);
            compute(share * (threads - others));
        });
        began.elapsed()
    }

    fn idle(&self, time: Duration) -> Duration {
        let began = Instant::now();
        std::thread::sleep(time);
        began.elapsed()
    }

    fn usage(&self) -> Usage {
        let usage = rusage();
        Usage {
            real: self.start.elapsed(),
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
            page_faults: count(usage.ru_majflt),
            page_reclaims: count(usage.ru_minflt),
            page_swaps: count(usage.ru_nswap),
            voluntary_switches: count(usage.ru_nvcsw),
            involuntary_switches: count(usage.ru_nivcsw),
            block_input: count(usage.ru_inblock),
            block_output: count(usage.ru_oublock),
            slept: Duration::from_nanos(self.slept_ns.load(Ordering::Relaxed)),
        }
    }

    fn memory_peak_bytes(&self) -> u64 {
        let peak = self
            .unchanged_peak()
            .or_else(|| self.status.as_ref().and_then(peak_bytes));
        peak.unwrap_or_else(|| count(rusage().ru_maxrss) * 1024)
    }

    fn reset_memory_peak(&self) {
        // "5" resets VmHWM (proc(5)). Where the kernel refuses, the peak stays the session's.
        let reset = |file: &File| file.write_at(b"5", 0).ok();
        let now = self.clear_refs.as_ref().and_then(reset);
        let now = now.and_then(|_| self.in_memory());
        *self.at_reset.lock().unwrap_or_else(PoisonError::into_inner) = now;
    }

    fn wall(&self) -> WallClock {
        let now = jiff::Zoned::now();
        let utc_offset = f64::from(now.offset().seconds());
        let since_1970 = now.timestamp().as_duration().as_secs_f64();
        WallClock {
            sas_datetime: since_1970 + utc_offset + SAS_EPOCH_OFFSET_SECONDS,
            utc_offset,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_shows_up_in_the_figures() {
        let meter = ProcessMeter::start();
        let before = meter.usage();
        let sum: u64 = (0..20_000_000u64).fold(0, |sum, i| std::hint::black_box(sum ^ i));
        assert_ne!(sum, 1);
        let after = meter.usage();
        assert!(after.real > before.real);
        assert!(after.user + after.system > before.user + before.system);
        assert!(meter.memory_peak_bytes() > 0);
        assert_eq!(after.slept, Duration::ZERO);
        meter.sleep(Duration::from_millis(2));
        assert!(meter.usage().slept >= Duration::from_millis(2));
    }

    #[test]
    fn the_peak_of_memory_is_what_the_kernel_says_whether_memory_grew_or_not() {
        let meter = ProcessMeter::start();
        let said = || meter.status.as_ref().and_then(peak_bytes).unwrap();
        meter.reset_memory_peak();
        // Other tests of this process may be at work too; half of a large block is not theirs.
        let (before, bytes) = (meter.memory_peak_bytes(), 64 << 20);
        assert!(before.abs_diff(said()) < bytes / 2, "{before}, {}", said());
        let block = std::hint::black_box(vec![1u8; usize::try_from(bytes).unwrap()]);
        let grown = meter.memory_peak_bytes();
        assert!(grown >= before + bytes / 2, "{before}, {grown}");
        drop(block);
        assert!(meter.memory_peak_bytes() >= before + bytes / 2);
        meter.reset_memory_peak();
        assert!(meter.memory_peak_bytes() < before + bytes / 2);
    }

    #[test]
    fn cpu_time_is_spent_and_waited_for_as_asked() {
        let meter = ProcessMeter::start();
        for threads in [1, 2] {
            let (before, asked) = (meter.cpu(), Duration::from_millis(20));
            assert!(meter.burn(asked, threads) >= asked / 2);
            // Other tests of this process may be at work too.
            assert!(meter.cpu() >= before + asked);
        }
        let asked = Duration::from_millis(3);
        assert!(meter.idle(asked) >= asked);
        assert_eq!(meter.usage().slept, Duration::ZERO);
    }

    #[test]
    fn a_child_has_a_clock_and_a_handle() {
        let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; read x";
        #[expect(clippy::zombie_processes, reason = "try_wait collects it")]
        let mut child = std::process::Command::new("/bin/sh")
            .args(["-c", script])
            .stdin(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id();
        let handle = handle(id).unwrap();
        let handles = [std::os::fd::AsFd::as_fd(&handle)];
        wait_for_any(&handles, Duration::from_millis(1)).unwrap();
        assert_eq!(try_wait(id).unwrap(), None);
        drop(child.stdin.take());
        let began = Instant::now();
        wait_for_any(&handles, Duration::from_secs(20)).unwrap();
        assert!(began.elapsed() < Duration::from_secs(20));
        let seen = cpu_of(id).unwrap();
        let finished = try_wait(id).unwrap().unwrap();
        let apart = (finished.user + finished.system).abs_diff(seen);
        assert!(apart < Duration::from_millis(5), "{seen:?}, {finished:?}");
        assert_eq!(cpu_of(id), None);
        assert!(own_cpu() > Duration::ZERO);
    }

    /// Two that compute on one processor wait for each other.
    #[test]
    fn time_without_a_processor_is_counted() {
        // A kernel that does not count is not asked to.
        if first_thread(std::process::id()).is_none() {
            return;
        }
        let mut one = rustix::thread::CpuSet::new();
        let allowed = rustix::thread::sched_getaffinity(None).unwrap();
        one.set(
            (0..rustix::thread::CpuSet::MAX_CPU)
                .find(|cpu| allowed.is_set(*cpu))
                .unwrap(),
        );
        let compute = || {
            let script = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
            let child = std::process::Command::new("/bin/sh")
                .args(["-c", script])
                .spawn()
                .unwrap();
            rustix::thread::sched_setaffinity(pid(child.id()), &one).unwrap();
            child
        };
        let children = [compute(), compute()];
        let waits = children.map(|child| {
            loop {
                if let Some(finished) = try_wait(child.id()).unwrap() {
                    return finished.first_thread.unwrap();
                }
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        // The first to end waited for about as long as it computed.
        assert!(
            waits.iter().any(|one| one.cpu_wait > one.cpu / 4),
            "{waits:?}"
        );
    }

    #[test]
    fn the_wall_clock_is_this_century() {
        let wall = ProcessMeter::start().wall();
        // 2020-01-01 to 2100-01-01 in SAS datetime values.
        assert!((1.893e9..4.418e9).contains(&wall.sas_datetime), "{wall:?}");
        assert!(wall.utc_offset.abs() <= 14.0 * 3600.0);
    }
}
