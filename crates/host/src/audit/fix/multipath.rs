//! A file for /etc/multipath/conf.d: a section for each device, with no setting but those that rules name. Of
//! sections for the same vendor and product the settings that come later stand, all others stay as they are.
//! Source: multipath.conf(5).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::kept::kept;
use super::said_of;
use crate::audit::Finding;

/// Where settings of multipath go.
pub(super) const PATH: &str = "etc/multipath/conf.d/gristmill.conf";

/// Settings that a rule wants of a device.
pub(super) struct Wanted {
    vendor: String,
    product: Option<String>,
    said: String,
    text: String,
    advice: bool,
}

impl Wanted {
    /// Those of a finding on a section of devices.
    pub(super) fn of(finding: &Finding, text: &str, advice: bool) -> Option<Self> {
        let device = finding.subject.as_ref()?.strip_prefix("device ")?;
        let (vendor, product) = match device.split_once('/') {
            Some((vendor, product)) => (vendor, Some(product.to_owned())),
            None => (device, None),
        };
        Some(Self {
            vendor: vendor.to_owned(),
            product,
            said: said_of(&format!("{}: {}", finding.id, finding.title), advice),
            text: text.trim().to_owned(),
            advice,
        })
    }

    /// What stands in the section.
    fn lines(&self) -> String {
        let mut text = format!("# {}\n", self.said);
        for line in self.text.lines() {
            let _ = writeln!(text, "{}{line}", if self.advice { "#" } else { "" });
        }
        text
    }
}

/// The file's text, with what the installed one says already; `None` if nothing is wanted.
pub(super) fn file(wanted: &[Wanted], installed: &str) -> Option<String> {
    if wanted.is_empty() {
        return None;
    }
    let mut devices: BTreeMap<(&str, Option<&str>), Vec<&Wanted>> = BTreeMap::new();
    let old = sections(installed);
    for (vendor, product) in old.keys() {
        let device = (vendor.as_str(), product.as_deref());
        devices.insert(device, Vec::new());
    }
    for one in wanted {
        let device = (one.vendor.as_str(), one.product.as_deref());
        devices.entry(device).or_default().push(one);
    }
    let mut text = String::from("devices {\n");
    for ((vendor, product), settings) in &devices {
        let _ = writeln!(text, "  device {{\n    vendor \"{vendor}\"");
        if let Some(product) = product {
            let _ = writeln!(text, "    product \"{product}\"");
        }
        let new: String = settings.iter().map(|one| one.lines()).collect();
        let device = ((*vendor).to_owned(), product.map(str::to_owned));
        if let Some(old) = old.get(&device) {
            for line in kept(old, &new).lines() {
                let _ = writeln!(text, "    {line}");
            }
        }
        for line in new.lines() {
            let _ = writeln!(text, "    {line}");
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    Some(text)
}

/// The lines of the sections of our file, by vendor and product.
fn sections(installed: &str) -> BTreeMap<(String, Option<String>), String> {
    let mut sections = BTreeMap::new();
    let (mut vendor, mut product, mut lines) = (None, None, String::new());
    for line in installed.lines().map(str::trim) {
        let value = |name: &str| {
            let value = line.strip_prefix(name)?.trim();
            Some(value.trim_matches('"').to_owned())
        };
        if line.starts_with("device ") || line.starts_with("device{") {
            (vendor, product) = (None, None);
            lines.clear();
        } else if line == "}" {
            // The end of all devices has none before it.
            if let Some(vendor) = vendor.take() {
                sections.insert((vendor, product.take()), std::mem::take(&mut lines));
            }
        } else if let Some(name) = value("vendor ") {
            vendor = Some(name);
        } else if let Some(name) = value("product ") {
            product = Some(name);
        } else {
            lines.push_str(line);
            lines.push('\n');
        }
    }
    sections
}
