//! Where facts are read: the live host or a captured tree (a sosreport, a capture of ours).

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

/// The largest file that is read; what is longer is cut there.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// Links that lead to links end here.
const LINKS_MAX: u32 = 40;

/// A host or a captured tree.
#[derive(Debug, Clone)]
pub struct Root {
    base: PathBuf,
    live: bool,
}

impl Root {
    /// The host that this process runs on.
    pub fn live() -> Self {
        Self {
            base: PathBuf::from("/"),
            live: true,
        }
    }

    /// A captured tree. A folder with nothing but one folder in it, as archives of sosreport have,
    /// stands for that.
    pub fn tree(base: &Path) -> Self {
        let mut base = base.to_owned();
        while let Some(inner) = only_folder(&base) {
            base = inner;
        }
        Self { base, live: false }
    }

    /// True for the host that this process runs on.
    pub fn is_live(&self) -> bool {
        self.live
    }

    /// What a file holds; `None` if it is not there or cannot be read.
    pub fn read(&self, path: &str) -> Option<Vec<u8>> {
        let file = self.resolve(path)?;
        // Anything but a file may block for ever.
        if !fs::metadata(&file).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        let mut file = fs::File::open(file).ok()?.take(FILE_BYTES_MAX);
        file.read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// What a file holds, as text.
    pub fn text(&self, path: &str) -> Option<String> {
        self.read(path).map(|bytes| text_of(&bytes))
    }

    /// What a link points to, as it is written.
    pub fn link(&self, path: &str) -> Option<String> {
        let path = Path::new(path);
        let folder = self.resolve(path.parent()?.to_str()?)?;
        let target = fs::read_link(folder.join(path.file_name()?)).ok()?;
        Some(target.to_string_lossy().into_owned())
    }

    /// Names in a folder, sorted.
    pub fn names(&self, path: &str) -> BTreeSet<String> {
        let Some(folder) = self.resolve(path) else {
            return BTreeSet::new();
        };
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// Paths that exist and match a pattern whose components may have `*` in them, sorted.
    pub fn glob(&self, pattern: &str) -> Vec<String> {
        let mut found = vec![String::new()];
        for part in pattern.split('/').filter(|part| !part.is_empty()) {
            let mut next = Vec::new();
            for path in found {
                if part.contains('*') {
                    let names = self.names(if path.is_empty() { "/" } else { &path });
                    let fitting = names.into_iter().filter(|name| fits(part, name));
                    next.extend(fitting.map(|name| format!("{path}/{name}")));
                } else {
                    next.push(format!("{path}/{part}"));
                }
            }
            found = next;
        }
        found.retain(|path| self.is_there(path));
        found
    }

    /// True if there is something by this name, were it a link that leads nowhere.
    fn is_there(&self, path: &str) -> bool {
        let path = Path::new(path);
        let folder = path.parent().and_then(Path::to_str);
        let folder = folder.and_then(|folder| self.resolve(folder));
        folder
            .zip(path.file_name())
            .is_some_and(|(folder, name)| folder.join(name).symlink_metadata().is_ok())
    }

    /// The real path of a path of the host; absolute links stay inside the tree, `..` does not
    /// leave it.
    fn resolve(&self, path: &str) -> Option<PathBuf> {
        if self.live {
            return Some(PathBuf::from("/").join(path));
        }
        let mut links = 0;
        let mut inside = PathBuf::new();
        let mut ahead: Vec<PathBuf> = parts(Path::new(path));
        while let Some(part) = ahead.pop() {
            if part.as_os_str() == ".." {
                inside.pop();
                continue;
            }
            let next = inside.join(&part);
            match fs::read_link(self.base.join(&next)) {
                Ok(target) => {
                    links += 1;
                    if links > LINKS_MAX {
                        return None;
                    }
                    if target.is_absolute() {
                        inside = PathBuf::new();
                    }
                    ahead.extend(parts(&target));
                }
                Err(_) => inside = next,
            }
        }
        Some(self.base.join(inside))
    }
}

/// The components of a path, the last first.
fn parts(path: &Path) -> Vec<PathBuf> {
    let parts = path.components().rev();
    parts
        .filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir))
        .map(|part| PathBuf::from(part.as_os_str()))
        .collect()
}

/// Folders of which a root has at least one.
const PARTS: [&str; 7] = [
    "etc",
    "proc",
    "sys",
    "usr",
    "var",
    "sos_commands",
    "gristmill",
];

/// The only folder of a folder that is no root; archives often lie beside what was unpacked.
fn only_folder(path: &Path) -> Option<PathBuf> {
    if PARTS.iter().any(|part| path.join(part).is_dir()) {
        return None;
    }
    let entries = fs::read_dir(path).ok()?.flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    match folders.as_slice() {
        [one] => Some(one.clone()),
        _ => None,
    }
}

/// True if a name fits a pattern in which `*` stands for anything.
fn fits(pattern: &str, name: &str) -> bool {
    let mut pieces = pattern.split('*');
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = name.strip_prefix(first) else {
        return false;
    };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else {
        return rest.is_empty();
    };
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Text of bytes, whatever they are: Windows writes UTF-16 and marks the order of bytes; archives of
/// /sys fill each file with zeros up to a page.
pub fn text_of(bytes: &[u8]) -> String {
    let units = |bytes: &[u8], of: fn([u8; 2]) -> u16| -> String {
        let units: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|pair| of([pair[0], pair[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xff, 0xfe, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => units(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => String::from_utf8_lossy(rest).into_owned(),
        other => {
            let end = other.iter().rposition(|byte| *byte != 0);
            let text = &other[..end.map_or(0, |end| end + 1)];
            String::from_utf8_lossy(text).into_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    fn tree() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().join("sosreport-a");
        fs::create_dir_all(base.join("etc/sysctl.d")).unwrap();
        fs::create_dir_all(base.join("usr/lib")).unwrap();
        fs::write(base.join("etc/sysctl.conf"), "a = 1\n").unwrap();
        fs::write(base.join("usr/lib/os-release"), "ID=rhel\n").unwrap();
        symlink("/usr/lib/os-release", base.join("etc/os-release")).unwrap();
        symlink("../../../../../../etc/passwd", base.join("etc/outside")).unwrap();
        symlink("/etc/loop", base.join("etc/loop")).unwrap();
        symlink("nowhere", base.join("etc/dangling")).unwrap();
        symlink("../sysctl.conf", base.join("etc/sysctl.d/99-sysctl.conf")).unwrap();
        fs::write(base.join("etc/sysctl.d/10-b.conf"), "b = 2\n").unwrap();
        let root = Root::tree(folder.path());
        (folder, root)
    }

    #[test]
    fn links_stay_inside_the_tree() {
        let (_folder, root) = tree();
        assert_eq!(root.text("/etc/os-release").unwrap(), "ID=rhel\n");
        assert_eq!(root.text("etc/sysctl.d/99-sysctl.conf").unwrap(), "a = 1\n");
        for path in [
            "/etc/outside",
            "/etc/loop",
            "/etc/dangling",
            "/etc",
            "/etc/none",
        ] {
            assert_eq!(root.read(path), None, "{path}");
        }
        assert_eq!(root.link("/etc/dangling").unwrap(), "nowhere");
    }

    #[test]
    fn patterns_find_what_exists() {
        let (_folder, root) = tree();
        assert_eq!(
            root.glob("/etc/sysctl.d/*.conf"),
            ["/etc/sysctl.d/10-b.conf", "/etc/sysctl.d/99-sysctl.conf"]
        );
        assert_eq!(root.glob("etc/sysctl.conf"), ["/etc/sysctl.conf"]);
        assert_eq!(root.glob("/etc/dangling"), ["/etc/dangling"]);
        assert!(root.glob("/etc/none/*").is_empty());
        assert!(fits("a*c", "abc") && fits("*", "") && !fits("a*c", "ab") && fits("*a*a", "aa"));
        assert!(!fits("a*a", "a"));
    }

    #[test]
    fn texts_of_windows_are_read() {
        let bytes: Vec<u8> = [0xff, 0xfe, b'[', 0, b'H', 0].to_vec();
        assert_eq!(text_of(&bytes), "[H");
        assert_eq!(text_of(&[0xfe]), "\u{fffd}");
        assert_eq!(text_of(b"a\0b\n\0\0\0"), "a\0b\n");
        assert_eq!(text_of(&[0, 0]), "");
    }
}
