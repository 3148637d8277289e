//! Squeezing against what it must come to: files of known blocks, however many threads there are.

use std::collections::HashSet;

use base::random::Stream;
use probe::squeeze::{BLOCK_BYTES, BLOCKS_MAX, Options, Source, Squeezed, squeeze};
use proptest::prelude::*;

const WHOLE: Options = Options {
    threads: 1,
    sample_bytes: None,
    duplicates: true,
    blocks_max: BLOCKS_MAX,
};

fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let stream = Stream::new(seed);
    let words = (0..bytes.div_ceil(8) as u64).flat_map(|index| stream.word(index).to_le_bytes());
    words.take(bytes).collect()
}

fn of(files: &[Vec<u8>], options: &Options) -> Squeezed {
    let sources: Vec<Source<'_>> = files
        .iter()
        .map(|content| Source {
            name: "file".to_owned(),
            bytes: content.len() as u64,
            allocated_bytes: None,
            content,
        })
        .collect();
    squeeze(&sources, options, &|_| {}).unwrap()
}

fn figure(found: &Squeezed, name: &str) -> f64 {
    let mut all = found.measurements().into_iter();
    let found = all.find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no {name}")).value
}

fn is_near(found: f64, expected: f64) {
    assert!(
        (found / expected - 1.0).abs() < 1e-5,
        "{found} is not {expected}"
    );
}

#[test]
fn three_copies_of_noise_are_a_third_and_do_not_compress() {
    let files = vec![noise(1, 3 << 20); 3];
    let found = of(&files, &WHOLE);
    for size in ["8k", "16k", "128k"] {
        is_near(
            figure(&found, &format!("duplicates_{size}_share")),
            2.0 / 3.0,
        );
        let name = format!("reduction_{size}_deflate_stored_ratio");
        is_near(figure(&found, &name), 3.0);
    }
    is_near(figure(&found, "lz4_stored_ratio"), 1.0);
}

/// Zeros are both duplicates and compressible: multiplying the two would count them twice.
#[test]
fn what_is_a_duplicate_is_not_compressed_again() {
    let mut file = noise(1, 4 << 20);
    file.resize(8 << 20, 0);
    let found = of(&[file], &WHOLE);
    // Half of the bytes shrink to an eighth; or all of them but one block of zeros go as duplicates.
    is_near(
        figure(&found, "deflate_stored_ratio"),
        1.0 / (0.5 + 0.5 / 8.0),
    );
    let left = 4.0 * 1024.0 + 128.0 / 8.0;
    is_near(
        figure(&found, "reduction_128k_deflate_stored_ratio"),
        8.0 * 1024.0 / left,
    );
}

#[test]
fn a_sample_says_so_and_reads_no_more_without_duplicates() {
    let files = [noise(1, 64 << 20)];
    let options = Options {
        sample_bytes: Some(4 << 20),
        duplicates: false,
        threads: 2,
        ..WHOLE
    };
    let found = of(&files, &options);
    assert_eq!(found.compressed_bytes, 4 << 20);
    assert!(found.duplicates.is_empty());
    assert!(found.basis().contains("a sample of 4194304 of 67108864"));
    is_near(figure(&found, "deflate_stored_ratio"), 1.0);
}

/// Samples of files of different lengths count by the files' lengths.
#[test]
fn a_small_file_does_not_outweigh_a_large_one() {
    let files = [noise(1, 60 << 20), vec![0; 4 << 20]];
    let options = Options {
        sample_bytes: Some(4 << 20),
        ..WHOLE
    };
    let found = of(&files, &options);
    is_near(
        figure(&found, "deflate_stored_ratio"),
        64.0 / (60.0 + 4.0 / 8.0),
    );
    // One block of zeros of 8 KiB is left of four MiB, and shrinks to an eighth.
    let left = 60.0 * 1024.0 + 8.0 / 8.0;
    is_near(
        figure(&found, "reduction_8k_deflate_stored_ratio"),
        64.0 * 1024.0 / left,
    );
}

#[test]
fn nothing_has_no_ratios() {
    let found = of(&[Vec::new()], &WHOLE);
    let names: Vec<String> = found
        .measurements()
        .into_iter()
        .map(|one| one.name)
        .collect();
    assert_eq!(names, ["bytes", "compressed_bytes"]);
}

#[test]
fn a_file_that_got_shorter_is_an_error() {
    let content = vec![0; 100];
    let source = Source {
        name: "short".to_owned(),
        bytes: 200,
        allocated_bytes: None,
        content: &content,
    };
    let error = squeeze(&[source], &WHOLE, &|_| {}).unwrap_err();
    assert_eq!(error.to_string(), "failed to read short");
}

/// Files of blocks of 8 KiB out of a few, the last one cut.
fn files() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let file = (prop::collection::vec(0u64..12, 0..80), 0usize..9000);
    prop::collection::vec(file, 1..4).prop_map(|files| {
        let make = |(blocks, cut): (Vec<u64>, usize)| {
            let mut file: Vec<u8> = blocks.iter().flat_map(|seed| noise(*seed, 8192)).collect();
            file.truncate(file.len().saturating_sub(cut));
            file
        };
        files.into_iter().map(make).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn different_blocks_are_those_of_a_plain_set(files in files(), threads in 1usize..4) {
        let found = of(&files, &Options { threads, ..WHOLE });
        for (size, duplicates) in BLOCK_BYTES.iter().zip(&found.duplicates) {
            let mut blocks = HashSet::new();
            for file in &files {
                // No block crosses a chunk of 128 KiB, which is a multiple of each size.
                blocks.extend(file.chunks(*size));
            }
            let bytes: usize = blocks.iter().map(|block| block.len()).sum();
            prop_assert!((duplicates.distinct_bytes - bytes as f64).abs() < 0.5);
        }
        prop_assert_eq!(found.measurements(), of(&files, &WHOLE).measurements());
    }
}
