//! The rows of a model as numbers, read again and again by iterations: in a utility file, in memory,
//! or both.

use std::path::PathBuf;

use base::store::{Channel, Creation, StoreError, StoreFile};
use engine::failure::{Failure, Outcome};
use engine::session::World;

/// Bytes of rows handled at once.
const CHUNK: usize = 4 << 20;

/// Rows of equal width.
pub(crate) struct Observations {
    width: usize,
    chunk: usize,
    /// The chunk being filled, then the last one.
    filling: Vec<f64>,
    /// All full chunks, unless they take more than `limit`.
    kept: Option<Vec<Vec<f64>>>,
    limit: u64,
    file: Option<(Box<dyn StoreFile>, PathBuf)>,
    written: u64,
    /// Bytes of a write.
    block: usize,
    rows: u64,
}

impl Observations {
    /// Rows of `width` numbers, of which at most `limit` bytes stay in memory. With `always`, a
    /// utility file holds them in any case.
    pub(crate) fn new(width: usize, limit: u64, always: bool, world: &mut World) -> Outcome<Self> {
        let chunk = (CHUNK / 8 / width).max(16) * width;
        let block = usize::try_from(world.options.ubufsize).unwrap_or(0);
        let mut observations = Self {
            width,
            chunk,
            filling: Vec::new(),
            kept: Some(Vec::new()),
            limit,
            file: None,
            written: 0,
            block: if block == 0 { 65536 } else { block },
            rows: 0,
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

    /// Takes a row in.
    pub(crate) fn push(&mut self, row: &[f64], world: &mut World) -> Outcome<()> {
        self.filling.extend_from_slice(row);
        self.rows += 1;
        if self.filling.len() >= self.chunk {
            let chunk = std::mem::replace(&mut self.filling, Vec::with_capacity(self.chunk));
            self.put(chunk, world)?;
        }
        Ok(())
    }

    fn put(&mut self, chunk: Vec<f64>, world: &mut World) -> Outcome<()> {
        if self.file.is_some() {
            self.write(&chunk)?;
        }
        if let Some(kept) = &mut self.kept {
            kept.push(chunk);
            let bytes = (kept.len() + 2) as u64 * (self.chunk * size_of::<f64>()) as u64;
            if bytes > self.limit {
                let kept = self.kept.take().unwrap_or_default();
                if self.file.is_none() {
                    self.create(world)?;
                    for chunk in &kept {
                        self.write(chunk)?;
                    }
                }
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

    /// All rows are in.
    pub(crate) fn complete(&mut self) -> Outcome<()> {
        if self.file.is_some() {
            let last = std::mem::take(&mut self.filling);
            self.write(&last)?;
            self.filling = last;
        }
        Ok(())
    }

    /// All chunks, if they are in memory.
    pub(crate) fn chunks(&self) -> Option<impl Iterator<Item = &[f64]>> {
        let last = Some(self.filling.as_slice()).filter(|rows| !rows.is_empty());
        let kept = self.kept.as_ref()?;
        Some(kept.iter().map(Vec::as_slice).chain(last))
    }

    /// Hands out all rows, a chunk at a time and always the same chunks.
    pub(crate) fn each(&self, mut take: impl FnMut(&[f64])) -> Outcome<()> {
        if let Some(chunks) = self.chunks() {
            chunks.for_each(take);
            return Ok(());
        }
        if let Some((file, path)) = &self.file {
            let full = self.rows / (self.chunk / self.width) as u64;
            let mut bytes = vec![0; self.chunk * size_of::<f64>()];
            let mut chunk = vec![0.0; self.chunk];
            for number in 0..full {
                let start = number * bytes.len() as u64;
                for (index, block) in bytes.chunks_mut(self.block).enumerate() {
                    let place = start + (index * self.block) as u64;
                    let count = file
                        .read_at(place, block)
                        .map_err(|error| failure(&error))?;
                    if count < block.len() {
                        let text = format!("{} is shorter than what was written", path.display());
                        return Err(Failure::world(text));
                    }
                }
                for (value, bytes) in chunk.iter_mut().zip(bytes.chunks_exact(8)) {
                    *value = f64::from_le_bytes(bytes.try_into().unwrap_or_default());
                }
                take(&chunk);
            }
        }
        if !self.filling.is_empty() {
            take(&self.filling);
        }
        Ok(())
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
