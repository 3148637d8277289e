//! The table of what SAS spends, by kind of step: a TOML file, described in `docs/reference/pace.md`.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The kind that stands for every step without an entry of its own.
const OTHER: &str = "OTHER";

/// The table that Gristmill brings along.
const BUILT_IN: &str = include_str!("table.toml");

/// What steps of one kind cost, in seconds of CPU time.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Cost {
    /// For each step, whatever it reads.
    pub s_per_step: f64,
    /// For each MB (10^6 bytes) of rows read or written, uncompressed.
    pub s_per_mb: f64,
    /// For each million rows read or written.
    pub s_per_million_rows: f64,
    /// SAS runs it on up to CPUCOUNT threads.
    pub threads: bool,
}

impl Cost {
    /// The cost of a step that moves so much.
    pub fn of(&self, bytes: f64, rows: f64) -> f64 {
        (self.s_per_mb * bytes + self.s_per_million_rows * rows) / 1e6
    }
}

/// A table, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What it is made from.
    pub title: String,
    /// When it was made.
    pub date: String,
    kinds: BTreeMap<String, Cost>,
    measured: Vec<Measured>,
}

/// A step of a log that the figures are made from.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Measured {
    kind: String,
    source: String,
    million_rows: f64,
    mb: f64,
    cpu_s: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    title: String,
    date: String,
    #[serde(default, rename = "note")]
    _note: Option<String>,
    #[serde(default)]
    source: BTreeMap<String, Source>,
    kind: BTreeMap<String, Entry>,
    #[serde(default)]
    measured: Vec<Measured>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    #[serde(rename = "text")]
    _text: String,
    #[serde(default, rename = "date")]
    _date: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    like: Option<String>,
    s_per_step: Option<f64>,
    s_per_mb: Option<f64>,
    s_per_million_rows: Option<f64>,
    threads: Option<bool>,
    spread: Option<[f64; 2]>,
    basis: String,
    #[serde(default)]
    sources: Vec<String>,
}

impl Table {
    /// The table that Gristmill brings along.
    pub fn built_in() -> Self {
        Self::read(BUILT_IN).expect("a test reads it")
    }

    /// Reads a table. Errors say what is wrong and where.
    pub fn read(text: &str) -> Result<Self, String> {
        let text: Text = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut kinds = BTreeMap::new();
        for (name, entry) in &text.kind {
            let cost = resolve(name, entry, &text)?;
            if kinds.insert(name.to_ascii_uppercase(), cost).is_some() {
                return Err(format!("kind {name} is there twice"));
            }
        }
        if !kinds.contains_key(OTHER) {
            return Err(format!(
                "there is no kind {OTHER}, which stands for all that have no entry"
            ));
        }
        for one in &text.measured {
            let known = |there: bool, what: &str, name: &str| {
                if there {
                    Ok(())
                } else {
                    Err(format!("measured: there is no {what} {name}"))
                }
            };
            known(text.kind.contains_key(&one.kind), "kind", &one.kind)?;
            known(text.source.contains_key(&one.source), "source", &one.source)?;
            for value in [one.million_rows, one.mb, one.cpu_s] {
                amount("measured", "a figure", value)?;
            }
        }
        Ok(Self {
            title: text.title,
            date: text.date,
            kinds,
            measured: text.measured,
        })
    }

    /// The kind that steps of this name (`DATA`, or a procedure's in upper case) are taken for, and what
    /// they cost.
    pub fn kind(&self, step: &str) -> (&str, Cost) {
        let found = self.kinds.get_key_value(step);
        found
            .or_else(|| self.kinds.get_key_value(OTHER))
            .map_or((OTHER, Cost::default()), |(name, cost)| {
                (name.as_str(), *cost)
            })
    }
}

fn amount(place: &str, key: &str, value: f64) -> Result<f64, String> {
    if value.is_finite() && value >= 0.0 {
        return Ok(value);
    }
    Err(format!("{place}: {key} must be a number from 0 on"))
}

/// The cost of an entry, that of the kind it is like filled in.
fn resolve(name: &str, entry: &Entry, text: &Text) -> Result<Cost, String> {
    let place = format!("kind {name}");
    let base = match &entry.like {
        None => None,
        Some(other) => match text.kind.get(other) {
            None => return Err(format!("{place}: there is no kind {other} to be like")),
            Some(base) if base.like.is_some() => {
                return Err(format!(
                    "{place}: {other} has no figures of its own; name the kind that it is like"
                ));
            }
            Some(base) => Some(base),
        },
    };
    if entry.basis.trim().is_empty() {
        return Err(format!("{place}: basis says nothing"));
    }
    if let Some(source) = entry
        .sources
        .iter()
        .find(|one| !text.source.contains_key(*one))
    {
        return Err(format!("{place}: there is no source {source}"));
    }
    if let Some([low, high]) = entry.spread {
        amount(&place, "spread", low)?;
        amount(&place, "spread", high)?;
        if low > high {
            return Err(format!("{place}: spread is from the smaller to the larger"));
        }
    }
    let figure = |key: &str, get: fn(&Entry) -> Option<f64>| {
        let value = get(entry).or_else(|| base.and_then(get)).unwrap_or(0.0);
        amount(&place, key, value)
    };
    if entry.s_per_mb.is_none() && base.is_none() {
        return Err(format!("{place}: s_per_mb is missing, or like = \"KIND\""));
    }
    Ok(Cost {
        s_per_step: figure("s_per_step", |one| one.s_per_step)?,
        s_per_mb: figure("s_per_mb", |one| one.s_per_mb)?,
        s_per_million_rows: figure("s_per_million_rows", |one| one.s_per_million_rows)?,
        threads: entry
            .threads
            .or_else(|| base.and_then(|one| one.threads))
            .unwrap_or(false),
    })
}

#[cfg(test)]
mod tests;
