//! A store's file as the format codec's source and sink.

use std::io;

use base::store::StoreFile;

/// Reads a data set's file for the codec.
pub struct FileSource(pub Box<dyn StoreFile>);

impl sas7bdat::Source for FileSource {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.read_at(offset, buffer)?)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.size()?)
    }
}

/// Writes a data set's file for the codec, and reads it where a data set is changed in place.
pub struct FileSink(pub Box<dyn StoreFile>);

impl sas7bdat::Sink for FileSink {
    fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Ok(self.0.write_at(offset, bytes)?)
    }

    fn rewrite_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Ok(self.0.rewrite_at(offset, bytes)?)
    }
}

impl sas7bdat::Source for FileSink {
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(self.0.read_at(offset, buffer)?)
    }

    fn size(&mut self) -> io::Result<u64> {
        Ok(self.0.size()?)
    }
}
