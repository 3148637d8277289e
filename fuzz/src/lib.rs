//! Fuzz targets: functions that take any bytes or text and must come back, whatever they are given.
//!
//! A target fails by a panic (its own assertions are about what has to hold for every input), by
//! taking much memory or by taking long; the drivers watch the last two. There are two drivers:
//! libFuzzer (`fuzz_targets/`, one line each) and `smoke`, which needs the stable compiler only.
//!
//! Invariant: a target is a function of its input alone.
//!
//! Start reading at [`TARGETS`].

#![forbid(unsafe_code)]

mod mutate;
mod random;
mod seeds;
mod targets;

pub use mutate::{Mutator, Words};
pub use random::Random;
pub use seeds::Seeds;
pub use targets::codec::{decode_rdc, decode_rle, rdc_round_trip, rle_round_trip};
pub use targets::data_set::read_data_set;
pub use targets::index::{change_data_set, read_index};
pub use targets::log::read_log;
pub use targets::program::execute_program;
pub use targets::text::{parse_program, parse_recipe};

/// A target and how inputs for it are made.
pub struct Target {
    /// Its name, which is the function's.
    pub name: &'static str,
    /// Runs it on an input. Texts that are not UTF-8 are repaired.
    pub run: fn(&[u8]),
    /// The inputs that are changed to make others.
    pub seeds: fn(&Seeds) -> Vec<Vec<u8>>,
    /// Pieces put into inputs.
    pub words: Words,
    /// Longest input, bytes.
    pub longest: usize,
}

/// Every target.
pub const TARGETS: [Target; 11] = [
    Target {
        name: "read_data_set",
        run: read_data_set,
        seeds: Seeds::data_sets,
        words: Words::None,
        longest: 128 * 1024,
    },
    Target {
        name: "change_data_set",
        run: change_data_set,
        seeds: Seeds::data_sets,
        words: Words::None,
        longest: 128 * 1024,
    },
    Target {
        name: "read_index",
        run: read_index,
        seeds: Seeds::indexes,
        words: Words::None,
        longest: 64 * 1024,
    },
    Target {
        name: "execute_program",
        run: execute_program,
        seeds: Seeds::choices,
        words: Words::None,
        longest: 400,
    },
    Target {
        name: "decode_rle",
        run: decode_rle,
        seeds: Seeds::rle_rows,
        words: Words::None,
        longest: 16 * 1024,
    },
    Target {
        name: "decode_rdc",
        run: decode_rdc,
        seeds: Seeds::rdc_rows,
        words: Words::None,
        longest: 16 * 1024,
    },
    Target {
        name: "rle_round_trip",
        run: rle_round_trip,
        seeds: Seeds::rows,
        words: Words::None,
        longest: 40 * 1024,
    },
    Target {
        name: "rdc_round_trip",
        run: rdc_round_trip,
        seeds: Seeds::rows,
        words: Words::None,
        longest: 40 * 1024,
    },
    Target {
        name: "parse_program",
        run: |bytes| parse_program(&String::from_utf8_lossy(bytes)),
        seeds: Seeds::programs,
        words: Words::Program,
        longest: 32 * 1024,
    },
    Target {
        name: "parse_recipe",
        run: |bytes| parse_recipe(&String::from_utf8_lossy(bytes)),
        seeds: Seeds::recipes,
        words: Words::Recipe,
        longest: 32 * 1024,
    },
    Target {
        name: "read_log",
        run: read_log,
        seeds: Seeds::logs,
        words: Words::None,
        longest: 32 * 1024,
    },
];
