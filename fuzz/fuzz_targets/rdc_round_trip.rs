//! libFuzzer's driver of [`fuzz::rdc_round_trip`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::rdc_round_trip(bytes));
