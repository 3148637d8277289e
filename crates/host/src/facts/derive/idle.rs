//! How deep idle processors sleep: in states that are not switched off, and no deeper than the latency that somebody
//! asks for. TuneD asks through `/dev/cpu_dma_latency`, which switches no state off. Sources: the kernel's quality of
//! service; TuneD, `plugin_cpu.py`.

use crate::facts::{Facts, Key, Value, boot};

const CPUIDLE: &str = "/sys/devices/system/cpu/cpu0/cpuidle";

/// A state of idle processors.
struct State {
    number: u32,
    name: String,
    latency_us: Option<f64>,
    is_on: bool,
}

pub(super) fn derive(facts: &mut Facts) {
    let mut states: Vec<State> = facts
        .subjects("idle")
        .into_iter()
        .filter_map(|subject| state(facts, subject))
        .collect();
    states.sort_by_key(|state| state.number);
    let (asked, from) =
        force_latency(facts).unwrap_or_else(|| ("none".to_owned(), CPUIDLE.to_owned()));
    // Asked in words that cannot be followed here: nothing is known.
    let Some(limit) = limit_us(&asked, &states) else {
        return;
    };
    let deepest = deepest(&states, limit);
    if let Some(name) = deepest {
        facts.run(Key::plain("cpu", "deepest_state"), name, &from);
    }
}

fn state(facts: &Facts, subject: &str) -> Option<State> {
    let value = |name: &str| facts.of("idle", subject, name).and_then(Value::amount);
    Some(State {
        number: subject.strip_prefix("state")?.parse().ok()?,
        name: facts.text("idle", subject, "name").unwrap_or_default(),
        latency_us: value("latency"),
        is_on: value("disable") == Some(0.0),
    })
}

/// What the active profile of a running TuneD asks for, and where.
fn force_latency(facts: &Facts) -> Option<(String, String)> {
    let text = |name: &str| facts.plain("tuned", name).map(ToString::to_string);
    if text("daemon").as_deref() == Some("not running") {
        return None;
    }
    let of_profile = |profile: &String| {
        let fact = facts.get(&Key::of("tuned", profile, "cpu/force_latency"))?;
        let seen = fact.persisted.last()?;
        Some((seen.value.to_string(), seen.from.clone()))
    };
    let chain = boot::chain(facts, &text("profile")?);
    chain.iter().rev().find_map(of_profile)
}

/// The latency that is asked for: the first of alternatives that means something here.
fn limit_us(asked: &str, states: &[State]) -> Option<f64> {
    let of_state = |is_it: &dyn Fn(&State) -> bool, zero: bool| {
        let state = states.iter().find(|state| is_it(state))?;
        state.latency_us.filter(|latency| zero || *latency > 0.0)
    };
    let one = |asked: &str| {
        if asked.eq_ignore_ascii_case("none") {
            return Some(f64::INFINITY);
        }
        let Some(asked) = asked.strip_prefix("cstate.") else {
            return asked.parse().ok();
        };
        let (how, which) = asked.split_once(':')?;
        match how {
            "id" | "id_no_zero" => {
                let number = which.parse().ok()?;
                of_state(&|state| state.number == number, how == "id")
            }
            "name" | "name_no_zero" => of_state(&|state| state.name == which, how == "name"),
            _ => None,
        }
    };
    asked.split('|').map(str::trim).find_map(one)
}

/// The deepest state that is on and wakes in time; `None` also where a state does not say how long it takes.
fn deepest(states: &[State], limit: f64) -> Option<String> {
    let mut found = None;
    for state in states.iter().filter(|state| state.is_on) {
        if limit.is_infinite() || state.latency_us? <= limit {
            found = Some(state.name.clone());
        }
    }
    // The kernel polls where no state is fast enough.
    let polls = states.first().filter(|_| limit.is_finite());
    found.or_else(|| polls.map(|state| state.name.clone()))
}
