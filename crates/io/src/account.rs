//! Counts, bytes, time and latency per channel and operation, around any store.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use base::store::{
    Access, Channel, Creation, FileStat, LockKind, Operation, Result, Store, StoreFile,
};
use hdrhistogram::Histogram;

/// Two significant digits: a latency is known within 1 %.
const HISTOGRAM_DIGITS: u8 = 2;

/// What one operation of one channel did.
#[derive(Debug, Clone)]
pub struct Tally {
    /// Calls, including failed ones.
    pub count: u64,
    /// Calls that failed.
    pub errors: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Time inside the calls.
    pub total: Duration,
    /// Latencies, ns.
    pub latency_ns: Histogram<u64>,
}

impl Tally {
    fn new() -> Self {
        let latency_ns = Histogram::new(HISTOGRAM_DIGITS).expect("digits are in 0..=5");
        Self {
            count: 0,
            errors: 0,
            bytes: 0,
            total: Duration::ZERO,
            latency_ns,
        }
    }

    fn add(&mut self, bytes: u64, time: Duration, failed: bool) {
        self.count += 1;
        self.errors += u64::from(failed);
        self.bytes += bytes;
        self.total += time;
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
        // The histogram grows as needed; its range ends at 2^63 ns.
        self.latency_ns
            .record(nanoseconds.min(i64::MAX as u64))
            .expect("it resizes itself");
    }

    /// Adds what another tally saw.
    pub fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.errors += other.errors;
        self.bytes += other.bytes;
        self.total += other.total;
        self.latency_ns
            .add(&other.latency_ns)
            .expect("both histograms resize themselves");
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

/// The books: one tally per channel and operation.
#[derive(Debug, Default)]
pub struct Accounts {
    /// Bytes read and written per channel since the start, for whoever watches a job at work.
    moved: [[AtomicU64; 2]; Channel::ALL.len()],
    tallies: [[Mutex<Option<Tally>>; Operation::ALL.len()]; Channel::ALL.len()],
}

impl Accounts {
    fn tally(&self, channel: Channel, operation: Operation) -> MutexGuard<'_, Option<Tally>> {
        self.tallies[channel as usize][operation as usize]
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, key: (Channel, Operation), bytes: u64, time: Duration, failed: bool) {
        if bytes > 0 {
            let direction = usize::from(key.1 != Operation::Read);
            self.moved[key.0 as usize][direction].fetch_add(bytes, Ordering::Relaxed);
        }
        self.tally(key.0, key.1)
            .get_or_insert_with(Tally::new)
            .add(bytes, time, failed);
    }

    /// Bytes read and written on `channel` since the start.
    pub fn moved(&self, channel: Channel) -> (u64, u64) {
        let [read, written] = &self.moved[channel as usize];
        (
            read.load(Ordering::Relaxed),
            written.load(Ordering::Relaxed),
        )
    }

    /// What was counted since the last call; counting starts again at nothing.
    pub fn take(&self) -> Report {
        let mut report = Report::new();
        for channel in Channel::ALL {
            for operation in Operation::ALL {
                if let Some(tally) = self.tally(channel, operation).take() {
                    report.entry(channel).or_default().insert(operation, tally);
                }
            }
        }
        report
    }

    /// Runs `call`, times it and books it; `bytes` tells how much a success moved.
    fn timed<T>(
        &self,
        key: (Channel, Operation),
        bytes: impl FnOnce(&T) -> u64,
        call: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let start = Instant::now();
        let result = call();
        let time = start.elapsed();
        let moved = result.as_ref().map_or(0, bytes);
        self.add(key, moved, time, result.is_err());
        result
    }
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

    fn file(&self, channel: Channel, inner: Box<dyn StoreFile>) -> Box<dyn StoreFile> {
        Box::new(AccountedFile {
            inner,
            channel,
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
        Ok(self.file(channel, opened))
    }

    fn create(&self, channel: Channel, path: &Path, how: Creation) -> Result<Box<dyn StoreFile>> {
        let created = self.plain(channel, Operation::Create, || {
            self.inner.create(channel, path, how)
        })?;
        Ok(self.file(channel, created))
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
}

impl AccountedFile {
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
        let start = Instant::now();
        let settled = self.inner.settle();
        if !matches!(settled, Ok(false)) {
            let key = (self.channel, Operation::Fsync);
            self.accounts.add(key, 0, start.elapsed(), settled.is_err());
        }
        settled
    }

    fn close(self: Box<Self>) -> Result<()> {
        let Self {
            inner,
            channel,
            accounts,
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
    fn reports_add_up() {
        let accounts = Arc::new(Accounts::default());
        let key = (Channel::Util, Operation::Read);
        accounts.add(key, 10, Duration::from_micros(5), false);
        let mut total = accounts.take();
        accounts.add(key, 20, Duration::from_micros(7), true);
        merge_reports(&mut total, &accounts.take());
        let tally = &total[&Channel::Util][&Operation::Read];
        assert_eq!((tally.count, tally.errors, tally.bytes), (2, 1, 30));
        assert_eq!(tally.total, Duration::from_micros(12));
        assert_eq!(tally.latency_ns.len(), 2);
        let longest = tally.latency_ns.max();
        assert!(
            (6_930..=7_070).contains(&longest),
            "{longest} ns is not 7 us within 1 %"
        );
    }
}
