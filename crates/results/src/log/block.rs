//! The lines of an accounting block, of every platform and version.

use super::Resources;
use super::figures::{bytes, count, seconds, timestamp};

/// What a line of a block says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Label {
    /// Elapsed time.
    Real,
    /// CPU time.
    Cpu,
    /// User CPU time.
    User,
    /// System CPU time.
    System,
    /// Memory.
    Memory,
    /// Memory of the operating system.
    OsMemory,
    /// Total memory on z/OS.
    TotalMemory,
    /// End of the step.
    Timestamp,
    /// Step and switch count.
    StepCount,
    /// Major page faults.
    PageFaults,
    /// Minor page faults.
    PageReclaims,
    /// Swaps.
    PageSwaps,
    /// Voluntary context switches.
    Voluntary,
    /// Involuntary context switches.
    Involuntary,
    /// Blocks read.
    BlockInput,
    /// Blocks written.
    BlockOutput,
    /// Channel programs.
    Excp,
    /// Something that is known and not kept.
    Other,
}

/// Labels, longer ones before those that they begin with. A blank stands for one or more.
///
/// The German ones follow descriptions, no log in German was at hand; those that end in a hyphen are of z/OS.
const LABELS: [(&str, Label); 38] = [
    ("real time", Label::Real),
    ("cpu time", Label::Cpu),
    ("user cpu time", Label::User),
    ("system cpu time", Label::System),
    ("memory", Label::Memory),
    ("Memory", Label::Memory),
    ("OS Memory", Label::OsMemory),
    ("Timestamp -", Label::Timestamp),
    ("Timestamp", Label::Timestamp),
    ("Step Count", Label::StepCount),
    ("Page Faults", Label::PageFaults),
    ("Page Reclaims", Label::PageReclaims),
    ("Page Swaps", Label::PageSwaps),
    ("Voluntary Context Switches", Label::Voluntary),
    ("Involuntary Context Switches", Label::Involuntary),
    ("Block Input Operations", Label::BlockInput),
    ("Block Output Operations", Label::BlockOutput),
    ("Semaphores", Label::Other),
    ("SAS Task context switches", Label::Other),
    // Heads of the two columns of SAS 6 and 8.
    ("time:", Label::Other),
    ("block I/O operations:", Label::Other),
    ("CPU time -", Label::Cpu),
    ("Elapsed time -", Label::Real),
    ("EXCP count -", Label::Excp),
    ("Task memory -", Label::Memory),
    ("Total memory -", Label::TotalMemory),
    ("Vector affinity time -", Label::Other),
    ("Vector usage time -", Label::Other),
    ("RSM hiperspace time -", Label::Other),
    ("Echtzeit", Label::Real),
    ("CPU-Zeit", Label::Cpu),
    ("CPU Zeit", Label::Cpu),
    ("Benutzer-CPU-Zeit", Label::User),
    ("Benutzer CPU-Zeit", Label::User),
    ("System-CPU-Zeit", Label::System),
    ("System CPU-Zeit", Label::System),
    ("Speicher", Label::Memory),
    ("Zeitstempel", Label::Timestamp),
];

/// The left column of SAS 6 and 8.
const LEFT: [(&str, Label); 5] = [
    ("real", Label::Real),
    ("user cpu", Label::User),
    ("system cpu", Label::System),
    ("input", Label::BlockInput),
    ("output", Label::BlockOutput),
];

/// Its right column.
const RIGHT: [(&str, Label); 5] = [
    ("page faults", Label::PageFaults),
    ("page reclaims", Label::PageReclaims),
    ("usage", Label::Memory),
    ("voluntary", Label::Voluntary),
    ("involuntary", Label::Involuntary),
];

/// Takes over what a line of a block says; `None` if it is no such line. The first figure of a kind stays.
pub(super) fn take(text: &[u8], used: &mut Resources) -> Option<Label> {
    for (name, label) in LABELS {
        if let Some(value) = after(text, name.as_bytes()) {
            return set(label, value, used);
        }
    }
    two_columns(text, used)
}

/// `real  0.05 seconds   page faults   0`.
fn two_columns(text: &[u8], used: &mut Resources) -> Option<Label> {
    let (left, value) = LEFT
        .iter()
        .find_map(|(name, label)| Some((*label, after(text, name.as_bytes())?)))?;
    let words = |at: usize| {
        RIGHT.iter().find_map(|(name, label)| {
            let boundary = at == 0 || value[at - 1] == b' ';
            let rest = boundary.then(|| after(&value[at..], name.as_bytes()))??;
            Some((*label, rest))
        })
    };
    let (at, (right, right_value)) = (1..value.len()).find_map(|at| Some((at, words(at)?)))?;
    set(left, &value[..at], used)?;
    set(right, right_value, used)?;
    Some(left)
}

/// What follows a label, without blanks; `None` if the text does not begin with it as whole words.
fn after<'a>(text: &'a [u8], label: &[u8]) -> Option<&'a [u8]> {
    let rest = following(text, label)?;
    let ends = label.last() == Some(&b'-') || rest.first().is_none_or(u8::is_ascii_whitespace);
    ends.then(|| rest.trim_ascii())
}

/// What follows some words, whose blanks stand for one or more.
pub(super) fn following<'a>(text: &'a [u8], label: &[u8]) -> Option<&'a [u8]> {
    let mut rest = text;
    for byte in label {
        if *byte == b' ' {
            let trimmed = rest.trim_ascii_start();
            if trimmed.len() == rest.len() {
                return None;
            }
            rest = trimmed;
        } else {
            rest = rest.strip_prefix(&[*byte])?;
        }
    }
    Some(rest)
}

fn set(label: Label, value: &[u8], used: &mut Resources) -> Option<Label> {
    let whole = |value| count(value).map(|(number, _)| number);
    let done = match label {
        Label::Real => put(&mut used.real_s, seconds(value)),
        Label::Cpu => put(&mut used.cpu_s, seconds(value)),
        Label::User => put(&mut used.user_s, seconds(value)),
        Label::System => put(&mut used.system_s, seconds(value)),
        Label::Memory => put(&mut used.memory_bytes, bytes(value)),
        Label::OsMemory => put(&mut used.os_memory_bytes, bytes(value)),
        Label::TotalMemory => put(&mut used.total_memory_bytes, bytes(value)),
        Label::Timestamp => {
            // A form that is not known still is a line of the block.
            let _ = put(&mut used.ended, timestamp(value));
            true
        }
        Label::StepCount => step_count(value, used),
        Label::PageFaults => put(&mut used.page_faults, whole(value)),
        Label::PageReclaims => put(&mut used.page_reclaims, whole(value)),
        Label::PageSwaps => put(&mut used.page_swaps, whole(value)),
        Label::Voluntary => put(&mut used.voluntary_switches, whole(value)),
        Label::Involuntary => put(&mut used.involuntary_switches, whole(value)),
        Label::BlockInput => put(&mut used.block_input, whole(value)),
        Label::BlockOutput => put(&mut used.block_output, whole(value)),
        Label::Excp => put(&mut used.excp_count, whole(value)),
        Label::Other => true,
    };
    done.then_some(label)
}

/// `5  Switch Count  676`.
fn step_count(value: &[u8], used: &mut Resources) -> bool {
    let Some((steps, rest)) = count(value) else {
        return false;
    };
    let switches = after(rest.trim_ascii_start(), b"Switch Count").and_then(count);
    let _ = put(&mut used.switch_count, switches.map(|(number, _)| number));
    put(&mut used.step_count, Some(steps))
}

/// Whether there is a value; the first one stays.
fn put<T>(place: &mut Option<T>, value: Option<T>) -> bool {
    let known = value.is_some();
    if place.is_none() {
        *place = value;
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(lines: &[&str]) -> (Resources, Vec<Option<Label>>) {
        let mut used = Resources::default();
        let labels = lines
            .iter()
            .map(|line| take(line.trim().as_bytes(), &mut used))
            .collect();
        (used, labels)
    }

    #[test]
    fn lines_of_other_things_are_no_lines_of_a_block() {
        let (used, labels) = taken(&[
            "real estate",
            "memory of the machine",
            "input file",
            "output 5",
            "NOTE: real time 0.1 seconds",
            "real time",
            "timer",
        ]);
        assert!(labels.iter().all(Option::is_none), "{labels:?}");
        assert_eq!(used, Resources::default());
    }

    #[test]
    fn two_columns_hold_two_figures_each() {
        let (used, labels) = taken(&[
            "time:                           memory:",
            "   real        0.66 seconds        page faults   0 ",
            "   user cpu    0.06 seconds        page reclaims 275 ",
            "   system cpu  0.28 seconds        usage         1.75 M",
            "block I/O operations:           context switches:",
            "   input       0                   voluntary     43",
            "   output      181                 involuntary   2",
        ]);
        assert!(labels.iter().all(Option::is_some), "{labels:?}");
        assert_eq!(used.real_s, Some(0.66));
        assert_eq!(used.memory_bytes, Some(1_835_008));
        assert_eq!((used.page_faults, used.page_reclaims), (Some(0), Some(275)));
        assert_eq!((used.block_input, used.block_output), (Some(0), Some(181)));
        let switches = (used.voluntary_switches, used.involuntary_switches);
        assert_eq!(switches, (Some(43), Some(2)));
    }
}
