//! libFuzzer's driver of [`fuzz::rle_round_trip`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::rle_round_trip(bytes));
