//! `/etc/corosync/corosync.conf`: the nodes of a cluster.

use super::{Found, found, said};
use crate::facts::Key;

/// Reads the file.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let (mut nodes, mut in_list) = (0_usize, false);
    for (number, line) in said(text, &['#']) {
        if line.starts_with("nodelist") {
            in_list = true;
        } else if in_list && line.starts_with("node ") || line == "node{" {
            nodes += 1;
        } else if let Some(name) = line.strip_prefix("cluster_name:") {
            facts.push(found(Key::plain("cluster", "name"), name.trim(), number));
        }
    }
    if nodes > 0 {
        facts.push(found(Key::plain("cluster", "nodes"), nodes, 0));
    }
    facts
}
