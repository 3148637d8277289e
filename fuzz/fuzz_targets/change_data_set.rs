//! libFuzzer's driver of [`fuzz::change_data_set`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::change_data_set(bytes));
