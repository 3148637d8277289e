//! What commands of GPFS say of nodes, health, space and members, with `-Y`.

use super::gpfs_colon::{Row, rows};
use super::{Found, found, lines};
use crate::facts::value::amount;
use crate::facts::{Key, Value};

/// A field that is a whole number.
fn number(row: &Row, name: &str) -> Option<i64> {
    row.get(name)?.parse().ok()
}

/// Reads `mmgetstate -Y`: of this node, or of all.
pub fn parse_state(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    rows(text, |row| {
        let Some(node) = row.get("nodeName").filter(|node| !node.is_empty()) else {
            return;
        };
        let mut add = |name: &str, value: Value| {
            let key = Key::of("gpfs-state", &node, name);
            facts.push(found(key, value, row.number));
        };
        if let Some(state) = row.get("state") {
            add("state", state.into());
        }
        for (theirs, ours) in [
            ("quorum", "quorum"),
            ("nodesUp", "nodes_up"),
            ("totalNodes", "nodes"),
        ] {
            if let Some(count) = number(row, theirs) {
                add(ours, count.into());
            }
        }
    });
    facts
}

/// Reads `mmhealth node show -Y`: the state of components, and the names of events.
pub fn parse_health(_path: &str, text: &str) -> Vec<Found> {
    let (mut facts, mut events) = (Vec::new(), Vec::<String>::new());
    rows(text, |row| {
        let field = |name: &str| row.get(name).unwrap_or_default();
        match row.kind {
            "State" => {
                let subject = format!("{} {}", field("component"), field("entityname"));
                let key = Key::of("gpfs-health", &subject, "status");
                facts.push(found(key, field("status"), row.number));
            }
            "Event" if !events.contains(&field("event")) => events.push(field("event")),
            _ => {}
        }
    });
    if !events.is_empty() {
        let key = Key::plain("gpfs-events", "names");
        facts.push(found(key, Value::list(events), 0));
    }
    facts
}

/// Reads `mmdf FS -Y`: space and inodes of a file system and of its pools, in KiB.
pub fn parse_space(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    rows(text, |row| {
        let wanted: &[(&str, &str)] = match row.kind {
            "poolTotal" => &[("poolSize", "size_kb"), ("freeBlocksPct", "free_percent")],
            "fsTotal" => &[("fsSize", "size_kb"), ("freeBlocksPct", "free_percent")],
            "metadata" => &[("freeBlocksPct", "metadata_free_percent")],
            "inode" => &[("usedInodes", "inodes_used"), ("maxInodes", "inodes_max")],
            _ => &[],
        };
        for (theirs, ours) in wanted {
            let Some(value) = number(row, theirs) else {
                continue;
            };
            let key = match row.get("poolName") {
                Some(pool) => Key::of("gpfs-pool", &pool, ours),
                None => Key::plain("gpfs-space", ours),
            };
            facts.push(found(key, value, row.number));
        }
    });
    facts
}

/// Reads `mmlspool FS`, a table: `system 0 8 MB yes yes 783308292096 143079555072 ( 18%) …`.
pub fn parse_pools(_path: &str, text: &str) -> Vec<Found> {
    let (mut system, mut facts) = (None, Vec::new());
    for (line_number, line) in lines(text) {
        if let Some(rest) = line.strip_prefix("Storage pools in file system at '") {
            system = rest.split('\'').next();
            continue;
        }
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let (Some(system), [pool, _, size, unit, data, metadata, rest @ ..]) =
            (system, fields.as_slice())
        else {
            continue;
        };
        let Some(block) = amount(&format!("{size}{unit}")) else {
            continue;
        };
        let subject = format!("{system} {pool}");
        let mut add = |name: &str, value: Value| {
            let key = Key::of("gpfs-pool", &subject, name);
            facts.push(found(key, value, line_number));
        };
        #[expect(clippy::cast_possible_truncation, reason = "KiB of a block")]
        let block_kb = (block / 1024.0) as i64;
        add("block_kb", block_kb.into());
        add("data", (*data).into());
        add("metadata", (*metadata).into());
        if let Some(size) = rest.first().and_then(|size| size.parse::<i64>().ok()) {
            add("size_kb", size.into());
        }
        let percent = rest.iter().find_map(|field| field.strip_suffix("%)"));
        let percent = percent.map(|percent| percent.trim_start_matches('('));
        if let Some(percent) = percent.and_then(|percent| percent.parse::<i64>().ok()) {
            add("free_percent", percent.into());
        }
    }
    facts
}

/// Reads `mmdiag --waiters -Y`: how many threads wait, and which one for longest.
pub fn parse_waiters(_path: &str, text: &str) -> Vec<Found> {
    let (mut count, mut longest) = (0_usize, None::<(f64, String, String)>);
    rows(text, |row| {
        let (Some(thread), Some(time)) = (row.get("threadName"), row.get("waitTime")) else {
            return;
        };
        count += 1;
        let seconds = time.parse::<f64>().unwrap_or(0.0);
        if longest.as_ref().is_none_or(|(known, ..)| *known < seconds) {
            longest = Some((seconds, time, thread));
        }
    });
    let fact = |name: &str, value: Value| found(Key::plain("gpfs-waiters", name), value, 0);
    let mut facts = Vec::new();
    if let Some((_, time, thread)) = longest {
        facts.push(fact("count", count.into()));
        facts.push(fact("longest_s", Value::of(&time)));
        facts.push(fact("longest_thread", thread.into()));
    }
    facts
}

/// Reads `mmces state show -Y`: the state of each protocol on a node.
pub fn parse_protocols(_path: &str, text: &str) -> Vec<Found> {
    const NAMES: [&str; 8] = [
        "AUTH", "BLOCK", "NETWORK", "AUTH_OBJ", "NFS", "OBJ", "SMB", "CES",
    ];
    let mut facts = Vec::new();
    rows(text, |row| {
        let node = row.get("NODE").unwrap_or_default();
        for name in NAMES {
            if let Some(state) = row.get(name) {
                let key = Key::of("gpfs-ces", &node, &name.to_ascii_lowercase());
                facts.push(found(key, state, row.number));
            }
        }
    });
    facts
}

/// Reads `mmlsqos FS -Y`: whether traffic is held back, and by what.
pub fn parse_quality(_path: &str, text: &str) -> Vec<Found> {
    let mut facts = Vec::new();
    rows(text, |row| {
        for (theirs, ours) in [
            ("enabled", "enabled"),
            ("throttling", "throttling"),
            ("config_enc", "config"),
        ] {
            if let Some(value) = row.get(theirs) {
                let key = Key::plain("gpfs-qos", ours);
                facts.push(found(key, value, row.number));
            }
        }
    });
    facts
}

/// Reads `mmlscluster -Y`: the cluster and its members.
pub fn parse_cluster(_path: &str, text: &str) -> Vec<Found> {
    let (mut facts, mut nodes) = (Vec::new(), 0_usize);
    rows(text, |row| match row.kind {
        "clusterSummary" => {
            for (theirs, ours) in [("clusterName", "name"), ("repositoryType", "repository")] {
                if let Some(value) = row.get(theirs) {
                    let key = Key::plain("gpfs-cluster", ours);
                    facts.push(found(key, value, row.number));
                }
            }
        }
        "clusterNode" => {
            nodes += 1;
            let (node, what) = (row.get("daemonNodeName"), row.get("designation"));
            if let (Some(node), Some(what)) = (node, what) {
                let key = Key::of("gpfs-member", &node, "designation");
                facts.push(found(key, what, row.number));
            }
        }
        _ => {}
    });
    if nodes > 0 {
        facts.push(found(Key::plain("gpfs-cluster", "nodes"), nodes, 0));
    }
    facts
}

/// Reads `mmlsnodeclass`: members of classes; a list that did not fit ends in dots.
pub fn parse_classes(_path: &str, text: &str) -> Vec<Found> {
    let mut behind = false;
    let fact = |(number, line): (usize, &str)| {
        if line.starts_with("-----") {
            behind = true;
            return None;
        }
        let (name, members) = line.split_once(char::is_whitespace)?;
        let members: Vec<&str> = members.trim().split(',').collect();
        let key = Key::of("gpfs-class", name, "members");
        behind.then(|| found(key, Value::list(members), number))
    };
    lines(text).filter_map(fact).collect()
}
