//! What shares that cifs has mounted say of themselves (`/proc/fs/cifs/Stats`).

use std::collections::BTreeMap;

use crate::fields::numbers;
use crate::served::ServedMount;

/// Where the kernel shows them.
pub const STATS: &str = "/proc/fs/cifs/Stats";

/// Kinds of mounts that count by share.
pub const KINDS: [&str; 2] = ["cifs", "smb3"];

/// Totals of shares, of all mounts of each, by their names as they are mounted: `//server/share`.
pub fn parse(stats: &str) -> BTreeMap<String, ServedMount> {
    let mut shares: BTreeMap<String, ServedMount> = BTreeMap::new();
    let mut current = None;
    let mut requests = 0;
    for line in stats.lines() {
        if let Some((_, name)) = line.split_once(") \\\\") {
            // A connection that is lost says so after the name.
            let name = name.split('\t').next().unwrap_or_default();
            current = Some(format!("//{}", name.trim_end().replace('\\', "/")));
            requests = 0;
        } else if let Some(count) = line.strip_prefix("SMBs:") {
            requests = numbers(count, 0).first().copied().unwrap_or(0);
        } else if let Some(counts) = line.strip_prefix("Bytes read:")
            && let Some((read, written)) = counts.split_once("Bytes written:")
            && let Some(name) = &current
        {
            // Where a kernel or a protocol does not tell the bytes there is no share, and not one of 0 bytes. One
            // share may have several connections.
            let number = |text: &str| text.trim().parse().unwrap_or(0);
            let share = shares.entry(name.clone()).or_default();
            "cifs".clone_into(&mut share.kind);
            share.read_bytes += number(read);
            share.write_bytes += number(written);
            share.operations += requests;
        }
    }
    shares
}

/// Totals of the share that a mount is of: its source is that, or a folder in it.
pub fn share_of(stats: &str, source: &str) -> Option<ServedMount> {
    let mut shares = parse(stats).into_iter();
    let found = shares.find(|(name, _)| is_of(name, source));
    found.map(|(_, share)| share)
}

/// Totals by mount point, of `(mount point, source)`. Those of one share cannot be told apart: all is counted at
/// the first of them.
pub fn by_mount(stats: &str, mounts: &[(String, String)]) -> BTreeMap<String, ServedMount> {
    let mut shares = parse(stats);
    let mut found = BTreeMap::new();
    for (point, source) in mounts {
        let name = shares.keys().find(|name| is_of(name, source)).cloned();
        if let Some(share) = name.and_then(|name| shares.remove(&name)) {
            found.insert(point.clone(), share);
        }
    }
    found
}

fn is_of(share: &str, source: &str) -> bool {
    let rest = source.strip_prefix(share);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTURED: &str = include_str!("captured/cifs_stats");

    #[test]
    fn each_share_has_its_own_counts() {
        let shares = parse(CAPTURED);
        let share = |read_bytes, write_bytes, operations| ServedMount {
            kind: "cifs".to_owned(),
            read_bytes,
            write_bytes,
            operations,
            ..ServedMount::default()
        };
        assert_eq!(shares.len(), 2);
        assert_eq!(shares["//10.0.0.1/share"], share(4_194_304, 0, 19));
        assert_eq!(shares["//127.0.0.1/share"], share(0, 2, 20));
    }

    #[test]
    fn a_folder_of_a_share_is_of_the_share() {
        let requests = |source| share_of(CAPTURED, source).map(|share| share.operations);
        assert_eq!(requests("//10.0.0.1/share"), Some(19));
        assert_eq!(requests("//10.0.0.1/share/a/b"), Some(19));
        assert_eq!(requests("//10.0.0.1/shared"), None);
    }

    #[test]
    fn bytes_that_are_not_told_are_no_share() {
        // SMB 1, and a connection that is lost.
        let old = "1) \\\\server\\old\nSMBs: 12\nReads: 3 Bytes: 4096\n";
        let lost =
            "2) \\\\server\\sas\tDISCONNECTED \nSMBs: 7\nBytes read: 100  Bytes written: 5\n";
        let shares = parse(&format!("{old}{lost}"));
        assert_eq!(shares.keys().collect::<Vec<_>>(), ["//server/sas"]);
        let share = &shares["//server/sas"];
        assert_eq!(
            (share.read_bytes, share.write_bytes, share.operations),
            (100, 5, 7)
        );
    }

    #[test]
    fn what_two_mounts_of_a_share_moved_is_counted_once() {
        let mounts = [
            ("/sas/data", "//10.0.0.1/share/data"),
            ("/sas/out", "//10.0.0.1/share/out"),
            ("/sas/work", "//127.0.0.1/share"),
            ("/none", "//127.0.0.2/share"),
        ];
        let mounts = mounts.map(|(point, source)| (point.to_owned(), source.to_owned()));
        let found = by_mount(CAPTURED, &mounts);
        assert_eq!(found.keys().collect::<Vec<_>>(), ["/sas/data", "/sas/work"]);
        let data = &found["/sas/data"];
        assert_eq!((data.read_bytes, data.operations), (4_194_304, 19));
        assert_eq!(data.operation_ms, None, "it tells no times, which is not 0");
    }

    #[test]
    fn cut_short_texts_are_no_trouble() {
        for end in 0..CAPTURED.len() {
            parse(&CAPTURED[..end]);
        }
    }
}
