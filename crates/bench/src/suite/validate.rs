//! What is wrong with a suite beyond its syntax: things named that are not there, keys that do not fit
//! the launch rule, options that SAS does not have.

use std::collections::BTreeMap;
use std::ops::Range;

use base::units::Bytes;
use toml::Spanned;

use super::check::Check;
use super::expand::{Choice, Expanded, expand};
use super::text::{Job, Rule, SpaceText, SuiteText, Variant};
use super::{Suite, Wrong};

/// Channels by their names.
const CHANNELS: [&str; 4] = ["input", "output", "work", "util"];

/// All that is wrong; `name` is that of the folder.
pub fn validate(suite: &Suite, name: &str) -> Vec<Wrong> {
    let text = &suite.text;
    let mut found = Found(Vec::new());
    if text.name.get_ref() != name {
        found.add(
            text.name.span(),
            format!(
                "name is {:?}, and the folder is {name:?}: they are the same word",
                text.name.get_ref()
            ),
        );
    }
    found.launch(text);
    found.sizes(text);
    found.options(&text.options);
    for variant in text.variants.values() {
        found.options(&variant.options);
        found.symbols(text, variant);
    }
    let spaces = text.variants.values().map(|variant| &variant.space);
    let spaces = spaces.chain([&text.demonstration.space]).flatten();
    for space in spaces.chain([&text.space]) {
        found.space(text, space);
    }
    for job in &text.jobs {
        found.job(suite, job);
    }
    let choice = Choice {
        scale: 1e-3,
        time_scale: 1.0,
        parameters: parameters(text, 4, true),
        memory: Bytes::gib(16),
        seed: 1,
        mix: BTreeMap::new(),
        variant: None,
    };
    let expanded = expand(suite, &choice);
    if expanded.wrong.is_empty() {
        found.unread(text, &expanded);
    }
    found.0.extend(expanded.wrong);
    for name in text.variants.keys() {
        let variant = Some(name.clone());
        let choice = Choice {
            variant,
            ..choice.clone()
        };
        found.0.extend(expand(suite, &choice).wrong);
    }
    found.0
}

/// Parameters on a host, where a run does not say otherwise.
pub fn parameters(text: &SuiteText, cores: u32, demonstration: bool) -> BTreeMap<String, u64> {
    let chosen = |(name, parameter): (&String, &super::text::Parameter)| {
        let small = parameter.demonstration.filter(|_| demonstration);
        let on_host = parameter.per_core.map(|count| count * u64::from(cores));
        (
            name.clone(),
            small.or(on_host).or(parameter.value).unwrap_or(1),
        )
    };
    text.parameters.iter().map(chosen).collect()
}

struct Found(Vec<Wrong>);

impl Found {
    fn add(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.0.push(Wrong::new(span, message));
    }

    fn launch(&mut self, text: &SuiteText) {
        let launch = &text.launch;
        let span = launch.rule.span();
        let positive = |seconds: Option<f64>| seconds.is_some_and(|value| value >= 0.0);
        match launch.rule.get_ref() {
            Rule::Together if !positive(launch.spread_s) => {
                self.add(span, "rule \"together\" needs spread_s, seconds from 0");
            }
            Rule::Waves if !positive(launch.interval_s) => {
                self.add(span, "rule \"waves\" needs interval_s, seconds from 0");
            }
            Rule::Pool if !text.parameters.contains_key("concurrency") => {
                let message =
                    "rule \"pool\" needs the parameter concurrency: [parameters.concurrency]";
                self.add(span, message);
            }
            _ => {}
        }
    }

    fn sizes(&mut self, text: &SuiteText) {
        let small = &text.demonstration;
        let start = text.name.span();
        if small.bytes.is_some() == small.scale.is_some() {
            let message = "[demonstration] needs one of bytes and scale";
            self.add(start.clone(), message);
        }
        let scale_fits = small.scale.is_none_or(|scale| scale > 0.0 && scale <= 1.0);
        if !scale_fits || !(0.0..=1.0).contains(&small.time_scale) {
            let message = "[demonstration]: scale is above 0 and up to 1, time_scale from 0 to 1";
            self.add(start.clone(), message);
        }
        for (name, parameter) in &text.parameters {
            if parameter.value.is_some() == parameter.per_core.is_some() {
                let message = format!("[parameters.{name}] needs one of value and per_core");
                self.add(start.clone(), message);
            }
        }
        for dataset in &text.datasets {
            if dataset.rows.is_some() == dataset.memory_multiple.is_some() {
                let message = "a data set needs one of rows and memory_multiple";
                self.add(dataset.recipe.span(), message);
            }
            if let Err(wrong) = super::sizes::published(dataset) {
                self.0.push(wrong);
            }
            let within = dataset.published_within.iter().flatten();
            if within.clone().any(|part| !(0.0..1.0).contains(part)) {
                let message = "published_within: two parts from 0 to 1, such as [0.05, 0.2]";
                self.add(dataset.recipe.span(), message);
            }
            if dataset.fixed && dataset.rows.is_none() {
                self.add(dataset.recipe.span(), "`fixed` goes with rows");
            }
        }
    }

    fn space(&mut self, text: &SuiteText, space: &SpaceText) {
        let parts = [space.output, space.work, space.util];
        if parts.iter().any(|part| !(0.0..=1e6).contains(part)) {
            let message = "[space]: multiples of the input from 0 are needed; bytes at any scale are \
                           output_fixed and so on";
            self.add(text.name.span(), message);
        }
        let at = [
            &space.output_at,
            &space.work_at,
            &space.util_at,
            &space.runs_at,
        ];
        for (name, value) in at.into_iter().flatten() {
            if !text.parameters.contains_key(name.get_ref()) {
                let message = format!(
                    "there is no [parameters.{}]: space can grow with parameters only",
                    name.get_ref()
                );
                self.add(name.span(), message);
            }
            if *value == 0 {
                self.add(name.span(), "the value of a parameter is 1 or more");
            }
        }
    }

    /// A macro variable of a variant is one that a job has.
    fn symbols(&mut self, text: &SuiteText, variant: &Variant) {
        for (name, value) in &variant.symbols {
            let of_launch = |job: &Job| {
                job.launches
                    .iter()
                    .any(|one| one.symbols.contains_key(name))
            };
            let has = |job: &Job| job.symbols.contains_key(name) || of_launch(job);
            if !text.jobs.iter().any(has) {
                let message = format!("no job has a macro variable {name} that this could replace");
                self.add(value.span(), message);
            }
        }
    }

    /// Data that no job reads would be staged in vain.
    fn unread(&mut self, text: &SuiteText, expanded: &Expanded) {
        let reads = |place: usize, name: &str| {
            expanded.jobs.iter().any(|job| {
                let mut checks = job.checks.iter().filter_map(Check::input);
                job.inputs.contains(&place) || checks.any(|input| input.eq_ignore_ascii_case(name))
            })
        };
        for (place, dataset) in expanded.datasets.iter().enumerate() {
            let entry = &text.datasets[dataset.entry];
            if !reads(place, &dataset.name) {
                let message = format!(
                    "no job reads {}: add it to `inputs` of a job, or mark it `unread`",
                    dataset.name
                );
                self.add(entry.recipe.span(), message);
            }
        }
    }

    fn options(&mut self, options: &BTreeMap<Spanned<String>, String>) {
        for (name, value) in options {
            let mut tried = engine::options::Options::new(1);
            let value = (!value.is_empty()).then_some(value.as_str());
            if let Err(message) = tried.set(name.get_ref(), value) {
                self.add(name.span(), message);
            }
        }
    }

    fn job(&mut self, suite: &Suite, job: &Job) {
        let text = &suite.text;
        if !suite.programs.contains_key(job.program.get_ref()) {
            let known: Vec<&str> = suite.programs.keys().map(String::as_str).collect();
            let message = format!(
                "there is no program {} in the folder programs; there are: {}",
                job.program.get_ref(),
                known.join(", ")
            );
            self.add(job.program.span(), message);
        }
        self.named(job.class.as_ref(), &text.classes, "classes");
        self.named(job.persona.as_ref(), &text.personas, "personas");
        self.options(&job.options);
        self.times(*text.launch.rule.get_ref(), job);
        if let Some(name) = job
            .traffic_gb
            .keys()
            .find(|name| !CHANNELS.contains(&name.as_str()))
        {
            let message = format!(
                "traffic_gb: there is no channel {name}; there are {}",
                CHANNELS.join(", ")
            );
            self.add(job.program.span(), message);
        }
        let launches = &job.launches;
        let symbols = job
            .symbols
            .keys()
            .chain(launches.iter().flat_map(|one| one.symbols.keys()));
        let numbers = job.scaled.keys().chain(job.timed.keys());
        for name in symbols.chain(numbers) {
            let mut bytes = name.bytes();
            let starts = bytes
                .next()
                .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
            if !starts
                || name.len() > 32
                || !bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
            {
                let message = format!("{name:?} is not a name of a macro variable");
                self.add(job.program.span(), message);
            }
        }
    }

    fn named(
        &mut self,
        name: Option<&Spanned<String>>,
        known: &BTreeMap<String, String>,
        table: &str,
    ) {
        let Some(name) = name.filter(|name| !known.contains_key(name.get_ref())) else {
            return;
        };
        let message = format!(
            "{} is not in [{table}]; add it there with a description",
            name.get_ref()
        );
        self.add(name.span(), message);
    }

    /// The keys that say when an entry's launches start fit the rule.
    fn times(&mut self, rule: Rule, job: &Job) {
        let span = job.program.span();
        let ways = [
            !job.launches.is_empty(),
            !job.streams.is_empty(),
            job.numbers.is_some(),
        ];
        if ways.iter().filter(|way| **way).count() > 1 {
            self.add(
                span.clone(),
                "only one of launches, streams and numbers is allowed",
            );
        }
        let several = job
            .launches
            .iter()
            .map(|one| (one.at_s, one.wave, one.name.span()));
        let single = [(job.at_s, job.wave, span.clone())];
        let each: Vec<_> = if job.launches.is_empty() {
            single.into()
        } else {
            several.collect()
        };
        for (at_s, wave, span) in each {
            let fits = match rule {
                Rule::Offsets => {
                    at_s.is_some_and(|at| at >= 0.0) && wave.is_none() && job.streams.is_empty()
                }
                Rule::Waves => {
                    at_s.is_none() && (wave.is_some_and(|wave| wave > 0) || !job.streams.is_empty())
                }
                Rule::Together | Rule::Pool => {
                    at_s.is_none() && wave.is_none() && job.streams.is_empty()
                }
            };
            let message = match rule {
                _ if fits => continue,
                Rule::Offsets => {
                    "rule \"offsets\": each launch needs at_s, seconds from 0, and nothing else"
                }
                Rule::Waves => {
                    "rule \"waves\": each launch needs wave, from 1, or the job has streams"
                }
                Rule::Together | Rule::Pool => {
                    "rules \"together\" and \"pool\" take neither at_s nor wave nor streams"
                }
            };
            self.add(span, message);
        }
    }
}
