//! One chunk of a file: what is left of it when it is compressed by itself.

use flate2::{Compress, Compression, FlushCompress, Status};

/// Bytes that are compressed together.
pub const CHUNK_BYTES: usize = 128 << 10;
/// Storage gives out space in units of so many bytes.
pub const UNIT_BYTES: usize = 8 << 10;
/// However well it compresses, a chunk takes this part of its bytes.
pub const FLOOR: usize = 8;

/// zlib's own default: what general-purpose hardware and software come close to.
const DEFLATE_LEVEL: u32 = 6;

/// Bytes that are left of a chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Left {
    /// After deflate.
    pub deflate: usize,
    /// After deflate, as storage gives out space.
    pub deflate_stored: usize,
    /// After LZ4.
    pub lz4: usize,
    /// After LZ4, as storage gives out space.
    pub lz4_stored: usize,
}

/// What storage needs for a chunk of `bytes` that compresses to `compressed`: whole units and no less than the floor;
/// what does not shrink is stored as it is.
pub fn stored(bytes: usize, compressed: usize) -> usize {
    let least = compressed.max(bytes.div_ceil(FLOOR));
    least.next_multiple_of(UNIT_BYTES).min(bytes)
}

/// Compresses chunk after chunk.
pub struct Compressor {
    deflate: Compress,
    out: Vec<u8>,
}

impl Compressor {
    /// One with its buffers.
    pub fn new() -> Self {
        Self {
            deflate: Compress::new(Compression::new(DEFLATE_LEVEL), false),
            out: vec![0; lz4_flex::block::get_maximum_output_size(CHUNK_BYTES)],
        }
    }

    /// What is left of a chunk of at most [`CHUNK_BYTES`].
    pub fn compress(&mut self, chunk: &[u8]) -> Left {
        let bytes = chunk.len();
        let deflate = self.deflate(chunk).min(bytes);
        let lz4 = lz4_flex::block::compress_into(chunk, &mut self.out);
        // A buffer of the largest size is never too small.
        let lz4 = lz4.unwrap_or(bytes).min(bytes);
        Left {
            deflate,
            deflate_stored: stored(bytes, deflate),
            lz4,
            lz4_stored: stored(bytes, lz4),
        }
    }

    fn deflate(&mut self, chunk: &[u8]) -> usize {
        self.deflate.reset();
        let status = self
            .deflate
            .compress(chunk, &mut self.out, FlushCompress::Finish);
        match (status, usize::try_from(self.deflate.total_out())) {
            (Ok(Status::StreamEnd), Ok(bytes)) => bytes,
            // It does not fit the buffer: it has grown.
            _ => chunk.len(),
        }
    }
}

impl Default for Compressor {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn storage_gives_out_whole_units_and_keeps_an_eighth() {
        const KIB: usize = 1 << 10;
        for (bytes, compressed, left) in [
            (128 * KIB, 1, 16 * KIB),
            (128 * KIB, 16 * KIB + 1, 24 * KIB),
            (128 * KIB, 121 * KIB, 128 * KIB),
            (128 * KIB, 128 * KIB, 128 * KIB),
            (64 * KIB, 10, 8 * KIB),
            (20 * KIB, 3 * KIB, 8 * KIB),
            (100, 20, 100),
            (0, 0, 0),
        ] {
            assert_eq!(stored(bytes, compressed), left, "{bytes} to {compressed}");
        }
    }

    #[test]
    fn zeros_shrink_to_the_floor_and_noise_stays() {
        let mut compressor = Compressor::new();
        let zeros = compressor.compress(&vec![0; CHUNK_BYTES]);
        assert!(zeros.deflate < 300 && zeros.lz4 < 700, "{zeros:?}");
        assert_eq!(zeros.deflate_stored, CHUNK_BYTES / FLOOR);
        assert_eq!(zeros.lz4_stored, CHUNK_BYTES / FLOOR);
        let stream = base::random::Stream::new(1);
        let noise: Vec<u8> = (0..CHUNK_BYTES as u64 / 8)
            .flat_map(|index| stream.word(index).to_le_bytes())
            .collect();
        let left = compressor.compress(&noise);
        assert_eq!(left.deflate_stored, CHUNK_BYTES);
        assert_eq!(left.lz4_stored, CHUNK_BYTES);
        assert!(left.deflate <= CHUNK_BYTES && left.lz4 <= CHUNK_BYTES);
        // The chunk before leaves no trace.
        assert_eq!(compressor.compress(&vec![0; CHUNK_BYTES]), zeros);
    }
}
