//! Limits, each with its reason. Reaching one is a diagnostic, never a panic.

/// Largest page (BUFSIZE) that is read or written, bytes. ReadStat and the `sas7bdat` crate refuse
/// pages above 2^24, and SAS itself is not known to write them.
pub const PAGE_BYTES_MAX: u64 = 1 << 24;

/// Most sort threads; SAS documents CPUCOUNT 1 to 1024.
pub const THREADS_MAX: u32 = 1024;

/// Nested macro references that resolve to each other are cut off here.
pub const MACRO_DEPTH_MAX: u32 = 200;

/// Nested parentheses, operators and DO groups in one step: bounds the parser's stack.
pub const NESTING_MAX: u32 = 200;

/// Words and symbols of one step, once macro variables are replaced: several statements that name
/// each of the 32,767 variables of a data set fit. Each takes some 300 bytes of memory while the
/// step is read, and a few lines of macro references can make any number of them.
pub const STEP_TOKENS_MAX: usize = 1_000_000;

/// Text of one step, bytes, once macro variables are replaced and comments included: far more than
/// anyone writes, and it bounds what a single word or literal can grow to.
pub const STEP_TEXT_BYTES_MAX: usize = 64 << 20;

/// Longest character value, bytes (SAS 9.4).
pub const CHARACTER_BYTES_MAX: u32 = 32_767;

/// Most variables of a data set (SAS 9.4), and so most names in one numbered list: `x1-x99999999`
/// would take the memory of the machine before anybody saw that it cannot be.
pub const VARIABLES_MAX: u32 = 32_767;

/// Largest program data vector, bytes: twice the largest page, since a row that is written must fit
/// on a page and variables that are dropped need room beside it.
pub const PROGRAM_VECTOR_BYTES_MAX: u64 = 2 * PAGE_BYTES_MAX;

/// Longest value of a macro variable, bytes (SAS 9.4).
pub const MACRO_VALUE_BYTES_MAX: usize = 65_534;

/// Names and values of all macro variables together, bytes: a loop that makes variables without end
/// stops before it takes the memory of the machine.
pub const MACRO_VARIABLES_BYTES_MAX: usize = 64 << 20;
