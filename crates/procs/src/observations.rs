//! The rows of a model as numbers, read again and again by iterations: in a utility file, in memory,
//! or both.

use std::path::PathBuf;

use base::store::{Channel, Creation, StoreError, StoreFile};
use engine::failure::{Failure, Outcome};
use engine::session::World;

/// Rows of a chunk, at most.
pub(crate) const CHUNK_ROWS: usize = 1024;

/// Rows of equal width, in chunks that are column by column.
pub(crate) struct Observations {
    width: usize,
    /// All chunks, unless they take more than `limit`.
    kept: Option<Vec<Vec<f64>>>,
    limit: u64,
    file: Option<(Box<dyn StoreFile>, PathBuf)>,
    /// Rows of each chunk, and where it begins in the file.
    chunks: Vec<(usize, u64)>,
    written: u64,
    /// Bytes of all chunks.
    bytes: u64,
    /// Bytes of a write.
    block: usize,
}

/// Some rows, column by column.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'a> {
    cells: &'a [f64],
    pub(crate) rows: usize,
}

impl<'a> Chunk<'a> {
    /// The rows' numbers in a column.
    #[inline]
    pub(crate) fn column(self, number: usize) -> &'a [f64] {
        &self.cells[number * self.rows..(number + 1) * self.rows]
    }
}

impl Observations {
    /// Rows of `width` numbers, of which at most `limit` bytes stay in memory. With `always`, a
    /// utility file holds them in any case.
    pub(crate) fn new(width: usize, limit: u64, always: bool, world: &mut World) -> Outcome<Self> {
        let block = usize::try_from(world.options.ubufsize).unwrap_or(0);
        let mut observations = Self {
            width,
            kept: Some(Vec::new()),
            limit,
            file: None,
            chunks: Vec::new(),
            written: 0,
            bytes: 0,
            block: if block == 0 { 65536 } else { block },
        };
        if always {
            observations.create(world)?;
        }
        Ok(observations)
    }

    fn create(&mut self, world: &mut World) -> Outcome<()> {
        world.util_files += 1;
        let name = format!("ut{:06}.utl", world.util_files);
        let path = world.util_directory.join(name);
        let file = world.store.create(Channel::Util, &path, Creation::New);
        self.file = Some((file.map_err(|error| failure(&error))?, path));
        Ok(())
    }

    /// Takes a chunk in, column by column.
    pub(crate) fn push(&mut self, chunk: Vec<f64>, world: &mut World) -> Outcome<()> {
        self.bytes += (chunk.len() * size_of::<f64>()) as u64;
        self.chunks.push((chunk.len() / self.width, self.written));
        if self.file.is_some() {
            self.write(&chunk)?;
        }
        let Some(kept) = &mut self.kept else {
            return Ok(());
        };
        kept.push(chunk);
        if self.bytes <= self.limit {
            return Ok(());
        }
        let kept = self.kept.take().unwrap_or_default();
        if self.file.is_none() {
            self.create(world)?;
            for (number, chunk) in kept.iter().enumerate() {
                self.chunks[number].1 = self.written;
                self.write(chunk)?;
            }
        }
        Ok(())
    }

    fn write(&mut self, chunk: &[f64]) -> Outcome<()> {
        let Some((file, _)) = &self.file else {
            return Ok(());
        };
        let bytes: Vec<u8> = chunk.iter().flat_map(|value| value.to_le_bytes()).collect();
        for block in bytes.chunks(self.block) {
            file.write_at(self.written, block)
                .map_err(|error| failure(&error))?;
            self.written += block.len() as u64;
        }
        Ok(())
    }

    /// How many chunks there are.
    pub(crate) fn count(&self) -> usize {
        self.chunks.len()
    }

    /// A chunk; `memory` takes it if it must be read.
    pub(crate) fn chunk<'a>(
        &'a self,
        number: usize,
        memory: &'a mut ChunkMemory,
    ) -> Outcome<Chunk<'a>> {
        let (rows, start) = self.chunks[number];
        if let Some(kept) = &self.kept {
            let cells = &kept[number];
            return Ok(Chunk { cells, rows });
        }
        let Some((file, path)) = &self.file else {
            return Ok(Chunk {
                cells: &[],
                rows: 0,
            });
        };
        memory.bytes.resize(rows * self.width * size_of::<f64>(), 0);
        for (index, block) in memory.bytes.chunks_mut(self.block).enumerate() {
            let place = start + (index * self.block) as u64;
            let count = file
                .read_at(place, block)
                .map_err(|error| failure(&error))?;
            if count < block.len() {
                let text = format!("{} is shorter than what was written", path.display());
                return Err(Failure::world(text));
            }
        }
        let (numbers, _) = memory.bytes.as_chunks();
        memory.cells.clear();
        memory
            .cells
            .extend(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)));
        Ok(Chunk {
            cells: &memory.cells,
            rows,
        })
    }

    /// Removes the utility file.
    pub(crate) fn remove(self, world: &World) -> Outcome<()> {
        if let Some((file, path)) = self.file {
            file.close().map_err(|error| failure(&error))?;
            let removed = world.store.remove(Channel::Util, &path);
            removed.map_err(|error| failure(&error))?;
        }
        Ok(())
    }
}

/// Memory for a chunk that is read.
#[derive(Default)]
pub(crate) struct ChunkMemory {
    bytes: Vec<u8>,
    cells: Vec<f64>,
}

fn failure(error: &StoreError) -> Failure {
    let what = if error.source.kind() == std::io::ErrorKind::StorageFull {
        "Insufficient space in the utility directory"
    } else {
        "The utility file cannot be used"
    };
    Failure::world(format!("{what}: {error}."))
}

/// The whole number that a double of a row holds.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "numbers of levels, and places within bounds, are kept as doubles"
)]
pub(crate) fn whole(value: f64) -> usize {
    value as usize
}
