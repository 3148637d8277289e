//! Numbers in the byte order of a file: the only place where byte order is dealt with.

/// Byte order of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Endian {
    /// Least significant byte first: Linux and Windows.
    Little,
    /// Most significant byte first: AIX, Solaris on SPARC, HP-UX.
    Big,
}

/// Fields of a header, page or subheader by offset.
///
/// A field that lies past the end reads as 0: callers check the length of a structure once, before
/// they look at its fields, and old releases have shorter structures whose later fields count as 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) endian: Endian,
    /// Longs have 8 bytes, not 4.
    pub(crate) wide: bool,
}

impl<'a> Fields<'a> {
    fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        match self.bytes.get(offset..).and_then(<[u8]>::first_chunk::<N>) {
            Some(bytes) => *bytes,
            None => [0; N],
        }
    }

    pub(crate) fn u8(&self, offset: usize) -> u8 {
        self.bytes.get(offset).copied().unwrap_or(0)
    }

    pub(crate) fn u16(&self, offset: usize) -> u16 {
        match self.endian {
            Endian::Little => u16::from_le_bytes(self.array(offset)),
            Endian::Big => u16::from_be_bytes(self.array(offset)),
        }
    }

    pub(crate) fn u32(&self, offset: usize) -> u32 {
        match self.endian {
            Endian::Little => u32::from_le_bytes(self.array(offset)),
            Endian::Big => u32::from_be_bytes(self.array(offset)),
        }
    }

    pub(crate) fn u64(&self, offset: usize) -> u64 {
        match self.endian {
            Endian::Little => u64::from_le_bytes(self.array(offset)),
            Endian::Big => u64::from_be_bytes(self.array(offset)),
        }
    }

    pub(crate) fn f64(&self, offset: usize) -> f64 {
        f64::from_bits(self.u64(offset))
    }

    /// A long of the file: 8 or 4 bytes.
    pub(crate) fn long(&self, offset: usize) -> u64 {
        if self.wide {
            self.u64(offset)
        } else {
            u64::from(self.u32(offset))
        }
    }

    /// A long at the offset that belongs to the file's width.
    pub(crate) fn long_at(&self, wide_offset: usize, narrow_offset: usize) -> u64 {
        self.long(self.pick(wide_offset, narrow_offset))
    }

    /// The offset that belongs to the file's width.
    pub(crate) fn pick(&self, wide: usize, narrow: usize) -> usize {
        if self.wide { wide } else { narrow }
    }

    /// A part of the bytes, empty where it does not exist.
    pub(crate) fn slice(&self, offset: usize, bytes: usize) -> &'a [u8] {
        let end = offset.saturating_add(bytes).min(self.bytes.len());
        self.bytes.get(offset..end).unwrap_or(&[])
    }
}

/// An index into memory from a number on disk; too large becomes an index that no slice has.
pub(crate) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Writes into buffers that this crate sized itself; always little endian, as Linux writes.
pub(crate) trait Put {
    fn put(&mut self, offset: usize, bytes: &[u8]);
    fn put_u16(&mut self, offset: usize, number: u16) {
        self.put(offset, &number.to_le_bytes());
    }
    fn put_u32(&mut self, offset: usize, number: u32) {
        self.put(offset, &number.to_le_bytes());
    }
    fn put_u64(&mut self, offset: usize, number: u64) {
        self.put(offset, &number.to_le_bytes());
    }
    fn put_f64(&mut self, offset: usize, number: f64) {
        self.put_u64(offset, number.to_bits());
    }
}

impl Put for [u8] {
    fn put(&mut self, offset: usize, bytes: &[u8]) {
        if let Some(place) = self.get_mut(offset..offset + bytes.len()) {
            place.copy_from_slice(bytes);
        } else {
            debug_assert!(false, "{} bytes at {offset} of {}", bytes.len(), self.len());
        }
    }
}
