//! Looking keys up: from the root down, then along the leaves.

use std::collections::VecDeque;

use super::RowId;
use super::directory::{Directory, IndexEntry};
use super::node::Node;
use crate::endian::{Fields, index};
use crate::error::Error;
use crate::header::{Header, PREFIX_BYTES};
use crate::reader::read_exact;
use crate::source::Source;

/// Pages kept: one a level of an ordinary tree (`IBUFNO=0`).
const LEAST_KEPT: usize = 3;
/// A tree is never this deep: more means pages that lead in circles.
const DEEPEST: usize = 64;

/// Keys from `low` to `high`, both included; a prefix of keys stands for all that begin so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// The smallest key.
    pub low: Vec<u8>,
    /// The largest key, or how it begins.
    pub high: Vec<u8>,
}

impl Span {
    /// All keys that begin with `prefix`.
    pub fn of(prefix: Vec<u8>) -> Self {
        Self {
            low: prefix.clone(),
            high: prefix,
        }
    }

    /// Whether a key lies behind the span.
    fn is_before(&self, key: &[u8]) -> bool {
        // Comparing nothing with nothing is slow on some processors.
        !self.high.is_empty() && key.get(..self.high.len()).unwrap_or(key) > self.high.as_slice()
    }

    /// Whether a key lies before the span.
    fn is_behind(&self, key: &[u8]) -> bool {
        !self.low.is_empty() && key < self.low.as_slice()
    }
}

/// An index file open for reading.
#[derive(Debug)]
pub struct IndexReader<S> {
    source: S,
    header: Header,
    directory: Directory,
    /// Pages read last, the most recent one behind.
    kept: VecDeque<(u64, Vec<u8>)>,
    most_kept: usize,
    reads: u64,
}

/// A way through the leaves of an index.
#[derive(Debug, Clone)]
pub struct Walk {
    span: Span,
    place: Option<Place>,
    /// Leaves that there can be at most.
    left: u64,
}

/// A place among the leaves of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    page: u64,
    entry: usize,
}

impl<S: Source> IndexReader<S> {
    /// Reads header and directory; `buffers` more pages than one a level are kept (`IBUFNO=`).
    ///
    /// # Errors
    /// If the file is no index file or its directory contradicts itself.
    pub fn open(mut source: S, buffers: usize) -> Result<Self, Error> {
        let size = source.size().map_err(|source| Error::Io {
            action: "read",
            offset: 0,
            bytes: 0,
            source,
        })?;
        let mut prefix = vec![0; PREFIX_BYTES.min(index(size))];
        read_exact(&mut source, 0, &mut prefix)?;
        let header = Header::parse_index(&prefix, size)?;
        let mut reader = Self {
            source,
            header,
            directory: Directory::default(),
            kept: VecDeque::new(),
            most_kept: LEAST_KEPT + buffers,
            reads: 0,
        };
        let page = reader.load(1)?;
        reader.directory = Directory::parse(Fields {
            bytes: &page,
            endian: reader.header.endian,
            wide: reader.header.wide,
        })?;
        reader.kept.clear();
        Ok(reader)
    }

    /// The indexes of the file.
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// When it was made: seconds since 1960.
    pub fn created(&self) -> f64 {
        self.header.created
    }

    /// Pages read so far.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// Gives back the source.
    pub fn into_source(self) -> S {
        self.source
    }

    /// Begins to go through the keys of `entry` in `span`, in order.
    ///
    /// # Errors
    /// If the nodes contradict each other.
    pub fn walk(&mut self, entry: &IndexEntry, span: Span) -> Result<Walk, Error> {
        Ok(Walk {
            place: self.seek(entry, &span.low)?,
            span,
            left: self.header.pages,
        })
    }

    /// Puts the keys and rows of the next leaf behind `found`; false if there are no more.
    ///
    /// # Errors
    /// If the leaf cannot be read or contradicts itself.
    pub fn next_leaf(
        &mut self,
        entry: &IndexEntry,
        walk: &mut Walk,
        found: &mut Vec<(Vec<u8>, RowId)>,
    ) -> Result<bool, Error> {
        // Pages may not lead in circles.
        let Some(at) = walk.place.take().filter(|_| walk.left > 0) else {
            return Ok(false);
        };
        walk.left -= 1;
        let (node, next) = self.node(entry, at.page)?;
        let mut rows = Vec::new();
        let mut behind = false;
        for number in at.entry..node.head().entries {
            let (key, rest, many) = leaf_entry(&node, number, entry, at.page)?;
            behind = walk.span.is_before(key);
            if behind {
                break;
            }
            if !walk.span.is_behind(key) {
                rows.clear();
                node.rows(rest, many, &mut rows);
                found.extend(rows.iter().map(|row| (key.to_vec(), *row)));
            }
        }
        let more = next > 0 && !behind;
        walk.place = more.then_some(Place {
            page: next,
            entry: 0,
        });
        self.put_back(at.page, node);
        Ok(true)
    }

    /// Gives all keys of `entry` and their rows to `take`, in order, as long as it says true; false if
    /// it did not.
    ///
    /// # Errors
    /// If the nodes contradict each other, and those of `take`.
    pub fn each<E: From<Error>>(
        &mut self,
        entry: &IndexEntry,
        mut take: impl FnMut(&[u8], RowId) -> Result<bool, E>,
    ) -> Result<bool, E> {
        let mut place = self.seek(entry, &[])?;
        let mut left = self.header.pages;
        let mut rows = Vec::new();
        // Pages may not lead in circles.
        while let Some(at) = place.take().filter(|_| left > 0) {
            left -= 1;
            let (node, next) = self.node(entry, at.page)?;
            let leaf = node.leaf(entry.key_bytes());
            for number in at.entry..node.head().entries {
                let (key, rest, many) = leaf.entry(number).ok_or_else(|| {
                    Error::page(at.page, 0, format!("entry {number} does not fit the page"))
                })?;
                rows.clear();
                node.rows(rest, many, &mut rows);
                for row in &rows {
                    if !take(key, *row)? {
                        return Ok(false);
                    }
                }
            }
            place = (next > 0).then_some(Place {
                page: next,
                entry: 0,
            });
            self.put_back(at.page, node);
        }
        Ok(true)
    }

    /// The first leaf entry that is not before `key`.
    fn seek(&mut self, entry: &IndexEntry, key: &[u8]) -> Result<Option<Place>, Error> {
        let mut page = entry.root;
        for _ in 0..DEEPEST {
            let (node, next) = self.node(entry, page)?;
            let head = node.head();
            let find = |number: usize| {
                let found = node.entry(number, entry.key_bytes());
                found.is_some_and(|(known, ..)| known < key)
            };
            let at = partition(head.entries, find);
            if head.level == 0 {
                self.put_back(page, node);
                let place = Place { page, entry: at };
                let behind = (next > 0).then_some(Place {
                    page: next,
                    entry: 0,
                });
                return Ok(if at < head.entries {
                    Some(place)
                } else {
                    behind
                });
            }
            let child = node
                .entry(at.min(head.entries.saturating_sub(1)), entry.key_bytes())
                .map(|(_, rest, _)| node.child(rest));
            self.put_back(page, node);
            page = child.ok_or_else(|| Error::page(page, 0, "an inner node has no child"))?;
        }
        Err(Error::page(
            page,
            0,
            "the nodes of the index lead in circles",
        ))
    }

    /// A node of the index, and the next one of its level.
    fn node(&mut self, entry: &IndexEntry, page: u64) -> Result<(Node, u64), Error> {
        let bytes = self.load(page)?;
        let unique = entry.unique.then(|| entry.key_bytes());
        let node = Node::new(bytes, self.header.endian, self.header.wide, unique);
        let head = node.head();
        if head.index != entry.number {
            let detail = format!(
                "it belongs to index {} and not {}",
                head.index, entry.number
            );
            return Err(Error::page(page, 0, detail));
        }
        Ok((node, head.next))
    }

    fn load(&mut self, page: u64) -> Result<Vec<u8>, Error> {
        if !(1..=self.header.pages).contains(&page) {
            let detail = format!("the file has {} pages", self.header.pages);
            return Err(Error::page(page, 0, detail));
        }
        if let Some(place) = self.kept.iter().position(|(number, _)| *number == page)
            && let Some((_, bytes)) = self.kept.remove(place)
        {
            return Ok(bytes);
        }
        let page_bytes = u64::from(self.header.page_bytes);
        let mut bytes = if self.kept.len() < self.most_kept {
            vec![0; self.header.page_bytes as usize]
        } else {
            self.kept
                .pop_front()
                .map(|(_, bytes)| bytes)
                .unwrap_or_default()
        };
        let offset = u64::from(self.header.header_bytes) + (page - 1) * page_bytes;
        self.reads += 1;
        read_exact(&mut self.source, offset, &mut bytes)?;
        Ok(bytes)
    }

    fn put_back(&mut self, page: u64, node: Node) {
        self.kept.push_back((page, node.into_bytes()));
    }
}

/// How many of the first `count` entries meet `before`, which ascend.
fn partition(count: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

fn leaf_entry<'n>(
    node: &'n Node,
    number: usize,
    entry: &IndexEntry,
    page: u64,
) -> Result<(&'n [u8], &'n [u8], bool), Error> {
    node.entry(number, entry.key_bytes())
        .ok_or_else(|| Error::page(page, 0, format!("entry {number} does not fit the page")))
}
