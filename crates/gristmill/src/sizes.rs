//! Values of command-line flags.

use std::path::PathBuf;
use std::time::Duration;

use crate::cli::Pace;

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

/// `SOURCE=FILE` of `--also`.
pub fn named_file(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.to_owned()))
        }
        _ => Err("needs a source and a file, as in SOURCE=FILE".to_owned()),
    }
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

/// `--pace`: none, sas, or a factor.
pub fn pace(text: &str) -> Result<Pace, String> {
    let factor = match text {
        "none" => None,
        "sas" => Some(1.0),
        factor => {
            let factor: Option<f64> = factor.parse().ok();
            let usable = factor.filter(|factor| factor.is_finite() && *factor > 0.0);
            Some(usable.ok_or("needs none, sas, or a factor above 0, such as 0.5")?)
        }
    };
    Ok(Pace {
        asked: text.to_owned(),
        factor,
    })
}

/// `NAME=N` of `--parameter`.
pub fn parameter(text: &str) -> Result<(String, u64), String> {
    let parts = text.split_once('=');
    parts
        .and_then(|(name, value)| Some((name.to_owned(), value.parse().ok()?)))
        .ok_or_else(|| "needs a name and a whole number, as in models=16".to_owned())
}

/// `FACTOR=LEVEL,…` of `--only`.
pub fn levels(text: &str) -> Result<(String, Vec<String>), String> {
    let parts = text
        .split_once('=')
        .filter(|(name, levels)| !name.is_empty() && !levels.is_empty());
    let (name, levels) = parts.ok_or("needs a factor and levels, as in thp=never,always")?;
    let levels = levels.split(',').map(|level| level.trim().to_owned());
    Ok((name.to_owned(), levels.collect()))
}

/// `VOLUME=DEVICE` of `--device`.
pub fn device(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, device)) if !name.is_empty() && device.starts_with('/') => {
            Ok((name.to_owned(), device.to_owned()))
        }
        _ => Err(
            "needs a volume of the plan and the full path of a device, as in data=/dev/sdb"
                .to_owned(),
        ),
    }
}

/// `NAME=VALUE` of `--label`.
pub fn label(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() && !value.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("needs a name and a value, as in array=f810".to_owned()),
    }
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

/// `--verify`.
pub fn verify(text: &str) -> Result<bench::plan::Verify, String> {
    use bench::plan::Verify;
    let known = [Verify::Full, Verify::Sample, Verify::Off];
    let found = known
        .into_iter()
        .find(|one| text.eq_ignore_ascii_case(one.name()));
    found.ok_or_else(|| "needs full, sample or off".to_owned())
}

/// `--copies`.
pub fn copies(text: &str) -> Result<bench::suite::text::Copies, String> {
    use bench::suite::text::Copies;
    let known = [Copies::Identical, Copies::Distinct];
    let found = known
        .into_iter()
        .find(|one| text.eq_ignore_ascii_case(one.name()));
    found.ok_or_else(|| "needs identical or distinct".to_owned())
}

/// A time: `90`, `90s`, `30m`, `2h`, `1d`.
pub fn duration(text: &str) -> Result<Duration, String> {
    let explain = || "needs a time above 0 with its unit, such as 90s, 30m, 2h or 1d".to_owned();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[number.len()..] {
        "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        "d" => 86_400.0,
        _ => return Err(explain()),
    };
    let seconds: f64 = number.parse().map_err(|_| explain())?;
    let duration = Duration::try_from_secs_f64(seconds * unit).map_err(|_| explain())?;
    if duration.is_zero() {
        return Err(explain());
    }
    Ok(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let seconds = |text| duration(text).map(|time| time.as_secs_f64());
        assert_eq!(seconds("90s"), Ok(90.0));
        assert_eq!(seconds("1.5m"), Ok(90.0));
        assert_eq!(seconds("2h"), Ok(7200.0));
        assert_eq!(seconds("1d"), Ok(86_400.0));
        for wrong in [
            "", "0", "8", "0s", "-1s", "2 h", "inf", "nan", "3w", "h", "1e30d",
        ] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}

/// Values of an option to compare.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compared {
    /// The option, in capitals.
    pub name: String,
    /// Its values, two and more.
    pub values: Vec<String>,
}

/// `NAME=A,B` of `--compare-option`.
pub fn compared(text: &str) -> Result<Compared, String> {
    let (name, values) = text.split_once('=').unwrap_or((text, ""));
    let values: Vec<String> = values
        .split(',')
        .map(|value| value.trim().to_owned())
        .collect();
    let is_there_twice = |value: &String| values.iter().filter(|other| other == &value).count() > 1;
    if name.is_empty()
        || values.len() < 2
        || values
            .iter()
            .any(|value| value.is_empty() || is_there_twice(value))
    {
        return Err(
            "needs an option and two or more different values, as in FILELOCKS=FAIL,NONE"
                .to_owned(),
        );
    }
    Ok(Compared {
        name: name.to_ascii_uppercase(),
        values,
    })
}
