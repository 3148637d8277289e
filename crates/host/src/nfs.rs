//! What NFS mounts say of themselves (/proc/self/mountstats).

use std::collections::BTreeMap;

use crate::fields::{numbers, unescaped};
use crate::served::ServedMount;

/// NFS mounts by mount point.
pub fn parse(mountstats: &str) -> BTreeMap<String, ServedMount> {
    let mut mounts = BTreeMap::new();
    let mut current: Option<(String, ServedMount)> = None;
    let mut in_operations = false;
    for line in mountstats.lines() {
        if line.starts_with("device ") {
            mounts.extend(current.take());
            current = heading(line);
            in_operations = false;
        } else if let Some((_, mount)) = &mut current {
            let line = line.trim_start();
            if line.starts_with("per-op statistics") {
                in_operations = true;
            } else if in_operations {
                operation(line, mount);
            } else if let Some(counts) = line.strip_prefix("bytes:") {
                let counts = numbers(counts, 0);
                mount.read_bytes = counts.get(4).copied().unwrap_or(0);
                mount.write_bytes = counts.get(5).copied().unwrap_or(0);
            }
        }
    }
    mounts.extend(current);
    mounts
}

/// `device server:/export mounted on /mnt with fstype nfs4 statvers=1.1`.
fn heading(line: &str) -> Option<(String, ServedMount)> {
    let (_, rest) = line.split_once(" mounted on ")?;
    let (point, rest) = rest.split_once(" with fstype ")?;
    let kind = rest.split_ascii_whitespace().next()?;
    let mount = ServedMount {
        kind: kind.to_owned(),
        operation_ms: Some(0),
        ..ServedMount::default()
    };
    matches!(kind, "nfs" | "nfs4").then(|| (unescaped(point), mount))
}

/// `READ: ops transmissions timeouts sent received queue_ms answer_ms whole_ms errors`.
fn operation(line: &str, mount: &mut ServedMount) {
    let Some((name, counts)) = line.split_once(':') else {
        return;
    };
    let counts = numbers(counts, 0);
    if let (Some(calls), Some(whole_ms)) = (counts.first(), counts.get(7)) {
        mount.operations = mount.operations.saturating_add(*calls);
        if *calls > 0 {
            mount.calls.insert(name.trim().to_owned(), *calls);
        }
        mount.operation_ms = mount.operation_ms.map(|ms| ms.saturating_add(*whole_ms));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nfs_mounts_count() {
        let mounts = parse(include_str!("captured/mountstats"));
        assert_eq!(
            mounts.keys().collect::<Vec<_>>(),
            ["/mnt/sas data", "/work"]
        );
        let data = &mounts["/mnt/sas data"];
        assert_eq!(data.kind, "nfs4");
        assert_eq!(data.read_bytes, 1_073_741_824);
        assert_eq!(data.write_bytes, 536_870_912);
        assert_eq!(data.operations, 1 + 1024 + 512);
        assert_eq!(data.operation_ms, Some(2 + 4_100 + 9_000));
        let calls = [("NULL", 1), ("READ", 1024), ("WRITE", 512)];
        let calls = calls.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(data.calls, calls.into());
        assert_eq!(
            mounts["/work"],
            ServedMount {
                kind: "nfs".to_owned(),
                operation_ms: Some(0),
                ..ServedMount::default()
            }
        );
    }

    #[test]
    fn cut_short_texts_are_no_trouble() {
        let text = include_str!("captured/mountstats");
        for end in 0..text.len() {
            parse(&text[..end]);
        }
    }
}
