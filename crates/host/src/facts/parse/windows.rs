//! Exports of Windows: registry files (`.reg`) and the output of `Get-HotFix`.

use super::{Found, found, lines};
use crate::facts::{Key, Value};

/// Reads a `.reg` file: `[HKEY_LOCAL_MACHINE\SYSTEM\…]`, then `"Name"=dword:00000028`. The last
/// part of the key is the subject.
pub fn parse_registry(_path: &str, text: &str) -> Vec<Found> {
    let (mut subject, mut facts) = (None, Vec::new());
    for (number, line) in lines(text) {
        let line = line.trim();
        if let Some(key) = line.strip_prefix('[') {
            subject = key.trim_end_matches(']').rsplit('\\').next();
            continue;
        }
        let Some(subject) = subject else {
            continue;
        };
        let Some((name, value)) = line
            .strip_prefix('"')
            .and_then(|rest| rest.split_once("\"="))
        else {
            continue;
        };
        let value = match value.strip_prefix("dword:") {
            Some(digits) => {
                i64::from_str_radix(digits, 16).map_or_else(|_| value.into(), Value::from)
            }
            None => Value::of(value.trim_matches('"')),
        };
        let key = Key::of("registry", &subject.to_ascii_lowercase(), name);
        facts.push(found(key, value, number));
    }
    facts
}

/// Reads `Get-HotFix`: `HOST  Update  KB974609  NT AUTHORITY\SYSTEM  1/1/2012`.
pub fn parse_hotfixes(_path: &str, text: &str) -> Vec<Found> {
    let numbers: Vec<&str> = text
        .split_ascii_whitespace()
        .filter(|word| {
            let digits = word.strip_prefix("KB").unwrap_or_default();
            digits.len() >= 6 && digits.chars().all(|letter| letter.is_ascii_digit())
        })
        .collect();
    if numbers.is_empty() {
        return Vec::new();
    }
    vec![found(
        Key::plain("windows", "hotfixes"),
        Value::list(numbers),
        0,
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_the_registry_are_read() {
        let text = "Windows Registry Editor Version 5.00\r\n\r\n\
                    [HKEY_LOCAL_MACHINE\\SYSTEM\\CurrentControlSet\\Services\\LanmanWorkstation\\Parameters]\r\n\
                    \"DirectoryCacheLifetime\"=dword:00000000\r\n\"ServiceDll\"=\"a\"\r\n";
        let facts = parse_registry("a.reg", text);
        assert_eq!(
            facts[0].key.to_string(),
            "registry[parameters].DirectoryCacheLifetime"
        );
        assert_eq!(facts[0].value, Value::Number(0));
        let facts = parse_hotfixes(
            "hotfixes.txt",
            "Source Description HotFixID\nA Update KB974609 SYSTEM\n",
        );
        assert_eq!(facts[0].value, Value::list(["KB974609"]));
    }
}
