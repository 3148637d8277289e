//! Messages of the kernel: parameters that modules do not know, and processors that hang.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads the messages. An empty list says that none was found among those that were captured.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let mut unknown = Vec::new();
    let mut lockups = 0_usize;
    for (_, line) in lines(text) {
        if let Some(parameter) = unknown_parameter(line) {
            unknown.push(parameter);
        }
        lockups += usize::from(line.contains("soft lockup - CPU"));
    }
    vec![
        found(
            Key::plain("dmesg", "unknown_parameters"),
            Value::list(unknown),
            0,
        ),
        found(Key::plain("dmesg", "soft_lockups"), lockups, 0),
    ]
}

/// `qla2xxx: unknown parameter 'ql2xmaxdeth' ignored`.
fn unknown_parameter(line: &str) -> Option<String> {
    let (head, rest) = line.split_once(": unknown parameter '")?;
    let (parameter, rest) = rest.split_once('\'')?;
    let module = head.rsplit([' ', ']']).next()?;
    rest.contains("ignored")
        .then(|| format!("{module}.{parameter}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_parameter_is_named() {
        let text = "[    9.1] qla2xxx: unknown parameter 'ql2xmaxdeth' ignored\n";
        let facts = parse("dmesg", text);
        assert_eq!(facts[0].value, Value::list(["qla2xxx.ql2xmaxdeth"]));
        assert!(parse("dmesg", "").is_empty());
    }
}
