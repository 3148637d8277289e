//! Squeezing against what it must come to: files of known blocks, however many threads there are.

use std::collections::HashSet;

use base::random::Stream;
use probe::squeeze::{
    BLOCK_BYTES, Effort, LEAST_MEMORY, Options, Sampled, Source, Squeezed, squeeze,
};
use proptest::prelude::*;

/// All bytes, chunks of 128 KiB alone: the rest is slow without optimisation.
const WHOLE: Options = Options {
    effort: Effort::Array,
    ..Options::WHOLE
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
            is_data_set: false,
            content,
        })
        .collect();
    squeeze(&sources, options, &|_| {})
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
    for size in ["4k", "8k", "128k"] {
        is_near(
            figure(&found, &format!("duplicates_{size}_share")),
            2.0 / 3.0,
        );
        let name = format!("reduction_{size}_deflate_stored_ratio");
        is_near(figure(&found, &name), 3.0);
    }
    is_near(figure(&found, "scanned_8k_blocks"), 3.0 * 384.0);
    is_near(figure(&found, "deduped_8k_blocks"), 2.0 * 384.0);
    is_near(figure(&found, "deflate_stored_ratio"), 1.0);
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
        sampled: Sampled::Bytes(4 << 20),
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

/// Half of 10 MiB is noise, half zeros: in almost all of many samples the interval holds the share that stays, and
/// the figure of all of it has none.
#[test]
fn sampled_and_whole_agree_within_the_interval() {
    let files = vec![noise(1, 5 << 20), vec![0; 5 << 20]];
    let truth = 0.5 + 0.5 / 8.0;
    let mut held = 0;
    for seed in 0..40 {
        let options = Options {
            sampled: Sampled::Share(0.2),
            duplicates: false,
            seed,
            ..WHOLE
        };
        let found = of(&files, &options).share("deflate_stored_ratio").unwrap();
        assert!(found.high - found.low > 0.1);
        held += u32::from((found.low..=found.high).contains(&truth));
    }
    assert!(held >= 35, "{held} of 40");
    let whole = of(&files, &WHOLE).share("deflate_stored_ratio").unwrap();
    assert!(whole.is_exact());
    is_near(whole.value, truth);
}

const SETS: u64 = 30;

/// Little memory: different blocks are counted by a sample of their hashes; its interval holds the number that much
/// memory counts, in nearly 95 of 100 data sets.
#[test]
fn little_memory_and_much_agree_within_the_interval() {
    let (mut held, mut wide) = (0, 0);
    for set in 0..SETS {
        // 24 MiB of blocks of 4 KiB out of 1,000 to 6,000, told apart by their first words.
        let stream = Stream::new(set);
        let different = 1000 + set * 5000 / SETS;
        let mut file = vec![0u8; 24 << 20];
        for (at, block) in file.chunks_mut(4096).enumerate() {
            let word = stream.word(at as u64) % different;
            block[..8].copy_from_slice(&stream.word(word + (1 << 32)).to_le_bytes());
        }
        let options = |memory_bytes| Options {
            effort: Effort::Nothing,
            memory_bytes,
            ..WHOLE
        };
        let files = [file];
        let exact = of(&files, &options(64 << 20)).duplicates[0].share();
        assert!(exact.is_exact());
        let found = of(&files, &options(LEAST_MEMORY)).duplicates[0];
        wide += u32::from(found.distinct.one_in > 1);
        let share = found.share();
        held += u32::from((share.low..=share.high).contains(&exact.value));
    }
    assert!(held >= 26, "{held} of {SETS}");
    assert!(wide >= 20, "{wide} of {SETS} were sampled");
}

/// Samples of files of different lengths count by the files' lengths.
#[test]
fn a_small_file_does_not_outweigh_a_large_one() {
    let files = [noise(1, 12 << 20), vec![0; 4 << 20]];
    let found = of(&files, &WHOLE);
    is_near(
        figure(&found, "deflate_stored_ratio"),
        16.0 / (12.0 + 4.0 / 8.0),
    );
    // One block of zeros of 8 KiB is left of four MiB, and shrinks to an eighth.
    let left = 12.0 * 1024.0 + 8.0 / 8.0;
    is_near(
        figure(&found, "reduction_8k_deflate_stored_ratio"),
        16.0 * 1024.0 / left,
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

/// It is read as far as it goes, the others whole.
#[test]
fn a_file_that_got_shorter_is_told_and_stops_nothing() {
    let short = vec![0; 3 << 20];
    let source = |bytes| Source {
        name: "file".to_owned(),
        bytes,
        allocated_bytes: None,
        is_data_set: false,
        content: &short,
    };
    let found = squeeze(&[source((3 << 20) + 1), source(3 << 20)], &WHOLE, &|_| {});
    let why = found.files[0].error.as_deref();
    assert_eq!(why, Some("it became shorter while it was read"));
    assert_eq!(
        (found.files[0].bytes, found.files[1].bytes),
        (3 << 20, 3 << 20)
    );
    assert_eq!(found.files[1].error, None);
    assert_eq!(found.bytes, 6 << 20);
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
            prop_assert!((duplicates.distinct.bytes.value - bytes as f64).abs() < 0.5);
        }
        prop_assert_eq!(found.measurements(), of(&files, &WHOLE).measurements());
    }
}
