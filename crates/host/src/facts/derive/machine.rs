//! The machine: release, cores, virtualisation, cloud, settings that are told per processor.

use std::collections::BTreeSet;

use crate::facts::collect::Given;
use crate::facts::value::versions;
use crate::facts::{Facts, Key, Value, boot};

pub(super) fn derive(facts: &mut Facts, given: &Given) {
    release(facts);
    several_connections(facts);
    tasks(facts);
    virtualisation(facts);
    cores(facts);
    per_processor(facts);
    dirty_limit(facts);
    sas(facts);
    profiles(facts);
    for vendor in &given.vendors {
        let key = Key::of("vendor", vendor, "given");
        facts.run(key, 1_i64, "--vendor");
    }
}

fn text(facts: &Facts, class: &str, name: &str) -> String {
    facts
        .plain(class, name)
        .map(ToString::to_string)
        .unwrap_or_default()
}

/// `rhel8` and `8.6`; where releases were not captured the kernel tells, `4.18.0-80.el8_0`.
fn release(facts: &mut Facts) {
    let kernel = text(facts, "os", "kernel");
    let (id, version) = (text(facts, "os", "id"), text(facts, "os", "version"));
    let (id, version, from) = if id.is_empty() {
        let Some((_, rest)) = kernel.split_once(".el") else {
            return;
        };
        let version: String = rest
            .chars()
            .take_while(|letter| letter.is_ascii_digit() || *letter == '_')
            .collect();
        (
            "rhel".to_owned(),
            version.replace('_', "."),
            "the kernel's name",
        )
    } else {
        (id, version, "os-release")
    };
    let major = version.split('.').next().unwrap_or_default();
    facts.run(Key::plain("os", "release"), format!("{id}{major}"), from);
    // Always a text: 8.10 comes after 8.9.
    facts.run(Key::plain("os", "release_version"), version, from);
}

/// Whether NFS takes `nconnect`: Linux 5.3, and RHEL 8 since 8.3 (4.18.0-240). A kernel that does not know it
/// refuses the mount. Source: nfs(5); notes N1 and N3 of the rules.
fn several_connections(facts: &mut Facts) {
    let kernel = text(facts, "os", "kernel");
    if kernel.is_empty() {
        return;
    }
    let since = |than: &str| versions(&kernel, than).is_ge();
    let ported = kernel.contains(".el8") && since("4.18.0-240");
    let known = if ported || since("5.3") { "yes" } else { "no" };
    facts.run(
        Key::plain("os", "knows_nconnect"),
        known,
        "the kernel's version",
    );
}

/// Tasks that units may have: a share is one of the smaller of what the kernel allows. Source:
/// systemd.resource-control(5), `system_tasks_max` of systemd.
fn tasks(facts: &mut Facts) {
    let most = |name: &str| facts.number("sysctl", name);
    let host = match (most("kernel.pid_max"), most("kernel.threads-max")) {
        (Some(processes), Some(threads)) => Some(processes.min(threads)),
        _ => None,
    };
    let mut found = Vec::new();
    for (key, fact) in facts.class("unit") {
        let Some(unit) = key.subject.as_ref().filter(|_| key.name == "TasksMax") else {
            continue;
        };
        for seen in &fact.persisted {
            let said = seen.value.to_string();
            let share = said
                .strip_suffix('%')
                .and_then(|share| share.parse::<f64>().ok());
            let (value, from) = match share.zip(host) {
                #[expect(clippy::cast_possible_truncation, reason = "a number of tasks")]
                Some((share, host)) => {
                    let tasks = (share / 100.0 * host).floor() as i64;
                    (tasks.into(), format!("{}, {said}", seen.from))
                }
                None => (seen.value.clone(), seen.from.clone()),
            };
            found.push((Key::of("unit", unit, "tasks_max"), value, from));
        }
    }
    for (key, value, from) in found {
        facts.persist(key, value, &from);
    }
}

fn virtualisation(facts: &mut Facts) {
    let vendor = text(facts, "dmi", "system_vendor");
    let product = text(facts, "dmi", "product");
    let tag = text(facts, "dmi", "chassis_asset_tag");
    let bios = text(facts, "dmi", "bios_vendor");
    let cloud = match () {
        () if vendor.starts_with("Amazon EC2") => "aws",
        () if tag == "7783-7084-3265-9085-8269-3286-77" => "azure",
        () if vendor.starts_with("Google") => "gcp",
        () if tag == "OracleCloud.com" => "oci",
        () if vendor.is_empty() && bios.is_empty() => "",
        () => "none",
    };
    if !cloud.is_empty() {
        facts.run(Key::plain("host", "cloud"), cloud, "dmi");
    }
    let hypervisor = text(facts, "cpu", "hypervisor").to_lowercase();
    let flag = facts.plain("cpu", "hypervisor_flag").is_some();
    let known = [
        (vendor.as_str(), "QEMU", "kvm"),
        (&vendor, "Red Hat", "kvm"),
        (&product, "KVM", "kvm"),
        (&product, "VMware", "vmware"),
        (&vendor, "VMware", "vmware"),
        (&vendor, "Xen", "xen"),
        (&product, "HVM domU", "xen"),
        (&vendor, "Amazon EC2", "kvm"),
        (&vendor, "Google", "kvm"),
        (&product, "Virtual Machine", "hyperv"),
        (&product, "VirtualBox", "virtualbox"),
        (&hypervisor, "kvm", "kvm"),
        (&hypervisor, "microsoft", "hyperv"),
        (&hypervisor, "vmware", "vmware"),
        (&hypervisor, "xen", "xen"),
    ];
    let found = known
        .iter()
        .find(|(text, start, _)| text.starts_with(start));
    let found = match (found, flag) {
        (Some((_, _, kind)), true) => Some(*kind),
        // Bare metal of a cloud's vendor has its name but no hypervisor.
        (Some((_, _, kind)), false) if facts.plain("cpu", "model").is_none() => Some(*kind),
        (None, true) => Some("other"),
        (_, false) if facts.plain("cpu", "vendor").is_some() => Some("none"),
        _ => None,
    };
    if let Some(found) = found {
        facts.run(
            Key::plain("host", "virtualisation"),
            found,
            "dmi and cpuinfo",
        );
    }
}

/// Physical cores. On a virtual machine that shows no sibling threads two vCPUs count as one, as in
/// `crate::cores`.
fn cores(facts: &mut Facts) {
    let mut seen = BTreeSet::new();
    for processor in facts.subjects("cpu") {
        let core = facts.text("cpu", processor, "core_id");
        seen.extend(core.map(|core| (facts.text("cpu", processor, "physical_package_id"), core)));
    }
    if !seen.is_empty() {
        facts.run(Key::plain("cpu", "cores"), seen.len(), "topology");
    }
    let number = |name: &str| match facts.plain("cpu", name) {
        Some(Value::Number(number)) => Some(*number),
        _ => None,
    };
    let (Some(processors), Some(cores)) = (number("processors"), number("cores")) else {
        return;
    };
    let machine = text(facts, "host", "virtualisation");
    let (cores, from) = if processors == cores && !machine.is_empty() && machine != "none" {
        ((processors / 2).max(1), "vCPUs, two per core")
    } else {
        (cores, "topology")
    };
    facts.run(Key::plain("host", "cores"), cores, from);
    if let Some(memory) = facts.number("memory", "total_bytes") {
        #[expect(clippy::cast_possible_truncation, reason = "memory of a host in GB")]
        let per_core = (memory / 1e9 / cores as f64).round() as i64;
        facts.run(
            Key::plain("host", "memory_gb_per_core"),
            per_core,
            "meminfo and cores",
        );
    }
}

/// What is told per processor becomes one list of what differs.
fn per_processor(facts: &mut Facts) {
    let names = [
        ("scaling_governor", "governor"),
        ("scaling_driver", "frequency_driver"),
        (
            "energy_performance_preference",
            "energy_performance_preference",
        ),
        ("energy_perf_bias", "energy_perf_bias"),
    ];
    for (theirs, ours) in names {
        let values: BTreeSet<String> = facts
            .subjects("cpu")
            .into_iter()
            .filter_map(|processor| facts.text("cpu", processor, theirs))
            .collect();
        if !values.is_empty() {
            let from = format!("/sys/devices/system/cpu/cpu*/…/{theirs}");
            facts.run(Key::plain("cpu", ours), Value::list(values), &from);
        }
    }
    facts.forget(|key| key.class == "cpu" && key.subject.is_some());
}

/// Dirty memory that makes writers wait: bytes, or a share of what is available (here: of all)
/// memory.
fn dirty_limit(facts: &mut Facts) {
    let bytes = facts
        .number("sysctl", "vm.dirty_bytes")
        .filter(|bytes| *bytes > 0.0);
    let share = facts
        .number("sysctl", "vm.dirty_ratio")
        .zip(facts.number("memory", "total_bytes"));
    let limit = bytes.or_else(|| share.map(|(share, memory)| share / 100.0 * memory));
    if let Some(limit) = limit {
        #[expect(clippy::cast_possible_truncation, reason = "a share of the memory")]
        let limit = limit as i64;
        facts.run(
            Key::plain("memory", "dirty_limit_bytes"),
            limit,
            "vm.dirty_bytes or vm.dirty_ratio",
        );
    }
    let total = facts
        .number("memory", "swap_total_bytes")
        .filter(|total| *total > 0.0);
    if let (Some(total), Some(free)) = (total, facts.number("memory", "swap_free_bytes")) {
        #[expect(clippy::cast_possible_truncation, reason = "a percentage")]
        let used = ((total - free) / total * 100.0).round() as i64;
        facts.run(
            Key::plain("memory", "swap_used_percent"),
            used,
            "/proc/meminfo",
        );
    }
    // Since Linux 4.17 one line counts huge pages of all sizes; the others count those of the usual size.
    let pages = facts
        .number("memory", "huge_pages")
        .zip(facts.number("memory", "huge_page_bytes"));
    let huge = facts
        .number("memory", "huge_bytes")
        .or_else(|| pages.map(|(pages, bytes)| pages * bytes));
    if let Some((huge, memory)) = huge.zip(facts.number("memory", "total_bytes")) {
        #[expect(clippy::cast_possible_truncation, reason = "a percentage")]
        let share = (huge / memory.max(1.0) * 100.0).round() as i64;
        facts.run(
            Key::plain("memory", "huge_pages_percent"),
            share,
            "/proc/meminfo",
        );
    }
}

/// A part of a whole, as a percentage.
pub(super) fn percent(facts: &mut Facts, key: Key, part: f64, whole: f64) {
    #[expect(clippy::cast_possible_truncation, reason = "a percentage")]
    let percent = (part / whole.max(1.0) * 100.0).round() as i64;
    facts.run(key, percent, "computed");
}

/// What SAS is told, as shares.
fn sas(facts: &mut Facts) {
    let amount = |name: &str| {
        let fact = facts.get(&Key::plain("sas", name))?;
        let seen = fact.running.as_ref().or(fact.persisted.last())?;
        seen.value.amount().filter(|amount| *amount > 0.0)
    };
    if let (Some(sort), Some(memory)) = (amount("SORTSIZE"), amount("MEMSIZE")) {
        percent(facts, Key::plain("sas", "sortsize_percent"), sort, memory);
    }
}

/// Profiles that the active one includes, and itself.
fn profiles(facts: &mut Facts) {
    if let Some(profile) = facts.plain("tuned", "profile").map(ToString::to_string) {
        let chain = boot::chain(facts, &profile);
        facts.run(
            Key::plain("tuned", "chain"),
            Value::list(chain),
            "profiles that are included",
        );
    }
}
