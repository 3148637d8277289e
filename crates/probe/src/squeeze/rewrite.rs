//! What a SAS data set would take if SAS wrote it without compression, with COMPRESS=CHAR and with
//! COMPRESS=BINARY: its rows go through our writer, page by page, into nothing.

use std::io;

use sas7bdat::{
    Compression, Error, Layout, Metadata, Reader, Rows, Sink, Source, WriteOptions, Writer, Written,
};
use serde::Serialize;

use super::chunk::{CHUNK_BYTES, Compressor, DEFLATE_STORED, Effort, least_share};
use super::estimate::{Estimate, Sums};

/// Chunks of what COMPRESS=BINARY would write that are compressed in any case.
const CERTAIN: u64 = 8;

/// A data set's size by COMPRESS=.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Rewritten {
    /// Rows; deleted ones would not be written again.
    pub rows: u64,
    /// Bytes of a page.
    pub page_bytes: u32,
    /// How it is compressed as it lies: none, char or binary.
    pub compression: &'static str,
    /// Bytes of the file without compression.
    pub none_bytes: u64,
    /// With COMPRESS=CHAR.
    pub char_bytes: u64,
    /// With COMPRESS=BINARY.
    pub binary_bytes: u64,
    /// Rows are too short to be compressed: SAS would write them without.
    pub too_short: bool,
    /// What deflate leaves of each byte of the file with COMPRESS=BINARY: chunks of 128 KiB, as storage gives
    /// out space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binary_deflate_stored_share: Option<Estimate>,
    /// Why sizes are those of another layout than the file has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layout: Option<&'static str>,
}

/// Writes a data set's rows three times, into nothing. About `share` of what COMPRESS=BINARY writes is compressed
/// as an array would.
pub fn rewrite<S: Source>(
    source: &mut S,
    compressor: &mut Compressor,
    share: f64,
) -> Result<Rewritten, Error> {
    let mut reader = Reader::open(source)?;
    let metadata = reader.metadata().clone();
    let array = Array::new(compressor, share);
    let mut none = Rewriter::new(Dropped, &metadata, Compression::None)?;
    let mut char = Rewriter::new(Dropped, &metadata, Compression::Char)?;
    let mut binary = Rewriter::new(array, &metadata, Compression::Binary)?;
    while let Some(rows) = reader.next_slab()? {
        none.write(rows)?;
        char.write(rows)?;
        binary.write(rows)?;
    }
    let (_, none) = none.finish()?;
    let (_, char) = char.finish()?;
    let (array, binary) = binary.finish()?;
    let word = |compression| match compression {
        Compression::None => "none",
        Compression::Char => "char",
        Compression::Binary => "binary",
    };
    Ok(Rewritten {
        rows: none.rows,
        page_bytes: metadata.page_bytes,
        compression: word(metadata.compression),
        none_bytes: none.bytes,
        char_bytes: char.bytes,
        binary_bytes: binary.bytes,
        too_short: Compression::Char.effective(&metadata.variables) == Compression::None,
        binary_deflate_stored_share: array.share_left(),
        layout: (metadata.word_bits != 64)
            .then_some("the file is of a 32-bit release; sizes are those of a 64-bit one"),
    })
}

/// A data set being written in a compression.
struct Rewriter<K> {
    writer: Writer<K>,
    /// Column by column: from, to, bytes; none where rows lie as they would be written but for the padding.
    moves: Option<Vec<(usize, usize, usize)>>,
    row: Vec<u8>,
}

impl<K: Sink> Rewriter<K> {
    fn new(sink: K, metadata: &Metadata, compression: Compression) -> Result<Self, Error> {
        let writer = Writer::create(sink, &metadata.variables, options(metadata, compression))?;
        let (from, to): (&Layout, &Layout) = (&metadata.layout, writer.layout());
        let bytes = metadata.variables.iter().map(|one| one.length as usize);
        let moves = from.offsets.iter().zip(&to.offsets).zip(bytes);
        let moves = moves.map(|((from, to), bytes)| (*from as usize, *to as usize, bytes));
        Ok(Self {
            moves: (from.offsets != to.offsets).then(|| moves.collect()),
            row: vec![0; to.row_bytes as usize],
            writer,
        })
    }

    fn write(&mut self, rows: Rows<'_>) -> Result<(), Error> {
        if self.moves.is_none() && rows.row_bytes == self.row.len() {
            return rows.iter().try_for_each(|row| self.writer.write_row(row));
        }
        for row in rows.iter() {
            match &self.moves {
                // What pads a row is there in one of the two only.
                None => {
                    let both = row.len().min(self.row.len());
                    self.row[..both].copy_from_slice(&row[..both]);
                }
                Some(moves) => {
                    for (from, to, bytes) in moves {
                        let place = self.row.get_mut(*to..to + bytes).unwrap_or_default();
                        if let Some(value) = row.get(*from..from + bytes) {
                            place.copy_from_slice(value);
                        }
                    }
                }
            }
            self.writer.write_row(&self.row)?;
        }
        Ok(())
    }

    fn finish(self) -> Result<(K, Written), Error> {
        self.writer.finish()
    }
}

/// What SAS would keep of a data set that it writes again.
fn options(metadata: &Metadata, compression: Compression) -> WriteOptions {
    WriteOptions {
        name: metadata.name.clone(),
        label: metadata.label.clone(),
        page_bytes: metadata.page_bytes,
        aligned_header: metadata.header_bytes >= metadata.page_bytes,
        compression,
        encoding: metadata.encoding,
        strict: true,
        ..WriteOptions::default()
    }
}

/// Goes nowhere.
struct Dropped;

impl Sink for Dropped {
    fn write_at(&mut self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Compresses a sample of the chunks that are written, in the order in which they come: all of the first, then
/// one of each part of so many.
struct Array<'c> {
    compressor: &'c mut Compressor,
    /// Chunks of a part.
    part: u64,
    chunk: Vec<u8>,
    chunks: u64,
    bytes: u64,
    certain: Sums,
    sampled: Sums,
}

impl<'c> Array<'c> {
    fn new(compressor: &'c mut Compressor, share: f64) -> Self {
        let part = (1.0 / share.clamp(1e-9, 1.0)).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 1 to 1e9"
        )]
        let part = part as u64;
        Self {
            compressor,
            part: if share > 0.0 { part } else { 0 },
            chunk: Vec::with_capacity(CHUNK_BYTES),
            chunks: 0,
            bytes: 0,
            certain: Sums::default(),
            sampled: Sums::default(),
        }
    }

    fn is_taken(&self) -> bool {
        let Some(behind) = self.chunks.checked_sub(CERTAIN) else {
            return true;
        };
        let stream = base::random::Stream::new(1);
        let place = (u128::from(stream.word(behind / self.part)) * u128::from(self.part)) >> 64;
        u128::from(behind % self.part) == place
    }

    fn end_chunk(&mut self) {
        if self.chunk.is_empty() {
            return;
        }
        if self.is_taken() {
            let left = self.compressor.compress(&self.chunk, Effort::Array);
            let sums = if self.chunks < CERTAIN {
                &mut self.certain
            } else {
                &mut self.sampled
            };
            sums.add(self.chunk.len(), &left, 1.0);
        }
        self.chunks += 1;
        self.bytes += self.chunk.len() as u64;
        self.chunk.clear();
    }

    /// What is left of each byte.
    fn share_left(mut self) -> Option<Estimate> {
        if self.part == 0 {
            return None;
        }
        self.end_chunk();
        let certain = self.certain.share(DEFLATE_STORED, self.certain.chunks)?;
        let first = self.certain.compressed_bytes as f64 / self.bytes as f64;
        let rest = self.chunks - self.certain.chunks;
        if rest == 0 {
            return Some(certain);
        }
        // A part that the end cuts may have none: the first ones say what there is to say then.
        let behind = self.sampled.share(DEFLATE_STORED, rest);
        let behind = behind.unwrap_or_else(|| {
            Estimate::share(certain.value, 1.0, 1.0, least_share(DEFLATE_STORED))
        });
        Some(certain.beside(&behind, |certain, behind| {
            certain * first + behind * (1.0 - first)
        }))
    }
}

impl Sink for Array<'_> {
    fn write_at(&mut self, _offset: u64, bytes: &[u8]) -> io::Result<()> {
        if self.part == 0 {
            return Ok(());
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            let room = CHUNK_BYTES - self.chunk.len();
            let (these, behind) = rest.split_at(room.min(rest.len()));
            self.chunk.extend_from_slice(these);
            if self.chunk.len() == CHUNK_BYTES {
                self.end_chunk();
            }
            rest = behind;
        }
        Ok(())
    }

    /// Header and page 1 are completed: what they compress to hardly changes.
    fn rewrite_at(&mut self, _offset: u64, _bytes: &[u8]) -> io::Result<()> {
        Ok(())
    }
}
