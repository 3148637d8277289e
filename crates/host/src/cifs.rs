//! What shares that cifs has mounted say of themselves (`/proc/fs/cifs/Stats`).

use std::collections::BTreeMap;

use crate::fields::numbers;

/// Totals of a share, all of its mounts together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Share {
    /// Bytes read from the server.
    pub read_bytes: u64,
    /// Bytes written to the server.
    pub write_bytes: u64,
    /// Requests to the server.
    pub requests: u64,
}

/// Shares by their names as they are mounted: `//server/share`.
pub fn parse(stats: &str) -> BTreeMap<String, Share> {
    let mut shares: BTreeMap<String, Share> = BTreeMap::new();
    let mut current = None;
    for line in stats.lines() {
        if let Some((_, name)) = line.split_once(") \\\\") {
            let name = format!("//{}", name.trim_end().replace('\\', "/"));
            shares.entry(name.clone()).or_default();
            current = Some(name);
            continue;
        }
        let Some(share) = current.as_ref().and_then(|name| shares.get_mut(name)) else {
            continue;
        };
        // One share may have several connections.
        if let Some(count) = line.strip_prefix("SMBs:") {
            share.requests += numbers(count, 0).first().copied().unwrap_or(0);
        } else if let Some(counts) = line.strip_prefix("Bytes read:")
            && let Some((read, written)) = counts.split_once("Bytes written:")
        {
            let number = |text: &str| text.trim().parse().unwrap_or(0);
            share.read_bytes += number(read);
            share.write_bytes += number(written);
        }
    }
    shares
}

/// The share that a mount is of: its source is that, or a folder in it.
pub fn share_of(shares: &BTreeMap<String, Share>, source: &str) -> Option<Share> {
    let is_of = |name: &str| {
        let rest = source.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    shares
        .iter()
        .find(|(name, _)| is_of(name))
        .map(|(_, share)| *share)
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPTURED: &str = include_str!("captured/cifs_stats");

    #[test]
    fn each_share_has_its_own_counts() {
        let shares = parse(CAPTURED);
        let share = |read_bytes, write_bytes, requests| Share {
            read_bytes,
            write_bytes,
            requests,
        };
        assert_eq!(shares.len(), 2);
        assert_eq!(shares["//10.0.0.1/share"], share(4_194_304, 0, 19));
        assert_eq!(shares["//127.0.0.1/share"], share(0, 2, 20));
    }

    #[test]
    fn a_folder_of_a_share_is_of_the_share() {
        let shares = parse(CAPTURED);
        let requests = |source| share_of(&shares, source).map(|share| share.requests);
        assert_eq!(requests("//10.0.0.1/share"), Some(19));
        assert_eq!(requests("//10.0.0.1/share/a/b"), Some(19));
        assert_eq!(requests("//10.0.0.1/shared"), None);
    }

    #[test]
    fn cut_short_texts_are_no_trouble() {
        for end in 0..CAPTURED.len() {
            parse(&CAPTURED[..end]);
        }
    }
}
