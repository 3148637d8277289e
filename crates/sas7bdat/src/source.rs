//! Where bytes come from and go to: this crate never opens a file itself.

use std::io::{self, Read, Seek, SeekFrom, Write};

/// Random-access bytes of a data set.
///
/// A [`Reader`](crate::Reader) asks for the header once and then for one page per call, in ascending
/// order, so that an implementation sees exactly the reads that SAS would do.
pub trait Source {
    /// Fills the front of `buffer` from `offset`; returns how many bytes, 0 only at the end.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;

    /// Bytes there are.
    fn size(&mut self) -> io::Result<u64>;
}

impl Source for &[u8] {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset)
            .ok()
            .and_then(|at| self.get(at..))
            .unwrap_or(&[]);
        let count = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..count), rest.get(..count)) {
            to.copy_from_slice(from);
        }
        Ok(count)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl Source for Vec<u8> {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.as_slice().read_at(offset, buffer)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.len() as u64)
    }
}

impl<S: Source + ?Sized> Source for &mut S {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
    }

    fn size(&mut self) -> io::Result<u64> {
        (**self).size()
    }
}

impl<S: Source + ?Sized> Source for Box<S> {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        (**self).read_at(offset, buffer)
    }

    fn size(&mut self) -> io::Result<u64> {
        (**self).size()
    }
}

/// Where a [`Writer`](crate::Writer) puts a data set: header, then pages in ascending order, then
/// the back-patches.
pub trait Sink {
    /// Writes all of `bytes` at `offset`.
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Writes again what was written before; used only while the data set is being closed.
    fn rewrite_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.write_at(offset, bytes)
    }
}

impl Sink for Vec<u8> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        let at = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let end = at
            .checked_add(bytes.len())
            .ok_or(io::ErrorKind::FileTooLarge)?;
        if at == self.len() {
            self.extend_from_slice(bytes);
            return Ok(());
        }
        if self.len() < end {
            self.resize(end, 0);
        }
        if let Some(place) = self.get_mut(at..end) {
            place.copy_from_slice(bytes);
        }
        Ok(())
    }
}

impl<K: Sink + ?Sized> Sink for &mut K {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(offset, bytes)
    }

    fn rewrite_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).rewrite_at(offset, bytes)
    }
}

impl<K: Sink + ?Sized> Sink for Box<K> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).write_at(offset, bytes)
    }

    fn rewrite_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        (**self).rewrite_at(offset, bytes)
    }
}

/// Makes a [`Source`] of anything that reads and seeks, and a [`Sink`] of anything that writes and
/// seeks, such as a file.
#[derive(Debug)]
pub struct Seekable<T> {
    inner: T,
    /// Where the next byte goes without a seek; a seek is a system call.
    position: Option<u64>,
}

impl<T> Seekable<T> {
    /// Wraps `inner`, whatever its position.
    pub fn new(inner: T) -> Self {
        Self {
            inner,
            position: None,
        }
    }

    /// Gives back what was wrapped.
    pub fn into_inner(self) -> T {
        self.inner
    }
}

impl<T: Seek> Seekable<T> {
    fn go(&mut self, offset: u64) -> io::Result<()> {
        if self.position != Some(offset) {
            self.inner.seek(SeekFrom::Start(offset))?;
        }
        self.position = None;
        Ok(())
    }
}

impl<T: Read + Seek> Source for Seekable<T> {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        self.go(offset)?;
        let count = self.inner.read(buffer)?;
        self.position = Some(offset + count as u64);
        Ok(count)
    }

    fn size(&mut self) -> io::Result<u64> {
        self.position = None;
        self.inner.seek(SeekFrom::End(0))
    }
}

impl<T: Write + Seek> Sink for Seekable<T> {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        self.go(offset)?;
        self.inner.write_all(bytes)?;
        self.position = Some(offset + bytes.len() as u64);
        Ok(())
    }
}
