//! Processor time of the host (/proc/stat).

use crate::fields::number;

/// Ticks of a second in which /proc tells times: `USER_HZ`, 100 on every architecture that Linux
/// tells it for.
pub const TICKS_PER_S: f64 = 100.0;

/// Time of processors together since boot, seconds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ProcessorTimes {
    /// In programs, niced ones included.
    pub user_s: f64,
    /// In the kernel, interrupts left out.
    pub system_s: f64,
    /// In interrupts, hard and soft.
    pub interrupts_s: f64,
    /// Idle.
    pub idle_s: f64,
    /// Idle while I/O was outstanding.
    pub iowait_s: f64,
    /// Taken by other guests of the same host.
    pub steal_s: f64,
}

/// Those of them whose numbers are wanted, added up; `None` if there is none.
pub fn parse(stat: &str, wanted: impl Fn(usize) -> bool) -> Option<ProcessorTimes> {
    let lines = stat
        .lines()
        .filter_map(|line| line.strip_prefix("cpu")?.split_once(' '));
    let own = lines.filter(|(name, _)| name.parse().is_ok_and(&wanted));
    own.map(|(_, times)| of_line(times)).reduce(|all, one| {
        let (all, one) = (all?, one?);
        Some(ProcessorTimes {
            user_s: all.user_s + one.user_s,
            system_s: all.system_s + one.system_s,
            interrupts_s: all.interrupts_s + one.interrupts_s,
            idle_s: all.idle_s + one.idle_s,
            iowait_s: all.iowait_s + one.iowait_s,
            steal_s: all.steal_s + one.steal_s,
        })
    })?
}

/// How many processors the host has online.
pub fn online(stat: &str) -> usize {
    let names = stat.lines().filter_map(|line| line.strip_prefix("cpu"));
    names
        .filter(|name| name.starts_with(|letter: char| letter.is_ascii_digit()))
        .count()
}

fn of_line(times: &str) -> Option<ProcessorTimes> {
    let mut fields = times.split_ascii_whitespace().map(number);
    // Times of guests are part of user and nice.
    let mut next = || {
        fields
            .next()
            .flatten()
            .map(|ticks| ticks as f64 / TICKS_PER_S)
    };
    let (user, nice, system, idle) = (next()?, next()?, next()?, next()?);
    let (iowait, hard, soft) = (next(), next(), next());
    Some(ProcessorTimes {
        user_s: user + nice,
        system_s: system,
        interrupts_s: hard.unwrap_or(0.0) + soft.unwrap_or(0.0),
        idle_s: idle,
        iowait_s: iowait.unwrap_or(0.0),
        steal_s: next().unwrap_or(0.0),
    })
}

/// Name, whether it is a thread of the kernel, and processor time of a process, seconds
/// (/proc/PID/stat).
pub fn parse_process(stat: &str) -> Option<ProcessTimes> {
    // The name stands in parentheses and may hold anything.
    let (_, rest) = stat.split_once('(')?;
    let (name, rest) = rest.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let field = |number_in_manual: usize| fields.get(number_in_manual - 3).copied();
    let (user, system) = (number(field(14)?)?, number(field(15)?)?);
    Some(ProcessTimes {
        name: name.to_owned(),
        // PF_KTHREAD of include/linux/sched.h.
        of_kernel: number(field(9)?)? & 0x0020_0000 != 0,
        cpu_s: user.saturating_add(system) as f64 / TICKS_PER_S,
    })
}

/// What /proc/PID/stat says of a process.
#[derive(Debug, Clone, PartialEq)]
pub struct ProcessTimes {
    /// The command, cut to 15 bytes.
    pub name: String,
    /// True for a thread of the kernel.
    pub of_kernel: bool,
    /// User and system time, seconds.
    pub cpu_s: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hundredths, which compare as whole numbers.
    fn hundredths(times: [f64; 6]) -> [i64; 6] {
        #[expect(clippy::cast_possible_truncation, reason = "small numbers")]
        times.map(|seconds| (seconds * TICKS_PER_S).round() as i64)
    }

    fn all(times: &ProcessorTimes) -> [i64; 6] {
        hundredths([
            times.user_s,
            times.system_s,
            times.interrupts_s,
            times.idle_s,
            times.iowait_s,
            times.steal_s,
        ])
    }

    #[test]
    fn times_of_the_wanted_are_added_up() {
        let stat = include_str!("captured/stat");
        let first = [1_713_994 + 29_795, 601_771, 544, 2_065_074, 20_628, 15_113];
        assert_eq!(all(&parse(stat, |number| number == 0).unwrap()), first);
        let both = parse(stat, |_| true).unwrap();
        let second = [
            1_908_942 + 34_425,
            610_047,
            4_622,
            1_813_951,
            63_163,
            15_164,
        ];
        let sum: Vec<i64> = first
            .iter()
            .zip(second)
            .map(|(one, other)| one + other)
            .collect();
        assert_eq!(all(&both).to_vec(), sum);
        assert_eq!(parse(stat, |number| number > 1), None);
        assert_eq!(online(stat), 2);
    }

    #[test]
    fn an_old_kernel_has_fewer_fields() {
        let times = parse("cpu  100 0 50 1000\ncpu0 100 0 50 1000\n", |_| true).unwrap();
        assert_eq!(all(&times), [100, 50, 0, 1000, 0, 0]);
        assert_eq!(parse("cpu  1 2 3 4\n", |_| true), None);
        assert_eq!(parse("cpu0 1 2 x\n", |_| true), None);
    }

    #[test]
    fn names_of_processes_may_hold_parentheses() {
        let text = "42 (a) b (c) S 2 0 0 0 -1 2129984 0 0 0 0 150 50 0 0 20 0 1 0 5 0 0\n";
        let times = parse_process(text).unwrap();
        assert_eq!((times.name.as_str(), times.of_kernel), ("a) b (c", true));
        assert!((times.cpu_s - 2.0).abs() < 1e-9, "{times:?}");
        let program = text.replace("2129984", "4194304");
        assert!(!parse_process(&program).unwrap().of_kernel);
        assert_eq!(parse_process("42 (a) S 2"), None);
    }
}
