//! Writing an index file from sorted keys: every page once, the directory at the end.

use super::directory::{CENTILES, Directory, IndexEntry, KeyPart};
use super::node::{Filling, page_limit, separator};
use super::{ROW_ID_BYTES, RowId};
use crate::buffer::Buffer;
use crate::endian::Put;
use crate::error::Error;
use crate::header::{PAGES_AT, PREFIX_BYTES};
use crate::source::Sink;
use crate::writer::{WriteOptions, index_header};

/// Bytes of the header of an index file.
const HEADER_BYTES: u32 = 1024;

/// An index file being written.
#[derive(Debug)]
pub struct IndexWriter<K> {
    sink: K,
    header: Buffer,
    page_bytes: usize,
    mask: u32,
    directory: Directory,
    /// Pages so far.
    pages: u64,
    tree: Option<Box<Tree>>,
}

/// The index being written.
#[derive(Debug)]
struct Tree {
    entry: IndexEntry,
    /// Open nodes by level, the leaf first.
    open: Vec<Filling>,
    /// The key whose rows are gathered.
    key: Vec<u8>,
    rows: Vec<RowId>,
    /// Rows there will be, and rows so far, for the centiles.
    expected: u64,
    done: u64,
}

impl<K: Sink> IndexWriter<K> {
    /// Begins the index file of a data set of this name; `options` gives name, page size, time and
    /// mask, `blocks` is what the data set counts.
    ///
    /// # Errors
    /// If an option is not one that SAS takes.
    pub fn create(sink: K, options: &WriteOptions, blocks: u64) -> Result<Self, Error> {
        let page_bytes = options.page_bytes as usize;
        if page_bytes >= page_limit() {
            let detail = format!("{page_bytes} is not below {}", page_limit());
            return Err(Error::option("IBUFSIZE", detail));
        }
        Ok(Self {
            sink,
            header: index_header(options, HEADER_BYTES)?,
            page_bytes,
            mask: options.page_mask,
            directory: Directory {
                blocks,
                entries: Vec::new(),
            },
            pages: 1,
            tree: None,
        })
    }

    /// Begins an index over `parts` of `rows` rows.
    ///
    /// # Errors
    /// If three keys do not fit on a page.
    pub fn begin(&mut self, parts: Vec<KeyPart>, unique: bool, rows: u64) -> Result<(), Error> {
        self.pages += 1;
        let entry = IndexEntry {
            number: self.directory.entries.len() as u64 + 1,
            root: self.pages,
            unique,
            keys: 0,
            parts,
            centiles: Vec::new(),
        };
        let longest = entry.key_bytes() + 2 + ROW_ID_BYTES;
        let leaf = Filling::new(0, self.page_bytes, 0, unique);
        if !leaf.fits(3 * (longest + 2)) {
            let detail = format!(
                "keys of {} bytes need larger index pages than {}",
                entry.key_bytes(),
                self.page_bytes
            );
            return Err(Error::option("IBUFSIZE", detail));
        }
        self.tree = Some(Box::new(Tree {
            entry,
            open: vec![leaf],
            key: Vec::new(),
            rows: Vec::new(),
            expected: rows,
            done: 0,
        }));
        Ok(())
    }

    /// Adds a row; keys come in ascending order, rows of a key too. False if the index is unique and
    /// the key was there before.
    ///
    /// # Errors
    /// If a page cannot be written.
    pub fn add(&mut self, key: &[u8], row: RowId) -> Result<bool, Error> {
        let Some(mut tree) = self.tree.take() else {
            return Ok(true);
        };
        let mut added = Ok(true);
        let new = tree.done == 0 || tree.key != key;
        tree.centile(key);
        tree.done += 1;
        if new {
            added = self.flush(&mut tree).map(|()| true);
            tree.entry.keys += 1;
            key.clone_into(&mut tree.key);
        } else if tree.entry.unique {
            self.tree = Some(tree);
            return Ok(false);
        }
        tree.rows.push(row);
        // The rows of a key take several entries where they do not fit into one.
        let entry = tree.key.len() + 2 + tree.rows.len() * ROW_ID_BYTES;
        if added.is_ok() && entry + 2 * ROW_ID_BYTES > self.page_bytes / 4 {
            added = self.flush(&mut tree).map(|()| true);
        }
        self.tree = Some(tree);
        added
    }

    /// Ends the index begun last.
    ///
    /// # Errors
    /// If a page cannot be written.
    pub fn end(&mut self) -> Result<(), Error> {
        let Some(mut tree) = self.tree.take() else {
            return Ok(());
        };
        self.flush(&mut tree)?;
        let last = tree.key.clone();
        while tree.entry.centiles.len() < CENTILES && tree.done > 0 {
            tree.entry.centiles.push(last.clone());
        }
        let mut level = 0;
        // The level above may come to be while the last node of this one is entered there.
        while level + 1 < tree.open.len() {
            let number = tree.open.get(level).map_or(0, |node| node.number);
            self.write(&mut tree, level, number, 0)?;
            let bound = vec![0xFF; tree.entry.key_bytes()];
            self.add_child(&mut tree, level + 1, &bound, number)?;
            level += 1;
        }
        let root = tree.entry.root;
        self.write(&mut tree, level, root, 0)?;
        self.directory.entries.push(tree.entry);
        Ok(())
    }

    /// Writes directory and header.
    ///
    /// # Errors
    /// If the indexes do not fit into the directory, or a page cannot be written.
    pub fn finish(mut self) -> Result<K, Error> {
        let Some(page) = self.directory.build(self.page_bytes, self.mask) else {
            let detail = "the descriptions of the indexes do not fit on one page of the index file";
            return Err(Error::option("IBUFSIZE", detail));
        };
        self.put(1, &page)?;
        let mut header = std::mem::take(&mut self.header);
        header.front(PREFIX_BYTES).put_u64(PAGES_AT, self.pages);
        self.write_at(0, &header)?;
        Ok(self.sink)
    }

    /// Puts the rows gathered for a key into the leaf.
    fn flush(&mut self, tree: &mut Tree) -> Result<(), Error> {
        let rows = std::mem::take(&mut tree.rows);
        if rows.is_empty() {
            return Ok(());
        }
        let mut ids = Vec::with_capacity(rows.len() * ROW_ID_BYTES);
        for row in &rows {
            ids.extend_from_slice(&row.to_bytes());
        }
        let many = rows.len() > 1;
        let count = u16::try_from(rows.len()).unwrap_or(u16::MAX).to_le_bytes();
        let key = std::mem::take(&mut tree.key);
        let parts: [&[u8]; 3] = [&key, if many { &count } else { &[] }, &ids];
        let length: usize = parts.iter().map(|part| part.len()).sum();
        let full = tree.open.first().filter(|leaf| !leaf.fits(length));
        let placed = match full.map(|leaf| separator(&leaf.last_key, &key).to_vec()) {
            Some(bound) => self.close(tree, 0, &bound),
            None => Ok(()),
        };
        if let Some(leaf) = tree.open.first_mut() {
            leaf.add(&parts, many);
            leaf.last_key.clone_from(&key);
        }
        tree.key = key;
        placed
    }

    /// Writes the full node of a level, whose keys are no more than `bound`, and begins the next one.
    fn close(&mut self, tree: &mut Tree, level: usize, bound: &[u8]) -> Result<(), Error> {
        let known = tree.open.get(level).map_or(0, |node| node.number);
        let number = if known > 0 { known } else { self.allocate() };
        let next = self.allocate();
        self.write(tree, level, number, next)?;
        if let Some(node) = tree.open.get_mut(level) {
            node.number = next;
        }
        self.add_child(tree, level + 1, bound, number)
    }

    /// Enters a node in the level above it; its keys are no more than `bound`.
    fn add_child(
        &mut self,
        tree: &mut Tree,
        level: usize,
        bound: &[u8],
        child: u64,
    ) -> Result<(), Error> {
        if tree.open.len() == level {
            let node = Filling::new(0, self.page_bytes, level as u64, false);
            tree.open.push(node);
        }
        let full = tree
            .open
            .get(level)
            .filter(|node| !node.fits(bound.len() + 4));
        if let Some(before) = full.map(|node| node.last_key.clone()) {
            self.close(tree, level, &before)?;
        }
        let page = u32::try_from(child).unwrap_or(u32::MAX).to_le_bytes();
        if let Some(node) = tree.open.get_mut(level) {
            node.add(&[bound, &page], false);
            node.last_key = bound.to_vec();
        }
        Ok(())
    }

    fn allocate(&mut self) -> u64 {
        self.pages += 1;
        self.pages
    }

    /// Writes the open node of a level as page `number`; an empty one takes its place.
    fn write(
        &mut self,
        tree: &mut Tree,
        level: usize,
        number: u64,
        next: u64,
    ) -> Result<(), Error> {
        let empty = Filling::new(0, self.page_bytes, level as u64, tree.entry.unique);
        let Some(place) = tree.open.get_mut(level) else {
            return Ok(());
        };
        let mut node = std::mem::replace(place, empty);
        node.number = number;
        let vacant = node.entries() == 0;
        let page = node.close(self.mask, tree.entry.number, next, vacant);
        self.put(number, &page)
    }

    fn put(&mut self, page: u64, bytes: &[u8]) -> Result<(), Error> {
        let offset = u64::from(HEADER_BYTES) + (page - 1) * self.page_bytes as u64;
        self.write_at(offset, bytes)
    }

    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.sink
            .write_at(offset, bytes)
            .map_err(|source| Error::Io {
                action: "write",
                offset,
                bytes: bytes.len() as u64,
                source,
            })
    }
}

impl Tree {
    /// Keeps the key if a centile falls on the row that comes now.
    fn centile(&mut self, key: &[u8]) {
        let parts = CENTILES as u64 - 1;
        while self.entry.centiles.len() < CENTILES {
            let number = self.entry.centiles.len() as u64;
            let at = (self.expected.saturating_sub(1)) * number / parts;
            if at != self.done {
                break;
            }
            self.entry.centiles.push(key.to_vec());
        }
    }
}
