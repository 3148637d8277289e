//! libFuzzer's driver of [`fuzz::parse_recipe`].

#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| fuzz::parse_recipe(text));
