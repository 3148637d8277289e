//! libFuzzer's driver of [`fuzz::decode_rle`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::decode_rle(bytes));
