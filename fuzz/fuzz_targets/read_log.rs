//! libFuzzer's driver of [`fuzz::read_log`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::read_log(bytes));
