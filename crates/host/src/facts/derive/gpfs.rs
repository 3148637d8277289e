//! What GPFS holds on this node: what the daemon says, or what the configuration says for all nodes, or for
//! this one and the classes that it is in.

use std::collections::BTreeSet;

use super::machine::percent;
use crate::facts::{Facts, Key, Seen, Value};

pub(super) fn derive(facts: &mut Facts) {
    let mut settled: Vec<(Key, Value, String)> = Vec::new();
    for (key, fact) in facts.class("gpfs-effective") {
        let seen = fact.running.clone();
        let key = Key::plain("gpfs-node", &key.name);
        settled.extend(seen.map(|seen| (key, seen.value, seen.from)));
    }
    let names: BTreeSet<&str> = facts
        .class("gpfs")
        .map(|(key, _)| key.name.as_str())
        .collect();
    for name in names {
        if let Some(seen) = configured(facts, name) {
            let key = Key::plain("gpfs-node", name);
            settled.push((key, seen.value.clone(), seen.from.clone()));
        }
    }
    for (mut key, value, from) in settled {
        if key.name == "seqDiscardThreshhold" {
            "seqDiscardThreshold".clone_into(&mut key.name);
        }
        facts.run(key, value, &from);
    }
    let pool = facts.number("gpfs-node", "pagepool");
    if let Some((pool, memory)) = pool.zip(facts.number("memory", "total_bytes")) {
        let key = Key::plain("gpfs-node", "pagepool_percent");
        percent(facts, key, pool, memory);
    }
    let rate = facts.number("gpfs-node", "maxMBpS");
    if let Some((rate, link)) = rate.zip(facts.number("host", "link_mbps")) {
        let key = Key::plain("gpfs-node", "maxmbps_of_link_percent");
        percent(facts, key, rate, link / 8.0);
    }
}

/// What the configuration says of a setting on this node; nothing where it cannot be told which of
/// its sections are this node's, or where those disagree.
fn configured<'a>(facts: &'a Facts, name: &str) -> Option<&'a Seen> {
    let mut ours: Vec<&Seen> = Vec::new();
    for section in facts.subjects("gpfs") {
        let fact = facts.get(&Key::of("gpfs", section, name));
        let Some(seen) = fact.and_then(|fact| fact.running.as_ref()) else {
            continue;
        };
        if is_ours(facts, section)? {
            ours.push(seen);
        }
    }
    let everybodys = facts.get(&Key::plain("gpfs", name));
    match ours.split_first() {
        None => everybodys?.running.as_ref(),
        Some((first, others)) => {
            let agree = others.iter().all(|other| other.value == first.value);
            agree.then_some(*first)
        }
    }
}

/// Whether a section, `[gpfs01,nsdNodes]`, is for this node; nothing if that is not known.
fn is_ours(facts: &Facts, section: &str) -> Option<bool> {
    let states: Vec<&str> = facts.subjects("gpfs-state").into_iter().collect();
    // Without `-a` only the node itself is told.
    let [node] = states.as_slice() else {
        return None;
    };
    let mut known = true;
    for name in section.split(',').map(str::trim) {
        if is_node(name, node) {
            return Some(true);
        }
        match facts.of("gpfs-class", name, "members").map(Value::texts) {
            Some(members) if members.iter().any(|member| is_node(member, node)) => {
                return Some(true);
            }
            // A list that did not fit ends in dots.
            Some(members) => known &= !members.iter().any(|member| member == "..."),
            None => {
                let is_member = facts
                    .subjects("gpfs-member")
                    .iter()
                    .any(|member| is_node(name, member));
                known &= is_member;
            }
        }
    }
    known.then_some(false)
}

/// True if both are names of the same node, one perhaps without its domain.
fn is_node(left: &str, right: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or_default().to_owned();
    left == right || ((!left.contains('.') || !right.contains('.')) && short(left) == short(right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::parse::{gpfs_state, mmlsconfig};

    const CONFIGURATION: &str = "maxMBpS 12000\nworkerThreads 512\n[nsdNodes]\npagepool 32G\nworkerThreads 1024\n\
                                 [compute]\npagepool 4G\n[grid01,grid02]\ntrace all 9\n";
    const CLASSES: &str = "Node Class Name Members\n----- -----\nnsdNodes gpfs01.sas,gpfs02.sas\n\
                           compute grid01.sas,grid02.sas\n";

    fn settled(node: &str, classes: &str) -> String {
        let mut facts = Facts::default();
        let state = Key::of("gpfs-state", node, "state");
        facts.run(state, "active", "mmgetstate");
        for found in mmlsconfig::parse("", CONFIGURATION)
            .into_iter()
            .chain(gpfs_state::parse_classes("", classes))
        {
            facts.run(found.key, found.value, "a");
        }
        derive(&mut facts);
        let all = facts.class("gpfs-node").map(|(key, fact)| {
            let value = fact.running.as_ref().map(|seen| seen.value.to_string());
            format!("{}={}", key.name, value.unwrap_or_default())
        });
        all.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn classes_say_what_holds_on_a_node() {
        assert_eq!(
            settled("grid01.sas", CLASSES),
            "maxMBpS=12000 pagepool=4G trace=all 9 workerThreads=512"
        );
        // Names of nodes without a class are not known to be nodes.
        assert_eq!(
            settled("gpfs01.sas", CLASSES),
            "maxMBpS=12000 pagepool=32G workerThreads=1024"
        );
    }

    #[test]
    fn what_cannot_be_told_is_not_told() {
        assert_eq!(settled("grid01.sas", ""), "maxMBpS=12000 trace=all 9");
        let cut = CLASSES.replace("gpfs02.sas", "...");
        assert_eq!(settled("grid01.sas", &cut), "maxMBpS=12000 trace=all 9");
    }
}
