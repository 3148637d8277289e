//! Zeroed memory that takes no space before it is touched; much of it lies in huge pages where the
//! system has them for who asks, since a sort touches its rows in random order.

use std::ops::{Deref, DerefMut};

use memmap2::{Advice, MmapMut};

/// From here on a mapping of its own pays.
const LARGE: usize = 8 << 20;

pub(super) enum Memory {
    /// As far as it was reached; it has room for all.
    Small(Vec<u8>),
    Large(MmapMut),
}

impl Memory {
    pub(super) fn of(bytes: usize) -> Self {
        if bytes >= LARGE
            && let Ok(mapping) = MmapMut::map_anon(bytes)
        {
            // Only advice: without huge pages the sort is a little slower.
            let _ = mapping.advise(Advice::HugePage);
            return Self::Large(mapping);
        }
        Self::Small(Vec::with_capacity(bytes))
    }

    /// Makes sure that there is memory up to `end`.
    #[inline]
    pub(super) fn reach(&mut self, end: usize) {
        if let Self::Small(bytes) = self
            && bytes.len() < end
        {
            bytes.resize(end, 0);
        }
    }
}

impl Deref for Memory {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large(mapping) => mapping,
        }
    }
}

impl DerefMut for Memory {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Small(bytes) => bytes,
            Self::Large(mapping) => mapping,
        }
    }
}
