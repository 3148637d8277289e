//! The built-in recipes compress as the published data sets do: with SAS's COMPRESS=BINARY, and
//! with a general-purpose compressor as storage systems have them.

#![expect(clippy::print_stdout, reason = "the figures are worth seeing")]

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use recipe::{Generator, named};
use sas7bdat::rdc;

/// Bytes that a compressed row takes beside its content: its pointer.
const POINTER_BYTES: usize = 24;
const SAMPLE_BYTES: usize = 2_000_000;

/// Size with COMPRESS=BINARY and size after zlib level 6, both divided by the plain size.
fn ratios(name: &str) -> (f64, f64) {
    let generator = Generator::new(&named(name).unwrap(), 1);
    let row_bytes = generator.layout().row_bytes as usize;
    let mut rows = vec![0; SAMPLE_BYTES / row_bytes * row_bytes];
    generator.fill(0, &mut rows);
    let mut encoder = rdc::Encoder::new();
    let stored: usize = rows
        .chunks_exact(row_bytes)
        .map(|row| encoder.encode(row).map_or(row.len(), <[u8]>::len) + POINTER_BYTES)
        .sum();
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::new(6));
    zlib.write_all(&rows).unwrap();
    let deflated = zlib.finish().unwrap().len();
    let plain = rows.len() as f64;
    (stored as f64 / plain, deflated as f64 / plain)
}

fn check(name: &str, published_binary: f64, published_zlib: f64) {
    let (binary, zlib) = ratios(name);
    println!("{name}: binary {binary:.3} ({published_binary}), zlib {zlib:.4} ({published_zlib})");
    for (measured, published) in [(binary, published_binary), (zlib, published_zlib)] {
        let off = (measured / published - 1.0).abs();
        assert!(off < 0.15, "{name}: {measured:.4}, published {published}");
    }
}

#[test]
fn bank_compresses_as_published() {
    check("bank", 0.308, 0.039);
}

#[test]
fn multiuser_compresses_as_published() {
    check("multiuser", 0.773, 0.636);
}

#[test]
fn large_sorts_hardly_compress() {
    let (binary, zlib) = ratios("large-sorts");
    println!("large-sorts: binary {binary:.3}, zlib {zlib:.4}");
    assert!(binary > 1.0);
    assert!((0.75..0.9).contains(&zlib), "{zlib}");
}
