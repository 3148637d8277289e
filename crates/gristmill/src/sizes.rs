//! Values of command-line flags.

use std::path::PathBuf;

/// `NAME=VALUE` of `--option` and `--set`; a bare `NAME` has no value.
pub fn name_value(text: &str) -> Result<(String, Option<String>), String> {
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name, Some(value.to_owned())),
        None => (text, None),
    };
    if name.is_empty() {
        return Err("needs a name, as in NAME=VALUE".to_owned());
    }
    Ok((name.to_owned(), value))
}

/// `LIBREF=DIRECTORY` of `--libname`.
pub fn libname(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((libref, directory)) if !libref.is_empty() && !directory.is_empty() => {
            Ok((libref.to_owned(), directory.into()))
        }
        _ => Err("needs a libref and a directory, as in in=/data".to_owned()),
    }
}

/// `--scale`: a number, or auto.
pub fn scale(text: &str) -> Result<bench::plan::Scale, String> {
    if text.eq_ignore_ascii_case("auto") {
        return Ok(bench::plan::Scale::Auto);
    }
    text.parse()
        .map(bench::plan::Scale::Factor)
        .map_err(|_| "needs a number, such as 0.1, or auto".to_owned())
}

/// `NAME=N` of `--parameter`.
pub fn parameter(text: &str) -> Result<(String, u64), String> {
    let parts = text.split_once('=');
    parts
        .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
        .ok_or_else(|| "needs a name and a whole number, as in models=16".to_owned())
}

/// `NAME=FILE|CMD` of `--observe`.
pub fn series(text: &str) -> Result<bench::sampler::observe::Series, String> {
    match text.split_once('=') {
        Some((name, source)) if !name.is_empty() && !source.trim().is_empty() => {
            Ok(bench::sampler::observe::Series {
                name: name.to_owned(),
                source: source.to_owned(),
            })
        }
        _ => Err("needs a name and a file or a command, as in isi=/var/log/isi.csv".to_owned()),
    }
}
