//! What became of the permanent files of a job: a line of `written.jsonl` each, from which verification
//! knows what must be read back.

use serde::{Deserialize, Serialize};

/// Something that happened to a permanent file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChange {
    /// When, nanoseconds since the Unix epoch: several jobs may change the same file one after another.
    pub unix_ns: u64,
    /// Which, its whole path.
    pub file: String,
    /// What happened.
    #[serde(flatten)]
    pub kind: ChangeKind,
}

/// What happened to a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum ChangeKind {
    /// It was made, or emptied.
    Created,
    /// Blocks were written, in this order; each replaces what was in its place.
    Written {
        /// Which.
        blocks: Vec<BlockRun>,
    },
    /// It ends here now.
    Truncated {
        /// Its length, bytes.
        bytes: u64,
    },
    /// It has another name now, and replaces what had it.
    Renamed {
        /// The whole path.
        to: String,
    },
    /// It is gone.
    Removed,
}

/// Blocks of the same length that lie behind each other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockRun {
    /// Where the first begins, bytes.
    pub offset: u64,
    /// Length of each, bytes.
    pub block_bytes: u32,
    /// XXH3-64 of each, 16 hexadecimal digits after another.
    pub hashes: String,
}

impl BlockRun {
    /// Puts blocks, each with offset, length and hash, together.
    pub fn gather(blocks: impl IntoIterator<Item = (u64, u32, u64)>) -> Vec<Self> {
        let mut runs: Vec<Self> = Vec::new();
        let mut end = 0;
        for (offset, block_bytes, hash) in blocks {
            let hash = format!("{hash:016x}");
            let continues = |run: &&mut Self| offset == end && block_bytes == run.block_bytes;
            match runs.last_mut().filter(continues) {
                Some(run) => run.hashes.push_str(&hash),
                None => runs.push(Self {
                    offset,
                    block_bytes,
                    hashes: hash,
                }),
            }
            end = offset + u64::from(block_bytes);
        }
        runs
    }

    /// The blocks, each with offset, length and hash; `None` for one whose hash cannot be read.
    pub fn blocks(&self) -> impl Iterator<Item = Option<(u64, u32, u64)>> + '_ {
        let hashes = self.hashes.as_bytes().chunks(16);
        hashes.enumerate().map(|(number, digits)| {
            let hash = u64::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
            let before = number as u64 * u64::from(self.block_bytes);
            Some((self.offset + before, self.block_bytes, hash))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_come_back_as_they_were() {
        let blocks = [
            (0, 100, 1),
            (100, 50, u64::MAX),
            (150, 50, 3),
            (0, 100, 4),
            (300, 100, 5),
        ];
        let runs = BlockRun::gather(blocks);
        assert_eq!(runs.len(), 4);
        let back: Option<Vec<_>> = runs.iter().flat_map(BlockRun::blocks).collect();
        assert_eq!(back.unwrap(), blocks);
    }

    #[test]
    fn lines_keep_their_keys() {
        let change = FileChange {
            unix_ns: 7,
            file: "/out/a.sas7bdat".into(),
            kind: ChangeKind::Written {
                blocks: BlockRun::gather([(0, 4096, 0xab)]),
            },
        };
        let line = concat!(
            r#"{"unix_ns":7,"file":"/out/a.sas7bdat","change":"written","#,
            r#""blocks":[{"offset":0,"block_bytes":4096,"hashes":"00000000000000ab"}]}"#
        );
        assert_eq!(serde_json::to_string(&change).unwrap(), line);
        assert_eq!(serde_json::from_str::<FileChange>(line).unwrap(), change);
    }
}
