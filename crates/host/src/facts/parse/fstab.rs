//! `/etc/fstab`: what is mounted at boot.

use super::{Found, mount_facts, said};
use crate::fields::unescaped;
use crate::file_systems::listed;

/// Reads the table. Without options a line means `defaults`.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in said(text, &['#']) {
        let mut fields = line.split_ascii_whitespace();
        let (Some(source), Some(point), Some(fstype)) =
            (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        if fstype == "swap" {
            continue;
        }
        let options = listed(fields.next().unwrap_or("defaults"));
        let (source, point) = (unescaped(source), unescaped(point));
        facts.extend(mount_facts(&point, fstype, &source, options, number));
    }
    facts
}
