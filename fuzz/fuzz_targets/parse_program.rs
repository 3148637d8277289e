//! libFuzzer's driver of [`fuzz::parse_program`].

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzz::parse_program(text));
