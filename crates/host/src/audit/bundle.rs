//! Bundles: what a kind of node is for, and which rules decide there.

use serde::Deserialize;

/// A bundle, as its file says it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    /// `--role NAME`.
    pub name: String,
    /// What it is for.
    pub title: String,
    /// Roles of the host.
    pub host: Vec<String>,
    /// Rules that decide over others on the same setting.
    #[serde(default)]
    pub prefers: Vec<String>,
}
