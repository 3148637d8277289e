//! Actions of Cloud Analytic Services, as logs of Viya account for them: a NOTE for each line, and a NOTE that says
//! which action it was before the first.

use serde::{Deserialize, Serialize};

use super::Resources;
use super::block::{self, following};
use super::figures::{bytes, count, seconds};

/// Actions of a log that are told apart by their names; more of them go together.
const NAMES_MAX: usize = 1000;

/// All actions of one name in a log. A figure that no log has is absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CasAction {
    /// Its name, `table.loadTable`.
    pub name: String,
    /// How often it ran.
    pub count: u64,
    /// Elapsed time, seconds. An action that calls others contains theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_s: Option<f64>,
    /// The longest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_max_s: Option<f64>,
    /// CPU time on all nodes, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Time in which data moved between nodes, seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data_movement_s: Option<f64>,
    /// Bytes moved between nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved_bytes: Option<u64>,
    /// Largest memory of one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Most nodes that were there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u64>,
    /// Most cores.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<u64>,
}

/// What only actions have.
#[derive(Debug, Clone, Default)]
pub(super) struct Beside {
    data_movement_s: Option<f64>,
    moved_bytes: Option<u64>,
    nodes: Option<u64>,
    cores: Option<u64>,
}

/// Takes over what a line says; false if it is none of an action's accounting.
pub(super) fn take(text: &[u8], used: &mut Resources, beside: &mut Beside) -> bool {
    let value = |label: &[u8]| following(text, label).map(<[u8]>::trim_ascii);
    if let Some(value) = value(b"total nodes") {
        let Some((nodes, rest)) = count(value) else {
            return false;
        };
        beside.nodes = Some(nodes);
        let cores = rest.trim_ascii_start().strip_prefix(b"(").and_then(count);
        beside.cores = cores.map(|(cores, _)| cores);
    } else if let Some(value) = value(b"data movement time") {
        beside.data_movement_s = seconds(value);
    } else if let Some(value) = value(b"bytes moved") {
        beside.moved_bytes = bytes(value);
    } else if value(b"total memory").is_none() {
        return block::take(text, used).is_some();
    }
    true
}

/// Adds an action to those of its name.
pub(super) fn add(all: &mut Vec<CasAction>, name: &str, used: &Resources, beside: &Beside) {
    let place = all.iter().position(|one| one.name == name);
    let place = place.unwrap_or_else(|| {
        if all.len() < NAMES_MAX {
            all.push(CasAction {
                name: name.to_owned(),
                ..CasAction::default()
            });
        }
        all.len() - 1
    });
    all[place].merge(&CasAction {
        name: String::new(),
        count: 1,
        real_s: used.real_s,
        real_max_s: used.real_s,
        cpu_s: used.cpu_s,
        data_movement_s: beside.data_movement_s,
        moved_bytes: beside.moved_bytes,
        memory_bytes: used.memory_bytes,
        nodes: beside.nodes,
        cores: beside.cores,
    });
}

impl CasAction {
    /// Adds others of this name.
    pub fn merge(&mut self, other: &Self) {
        fn plus<T: std::ops::Add<Output = T> + Copy>(sum: &mut Option<T>, value: Option<T>) {
            if let Some(value) = value {
                *sum = Some(sum.map_or(value, |sum| sum + value));
            }
        }
        self.count += other.count;
        plus(&mut self.real_s, other.real_s);
        plus(&mut self.cpu_s, other.cpu_s);
        plus(&mut self.data_movement_s, other.data_movement_s);
        plus(&mut self.moved_bytes, other.moved_bytes);
        let longest = [self.real_max_s, other.real_max_s].into_iter().flatten();
        self.real_max_s = longest.reduce(f64::max);
        self.memory_bytes = self.memory_bytes.max(other.memory_bytes);
        self.nodes = self.nodes.max(other.nodes);
        self.cores = self.cores.max(other.cores);
    }

    /// CPU time over elapsed time.
    pub fn cpu_real(&self) -> Option<f64> {
        Some(self.cpu_s? / self.real_s.filter(|real| *real > 0.0)?)
    }
}
