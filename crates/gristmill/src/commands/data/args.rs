//! Arguments of `gristmill data`.

use std::path::PathBuf;

use base::units::parse_size;
use clap::{Args, Subcommand, ValueEnum};
use probe::squeeze::Sampled;
use sas7bdat::Compression;

/// Arguments of `data`.
#[derive(Debug, Args)]
pub struct DataArgs {
    /// What to do.
    #[command(subcommand)]
    pub verb: DataVerb,
}

/// What to do with data sets.
#[derive(Debug, Subcommand)]
pub enum DataVerb {
    /// Generate a data set from a recipe and a seed: the same arguments give the same bytes
    Gen(GenArgs),
    /// Describe data sets: rows, columns, pages, compression
    Ls(LsArgs),
    /// Print the first rows
    Head(HeadArgs),
    /// Read everything and look for damage; with a recipe, compare row by row
    Verify(VerifyArgs),
    /// Convert between SAS7BDAT, CSV and Parquet, told apart by the files' extensions
    Convert(ConvertArgs),
    /// Measure what SAS's COMPRESS= would save on data sets, how far files of any kind compress, and how much
    /// of them is there more than once, as storage that compresses and deduplicates would find it
    Squeeze(SqueezeArgs),
}

/// Arguments of `data squeeze`.
#[derive(Debug, Args)]
pub struct SqueezeArgs {
    /// How much is compressed: a share of all files' bytes such as 5%, about so many bytes of them, or `all`;
    /// chunks are taken by chance, and figures come with their 95 % confidence interval
    #[arg(long, value_name = "SHARE|BYTES|all", value_parser = parse_sample, default_value = "256M")]
    pub sample: SampleArg,
    /// Decides which chunks the sample has
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Memory of the tables of blocks that were seen, at least 1M; when it is used up, blocks are counted by a
    /// sample of their hashes, and figures come with their confidence interval
    #[arg(long, value_name = "BYTES", value_parser = memory, default_value = "512M")]
    pub memory: u64,
    /// Do not find out what COMPRESS= would make of data sets
    #[arg(long)]
    pub no_sas: bool,
    /// Do not look for duplicate blocks: read only what is compressed, and data sets
    #[arg(long)]
    pub no_duplicates: bool,
    /// Compress nothing: find duplicates, at the speed of reading
    #[arg(long)]
    pub no_compression: bool,
    /// Threads; a data set is read by one [default: one per processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Files of any kind, and folders: all files below them
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,
}

/// How much is compressed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampleArg(pub Sampled);

fn parse_sample(text: &str) -> Result<SampleArg, String> {
    super::squeeze::parse_sample(text).map(SampleArg)
}

fn memory(text: &str) -> Result<u64, String> {
    match parse_size(text) {
        Some(bytes) if bytes.0 >= 1 << 20 => Ok(bytes.0),
        _ => Err("needs a size such as 512M, of 1M or more".to_owned()),
    }
}

/// Arguments of `data gen`.
#[derive(Debug, Args)]
pub struct GenArgs {
    /// A built-in recipe, such as bank or sortinput, or a recipe file
    #[arg(long, value_name = "NAME|FILE")]
    pub recipe: String,
    /// Rows
    #[arg(long, value_name = "N", required_unless_present = "size")]
    pub rows: Option<u64>,
    /// As many rows as make this many bytes uncompressed, such as 10M (binary multiples)
    #[arg(long, value_name = "BYTES", value_parser = size, conflicts_with = "rows")]
    pub size: Option<u64>,
    /// Seed of the random values
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    #[command(flatten)]
    pub shape: ShapeArgs,
    /// Throw the data set away: measures the generator
    #[arg(long)]
    pub null: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// The data set to make, NAME.sas7bdat
    #[arg(value_name = "OUT.sas7bdat", required_unless_present = "null")]
    pub out: Option<PathBuf>,
}

/// How a new data set is laid out.
#[derive(Debug, Clone, Copy, Args)]
pub struct ShapeArgs {
    /// How rows are compressed
    #[arg(long, value_enum, default_value_t = CompressArg::No)]
    pub compress: CompressArg,
    /// Bytes of a page
    #[arg(long, value_name = "BYTES", value_parser = page_size, default_value = "128k")]
    pub bufsize: u32,
    /// A header of 8 KiB instead of one as large as a page (NOALIGNSASIOFILES)
    #[arg(long)]
    pub noalign: bool,
    /// Replace a file that is there
    #[arg(long)]
    pub force: bool,
}

/// COMPRESS= of a new data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompressArg {
    /// Rows lie side by side
    No,
    /// Run-length encoding
    Char,
    /// Ross data compression
    Binary,
}

impl From<CompressArg> for Compression {
    fn from(argument: CompressArg) -> Self {
        match argument {
            CompressArg::No => Self::None,
            CompressArg::Char => Self::Char,
            CompressArg::Binary => Self::Binary,
        }
    }
}

/// Arguments of `data ls`.
#[derive(Debug, Args)]
pub struct LsArgs {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Data sets
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

/// Arguments of `data head`.
#[derive(Debug, Args)]
pub struct HeadArgs {
    /// How many rows
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub rows: u64,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// The data set
    pub file: PathBuf,
}

/// Arguments of `data verify`.
#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// Compare with what this recipe makes
    #[arg(long, value_name = "NAME|FILE")]
    pub recipe: Option<String>,
    /// Seed that the data set was made with
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Rows there should be
    #[arg(long, value_name = "N")]
    pub rows: Option<u64>,
    /// Also report what SAS would have laid out otherwise
    #[arg(long)]
    pub strict: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Data sets
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

/// Arguments of `data convert`.
#[derive(Debug, Args)]
pub struct ConvertArgs {
    #[command(flatten)]
    pub shape: ShapeArgs,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
    /// The file to read: .sas7bdat, .csv or .parquet
    pub input: PathBuf,
    /// The file to make: .sas7bdat, .csv or .parquet
    pub output: PathBuf,
}

fn size(text: &str) -> Result<u64, String> {
    match parse_size(text) {
        Some(bytes) if bytes.0 > 0 => Ok(bytes.0),
        _ => Err("needs a size such as 10M, 1.5g or 1048576".to_owned()),
    }
}

/// What the format and its readers allow.
fn page_size(text: &str) -> Result<u32, String> {
    parse_size(text)
        .and_then(|bytes| u32::try_from(bytes.0).ok())
        .filter(|bytes| bytes.is_multiple_of(1024) && (1024..1 << 24).contains(bytes))
        .ok_or_else(|| "needs a multiple of 1k below 16M, such as 64k or 131072".to_owned())
}
