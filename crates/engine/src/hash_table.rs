//! The items of a hash object: records of fixed length in chunks, found by an open-addressing index
//! of their numbers. Items of the same key form a chain.

/// Bytes of one chunk of records, about.
const CHUNK_BYTES: usize = 1 << 20;

/// No item.
const NONE: u32 = u32::MAX;

/// A place of the index without an item.
const EMPTY: u64 = u64::MAX;

/// An index entry: the number of an item, and the upper half of its key's hash above it, so that other
/// keys are mostly told apart without looking at their records.
const fn entry(hash: u64, item: u32) -> u64 {
    hash & !0xFFFF_FFFF | item as u64
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the lower half is the item"
)]
const fn item_of(entry: u64) -> u32 {
    entry as u32
}

/// Items by key.
#[derive(Debug)]
pub struct Table {
    key_bytes: usize,
    record_bytes: usize,
    per_chunk: usize,
    chunks: Vec<Vec<u8>>,
    /// The first items of each key, by hash; a power of two of places.
    index: Vec<u64>,
    keys: usize,
    /// The next item of the same key; only with several items of a key.
    next: Vec<u32>,
    /// At the first item of a key: the last one.
    last: Vec<u32>,
    /// Removed items.
    free: Vec<u32>,
    /// Which items are there.
    live: Vec<bool>,
    items: usize,
    /// Changes of the set of items.
    version: u64,
    /// Items in order, as of a version.
    order: Vec<u32>,
    ordered_at: Option<u64>,
}

impl Table {
    /// An empty table for keys and data of these lengths.
    pub fn new(key_bytes: usize, data_bytes: usize) -> Self {
        let record_bytes = (key_bytes + data_bytes).max(1);
        Self {
            key_bytes,
            record_bytes,
            per_chunk: (CHUNK_BYTES / record_bytes).max(1),
            chunks: Vec::new(),
            index: Vec::new(),
            keys: 0,
            next: Vec::new(),
            last: Vec::new(),
            free: Vec::new(),
            live: Vec::new(),
            items: 0,
            version: 0,
            order: Vec::new(),
            ordered_at: None,
        }
    }

    /// How many items there are.
    pub const fn items(&self) -> usize {
        self.items
    }

    /// Memory in use, bytes.
    pub fn bytes(&self) -> u64 {
        let chunks: usize = self.chunks.iter().map(Vec::capacity).sum();
        let numbers = self.next.capacity()
            + self.last.capacity()
            + self.free.capacity()
            + self.order.capacity();
        (chunks + self.index.capacity() * 8 + numbers * 4 + self.live.capacity()) as u64
    }

    /// More memory that the next item may need, bytes.
    pub fn growth(&self) -> u64 {
        let new_chunk = self.live.len() == self.chunks.len() * self.per_chunk;
        let chunk = if new_chunk {
            self.per_chunk * self.record_bytes
        } else {
            0
        };
        let index = if self.is_full() {
            self.index.len() * 2 * 8
        } else {
            0
        };
        let lists = if self.live.len() == self.live.capacity() {
            self.live.len() * 2 * 9
        } else {
            0
        };
        (chunk + index + lists) as u64
    }

    fn is_full(&self) -> bool {
        (self.keys + 1) * 4 > self.index.len() * 3
    }

    fn record(&self, item: u32) -> &[u8] {
        let item = item as usize;
        let start = item % self.per_chunk * self.record_bytes;
        &self.chunks[item / self.per_chunk][start..start + self.record_bytes]
    }

    /// The key of an item.
    pub fn key(&self, item: u32) -> &[u8] {
        &self.record(item)[..self.key_bytes]
    }

    /// The data of an item.
    pub fn data(&self, item: u32) -> &[u8] {
        &self.record(item)[self.key_bytes..]
    }

    /// The data of an item, to be changed.
    pub fn data_mut(&mut self, item: u32) -> &mut [u8] {
        let at = item as usize;
        let start = at % self.per_chunk * self.record_bytes;
        &mut self.chunks[at / self.per_chunk][start + self.key_bytes..start + self.record_bytes]
    }

    /// Writes the data of an item.
    pub fn set_data(&mut self, item: u32, data: &[u8]) {
        let at = item as usize;
        let start = at % self.per_chunk * self.record_bytes + self.key_bytes;
        self.chunks[at / self.per_chunk][start..start + data.len()].copy_from_slice(data);
    }

    /// The place in the index of a key with this hash, or the one where it would be.
    fn place(&self, key: &[u8], hash: u64) -> usize {
        let mask = self.index.len() - 1;
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
        let mut place = hash as usize & mask;
        loop {
            let found = self.index[place];
            let same_hash = found >> 32 == hash >> 32;
            if found == EMPTY || (same_hash && self.key(item_of(found)) == key) {
                return place;
            }
            place = (place + 1) & mask;
        }
    }

    /// The first item of a key.
    pub fn find(&self, key: &[u8]) -> Option<u32> {
        if self.index.is_empty() {
            return None;
        }
        let found = self.index[self.place(key, hash(key))];
        (found != EMPTY).then_some(item_of(found))
    }

    /// The next item of the same key.
    pub fn next_of_key(&self, item: u32) -> Option<u32> {
        let next = self.next.get(item as usize).copied();
        next.filter(|item| *item != NONE)
    }

    /// Adds an item, behind those of the same key; `None` once there are too many to number.
    pub fn add(&mut self, key: &[u8], data: &[u8]) -> Option<u32> {
        if self.is_full() {
            self.grow();
        }
        let item = self.store(key, data)?;
        let hash = hash(key);
        let place = self.place(key, hash);
        let first = self.index[place];
        if first == EMPTY {
            self.index[place] = entry(hash, item);
            self.keys += 1;
        } else {
            let first = item_of(first) as usize;
            let last = std::mem::replace(&mut self.last[first], item);
            self.next[last as usize] = item;
        }
        self.items += 1;
        self.version += 1;
        Some(item)
    }

    fn store(&mut self, key: &[u8], data: &[u8]) -> Option<u32> {
        let item = match self.free.pop() {
            Some(item) => item,
            None => {
                let item = u32::try_from(self.live.len())
                    .ok()
                    .filter(|item| *item < NONE)?;
                if self.live.len() == self.chunks.len() * self.per_chunk {
                    self.chunks
                        .push(vec![0; self.per_chunk * self.record_bytes]);
                }
                self.live.push(false);
                self.next.push(NONE);
                self.last.push(item);
                item
            }
        };
        let at = item as usize;
        self.live[at] = true;
        self.next[at] = NONE;
        self.last[at] = item;
        let start = at % self.per_chunk * self.record_bytes;
        let record = &mut self.chunks[at / self.per_chunk][start..start + self.record_bytes];
        record[..self.key_bytes].copy_from_slice(key);
        record[self.key_bytes..self.key_bytes + data.len()].copy_from_slice(data);
        Some(item)
    }

    fn grow(&mut self) {
        let places = (self.index.len() * 2).max(16);
        let old = std::mem::replace(&mut self.index, vec![EMPTY; places]);
        for found in old.into_iter().filter(|found| *found != EMPTY) {
            let mut place = self.home(found);
            while self.index[place] != EMPTY {
                place = (place + 1) & (places - 1);
            }
            self.index[place] = found;
        }
    }

    /// Where the search for the key of an entry begins.
    fn home(&self, found: u64) -> usize {
        #[expect(clippy::cast_possible_truncation, reason = "only the low bits count")]
        let place = hash(self.key(item_of(found))) as usize;
        place & (self.index.len() - 1)
    }

    /// Removes all items of a key; false if there are none.
    pub fn remove(&mut self, key: &[u8]) -> bool {
        let Some(first) = self.find(key) else {
            return false;
        };
        let mut hole = self.place(key, hash(key));
        let mut item = Some(first);
        while let Some(one) = item {
            item = self.next_of_key(one);
            self.live[one as usize] = false;
            self.free.push(one);
            self.items -= 1;
        }
        self.keys -= 1;
        self.version += 1;
        // Items that were pushed past the hole move into it.
        let mask = self.index.len() - 1;
        let mut place = hole;
        loop {
            self.index[hole] = EMPTY;
            loop {
                place = (place + 1) & mask;
                let found = self.index[place];
                if found == EMPTY {
                    return true;
                }
                let home = self.home(found);
                // The item may move if its home is not behind the hole.
                let moves = (place.wrapping_sub(home) & mask) >= (place.wrapping_sub(hole) & mask);
                if moves {
                    self.index[hole] = found;
                    hole = place;
                    break;
                }
            }
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        let data_bytes = self.record_bytes - self.key_bytes;
        *self = Self {
            version: self.version + 1,
            ..Self::new(self.key_bytes, data_bytes)
        };
    }

    /// Items by key (`Some(true)`: descending), or in the order they came.
    pub fn in_order(&mut self, ordered: Option<bool>) -> &[u32] {
        if self.ordered_at != Some(self.version) {
            let mut order = std::mem::take(&mut self.order);
            order.clear();
            let numbers = 0..u32::try_from(self.live.len()).unwrap_or(NONE);
            order.extend(numbers.filter(|item| self.live[*item as usize]));
            match ordered {
                Some(false) => order.sort_by(|a, b| self.key(*a).cmp(self.key(*b))),
                Some(true) => order.sort_by(|a, b| self.key(*b).cmp(self.key(*a))),
                None => {}
            }
            self.order = order;
            self.ordered_at = Some(self.version);
        }
        &self.order
    }
}

/// A hash of a key: eight bytes at a time, then mixed.
fn hash(key: &[u8]) -> u64 {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = key.len() as u64;
    let mut words = key.chunks_exact(8);
    for word in &mut words {
        let word = u64::from_le_bytes(word.try_into().expect("chunks have eight bytes"));
        hash = (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR);
    }
    let mut rest = [0; 8];
    rest[..words.remainder().len()].copy_from_slice(words.remainder());
    hash = (hash.rotate_left(23) ^ u64::from_le_bytes(rest)).wrapping_mul(FACTOR);
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(FACTOR);
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use base::random::Stream;

    use super::*;

    /// Random adds, finds and removes against a map.
    #[test]
    fn a_table_holds_what_a_map_holds() {
        let stream = Stream::new(7);
        let mut table = Table::new(8, 8);
        let mut model: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for step in 0..20_000u64 {
            let word = stream.word(step);
            let key = word % 500;
            let bytes = key.to_be_bytes();
            match word >> 60 {
                0..=7 => {
                    table.add(&bytes, &step.to_le_bytes()).unwrap();
                    model.entry(key).or_default().push(step);
                }
                8..=11 => {
                    assert_eq!(table.remove(&bytes), model.remove(&key).is_some());
                }
                _ => {
                    let mut found = Vec::new();
                    let mut item = table.find(&bytes);
                    while let Some(one) = item {
                        found.push(u64::from_le_bytes(table.data(one).try_into().unwrap()));
                        item = table.next_of_key(one);
                    }
                    assert_eq!(found, model.get(&key).cloned().unwrap_or_default());
                }
            }
            assert_eq!(table.items(), model.values().map(Vec::len).sum::<usize>());
        }
        let order = table.in_order(Some(false)).to_vec();
        let keys: Vec<u64> = order
            .iter()
            .map(|item| u64::from_be_bytes(table.key(*item).try_into().unwrap()))
            .collect();
        let expected: Vec<u64> = model
            .iter()
            .flat_map(|(key, items)| vec![*key; items.len()])
            .collect();
        assert_eq!(keys, expected);
    }
}
