//! `/proc/meminfo`, in bytes.

use super::{Found, found, lines};
use crate::facts::Key;

const NAMES: [(&str, &str); 9] = [
    ("MemTotal", "total_bytes"),
    ("MemAvailable", "available_bytes"),
    ("SwapTotal", "swap_total_bytes"),
    ("SwapFree", "swap_free_bytes"),
    ("AnonHugePages", "anonymous_huge_bytes"),
    ("HugePages_Total", "huge_pages"),
    ("Hugepagesize", "huge_page_bytes"),
    ("Hugetlb", "huge_bytes"),
    ("Dirty", "dirty_bytes"),
];

/// Reads the lines that matter here.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    for (number, line) in lines(text) {
        let Some((name, value)) = line.split_once(':') else {
            continue;
        };
        let mut fields = value.split_ascii_whitespace();
        let amount = fields.next().and_then(|field| field.parse::<i64>().ok());
        let factor = if fields.next() == Some("kB") { 1024 } else { 1 };
        let ours = NAMES.iter().find(|(theirs, _)| *theirs == name.trim());
        if let (Some((_, name)), Some(amount)) = (ours, amount) {
            let bytes = amount.saturating_mul(factor);
            facts.push(found(Key::plain("memory", name), bytes, number));
        }
    }
    facts
}
