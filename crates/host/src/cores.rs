//! How many physical cores a run may use: within the affinity mask and the cgroup's quota. On a
//! virtual machine that shows no sibling threads, two vCPUs count as one core, as the cloud
//! vendors' and SAS's own sizing rules do.

use std::collections::BTreeSet;
use std::fs;

use crate::cgroup;

/// Usable cores, and how they were counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cores {
    /// Physical cores, at least 1.
    pub physical: u32,
    /// Processors in the affinity mask.
    pub processors: u32,
    /// How the first follows from the second, a phrase.
    pub basis: String,
    /// What the kernel calls the cores of these processors: the same for all processes of a host.
    pub names: BTreeSet<String>,
}

/// Counts the cores of this host that the process may use.
pub fn live() -> Cores {
    let processors = affinity();
    let siblings: Vec<Option<(String, String)>> =
        processors.iter().map(|cpu| core_of(*cpu)).collect();
    let virtual_machine = fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| is_virtual(&text));
    Cores {
        names: names(&processors),
        ..count(&siblings, virtual_machine, cgroup::processors())
    }
}

/// The cores of the affinity mask, and those that the control group or the host would let the process have, where the
/// mask has fewer: launchers of MPI bind each process to a core or a socket unless they are told not to.
pub fn bound() -> Option<(usize, usize)> {
    let online = || fs::read_to_string("/sys/devices/system/cpu/online").ok();
    let allowed = cgroup::cpuset().or_else(online)?;
    fewer(&names(&affinity()), &names(&listed(&allowed)))
}

/// How many cores there are of how many, unless it is all of them.
fn fewer(mask: &BTreeSet<String>, allowed: &BTreeSet<String>) -> Option<(usize, usize)> {
    (mask.len() < allowed.len()).then_some((mask.len(), allowed.len()))
}

/// Names of the cores of processors.
fn names(processors: &[usize]) -> BTreeSet<String> {
    let name = |cpu: &usize| match core_of(*cpu) {
        Some((package, siblings)) => format!("{package}:{siblings}"),
        None => format!("cpu{cpu}"),
    };
    processors.iter().map(name).collect()
}

/// The numbers of a list of processors, `0-3,8`.
fn listed(list: &str) -> Vec<usize> {
    let parts = list.trim().split(',').filter_map(|part| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse().ok()?)
    });
    parts.flatten().collect()
}

/// Processors whose time a quota of a control group lets the process have, if that is less than those of its mask.
pub fn quota() -> Option<f64> {
    let processors = affinity().len() as f64;
    cgroup::processors().filter(|quota| *quota < processors)
}

/// Numbers of the processors in the affinity mask.
pub fn affinity() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None);
    let set = set.unwrap_or_else(|_| rustix::thread::CpuSet::new());
    (0..rustix::thread::CpuSet::MAX_CPU)
        .filter(|cpu| set.is_set(*cpu))
        .collect()
}

/// Package and core of a processor, as /sys tells.
fn core_of(cpu: usize) -> Option<(String, String)> {
    let read = |name: &str| {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/{name}");
        fs::read_to_string(path)
            .ok()
            .map(|text| text.trim().to_owned())
    };
    // The list of siblings names a core: core_id repeats across dies and clusters on some machines.
    Some((read("physical_package_id")?, read("thread_siblings_list")?))
}

/// True if /proc/cpuinfo shows the hypervisor flag.
pub fn is_virtual(cpuinfo: &str) -> bool {
    let mut flags = cpuinfo.lines().filter(|line| line.starts_with("flags"));
    flags.any(|line| {
        line.split_ascii_whitespace()
            .any(|flag| flag == "hypervisor")
    })
}

/// Whether a list of siblings (`0-1`, `0,16`) names one processor. A mask that has one thread of each core (Slurm's
/// `--hint=nomultithread`) leaves a list for each processor as well, and these lists still name the other threads.
fn is_alone(list: &str) -> bool {
    !list.contains([',', '-'])
}

fn count(
    siblings: &[Option<(String, String)>],
    virtual_machine: bool,
    quota: Option<f64>,
) -> Cores {
    let processors = siblings.len().max(1);
    let known: BTreeSet<_> = siblings.iter().flatten().collect();
    let (mut cores, mut basis) = if known.is_empty() || siblings.iter().any(Option::is_none) {
        (
            processors,
            format!("{processors} processors, topology unknown"),
        )
    } else if virtual_machine && known.iter().all(|(_, list)| is_alone(list)) {
        (
            processors / 2,
            format!("{processors} vCPUs of a virtual machine, two per core"),
        )
    } else {
        (
            known.len(),
            format!("{processors} processors on {} cores", known.len()),
        )
    };
    let per_core = processors as f64 / cores.max(1) as f64;
    if let Some(quota) = quota.filter(|quota| *quota < processors as f64) {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a quota of processors is small and positive"
        )]
        let allowed = (quota / per_core).floor().max(1.0) as usize;
        if allowed < cores {
            cores = allowed;
            basis = format!("{basis}, limited by the cgroup to {quota:.1} processors");
        }
    }
    let small = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Cores {
        physical: small(cores.max(1)),
        processors: small(processors),
        basis,
        names: BTreeSet::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of siblings of the processors in the mask.
    fn topology(lists: &[&str]) -> Vec<Option<(String, String)>> {
        lists
            .iter()
            .map(|list| Some(("0".to_owned(), (*list).to_owned())))
            .collect()
    }

    const PAIRS: [&str; 4] = ["0-1", "0-1", "2-3", "2-3"];
    const ALONE: [&str; 4] = ["0", "1", "2", "3"];

    #[test]
    fn siblings_count_once() {
        assert_eq!(count(&topology(&PAIRS), false, None).physical, 2);
        assert_eq!(count(&topology(&ALONE), false, None).physical, 4);
    }

    #[test]
    fn two_vcpus_are_one_core_unless_siblings_are_shown() {
        assert_eq!(count(&topology(&ALONE), true, None).physical, 2);
        assert_eq!(count(&topology(&PAIRS), true, None).physical, 2);
        assert_eq!(count(&topology(&["0"]), true, None).physical, 1);
    }

    #[test]
    fn a_mask_with_one_thread_of_each_core_is_not_halved() {
        for lists in [["0,4", "1,5", "2,6", "3,7"], ["0-1", "2-3", "4-5", "6-7"]] {
            let cores = count(&topology(&lists), true, None);
            assert_eq!((cores.physical, cores.processors), (4, 4), "{lists:?}");
        }
        assert_eq!(count(&topology(&["0-1"]), true, None).physical, 1);
    }

    #[test]
    fn a_quota_takes_cores_away() {
        let cores = count(&topology(&ALONE), false, Some(2.5));
        assert_eq!(cores.physical, 2);
        assert!(cores.basis.contains("cgroup"), "{}", cores.basis);
    }

    #[test]
    fn a_mask_of_fewer_cores_than_there_are_is_bound() {
        assert_eq!(listed("0-2,8\n"), [0, 1, 2, 8]);
        let cores = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let all: BTreeSet<String> = cores(&["0:0,4", "0:1,5"]);
        assert_eq!(fewer(&cores(&["0:0,4"]), &all), Some((1, 2)));
        // One thread of each core.
        assert_eq!(fewer(&all, &all), None);
    }

    #[test]
    fn the_flag_is_a_whole_word() {
        assert!(is_virtual("flags\t\t: fpu hypervisor vme\n"));
        assert!(!is_virtual(
            "flags\t\t: fpu hypervisorx\nmodel name: hypervisor\n"
        ));
    }
}
