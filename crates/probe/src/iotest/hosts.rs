//! The same test on several hosts at the same time.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Options, Outcome, PhaseOutcome, Prepared};

/// What one host did.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OfHost {
    /// Its name.
    pub host: String,
    /// What tells its start from all others; absent where the system does not say.
    pub boot_id: Option<String>,
    /// Physical cores that its rates are divided by.
    pub cores: u32,
    /// Where that number comes from.
    pub cores_basis: String,
    /// What the host calls them: processes of one machine may have the same, or each its own.
    pub core_names: BTreeSet<String>,
    /// What holds for all phases.
    pub prepared: Prepared,
    /// Its phases so far.
    pub outcome: Outcome,
}

impl OfHost {
    /// One that has done nothing so far.
    pub fn new(
        (host, boot_id): (String, Option<String>),
        (cores, cores_basis, core_names): (u32, String, BTreeSet<String>),
        options: &Options,
        prepared: Prepared,
    ) -> Self {
        Self {
            host,
            boot_id,
            cores,
            cores_basis,
            core_names,
            outcome: Outcome::new(options, &prepared),
            prepared,
        }
    }
}

/// Several hosts as one.
#[derive(Debug, Clone, PartialEq)]
pub struct Together {
    /// What all of them did.
    pub outcome: Outcome,
    /// Physical cores of all; each core of a machine once.
    pub cores: u32,
    /// How many machines they are.
    pub machines: usize,
}

/// Puts the times of all on the clock of the first: how far each clock is ahead of that, and how far off that may
/// be, seconds.
pub fn on_one_clock(hosts: &mut [OfHost], ahead_s: &[f64], within_s: f64) {
    for (host, ahead_s) in hosts.iter_mut().zip(ahead_s) {
        host.outcome.clocks_within_s = Some(within_s);
        for phase in &mut host.outcome.phases {
            phase.began_unix_s -= ahead_s;
        }
    }
}

/// All hosts as one; `None` without hosts.
pub fn together(hosts: &[OfHost]) -> Option<Together> {
    let (first, others) = hosts.split_first()?;
    let machines: BTreeSet<&str> = hosts.iter().map(machine).collect();
    let apart = machines.len() == hosts.len();
    let cores = cores(hosts);
    let phases = (0..first.outcome.phases.len())
        .filter_map(|at| phase(hosts, at, apart))
        .collect();
    let all = |holds: fn(&Outcome) -> bool| hosts.iter().all(|one| holds(&one.outcome));
    Some(Together {
        machines: machines.len(),
        cores,
        outcome: Outcome {
            hosts: hosts.iter().map(|one| one.host.clone()).collect(),
            streams: others.iter().fold(first.outcome.streams, |most, one| {
                most.max(one.outcome.streams)
            }),
            eviction_checked: all(|one| one.eviction_checked),
            phases,
            ..first.outcome.clone()
        },
    })
}

/// Cores of all hosts. Of those that are one machine, each counts with the share of its cores that none before it has.
fn cores(hosts: &[OfHost]) -> u32 {
    let mut seen: BTreeSet<(&str, &str)> = BTreeSet::new();
    let mut machines = BTreeSet::new();
    let mut all = 0.0;
    for host in hosts {
        let machine = machine(host);
        let is_first = machines.insert(machine);
        let names = host.core_names.iter();
        let own = names.filter(|name| seen.insert((machine, name))).count();
        all += match host.core_names.len() {
            // A host that cannot name them has all.
            0 => f64::from(host.cores) * f64::from(u8::from(is_first)),
            names => f64::from(host.cores) * own as f64 / names as f64,
        };
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a sum of cores"
    )]
    let all = all.round().max(1.0) as u32;
    all
}

/// What tells machines apart.
fn machine(host: &OfHost) -> &str {
    host.boot_id.as_deref().unwrap_or(&host.host)
}

/// A phase of all hosts, if all did it.
fn phase(hosts: &[OfHost], at: usize, apart: bool) -> Option<PhaseOutcome> {
    let mut all: Option<PhaseOutcome> = None;
    for host in hosts {
        let mut own = host.outcome.phases.get(at)?.clone();
        for place in &mut own.places {
            place.directory = format!("{}:{}", host.host, place.directory);
        }
        for device in &mut own.devices {
            device.name = format!("{}:{}", host.host, device.name);
        }
        if !apart {
            // What a device of one machine moved is that of all hosts that it stands for.
            own.devices.clear();
        }
        match &mut all {
            None => all = Some(own),
            Some(all) => add(all, own),
        }
    }
    all
}

fn add(all: &mut PhaseOutcome, own: PhaseOutcome) {
    let end = |phase: &PhaseOutcome| phase.began_unix_s + phase.elapsed_s;
    let ended = end(all).max(end(&own));
    all.began_unix_s = all.began_unix_s.min(own.began_unix_s);
    all.elapsed_s = ended - all.began_unix_s;
    all.together_s = all.together_s.min(own.together_s);
    all.cached_share = all
        .cached_share
        .zip(own.cached_share)
        .map(|(one, other)| one.max(other));
    all.places.extend(own.places);
    all.devices.extend(own.devices);
    // Where one had ended, only the others moved anything.
    let longer = all.mb_per_s.len().max(own.mb_per_s.len());
    all.mb_per_s.resize(longer, 0.0);
    for (sum, rate) in all.mb_per_s.iter_mut().zip(own.mb_per_s) {
        *sum += rate;
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DeviceShare, PlaceOutcome, StreamOutcome};
    use super::*;

    fn host(name: &str, boot: &str, seconds: u8, cached: Option<f64>) -> OfHost {
        let elapsed_s = f64::from(seconds);
        let stream = StreamOutcome {
            read_bytes: 100_000_000,
            elapsed_s,
            ..StreamOutcome::default()
        };
        let phase = PhaseOutcome {
            phase: "read".to_owned(),
            began_unix_s: 1e9,
            elapsed_s,
            together_s: elapsed_s,
            cached_share: cached,
            places: vec![PlaceOutcome {
                directory: "/d".to_owned(),
                streams: vec![stream],
            }],
            mb_per_s: vec![50.0; usize::from(seconds)],
            devices: vec![DeviceShare {
                name: "sda".to_owned(),
                ..DeviceShare::default()
            }],
        };
        let prepared = Prepared {
            eviction_checked: true,
            file_bytes: (1, 2),
        };
        OfHost {
            host: name.to_owned(),
            boot_id: Some(boot.to_owned()),
            cores: 4,
            cores_basis: String::new(),
            core_names: BTreeSet::new(),
            prepared,
            outcome: Outcome {
                hosts: Vec::new(),
                clocks_within_s: None,
                streams: 1,
                block_bytes: 4096,
                content: "random".to_owned(),
                eviction_checked: true,
                warm: false,
                is_limited: false,
                phases: vec![phase],
            },
        }
    }

    #[test]
    fn hosts_are_added_up_until_the_last_one_ends() {
        let mut hosts = [host("a", "1", 2, Some(0.0)), host("b", "2", 3, Some(0.2))];
        // The second began a second later.
        hosts[1].outcome.phases[0].began_unix_s += 1.0;
        let found = together(&hosts).unwrap();
        assert_eq!((found.cores, found.machines), (8, 2));
        let all = found.outcome;
        let phase = &all.phases[0];
        assert!((phase.total_mb_per_s() - 50.0).abs() < 1e-9);
        assert_eq!((phase.together_s, phase.cached_share), (2.0, Some(0.2)));
        assert_eq!(phase.mb_per_s, [100.0, 100.0, 50.0]);
        let names: Vec<&str> = phase.places.iter().map(|place| &*place.directory).collect();
        assert_eq!(names, ["a:/d", "b:/d"]);
        assert_eq!(phase.devices[1].name, "b:sda");
        assert!(phase.may_be_cached(&all));
    }

    #[test]
    fn clocks_that_are_apart_change_no_time() {
        let mut hosts = [host("a", "1", 2, None), host("b", "2", 3, None)];
        // The second began a second later, and its clock is two seconds ahead.
        hosts[1].outcome.phases[0].began_unix_s += 3.0;
        on_one_clock(&mut hosts, &[0.0, 2.0], 0.001);
        let all = together(&hosts).unwrap().outcome;
        assert!((all.phases[0].elapsed_s - 4.0).abs() < 1e-6);
        assert_eq!(all.clocks_within_s, Some(0.001));
    }

    #[test]
    fn one_machine_has_its_cores_once_and_its_devices_tell_nothing() {
        let hosts = [host("a", "1", 2, Some(0.0)), host("b", "1", 2, None)];
        let found = together(&hosts).unwrap();
        assert_eq!((found.cores, found.machines), (4, 1));
        let all = found.outcome;
        assert!(all.phases[0].devices.is_empty());
        assert_eq!(all.phases[0].cached_share, None);
    }

    #[test]
    fn processes_of_one_machine_with_cores_of_their_own_add_them_up() {
        let of = |names: [&[&str]; 2]| {
            let hosts = names.map(|names| OfHost {
                core_names: names.iter().map(|name| (*name).to_owned()).collect(),
                cores: u32::try_from(names.len()).unwrap(),
                ..host("a", "1", 2, None)
            });
            together(&hosts).unwrap().cores
        };
        assert_eq!(of([&["0", "1"], &["2", "3"]]), 4);
        assert_eq!(of([&["0", "1"], &["0", "1"]]), 2);
        assert_eq!(of([&["0", "1"], &["1", "2"]]), 3);
    }

    #[test]
    fn a_phase_that_one_did_not_end_is_none() {
        let mut second = host("b", "2", 2, None);
        second.outcome.phases.clear();
        let found = together(&[host("a", "1", 2, None), second]).unwrap();
        assert!(found.outcome.phases.is_empty());
        assert!(together(&[]).is_none());
    }
}
