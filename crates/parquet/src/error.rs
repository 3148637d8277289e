//! What can go wrong.

use parquet::errors::ParquetError;

/// A conversion that failed. Messages complete the phrase "failed to …".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The SAS data set could not be read.
    #[error(transparent)]
    DataSet(#[from] sas7bdat::Error),
    /// The Parquet library refused.
    #[error("use the Parquet file: {0}")]
    Parquet(#[source] ParquetError),
    /// The pages are compressed in a way that was not compiled in.
    #[error(
        "decompress the Parquet file ({0}): snappy and uncompressed files can be read; \
         write it again as one of these"
    )]
    Codec(#[source] ParquetError),
    /// A column has a type that SAS has not.
    #[error("convert column {column}: {detail}")]
    Column {
        /// Its name.
        column: String,
        /// What it is and what is possible.
        detail: String,
    },
}

impl Error {
    pub(crate) fn column(column: &str, detail: impl Into<String>) -> Self {
        Self::Column {
            column: column.to_owned(),
            detail: detail.into(),
        }
    }
}

impl From<ParquetError> for Error {
    fn from(error: ParquetError) -> Self {
        // The library has no kind for this.
        if error.to_string().contains("Disabled feature") {
            Self::Codec(error)
        } else {
            Self::Parquet(error)
        }
    }
}
