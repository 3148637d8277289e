//! libFuzzer's driver of [`fuzz::execute_program`].

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz::execute_program(bytes));
