//! From a suite and a choice of scale and parameters to data sets and jobs, with every name and number
//! put in. Pure; what cannot be put in is wrong with the suite.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use base::units::Bytes;
use recipe::{Generator, Recipe};
use toml::Spanned;

use super::pattern::{self, Values};
use super::text::{Dataset, Job, LaunchOf, Rule, SuiteText, Variant};
use super::{Suite, Wrong, check, mix};
use crate::plan::{self, PlannedDataset, PlannedJob};

/// What a run chose.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Factor on rows.
    pub scale: f64,
    /// Factor on launch times and thinking times.
    pub time_scale: f64,
    /// Parameters of the suite.
    pub parameters: BTreeMap<String, u64>,
    /// Memory of the node.
    pub memory: Bytes,
    /// Seed of the data.
    pub seed: u64,
    /// Launches of personas, where they are not to be as many as the suite has.
    pub mix: BTreeMap<String, u64>,
    /// Variant of the suite.
    pub variant: Option<String>,
}

/// The data sets and jobs of a choice.
#[derive(Debug, Default)]
pub struct Expanded {
    /// Data to stage.
    pub datasets: Vec<PlannedDataset>,
    /// Jobs in launch order.
    pub jobs: Vec<PlannedJob>,
    /// What is wrong with the suite.
    pub wrong: Vec<Wrong>,
    /// Data that no job reads and that are not staged.
    pub unread: Vec<PlannedDataset>,
}

/// Puts everything in.
pub fn expand(suite: &Suite, choice: &Choice) -> Expanded {
    let mut expanded = Expanded::default();
    expanded.add_datasets(suite, choice);
    expanded.add_jobs(suite, choice);
    expanded
}

/// The data sets alone.
pub fn datasets(suite: &Suite, choice: &Choice) -> Expanded {
    let mut expanded = Expanded::default();
    expanded.add_datasets(suite, choice);
    expanded
}

/// A launch that was not put together yet.
#[derive(Clone, Default)]
pub(super) struct Launching<'a> {
    name: String,
    span: Range<usize>,
    at_s: Option<f64>,
    wave: Option<u32>,
    number: Option<u64>,
    copy: Option<u32>,
    /// The launch before it in its stream.
    follows: Option<usize>,
    more: Option<&'a LaunchOf>,
    /// Users like this one before it, beyond those of the suite.
    round: u64,
}

impl Launching<'_> {
    /// Another user's launch like this one.
    pub(super) fn again(&self, round: u64) -> Self {
        let name = format!("{}{}", self.name, mix::suffix(round));
        Self {
            name,
            round,
            ..self.clone()
        }
    }
}

/// Words that stand for directories until a job is started.
pub const DIRECTORIES: [&str; 2] = ["input_directory", "output_directory"];

fn parameters(choice: &Choice) -> Values {
    let numbers = choice.parameters.iter();
    numbers
        .map(|(name, value)| (name.clone(), value.to_string()))
        .collect()
}

/// A size as a whole number.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes and scales are not negative, and a cast saturates"
)]
pub fn rounded(value: f64) -> u64 {
    value.round() as u64
}

/// Rows at a scale.
fn rows(dataset: &Dataset, choice: &Choice, row_bytes: u64) -> u64 {
    let at_1 = match (dataset.rows, dataset.memory_multiple) {
        (Some(rows), _) if dataset.fixed => return rows,
        (Some(rows), _) => rows as f64,
        (None, multiple) => multiple.unwrap_or(0.0) * choice.memory.0 as f64 / row_bytes as f64,
    };
    rounded(at_1 * choice.scale).max(dataset.rows_min.unwrap_or(1))
}

/// The seed of a data set of a suite. Those of another seed of the run are all others: with sums of both the second
/// data set of one seed would be the first of the next.
fn seed_of(run: u64, dataset: u64) -> u64 {
    // The upper bits: those in the middle tell distinct copies apart.
    let apart = if run == 1 {
        0
    } else {
        base::random::mix(run) << 44
    };
    dataset.wrapping_add(1).wrapping_add(apart)
}

impl Expanded {
    fn wrong(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.wrong.push(Wrong::new(span, message));
    }

    /// The texts that one stands for; none if it is wrong.
    fn texts(&mut self, text: &Spanned<String>, values: &Values) -> Vec<String> {
        match pattern::expand(text.get_ref(), values) {
            Ok(texts) => texts,
            Err(message) => {
                self.wrong(text.span(), message);
                Vec::new()
            }
        }
    }

    fn text(&mut self, text: &Spanned<String>, values: &Values) -> String {
        match pattern::substitute(text.get_ref(), values) {
            Ok(text) => text,
            Err(message) => {
                self.wrong(text.span(), message);
                String::new()
            }
        }
    }

    fn add_datasets(&mut self, suite: &Suite, choice: &Choice) {
        let values = parameters(choice);
        let mut position = 0;
        for (entry, dataset) in suite.text.datasets.iter().enumerate() {
            let name = dataset.recipe.get_ref();
            let Some(text) = suite.recipes.get(name) else {
                let known = recipe::NAMES.join(", ");
                let message = format!(
                    "there is no recipe {name}; put recipes/{name}.toml beside suite.toml, or take a \
                     built-in one: {known}"
                );
                self.wrong(dataset.recipe.span(), message);
                continue;
            };
            let recipe = match Recipe::parse(&format!("recipes/{name}.toml"), text) {
                Ok(recipe) => recipe,
                Err(error) => {
                    self.wrong(dataset.recipe.span(), error.to_string());
                    continue;
                }
            };
            let row_bytes = u64::from(Generator::new(&recipe, 0).layout().row_bytes);
            self.check_columns(dataset, &recipe);
            for pattern in &dataset.names {
                for name in self.texts(pattern, &values) {
                    position += 1;
                    self.check_member(&name, pattern.span());
                    if self
                        .datasets
                        .iter()
                        .any(|known| known.name.eq_ignore_ascii_case(&name))
                    {
                        let message = format!("there are two data sets {name}; rename one");
                        self.wrong(pattern.span(), message);
                    }
                    let planned = PlannedDataset {
                        name,
                        entry,
                        recipe: (dataset.recipe.get_ref().clone(), text.clone()),
                        seed: seed_of(choice.seed, dataset.seed.unwrap_or(position)),
                        replica: 0,
                        lane: 1,
                        rows: rows(dataset, choice, row_bytes),
                        row_bytes,
                        fixed: dataset.fixed,
                        format: dataset.format,
                        bufsize: dataset.bufsize,
                        indexes: dataset
                            .indexes
                            .iter()
                            .map(|name| name.get_ref().clone())
                            .collect(),
                    };
                    if dataset.unread {
                        self.unread.push(planned);
                    } else {
                        self.datasets.push(planned);
                    }
                }
            }
        }
    }

    fn check_columns(&mut self, dataset: &Dataset, recipe: &Recipe) {
        for index in &dataset.indexes {
            let is_it = |column: &recipe::Column| column.name.eq_ignore_ascii_case(index.get_ref());
            if !recipe.columns.iter().any(is_it) {
                let message = format!(
                    "the recipe {} has no column {}",
                    dataset.recipe.get_ref(),
                    index.get_ref()
                );
                self.wrong(index.span(), message);
            }
        }
    }

    fn check_member(&mut self, name: &str, span: Range<usize>) {
        let mut bytes = name.bytes();
        let starts = bytes
            .next()
            .is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
        let goes_on = bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !starts || !goes_on || name.len() > 32 {
            let message = format!(
                "{name:?} is not a name of a data set: up to 32 letters, digits and underscores, not \
                 starting with a digit"
            );
            self.wrong(span, message);
        }
    }

    fn add_jobs(&mut self, suite: &Suite, choice: &Choice) {
        let staged: HashMap<String, usize> = self
            .datasets
            .iter()
            .enumerate()
            .map(|(place, set)| (set.name.to_ascii_lowercase(), place))
            .collect();
        let jobs = suite.text.jobs.iter();
        let mut launches: Vec<_> = jobs.map(|job| self.launchings(job, choice)).collect();
        mix::apply(suite, choice, &mut launches);
        for ((entry, job), launches) in suite.text.jobs.iter().enumerate().zip(launches) {
            let first = self.jobs.len();
            for launching in launches {
                let planned = self.job(suite, choice, &staged, (entry, job), &launching);
                self.jobs.push(PlannedJob {
                    follows: launching.follows.map(|place| first + place),
                    offset_s: offset(suite, choice, &launching),
                    ..planned
                });
            }
        }
        if *suite.text.launch.rule.get_ref() == Rule::Together {
            let total = self.jobs.len() as f64;
            let spread = suite.text.launch.spread_s.unwrap_or(0.0);
            for (place, job) in self.jobs.iter_mut().enumerate() {
                job.offset_s = spread * place as f64 / total;
            }
        }
        plan::copies::sort(&mut self.jobs);
    }

    /// The launches of an entry, in order.
    fn launchings<'a>(&mut self, job: &'a Job, choice: &Choice) -> Vec<Launching<'a>> {
        let values = parameters(choice);
        let mut found = Vec::new();
        for launch in &job.launches {
            found.push(Launching {
                name: self.text(&launch.name, &values),
                span: launch.name.span(),
                at_s: launch.at_s,
                wave: launch.wave,
                more: Some(launch),
                ..Launching::default()
            });
        }
        let single = || Launching {
            span: job.name.as_ref().unwrap_or(&job.program).span(),
            at_s: job.at_s,
            wave: job.wave,
            ..Launching::default()
        };
        let mut number = 0;
        for (copy, stream) in (1..).zip(&job.streams) {
            for place in 0..stream.launches {
                number += 1;
                found.push(Launching {
                    wave: Some(stream.wave),
                    number: Some(number),
                    copy: Some(copy),
                    follows: (place > 0).then(|| found.len() - 1),
                    ..single()
                });
            }
        }
        if let Some(text) = &job.numbers {
            match pattern::numbers(text.get_ref(), &values) {
                Ok(numbers) => found.extend(numbers.iter().map(|number| Launching {
                    number: Some(*number),
                    ..single()
                })),
                Err(message) => self.wrong(text.span(), message),
            }
        }
        if found.is_empty() && job.numbers.is_none() {
            found.push(single());
        }
        for launching in &mut found {
            if let (None, Some(name)) = (launching.more, &job.name) {
                launching.name = self.text(name, &own_values(&values, launching));
            }
        }
        found
    }

    fn job(
        &mut self,
        suite: &Suite,
        choice: &Choice,
        staged: &HashMap<String, usize>,
        (entry, job): (usize, &Job),
        launching: &Launching<'_>,
    ) -> PlannedJob {
        self.check_job_name(launching);
        let outer = own_values(&parameters(choice), launching);
        let symbols = self.symbols(&suite.text, job, choice, launching, &outer);
        let mut values = outer;
        values.extend(symbols.clone());
        let inputs = self.inputs(job, launching, staged, &symbols, &values);
        let mut checks = Vec::new();
        for (place, text) in job.checks.iter().enumerate() {
            match check::read(text, place, &values) {
                Ok(Some(check)) => {
                    if let Some(name) = check.input() {
                        self.find(staged, name, text.kind.span());
                    }
                    checks.push(check);
                }
                Ok(None) => {}
                Err(wrong) => self.wrong.push(wrong),
            }
        }
        let input_bytes: u64 = inputs.iter().map(|at| self.datasets[*at].bytes().0).sum();
        let program = suite.programs.get(job.program.get_ref());
        PlannedJob {
            name: launching.name.clone(),
            entry,
            kind: kind(&suite.text, entry, launching),
            class: job.class.as_ref().map(|name| name.get_ref().clone()),
            persona: job.persona.as_ref().map(|name| name.get_ref().clone()),
            program: program.cloned().unwrap_or_default(),
            lane: 1,
            inputs,
            symbols,
            options: job
                .options
                .iter()
                .map(|(name, value)| (name.get_ref().to_ascii_uppercase(), value.clone()))
                .collect(),
            offset_s: 0.0,
            follows: None,
            expected: expected_bytes(&suite.text, job, choice, input_bytes),
            checks,
        }
    }

    /// The name is that of a folder of the run directory.
    fn check_job_name(&mut self, launching: &Launching<'_>) {
        let name = &launching.name;
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"_-".contains(&byte);
        if name.is_empty() || name.len() > 100 || !name.bytes().all(fits) {
            let message = format!(
                "{name:?} is not a name of a job: up to 100 letters, digits, _ and -; give `name`, or \
                 a name to each of `launches`"
            );
            self.wrong(launching.span.clone(), message);
        }
        if self.jobs.iter().any(|known| known.name == *name) {
            let message = format!(
                "there are two jobs {name}; names of several launches differ by {{number}} or {{copy}}"
            );
            self.wrong(launching.span.clone(), message);
        }
    }

    fn symbols(
        &mut self,
        suite: &SuiteText,
        job: &Job,
        choice: &Choice,
        launching: &Launching<'_>,
        values: &Values,
    ) -> BTreeMap<String, String> {
        let mut values = values.clone();
        for word in DIRECTORIES {
            values.insert(word.to_owned(), format!("{{{word}}}"));
        }
        let mut symbols = BTreeMap::new();
        let more = launching.more.map(|launch| &launch.symbols);
        for (name, text) in job.symbols.iter().chain(more.into_iter().flatten()) {
            let value = self.text(text, &values);
            symbols.insert(name.clone(), value);
        }
        let other = variant(suite, choice).map(|variant| &variant.symbols);
        for (name, text) in other.into_iter().flatten() {
            if symbols.contains_key(name) {
                let value = self.text(text, &values);
                symbols.insert(name.clone(), value);
            }
        }
        let told_apart = suite.mix.as_ref().map(|mix| &mix.symbol);
        if let Some(value) = told_apart.and_then(|name| symbols.get_mut(name)) {
            value.push_str(&mix::suffix(launching.round));
        }
        for (name, [at_1, least]) in &job.scaled {
            let value = rounded(*at_1 as f64 * choice.scale).max(*least);
            symbols.insert(name.clone(), value.to_string());
        }
        for (name, seconds) in &job.timed {
            let value = (seconds * choice.time_scale * 1000.0).round() / 1000.0;
            symbols.insert(name.clone(), value.to_string());
        }
        symbols
    }

    /// Staged data that a job reads: named by `inputs`, or by its macro variables `in`, `in2` and so on.
    fn inputs(
        &mut self,
        job: &Job,
        launching: &Launching<'_>,
        staged: &HashMap<String, usize>,
        symbols: &BTreeMap<String, String>,
        values: &Values,
    ) -> Vec<usize> {
        let mut inputs = Vec::new();
        let launch = launching.more.map(|launch| &launch.symbols);
        for (name, value) in symbols.iter().filter(|(name, _)| names_input(name)) {
            let text = launch.and_then(|more| more.get(name));
            let span = text
                .or_else(|| job.symbols.get(name))
                .map_or(job.program.span(), Spanned::span);
            inputs.extend(self.find(staged, value, span));
        }
        for text in &job.inputs {
            for name in self.texts(text, values) {
                inputs.extend(self.find(staged, &name, text.span()));
            }
        }
        inputs.sort_unstable();
        inputs.dedup();
        inputs
    }

    fn find(
        &mut self,
        staged: &HashMap<String, usize>,
        name: &str,
        span: Range<usize>,
    ) -> Option<usize> {
        let found = staged.get(&name.to_ascii_lowercase()).copied();
        if found.is_none() && self.unread.iter().any(|set| set.name == name) {
            let message =
                format!("{name} is marked `unread`, so that it is not staged; take that away");
            self.wrong(span, message);
        } else if found.is_none() {
            let message = format!("{name} is not among the staged data; add it to [[datasets]]");
            self.wrong(span, message);
        }
        found
    }
}

/// Whether a macro variable names an input: `in`, `in2` and so on.
pub fn names_input(name: &str) -> bool {
    let number = name.to_ascii_lowercase();
    let number = number.strip_prefix("in");
    number.is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Parameters, and what tells a launch apart.
fn own_values(parameters: &Values, launching: &Launching<'_>) -> Values {
    let mut values = parameters.clone();
    if let Some(number) = launching.number {
        values.insert("number".to_owned(), number.to_string());
    }
    if let Some(copy) = launching.copy {
        values.insert("copy".to_owned(), copy.to_string());
    }
    values
}

pub(super) fn offset(suite: &Suite, choice: &Choice, launching: &Launching<'_>) -> f64 {
    let launch = &suite.text.launch;
    let later = suite.text.mix.as_ref().map_or(0.0, |mix| mix.interval_s) * launching.round as f64;
    match launch.rule.get_ref() {
        Rule::Together | Rule::Pool => 0.0,
        Rule::Offsets => (launching.at_s.unwrap_or(0.0) + later) * choice.time_scale,
        Rule::Waves => {
            let before = launching.wave.unwrap_or(1).saturating_sub(1);
            (launch.interval_s.unwrap_or(0.0) * f64::from(before) + later) * choice.time_scale
        }
    }
}

/// The variant that was chosen.
fn variant<'a>(suite: &'a SuiteText, choice: &Choice) -> Option<&'a Variant> {
    suite.variants.get(choice.variant.as_ref()?)
}

fn expected_bytes(
    suite: &SuiteText,
    job: &Job,
    choice: &Choice,
    input_bytes: u64,
) -> Option<Bytes> {
    let of_variant = variant(suite, choice).and_then(|variant| variant.moved_per_input);
    if let Some(multiple) = of_variant.or(job.moved_per_input) {
        return Some(Bytes(rounded(multiple * input_bytes as f64)));
    }
    let gigabytes: f64 = job.traffic_gb.values().flatten().sum();
    (!job.traffic_gb.is_empty()).then(|| Bytes(rounded(gigabytes * 1e9 * choice.scale)))
}

/// The entry, and what a launch of it is told beside its own name, data and seed.
fn kind(suite: &SuiteText, entry: usize, launching: &Launching<'_>) -> String {
    let own = suite.mix.as_ref().map(|mix| mix.symbol.as_str());
    let mut told = vec![entry.to_string()];
    for (name, text) in launching.more.iter().flat_map(|launch| &launch.symbols) {
        let value = text.get_ref();
        let stem = value.trim_end_matches(|c: char| c.is_ascii_digit());
        // What ends in a number is one of several names; a bare number says how much or which way.
        let value = if stem.is_empty() { value } else { stem };
        if Some(name.as_str()) != own && name != "seed" {
            told.push(format!("{name}={value}"));
        }
    }
    told.join(" ")
}
