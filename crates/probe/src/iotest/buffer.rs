//! Memory that is read to and written from.

use std::ops::{Deref, DerefMut};

/// Buffers begin at pages: copies between them and the page cache take a quarter longer from or to a
/// place 16 bytes behind one, which is where large allocations begin.
const PAGE: usize = 4096;

/// Bytes that begin at a page.
pub(super) struct Buffer {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Buffer {
    /// Zeros.
    pub(super) fn new(length: usize) -> Self {
        let bytes = vec![0; length + PAGE];
        let start = bytes.as_ptr().align_offset(PAGE);
        Self {
            bytes,
            start,
            length,
        }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[self.start..self.start + self.length]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..self.start + self.length]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_begin_at_pages() {
        for length in [4096, 131_072, 1 << 20] {
            let buffer = Buffer::new(length);
            assert_eq!(buffer.as_ptr().align_offset(PAGE), 0);
            assert_eq!(buffer.len(), length);
        }
    }
}
