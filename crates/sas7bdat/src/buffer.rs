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
    /// Those that nobody uses, the last used one at the end.
    static UNUSED: RefCell<Vec<Vec<u8>>> = const { RefCell::new(Vec::new()) };
}

/// Bytes whose memory is kept for the next buffer when it is dropped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer(Vec<u8>);

impl Buffer {
    /// `length` bytes of any content: what an earlier page left, for whoever overwrites all of it.
    pub(crate) fn any(length: usize) -> Self {
        let found = UNUSED.with_borrow_mut(|unused| {
            let fits = |one: &Vec<u8>| (length..=2 * length + ROOM).contains(&one.capacity());
            let place = unused.iter().rposition(fits)?;
            Some(unused.remove(place))
        });
        let mut bytes = found.unwrap_or_else(|| Vec::with_capacity(length + ROOM));
        // Clears nothing but what the buffer has not held yet.
        bytes.resize(length, 0);
        Self(bytes)
    }

    /// `length` zeros.
    pub(crate) fn zeroed(length: usize) -> Self {
        let mut buffer = Self::any(length);
        buffer.fill(0);
        buffer
    }

    /// The memory, which is not kept any more.
    pub(crate) fn into_memory(mut self) -> Vec<u8> {
        std::mem::take(&mut self.0)
    }
}

impl From<Vec<u8>> for Buffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        &mut self.0
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        let bytes = std::mem::take(&mut self.0);
        if bytes.capacity() == 0 || bytes.capacity() > LARGEST {
            return;
        }
        // A thread that ends keeps nothing.
        let _ = UNUSED.try_with(|unused| {
            let mut unused = unused.borrow_mut();
            if unused.len() == KEPT {
                // The one that was not used for longest.
                unused.remove(0);
            }
            unused.push(bytes);
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
    fn few_are_kept_and_no_large_ones() {
        let many: Vec<Buffer> = (0..2 * KEPT).map(|_| Buffer::any(2048)).collect();
        drop(many);
        drop(Buffer::any(LARGEST));
        let kept =
            UNUSED.with_borrow(|unused| unused.iter().map(Vec::capacity).collect::<Vec<_>>());
        assert_eq!(kept.len(), KEPT);
        assert!(kept.iter().all(|capacity| *capacity < LARGEST));
    }
}
