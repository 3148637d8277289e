//! What is known of the staged files of a run.

use serde::{Deserialize, Serialize};

/// Staged files that stand for the same data as others: those of further streams and batches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiesRecord {
    /// `identical`: the same bytes, written once more. `distinct`: of seeds of their own.
    pub kind: String,
    /// How many there are beside the first ones.
    pub files: u64,
    /// Bytes of their rows.
    pub bytes: u64,
    /// Files in all.
    pub of_files: u64,
}

/// Sizes of one staged file; what was not looked at is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FileSize {
    /// Name of the data set.
    pub name: String,
    /// Bytes without SAS compression, apparent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plain_bytes: Option<u64>,
    /// Bytes with COMPRESS=BINARY, apparent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub binary_bytes: Option<u64>,
    /// Bytes that the file system allocated, of the file that was staged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocated_bytes: Option<u64>,
    /// Bytes of the compressed file after compression by hardware, as estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hardware_bytes: Option<u64>,
}
