//! The rules, documents and bundles that are built in.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::bundle::Bundle;
use super::rule::Rule;

mod built_in {
    include!(concat!(env!("OUT_DIR"), "/catalogue.rs"));
}

/// What kind of document a rule comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// One of the four papers.
    Seed,
    /// This project.
    Derived,
    /// Who makes an operating system or a driver.
    Distribution,
    /// Who makes storage or a cloud, or SAS.
    Vendor,
}

/// A document.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// Title.
    pub title: String,
    /// Year.
    pub year: u32,
    /// Kind.
    pub kind: Kind,
    /// Where it is.
    #[serde(default)]
    pub url: Option<String>,
}

/// A file of the catalogue that cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("failed to read rules/{file}.toml")]
pub struct Error {
    file: String,
    source: toml::de::Error,
}

/// Everything that the audit judges by.
#[derive(Debug, Clone, Default)]
pub struct Catalogue {
    /// By their numbers.
    pub rules: BTreeMap<String, Rule>,
    /// By their short names.
    pub documents: BTreeMap<String, Document>,
    /// By their names.
    pub bundles: BTreeMap<String, Bundle>,
}

impl Catalogue {
    /// The rules that are built in.
    pub fn built_in() -> Result<Self, Error> {
        let failed = |file: &str| {
            let file = file.to_owned();
            |source| Error { file, source }
        };
        let mut catalogue = Self {
            documents: toml::from_str(include_str!("../../../../rules/documents.toml"))
                .map_err(failed("documents"))?,
            ..Self::default()
        };
        for (file, text) in built_in::RULES {
            let rule: Rule = toml::from_str(text).map_err(failed(file))?;
            catalogue.rules.insert(rule.id.clone(), rule);
        }
        for (file, text) in built_in::BUNDLES {
            let bundle: Bundle = toml::from_str(text).map_err(failed(file))?;
            catalogue.bundles.insert(bundle.name.clone(), bundle);
        }
        Ok(catalogue)
    }
}

/// Names of the files of the built-in rules, to be compared with what they hold.
pub fn file_names() -> impl Iterator<Item = &'static str> {
    built_in::RULES.iter().map(|(name, _)| *name)
}
