//! A file for /etc/multipath/conf.d: a section for each device, with no setting but those that rules name. Of
//! sections for the same vendor and product the settings that come later stand, all others stay as they are.
//! Source: multipath.conf(5).

use std::collections::BTreeMap;
use std::fmt::Write as _;

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
}

/// The file's text; `None` if nothing is wanted.
pub(super) fn file(wanted: &[Wanted]) -> Option<String> {
    let mut devices: BTreeMap<(&str, Option<&str>), Vec<&Wanted>> = BTreeMap::new();
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
        for setting in settings {
            let _ = writeln!(text, "    # {}", setting.said);
            for line in setting.text.lines() {
                let _ = writeln!(text, "    {}{line}", if setting.advice { "#" } else { "" });
            }
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    (!devices.is_empty()).then_some(text)
}
