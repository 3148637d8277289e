//! One chunk of a file: what is left of it when its blocks are compressed, each by itself.

use flate2::{Compress, Compression, FlushCompress, Status};

/// Bytes of a chunk; blocks of every size fill it.
pub const CHUNK_BYTES: usize = 128 << 10;
/// Storage gives out space in units of so many bytes.
pub const UNIT_BYTES: usize = 8 << 10;
/// However well it compresses, a chunk takes this part of its bytes.
pub const FLOOR: usize = 8;

/// Bytes that are compressed together; the last are a chunk's.
pub const COMPRESSED_BYTES: [usize; 4] = [4 << 10, 8 << 10, 32 << 10, CHUNK_BYTES];
/// Ways to compress.
pub const METHODS: [&str; 3] = ["deflate", "lz4", "zstd"];
/// What is told of a chunk: for each method what is left of blocks of each size, and as storage gives out
/// space for the chunk.
pub const KINDS: usize = METHODS.len() * PER_METHOD;
/// Kinds of a method.
pub const PER_METHOD: usize = COMPRESSED_BYTES.len() + 1;
/// The kind of deflated chunks, as storage gives out space: an array that compresses.
pub const DEFLATE_STORED: usize = COMPRESSED_BYTES.len();

/// zlib's own default: what general-purpose hardware and software come close to.
const DEFLATE_LEVEL: u32 = 6;
/// zstd's own default.
const ZSTD_LEVEL: i32 = 3;

/// What a kind leaves of each byte at the very least: deflate by its format, LZ4 by that of a long match, zstd some
/// bytes for each block, storage its floor.
pub fn least_share(kind: usize) -> f64 {
    const ZSTD_BLOCK: f64 = 10.0;
    let (method, size) = (kind / PER_METHOD, kind % PER_METHOD);
    match (COMPRESSED_BYTES.get(size), method) {
        (None, _) => 1.0 / FLOOR as f64,
        (_, 0) => 1.0 / 1032.0,
        (_, 1) => 1.0 / 255.0,
        (Some(bytes), _) => ZSTD_BLOCK / *bytes as f64,
    }
}

/// What is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// Blocks of every size, by every method.
    Full,
    /// Whole chunks by deflate, which is what an array's figure needs; other kinds stay at the bytes there
    /// are.
    Array,
    /// Nothing.
    Nothing,
}

/// Bytes that are left of a chunk, by kind.
pub type Left = [u32; KINDS];

/// What storage needs for a chunk of `bytes` that compresses to `compressed`: whole units and no less than
/// the floor; what does not shrink is stored as it is.
pub fn stored(bytes: usize, compressed: usize) -> usize {
    let least = compressed.max(bytes.div_ceil(FLOOR));
    least.next_multiple_of(UNIT_BYTES).min(bytes)
}

/// Compresses chunk after chunk.
pub struct Compressor {
    deflate: Compress,
    zstd: Option<zstd::bulk::Compressor<'static>>,
    out: Vec<u8>,
}

impl Compressor {
    /// One with its buffers.
    pub fn new() -> Self {
        let most = lz4_flex::block::get_maximum_output_size(CHUNK_BYTES);
        Self {
            deflate: Compress::new(Compression::new(DEFLATE_LEVEL), false),
            zstd: zstd::bulk::Compressor::new(ZSTD_LEVEL).ok(),
            out: vec![0; most.max(zstd::zstd_safe::compress_bound(CHUNK_BYTES))],
        }
    }

    /// What is left of a chunk of at most [`CHUNK_BYTES`]; a block that does not shrink stays as it is.
    pub fn compress(&mut self, chunk: &[u8], effort: Effort) -> Left {
        let whole = u32::try_from(chunk.len()).unwrap_or(u32::MAX);
        let mut left = [whole; KINDS];
        for (method, left) in left.chunks_exact_mut(PER_METHOD).enumerate() {
            for (size, left) in COMPRESSED_BYTES.iter().zip(&mut *left) {
                let is_wanted = match effort {
                    Effort::Full => true,
                    Effort::Array => method == 0 && *size == CHUNK_BYTES,
                    Effort::Nothing => false,
                };
                if is_wanted {
                    let blocks = chunk.chunks(*size);
                    let sum: usize = blocks.map(|block| self.block(method, block)).sum();
                    *left = u32::try_from(sum).unwrap_or(u32::MAX);
                }
            }
            let compressed = left[DEFLATE_STORED - 1] as usize;
            left[DEFLATE_STORED] =
                u32::try_from(stored(chunk.len(), compressed)).unwrap_or(u32::MAX);
        }
        left
    }

    fn block(&mut self, method: usize, block: &[u8]) -> usize {
        let left = match method {
            0 => self.deflate(block),
            1 => lz4_flex::block::compress_into(block, &mut self.out).ok(),
            _ => self.zstd(block),
        };
        // What does not fit the buffer has grown.
        left.unwrap_or(block.len()).min(block.len())
    }

    fn zstd(&mut self, block: &[u8]) -> Option<usize> {
        let zstd = self.zstd.as_mut()?;
        zstd.compress_to_buffer(block, &mut self.out[..]).ok()
    }

    fn deflate(&mut self, block: &[u8]) -> Option<usize> {
        self.deflate.reset();
        let status = self
            .deflate
            .compress(block, &mut self.out, FlushCompress::Finish);
        match status {
            Ok(Status::StreamEnd) => usize::try_from(self.deflate.total_out()).ok(),
            _ => None,
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
        let zeros = compressor.compress(&vec![0; CHUNK_BYTES], Effort::Full);
        for method in zeros.chunks(PER_METHOD) {
            assert!(method[3] < 700, "{zeros:?}");
            // Smaller blocks have more beginnings and ends.
            assert!(
                method[..4].windows(2).all(|two| two[0] > two[1]),
                "{zeros:?}"
            );
            assert_eq!(method[DEFLATE_STORED] as usize, CHUNK_BYTES / FLOOR);
        }
        let stream = base::random::Stream::new(1);
        let noise: Vec<u8> = (0..CHUNK_BYTES as u64 / 8)
            .flat_map(|index| stream.word(index).to_le_bytes())
            .collect();
        let left = compressor.compress(&noise, Effort::Full);
        assert!(
            left.iter().all(|left| *left as usize == CHUNK_BYTES),
            "{left:?}"
        );
        // The chunk before leaves no trace.
        assert_eq!(
            compressor.compress(&vec![0; CHUNK_BYTES], Effort::Full),
            zeros
        );
        let array = compressor.compress(&vec![0; CHUNK_BYTES], Effort::Array);
        assert_eq!(array[DEFLATE_STORED], zeros[DEFLATE_STORED]);
    }
}
