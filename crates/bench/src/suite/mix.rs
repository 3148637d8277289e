//! The users of a suite in other numbers: `--mix modeller=4,report=10` launches the jobs of modellers four
//! times in all and those of report users ten times. Personas that are not named keep their launches.
//!
//! Fewer users are the first ones of the suite. More of them launch its jobs of the persona once more, one
//! after the other, each with a name and a macro variable of its own, so that outputs are told apart.

use std::collections::BTreeMap;

use super::Suite;
use super::expand::{Choice, Launching, offset};
use super::text::{Job, SuiteText};

/// What is put behind the names of users beyond those of the suite.
pub fn suffix(round: u64) -> String {
    match round {
        0 => String::new(),
        round => format!("u{}", round + 1),
    }
}

/// What is wrong with a mix for a suite of which each persona has so many launches; a sentence.
pub fn mistake(
    text: &SuiteText,
    launches: &BTreeMap<String, u64>,
    mix: &BTreeMap<String, u64>,
) -> Option<String> {
    let suite = text.name.get_ref();
    if text.personas.is_empty() && !mix.is_empty() {
        return Some(format!(
            "the suite {suite} has no personas: its users cannot be changed"
        ));
    }
    for (persona, count) in mix {
        let Some(there) = launches.get(persona) else {
            let known = launches
                .iter()
                .map(|(name, count)| format!("{name} ({count})"));
            let known = known.collect::<Vec<_>>().join(", ");
            return Some(format!(
                "the suite {suite} has no users {persona}; it has {known}"
            ));
        };
        if count <= there {
            let streams = own_jobs(text, persona).any(|job| !job.streams.is_empty());
            if count < there && streams {
                return Some(format!(
                    "the launches of {persona} follow each other in streams; their number is fixed"
                ));
            }
            continue;
        }
        let Some(mix) = &text.mix else {
            return Some(format!(
                "{persona}: {count} are more than the {there} of the suite {suite}, which has no [mix]; parameters \
                 of the suite may say how many there are"
            ));
        };
        let has = |job: &Job| {
            let each = |launch: &super::text::LaunchOf| launch.symbols.contains_key(&mix.symbol);
            let all = !job.launches.is_empty() && job.launches.iter().all(each);
            job.symbols.contains_key(&mix.symbol) || all
        };
        if let Some(job) = own_jobs(text, persona).find(|job| !has(job)) {
            return Some(format!(
                "{persona}: {count} are more than the {there} of the suite {suite}, and {} has no macro variable {} \
                 that tells users apart",
                job.program.get_ref(),
                mix.symbol
            ));
        }
    }
    None
}

fn own_jobs<'a>(text: &'a SuiteText, persona: &str) -> impl Iterator<Item = &'a Job> {
    let is_it = move |job: &&Job| {
        let own = job.persona.as_ref().map(|name| name.get_ref().as_str());
        own == Some(persona)
    };
    text.jobs
        .iter()
        .filter(is_it)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Leaves launches out or adds some; `launches` are those of each entry of the suite.
pub(super) fn apply<'a>(suite: &'a Suite, choice: &Choice, launches: &mut [Vec<Launching<'a>>]) {
    for (persona, count) in &choice.mix {
        let mut there: Vec<(usize, Launching<'a>)> = Vec::new();
        for (entry, job) in suite.text.jobs.iter().enumerate() {
            if job
                .persona
                .as_ref()
                .is_some_and(|name| name.get_ref() == persona)
            {
                there.extend(
                    launches[entry]
                        .drain(..)
                        .map(|launching| (entry, launching)),
                );
            }
        }
        let at = |launching: &Launching<'_>| offset(suite, choice, launching);
        there.sort_by(|(_, left), (_, right)| at(left).total_cmp(&at(right)));
        let all = there.len() as u64;
        for number in 0..*count {
            let Some((entry, launching)) = usize::try_from(number % all.max(1))
                .ok()
                .and_then(|place| there.get(place))
            else {
                break;
            };
            launches[*entry].push(launching.again(number / all));
        }
    }
}
