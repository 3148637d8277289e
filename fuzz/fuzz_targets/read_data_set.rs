//! libFuzzer's driver of [`fuzz::read_data_set`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::read_data_set(bytes));
