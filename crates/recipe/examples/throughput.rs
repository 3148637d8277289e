//! How fast rows are generated, per CPU second, into memory that is thrown away and into a data set
//! that is thrown away; a plain random fill stands beside it.
//!
//! `cargo run --release -p gristmill-recipe --example throughput [MB]`

#![expect(clippy::print_stdout, reason = "an example talks")]

use base::meter::{Meter, Usage};
use base::random::Stream;
use io::process::ProcessMeter;
use recipe::{Generator, NAMES, named};
use sas7bdat::{Sink, WriteOptions, Writer};

const SLAB_BYTES: usize = 128 * 1024;

struct Nothing;

impl Sink for Nothing {
    fn write_at(&mut self, _: u64, bytes: &[u8]) -> std::io::Result<()> {
        std::hint::black_box(bytes);
        Ok(())
    }
}

/// MB per CPU second (user and system) of a job that moves `bytes` bytes; best of three.
fn measure(meter: &ProcessMeter, name: &str, mut job: impl FnMut() -> u64) {
    let mut best = 0.0f64;
    for _ in 0..3 {
        let before = meter.usage();
        let bytes = job();
        let after = meter.usage();
        let seconds = |usage: &Usage| usage.user.as_secs_f64() + usage.system.as_secs_f64();
        best = best.max(bytes as f64 / 1e6 / (seconds(&after) - seconds(&before)));
    }
    println!("{name:32} {best:8.0} MB per CPU second");
}

fn main() {
    let megabytes: u64 = std::env::args()
        .nth(1)
        .map_or(2000, |text| text.parse().expect("a number of megabytes"));
    let meter = ProcessMeter::start();
    let bytes = megabytes * 1_000_000;
    measure(&meter, "random fill (SplitMix64)", || {
        let mut slab = vec![0u8; SLAB_BYTES];
        let stream = Stream::new(1);
        let mut index = 0;
        while index * 8 < bytes {
            for place in slab.chunks_exact_mut(8) {
                place.copy_from_slice(&stream.word(index).to_le_bytes());
                index += 1;
            }
            std::hint::black_box(&slab);
        }
        index * 8
    });
    for name in NAMES.iter().copied() {
        let generator = Generator::new(&named(name).expect("built in"), 1);
        let row_bytes = generator.layout().row_bytes as usize;
        let rows_per_slab = (SLAB_BYTES / row_bytes) as u64;
        let slabs = bytes / (rows_per_slab * row_bytes as u64);
        let mut slab = vec![0; SLAB_BYTES / row_bytes * row_bytes];
        let total = slabs * slab.len() as u64;
        measure(&meter, &format!("{name}: rows"), || {
            for number in 0..slabs {
                generator.fill(number * rows_per_slab, &mut slab);
                std::hint::black_box(&slab);
            }
            total
        });
        measure(&meter, &format!("{name}: data set"), || {
            let options = WriteOptions {
                page_bytes: 131_072,
                ..WriteOptions::default()
            };
            let mut writer =
                Writer::create(Nothing, generator.variables(), options).expect("valid variables");
            for number in 0..slabs {
                generator.fill(number * rows_per_slab, &mut slab);
                writer.write_slab(&slab).expect("nothing fails");
            }
            writer.finish().expect("nothing fails").1.bytes
        });
    }
}
