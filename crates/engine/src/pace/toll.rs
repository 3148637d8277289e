//! Where rows are paid for: files of data sets and text files tell what goes through them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use base::store::{LockKind, Result, StoreFile};
use sas7bdat::Metadata;

use super::Pace;

/// What is paid for the bytes of one file.
pub(crate) struct Toll {
    pace: Arc<Pace>,
    /// Bytes of rows, uncompressed, in a byte of the file, as the bits of a double.
    row_bytes: AtomicU64,
    /// Rows in a byte of the file, the same way.
    rows: AtomicU64,
    /// Bytes read before it was known what is in them.
    early: AtomicU64,
    /// Rows written that were not paid for.
    written: AtomicU64,
    /// Bytes of one of those.
    row_length: AtomicU64,
}

impl Toll {
    fn new(pace: Arc<Pace>, row_bytes: f64) -> Self {
        Self {
            pace,
            row_bytes: AtomicU64::new(row_bytes.to_bits()),
            rows: AtomicU64::new(0),
            early: AtomicU64::new(0),
            written: AtomicU64::new(0),
            row_length: AtomicU64::new(0),
        }
    }

    /// The file is read, and this is what it says of itself.
    pub(crate) fn reads(&self, metadata: &Metadata) {
        let page_bytes = metadata
            .pages
            .saturating_mul(u64::from(metadata.page_bytes));
        // A file may claim what it likes: no byte holds more than a row.
        let rows = (metadata.rows as f64 / page_bytes.max(1) as f64).min(1.0);
        let row_bytes = rows * f64::from(metadata.layout.row_bytes);
        self.rows.store(rows.to_bits(), Ordering::Relaxed);
        self.row_bytes.store(row_bytes.to_bits(), Ordering::Relaxed);
        let early = self.early.swap(0, Ordering::Relaxed);
        self.moved(early.saturating_sub(u64::from(metadata.header_bytes)));
    }

    /// The file gets rows of so many bytes, uncompressed, which [`Self::row`] tells of.
    pub(crate) fn writes(&self, row_length: u64) {
        self.row_length.store(row_length, Ordering::Relaxed);
    }

    /// A row was written; it is paid for when its page is.
    #[inline]
    pub(crate) fn row(&self) {
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    /// Pays for rows written whose page was not.
    pub(crate) fn settle(&self) {
        let rows = self.written.swap(0, Ordering::Relaxed);
        if rows > 0 {
            let bytes = rows * self.row_length.load(Ordering::Relaxed);
            self.pace.pay(bytes as f64, rows as f64);
        }
    }

    fn moved(&self, bytes: u64) {
        let get = |bits: &AtomicU64| f64::from_bits(bits.load(Ordering::Relaxed));
        let (row_bytes, rows) = (get(&self.row_bytes), get(&self.rows));
        if row_bytes > 0.0 {
            self.pace.pay(row_bytes * bytes as f64, rows * bytes as f64);
        } else {
            self.early.fetch_add(bytes, Ordering::Relaxed);
        }
    }
}

/// A file that pays.
pub(crate) struct TolledFile {
    inner: Box<dyn StoreFile>,
    toll: Arc<Toll>,
}

impl TolledFile {
    /// A file of a data set: nothing is paid before [`Toll::reads`] or [`Toll::writes`].
    pub(crate) fn rows(inner: Box<dyn StoreFile>, pace: Arc<Pace>) -> (Self, Arc<Toll>) {
        let toll = Arc::new(Toll::new(pace, 0.0));
        (
            Self {
                inner,
                toll: toll.clone(),
            },
            toll,
        )
    }

    /// A text file: all its bytes are paid for.
    pub(crate) fn text(inner: Box<dyn StoreFile>, pace: Arc<Pace>) -> Self {
        Self {
            inner,
            toll: Arc::new(Toll::new(pace, 1.0)),
        }
    }
}

impl StoreFile for TolledFile {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        let count = self.inner.read_at(offset, buffer)?;
        self.toll.moved(count as u64);
        Ok(count)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.inner.write_at(offset, bytes)?;
        self.toll.moved(bytes.len() as u64);
        self.toll.settle();
        Ok(())
    }

    fn rewrite_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.inner.rewrite_at(offset, bytes)
    }

    fn truncate(&self, bytes: u64) -> Result<()> {
        self.inner.truncate(bytes)
    }

    fn size(&self) -> Result<u64> {
        self.inner.size()
    }

    fn lock(&self, kind: LockKind) -> Result<()> {
        self.inner.lock(kind)
    }

    fn unlock(&self) -> Result<()> {
        self.inner.unlock()
    }

    fn sync(&self) -> Result<()> {
        self.inner.sync()
    }

    fn settle(&self) -> Result<bool> {
        self.inner.settle()
    }

    fn close(self: Box<Self>) -> Result<()> {
        self.toll.settle();
        self.inner.close()
    }
}
