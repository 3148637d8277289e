//! What an installed file of ours says already. A file that is written takes its place, so that what was mended before
//! must stand in it as well, and whatever a person added.

use std::collections::BTreeSet;

/// Lines of an installed file that the new text does not set, with the comments before them.
pub(super) fn kept(installed: &str, new: &str) -> String {
    let all = settings(new);
    let sure: BTreeSet<Setting> = all.iter().filter(|(_, sure)| *sure).cloned().collect();
    let sure: BTreeSet<String> = sure.into_iter().map(|(name, _)| name).collect();
    let all: BTreeSet<String> = all.into_iter().map(|(name, _)| name).collect();
    let (mut text, mut comments, mut last) = (String::new(), Vec::new(), Kind::Setting);
    let (mut section, mut written) = ("", "");
    for line in installed.lines().map(str::trim_end) {
        let kind = Kind::of(line);
        match kind {
            Kind::Blank => continue,
            Kind::Section => section = line,
            Kind::Comment => {
                // A new comment: that of the lines before does not stand for what follows.
                if last == Kind::Setting {
                    comments.clear();
                }
                comments.push(line);
            }
            Kind::Setting => {
                let replaced = if line.starts_with('#') { &all } else { &sure };
                if !replaced.contains(&name(section, line)) {
                    let header = (section != written).then_some(section);
                    for line in comments.drain(..).chain(header).chain([line]) {
                        text.push_str(line);
                        text.push('\n');
                    }
                    written = section;
                }
            }
        }
        last = kind;
    }
    text
}

/// The name of what a line sets, and whether it sets it: advice stands behind a `#`.
type Setting = (String, bool);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Blank,
    Section,
    Comment,
    Setting,
}

impl Kind {
    fn of(line: &str) -> Self {
        match line.trim_start() {
            "" | "#" => Self::Blank,
            line if line.starts_with('[') => Self::Section,
            line if line.starts_with("# ") || line.starts_with(';') => Self::Comment,
            _ => Self::Setting,
        }
    }
}

fn settings(text: &str) -> BTreeSet<Setting> {
    let (mut section, mut found) = ("", BTreeSet::new());
    for line in text.lines() {
        match Kind::of(line) {
            Kind::Section => section = line,
            Kind::Setting => {
                found.insert((name(section, line), !line.starts_with('#')));
            }
            Kind::Blank | Kind::Comment => {}
        }
    }
    found
}

/// All of a line but the value: what stands before the last `=`, or before a text in quotation marks, or all fields but
/// the last.
fn name(section: &str, line: &str) -> String {
    let line = line.trim().trim_start_matches(['#', '-']).trim_end();
    let name = match (line.rsplit_once('='), line.split_once('"')) {
        (_, Some((name, _))) if !name.contains('=') => name,
        (Some((name, _)), _) => name,
        (None, _) => line.rsplit_once(char::is_whitespace).unwrap_or_default().0,
    };
    let fields: Vec<&str> = name.split_whitespace().collect();
    let name = fields.join(" ");
    // Of the share and the bytes of dirty memory the later one sets the other to nothing.
    let twin = name
        .strip_suffix("_bytes")
        .filter(|stem| stem.contains("dirty"));
    let name = twin.map_or_else(|| name.clone(), |stem| format!("{stem}_ratio"));
    format!("{section} {name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_anew_goes_and_all_else_stays() {
        let installed = "# A: of two\n# B: of two\nvm.a = 1\nvm.b = 2\n\n# C: one\nvm.dirty_ratio = 40\n\
                         # of the site\nnet.x = 4096 16384\n# D: advice\n#vm.c = 3\n# E: advice\n#vm.d = 3\n";
        let new = "# A: of two\nvm.a = 7\n# F: bytes\nvm.dirty_bytes = 1000\n# D: advice\n#vm.c = 4\n#net.x = 1 2\n";
        assert_eq!(
            kept(installed, new),
            "# A: of two\n# B: of two\nvm.b = 2\n# of the site\nnet.x = 4096 16384\n# E: advice\n#vm.d = 3\n"
        );
    }

    #[test]
    fn sections_rules_and_fields_are_told_apart() {
        assert_eq!(
            kept("# A\n[x]\na=1\nb=2\n[y]\na=3\n", "# A\n[x]\na=9\n"),
            "# A\n[x]\nb=2\n[y]\na=3\n"
        );
        let rule =
            |which: &str, value: &str| format!("KERNEL==\"{which}\", ATTR{{a}}=\"{value}\"\n");
        let both = rule("sda", "1") + &rule("sdb", "1");
        assert_eq!(kept(&both, &rule("sdb", "2")), rule("sda", "1"));
        assert_eq!(
            kept(
                "@sas soft nofile 1\n@sas hard nofile 1\n",
                "@sas  soft nofile 9\n"
            ),
            "@sas hard nofile 1\n"
        );
        assert_eq!(kept("a \"b 0\"\nc 1\n", "a \"d=1 1\"\n"), "c 1\n");
    }
}
