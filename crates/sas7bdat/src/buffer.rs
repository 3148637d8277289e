//! Memory for pages, used again: programs open and close data sets by the thousand, and a page that is taken
//! from the same few buffers again and again stays in a core's own cache and need not be cleared each time.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};

/// Buffers that a thread keeps, and the largest of them, bytes: what a core's own cache holds.
const KEPT: usize = 6;
const LARGEST: usize = 160 * 1024;
/// Room at the end of a new buffer, so that pages with and without padding take the same ones.
const ROOM: usize = 64;

thread_local! {
    /// Those that nobody uses, the last used one at the end, each with where its zeros begin.
    static UNUSED: RefCell<Vec<(Vec<u8>, usize)>> = const { RefCell::new(Vec::new()) };
}

/// Bytes whose memory is kept for the next buffer when it is dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer {
    bytes: Vec<u8>,
    /// There is nothing but zeros from here on.
    zeros: usize,
}

impl Buffer {
    /// `length` bytes of any content: what an earlier page left, for whoever overwrites all of it.
    pub(crate) fn any(length: usize) -> Self {
        // Headers, which are zeros almost to their beginning, are left to headers.
        Self::taken(length, |bytes, zeros| zeros == bytes)
    }

    /// `length` zeros.
    pub(crate) fn zeroed(length: usize) -> Self {
        let mut buffer = Self::taken(length, |bytes, zeros| zeros < bytes);
        let other = buffer.bytes.get_mut(..buffer.zeros);
        other.unwrap_or_default().fill(0);
        buffer.zeros = 0;
        buffer
    }

    /// An unused buffer that has the room, rather one that is `better` by its length and its zeros.
    fn taken(length: usize, better: impl Fn(usize, usize) -> bool) -> Self {
        let room = length..=2 * length + ROOM;
        let found = UNUSED.with_borrow_mut(|unused| {
            let fits = |one: &(Vec<u8>, usize)| room.contains(&one.0.capacity());
            let best = unused
                .iter()
                .rposition(|one| fits(one) && better(one.0.len(), one.1));
            let place = best.or_else(|| unused.iter().rposition(fits))?;
            Some(unused.remove(place))
        });
        let (mut bytes, zeros) = found.unwrap_or_else(|| (Vec::with_capacity(length + ROOM), 0));
        let zeros = zeros.min(length);
        // Clears nothing but what the buffer has not held yet.
        bytes.resize(length, 0);
        Self { bytes, zeros }
    }

    /// The first `length` bytes, for changes that leave the others as they are.
    pub(crate) fn front(&mut self, length: usize) -> &mut [u8] {
        self.zeros = self.zeros.max(length.min(self.bytes.len()));
        self.bytes.get_mut(..length).unwrap_or_default()
    }

    /// The memory, which is not kept any more.
    pub(crate) fn into_memory(mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        let zeros = bytes.len();
        Self { bytes, zeros }
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.bytes
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        self.zeros = self.bytes.len();
        &mut self.bytes
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let capacity = self.bytes.capacity();
        if capacity == 0 || capacity > LARGEST {
            return;
        }
        let bytes = std::mem::take(&mut self.bytes);
        // A thread that ends keeps nothing.
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() == KEPT {
                // The one that was not used for longest.
                unused.remove(0);
            }
            unused.push((bytes, self.zeros));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_buffer_used_last_comes_first() {
        let (first, second) = (Buffer::any(4096), Buffer::any(4096));
        let (one, two) = (first.as_ptr(), second.as_ptr());
        drop(first);
        drop(second);
        let again = Buffer::any(4096 + ROOM);
        assert_eq!((again.as_ptr(), again.len()), (two, 4096 + ROOM));
        assert_eq!(Buffer::any(4096).as_ptr(), one);
    }

    #[test]
    fn what_was_there_is_gone_where_zeros_are_asked_for() {
        let mut buffer = Buffer::any(1024);
        buffer.fill(7);
        drop(buffer);
        assert!(Buffer::zeroed(1024 + ROOM).iter().all(|byte| *byte == 0));
    }

    #[test]
    fn headers_stay_zeros_behind_their_front() {
        let mut header = Buffer::zeroed(2048);
        header.front(100).fill(9);
        let place = header.as_ptr();
        let mut page = Buffer::any(2048);
        page.fill(8);
        drop(page);
        drop(header);
        for length in [2048, 2048 - 50, 2048 + ROOM, 2048] {
            let mut other = Buffer::any(length);
            assert_ne!(other.as_ptr(), place);
            let mut header = Buffer::zeroed(length);
            assert_eq!(header.as_ptr(), place);
            assert!(header.iter().all(|byte| *byte == 0), "{length}");
            header.front(70).fill(9);
            other.fill(8);
        }
        let mut page = Buffer::zeroed(2048);
        page.fill(7);
        drop(page);
        let zeros = [Buffer::zeroed(2048), Buffer::zeroed(2048)];
        assert!(zeros.iter().all(|one| one.iter().all(|byte| *byte == 0)));
    }

    #[test]
    fn few_are_kept_and_no_large_ones() {
        let many: Vec<Buffer> = (0..2 * KEPT).map(|_| Buffer::any(2048)).collect();
        drop(many);
        drop(Buffer::any(LARGEST));
        let kept = UNUSED.with_borrow(|unused| {
            unused
                .iter()
                .map(|one| one.0.capacity())
                .collect::<Vec<_>>()
        });
        assert_eq!(kept.len(), KEPT);
        assert!(kept.iter().all(|capacity| *capacity < LARGEST));
    }
}
