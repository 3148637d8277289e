//! Counts, bytes, time and latency per channel and operation, around any store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use crate::errno;
use crate::latencies::Latencies;
use crate::live::LiveSlot;
use crate::ticks::Clock;
use base::store::{
    Access, Channel, Creation, FileStat, LockKind, Operation, Result, Store, StoreFile,
};

/// What one operation of one channel did.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Calls, including failed ones.
    pub count: u64,
    /// Calls that failed.
    pub errors: u64,
    /// The same by the operating system's code ([`crate::errno`]).
    pub error_codes: BTreeMap<i32, u64>,
    /// Of calls that wrote: those by which a file that was there before grew for the first time.
    pub extended: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time inside the calls.
    pub total: Duration,
    /// Latencies, ns, each within 2 %.
    pub latency_ns: Latencies,
}

impl Tally {
    fn new() -> Self {
        Self {
            count: 0,
            errors: 0,
            error_codes: BTreeMap::new(),
            extended: 0,
            bytes: 0,
            total: Duration::ZERO,
            latency_ns: Latencies::default(),
        }
    }

    /// Adds what another tally saw.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        for (code, count) in &other.error_codes {
            *self.error_codes.entry(*code).or_default() += count;
        }
        self.extended += other.extended;
        self.bytes += other.bytes;
        self.total += other.total;
        self.latency_ns.merge(&other.latency_ns);
    }
}

/// A tally in the making: times are still ticks.
#[derive(Debug)]
struct Count {
    calls: u64,
    error_codes: BTreeMap<i32, u64>,
    extended: u64,
    bytes: u64,
    ticks: u64,
    latency_ticks: Latencies,
}

impl Count {
    fn new() -> Self {
        Self {
            calls: 0,
            error_codes: BTreeMap::new(),
            extended: 0,
            bytes: 0,
            ticks: 0,
            latency_ticks: Latencies::default(),
        }
    }

    #[inline]
    fn add(&mut self, bytes: u64, ticks: u64, error_code: Option<i32>) {
        self.calls += 1;
        if let Some(code) = error_code {
            *self.error_codes.entry(code).or_default() += 1;
        }
        self.bytes += bytes;
        self.ticks += ticks;
        self.latency_ticks.record(ticks, 1);
    }

    fn settle(self, ns_per_tick: f64) -> Tally {
        let nanoseconds = |ticks: u64| nanoseconds(ticks, ns_per_tick);
        Tally {
            count: self.calls,
            errors: self.error_codes.values().sum(),
            error_codes: self.error_codes,
            extended: self.extended,
            bytes: self.bytes,
            total: Duration::from_nanos(nanoseconds(self.ticks)),
            latency_ns: self.latency_ticks.converted(nanoseconds),
        }
    }
}

/// Everything counted over some time; only what happened is present.
pub type Report = BTreeMap<Channel, BTreeMap<Operation, Tally>>;

/// Adds `other` to `total`.
pub fn merge_reports(total: &mut Report, other: &Report) {
    for (channel, operations) in other {
        let into = total.entry(*channel).or_default();
        for (operation, tally) in operations {
            into.entry(*operation)
                .or_insert_with(Tally::new)
                .merge(tally);
        }
    }
}

/// The books: one count per channel and operation.
#[derive(Debug)]
pub struct Accounts {
    clock: Clock,
    counts: [[Mutex<Option<Count>>; Operation::ALL.len()]; Channel::ALL.len()],
    shown: Option<Shown>,
}

impl Default for Accounts {
    fn default() -> Self {
        let clock = Clock::start();
        Self {
            clock,
            counts: Default::default(),
            shown: None,
        }
    }
}

/// Where the counts are shown while the job runs.
#[derive(Debug)]
struct Shown {
    slot: LiveSlot,
    /// Nanoseconds in a tick as last looked at, as the bits of a double.
    ns_per_tick: AtomicU64,
    /// Calls shown so far, about.
    calls: AtomicU64,
}

impl Shown {
    /// Looks at the length of a tick anew now and then: it is known the better the longer ago the
    /// start is, and looking costs more than a call's whole account.
    #[inline]
    fn ns_per_tick(&self, clock: &Clock) -> f64 {
        let calls = self.calls.load(Ordering::Relaxed);
        self.calls.store(calls + 1, Ordering::Relaxed);
        if calls < 16 || calls.is_multiple_of(4096) {
            let fresh = clock.ns_per_tick();
            self.ns_per_tick.store(fresh.to_bits(), Ordering::Relaxed);
            return fresh;
        }
        f64::from_bits(self.ns_per_tick.load(Ordering::Relaxed))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "times are positive and far below 2^63 ns"
)]
fn nanoseconds(ticks: u64, ns_per_tick: f64) -> u64 {
    (ticks as f64 * ns_per_tick).round() as u64
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Accounts {
    fn count(&self, channel: Channel, operation: Operation) -> MutexGuard<'_, Option<Count>> {
        locked(&self.counts[channel as usize][operation as usize])
    }

    /// Books that `slot` shows while they are kept.
    pub fn shown_in(slot: LiveSlot) -> Self {
        Self {
            shown: Some(Shown {
                slot,
                ns_per_tick: AtomicU64::new(1f64.to_bits()),
                calls: AtomicU64::new(0),
            }),
            ..Self::default()
        }
    }

    #[inline]
    fn add(&self, key: (Channel, Operation), bytes: u64, ticks: u64, error_code: Option<i32>) {
        let mut count = self.count(key.0, key.1);
        count
            .get_or_insert_with(Count::new)
            .add(bytes, ticks, error_code);
        // Still under the lock: the slot's words have one writer each.
        if let Some(shown) = &self.shown {
            let time = nanoseconds(ticks, shown.ns_per_tick(&self.clock));
            shown.slot.add(key, bytes, time, error_code.is_some());
        }
    }

    /// Says to whoever watches what can only be said at the end.
    pub fn show_end(&self) {
        let cancelled = || crate::process::cancelled_write_bytes();
        if let Some((shown, bytes)) = self
            .shown
            .as_ref()
            .and_then(|shown| Some((shown, cancelled()?)))
        {
            shown.slot.set_cancelled_write_bytes(bytes);
        }
    }

    /// What was counted since the last call; counting starts again at nothing.
    pub fn take(&self) -> Report {
        let ns_per_tick = self.clock.ns_per_tick();
        let mut report = Report::new();
        for channel in Channel::ALL {
            for operation in Operation::ALL {
                let Some(count) = self.count(channel, operation).take() else {
                    continue;
                };
                report
                    .entry(channel)
                    .or_default()
                    .insert(operation, count.settle(ns_per_tick));
            }
        }
        report
    }

    /// Runs `call`, times it and books it; `bytes` tells how much a success moved.
    #[inline]
    fn timed<T>(
        &self,
        key: (Channel, Operation),
        bytes: impl FnOnce(&T) -> u64,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let start = self.clock.now();
        let result = call();
        let ticks = self.clock.now().saturating_sub(start);
        let moved = result.as_ref().map_or(0, bytes);
        self.add(key, moved, ticks, error_code(&result));
        result
    }

    /// A file that was there before has grown for the first time.
    fn extended(&self, channel: Channel) {
        self.count(channel, Operation::Write)
            .get_or_insert_with(Count::new)
            .extended += 1;
    }
}

/// Why a call failed, if it did.
fn error_code<T>(result: &Result<T>) -> Option<i32> {
    let error = result.as_ref().err()?;
    Some(errno::code_of(&error.source))
}

/// A store whose every call is booked in [`Accounts`].
pub struct AccountedStore<S> {
    inner: S,
    accounts: Arc<Accounts>,
}

impl<S: Store> AccountedStore<S> {
    /// `inner`, booked in `accounts`.
    pub fn new(inner: S, accounts: Arc<Accounts>) -> Self {
        Self { inner, accounts }
    }

    fn file(
        &self,
        channel: Channel,
        inner: Box<dyn StoreFile>,
        may_grow: bool,
    ) -> Box<dyn StoreFile> {
        Box::new(AccountedFile {
            inner,
            channel,
            may_grow: AtomicBool::new(may_grow),
            length: OnceLock::new(),
            accounts: self.accounts.clone(),
        })
    }

    fn plain<T>(
        &self,
        channel: Channel,
        operation: Operation,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        self.accounts.timed((channel, operation), |_| 0, call)
    }
}

impl<S: Store> Store for AccountedStore<S> {
    fn open(&self, channel: Channel, path: &Path, access: Access) -> Result<Box<dyn StoreFile>> {
        let opened = self.plain(channel, Operation::Open, || {
            self.inner.open(channel, path, access)
        })?;
        Ok(self.file(channel, opened, access == Access::Update))
    }

    fn create(&self, channel: Channel, path: &Path, how: Creation) -> Result<Box<dyn StoreFile>> {
        let created = self.plain(channel, Operation::Create, || {
            self.inner.create(channel, path, how)
        })?;
        Ok(self.file(channel, created, false))
    }

    fn rename(&self, channel: Channel, from: &Path, to: &Path) -> Result<()> {
        self.plain(channel, Operation::Rename, || {
            self.inner.rename(channel, from, to)
        })
    }

    fn remove(&self, channel: Channel, path: &Path) -> Result<()> {
        self.plain(channel, Operation::Unlink, || {
            self.inner.remove(channel, path)
        })
    }

    fn stat(&self, channel: Channel, path: &Path) -> Result<Option<FileStat>> {
        self.plain(channel, Operation::Stat, || self.inner.stat(channel, path))
    }

    fn list(&self, channel: Channel, directory: &Path) -> Result<Vec<String>> {
        self.plain(channel, Operation::Directory, || {
            self.inner.list(channel, directory)
        })
    }

    fn make_directory(&self, channel: Channel, path: &Path) -> Result<()> {
        self.plain(channel, Operation::Directory, || {
            self.inner.make_directory(channel, path)
        })
    }

    fn remove_directory(&self, channel: Channel, path: &Path) -> Result<()> {
        self.plain(channel, Operation::Directory, || {
            self.inner.remove_directory(channel, path)
        })
    }
}

struct AccountedFile {
    inner: Box<dyn StoreFile>,
    channel: Channel,
    accounts: Arc<Accounts>,
    /// It was there before, and has not grown yet.
    may_grow: AtomicBool,
    /// Its length when it was first written to.
    length: OnceLock<u64>,
}

impl AccountedFile {
    /// Notes it if a file that was there before grows.
    fn look_whether_it_grows(&self, end: u64) {
        let length = self
            .length
            .get_or_init(|| self.inner.size().unwrap_or(u64::MAX));
        if end > *length && self.may_grow.swap(false, Ordering::Relaxed) {
            self.accounts.extended(self.channel);
        }
    }

    fn plain<T>(&self, operation: Operation, call: impl FnOnce() -> Result<T>) -> Result<T> {
        self.accounts.timed((self.channel, operation), |_| 0, call)
    }
}

impl StoreFile for AccountedFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let call = || self.inner.read_at(offset, buffer);
        self.accounts
            .timed((self.channel, Operation::Read), |count| *count as u64, call)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        if self.may_grow.load(Ordering::Relaxed) {
            self.look_whether_it_grows(offset + bytes.len() as u64);
        }
        let call = || self.inner.write_at(offset, bytes);
        self.accounts.timed(
            (self.channel, Operation::Write),
            |()| bytes.len() as u64,
            call,
        )
    }

    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        let key = (self.channel, Operation::HeaderRewrite);
        let call = || self.inner.rewrite_at(offset, bytes);
        self.accounts.timed(key, |()| bytes.len() as u64, call)
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.plain(Operation::Truncate, || self.inner.truncate(bytes))
    }

    fn size(&self) -> Result<u64> {
        self.plain(Operation::Stat, || self.inner.size())
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.plain(Operation::Lock, || self.inner.lock(kind))
    }

    fn unlock(&self) -> Result<()> {
        self.plain(Operation::Unlock, || self.inner.unlock())
    }

    fn sync(&self) -> Result<()> {
        self.plain(Operation::Fsync, || self.inner.sync())
    }

    fn settle(&self) -> Result<bool> {
        let start = self.accounts.clock.now();
        let settled = self.inner.settle();
        if !matches!(settled, Ok(false)) {
            let ticks = self.accounts.clock.now().saturating_sub(start);
            self.accounts.add(
                (self.channel, Operation::Fsync),
                0,
                ticks,
                error_code(&settled),
            );
        }
        settled
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self {
            inner,
            channel,
            accounts,
            ..
        } = *self;
        accounts.timed((channel, Operation::Close), |()| 0, || inner.close())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::store::memory::MemoryStore;

    #[test]
    fn calls_and_bytes_are_booked_where_they_belong() {
        let accounts = Arc::new(Accounts::default());
        let store = AccountedStore::new(MemoryStore::new(), accounts.clone());
        let file = store
            .create(Channel::Work, Path::new("/a"), Creation::New)
            .unwrap();
        file.write_at(0, &[1; 100]).unwrap();
        file.write_at(100, &[1; 50]).unwrap();
        file.rewrite_at(0, &[2; 10]).unwrap();
        let mut buffer = [0; 200];
        file.read_at(0, &mut buffer).unwrap();
        file.close().unwrap();
        assert!(
            store
                .open(Channel::Input, Path::new("/none"), Access::Read)
                .is_err()
        );

        let report = accounts.take();
        let work = &report[&Channel::Work];
        let seen = |operation| (work[&operation].count, work[&operation].bytes);
        assert_eq!(seen(Operation::Create), (1, 0));
        assert_eq!(seen(Operation::Write), (2, 150));
        assert_eq!(seen(Operation::HeaderRewrite), (1, 10));
        assert_eq!(seen(Operation::Read), (1, 150));
        assert_eq!(work[&Operation::Write].latency_ns.len(), 2);
        assert_eq!(report[&Channel::Input][&Operation::Open].errors, 1);
        assert!(!report.contains_key(&Channel::Util));
        assert!(accounts.take().is_empty());
    }

    #[test]
    fn files_that_grow_count_once_and_only_if_they_were_there() {
        let accounts = Arc::new(Accounts::default());
        let store = AccountedStore::new(MemoryStore::new(), accounts.clone());
        let (channel, path) = (Channel::Output, Path::new("/a"));
        let extended = || {
            let report = accounts.take();
            report[&channel][&Operation::Write].extended
        };
        let file = store.create(channel, path, Creation::New).unwrap();
        file.write_at(0, &[1; 100]).unwrap();
        file.close().unwrap();
        assert_eq!(extended(), 0);
        let file = store.open(channel, path, Access::Update).unwrap();
        file.write_at(50, &[2; 50]).unwrap();
        assert_eq!(extended(), 0);
        file.write_at(90, &[2; 20]).unwrap();
        file.write_at(110, &[2; 20]).unwrap();
        assert_eq!(extended(), 1);
    }

    #[test]
    fn what_is_booked_is_shown_at_once() {
        let memory = crate::live::LiveMemory::create(1).unwrap();
        let slot = LiveSlot::open(&memory.path(), 0).unwrap();
        let accounts = Arc::new(Accounts::shown_in(slot));
        let store = AccountedStore::new(MemoryStore::new(), accounts.clone());
        let (channel, path) = (Channel::Work, Path::new("/a"));
        let file = store.create(channel, path, Creation::New).unwrap();
        for page in 0..10_000 {
            file.write_at(page * 10, &[1; 10]).unwrap();
        }
        let seen = memory.counts(0).unwrap()[channel as usize];
        assert_eq!((seen.write_bytes, seen.metadata_operations), (100_000, 1));
        assert_eq!(seen.classes.iter().sum::<u64>(), 10_000);
        // Taking the books does not take what is shown.
        let report = accounts.take();
        assert_eq!(memory.counts(0).unwrap()[channel as usize], seen);
        let booked: Duration = report[&channel].values().map(|tally| tally.total).sum();
        let ratio = seen.blocked.as_secs_f64() / booked.as_secs_f64();
        assert!((0.9..1.1).contains(&ratio), "{ratio}");
    }

    #[test]
    fn reports_add_up() {
        let accounts = Arc::new(Accounts::default());
        let key = (Channel::Util, Operation::Read);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "small positive numbers"
        )]
        let ticks =
            |microseconds: f64| (microseconds * 1000.0 / accounts.clock.ns_per_tick()) as u64;
        accounts.add(key, 10, ticks(500.0), None);
        let mut total = accounts.take();
        accounts.add(key, 20, ticks(700.0), Some(libc::ENOSPC));
        merge_reports(&mut total, &accounts.take());
        let tally = &total[&Channel::Util][&Operation::Read];
        assert_eq!((tally.count, tally.errors, tally.bytes), (2, 1, 30));
        assert_eq!(tally.error_codes, [(libc::ENOSPC, 1)].into());
        assert!(
            (1.15e-3..1.25e-3).contains(&tally.total.as_secs_f64()),
            "{:?}",
            tally.total
        );
        assert_eq!(tally.latency_ns.len(), 2);
        let longest = tally.latency_ns.max();
        assert!(
            (670_000..=730_000).contains(&longest),
            "{longest} ns is not 700 us"
        );
    }
}
