//! `/etc/exports` and `exportfs -v`: what a server of NFS gives to whom.

use super::{Found, found, said};
use crate::facts::{Key, Value};
use crate::file_systems::listed;

/// Reads either: a path, then clients with options in brackets. A line may go on after a backslash,
/// and `exportfs -v` puts a long path on a line of its own.
pub fn parse(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    let joined = text.replace("\\\n", " ").replace("\n\t\t", " ");
    for (number, line) in said(&joined, &['#']) {
        let (path, clients) = match line.strip_prefix('"') {
            Some(rest) => rest.split_once('"').unwrap_or((rest, "")),
            None => line.split_once(char::is_whitespace).unwrap_or((line, "")),
        };
        if !path.starts_with('/') {
            continue;
        }
        for client in clients.split_ascii_whitespace() {
            let Some((client, options)) = client.split_once('(') else {
                continue;
            };
            let options = listed(options.trim_end_matches(')'));
            let subject = format!("{path} {client}");
            let key = Key::of("export", &subject, "options");
            facts.push(found(key, Value::List(options), number));
        }
    }
    facts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_options() {
        let facts = parse(
            "/etc/exports",
            "# c\n/sas  grid1(rw,sync) grid2(ro,async)\n/a\n\t\t*(rw)\n",
        );
        assert_eq!(facts.len(), 3);
        assert_eq!(facts[1].key.subject.as_deref(), Some("/sas grid2"));
        assert_eq!(facts[1].value, Value::list(["ro", "async"]));
    }
}
