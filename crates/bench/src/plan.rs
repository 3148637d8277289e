//! From a suite, a request and facts about the host to a plan: pure, so that `--dry-run` and tests
//! see exactly what a run does.

use std::collections::BTreeMap;

use base::units::{Bytes, parse_size};
use recipe::{Generator, Recipe};

use crate::suite::{Check, Suite};

/// What the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Factor on rows, or how to choose it.
    pub scale: Scale,
    /// Jobs; `None` = as many per core as the suite says.
    pub jobs: Option<u32>,
    /// Seed of the data.
    pub seed: u64,
    /// SAS options that replace the suite's.
    pub options: BTreeMap<String, String>,
}

/// How large.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Scale {
    /// One to two minutes, under 3 GB of disk.
    Demonstration,
    /// The largest that memory and free space make sensible.
    Auto,
    /// This factor; 1 is the paper's size.
    Factor(f64),
}

/// What the plan depends on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostFacts {
    /// Physical cores.
    pub cores: u32,
    /// How they were counted, or that they were given.
    pub cores_basis: String,
    /// Memory, bytes.
    pub memory: Bytes,
    /// Free bytes for data, utility files and outputs, by file system: directories on the same
    /// file system share one entry.
    pub free: Vec<FreeSpace>,
}

/// A file system and what will be put there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FreeSpace {
    /// A directory on it, for messages.
    pub directory: String,
    /// Free now.
    pub free: Bytes,
    /// How many times the input's bytes go there at the peak: 1 each for inputs, utility files,
    /// outputs.
    pub copies: u32,
}

/// A run as it will be.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Suite name.
    pub suite: String,
    /// Factor on rows.
    pub scale: f64,
    /// How the factor came about, a sentence.
    pub scale_reason: String,
    /// Demonstration scale: no verdict.
    pub demonstration: bool,
    /// All files together are at least three times the memory.
    pub qualifying: bool,
    /// Seed.
    pub seed: u64,
    /// Physical cores.
    pub cores: u32,
    /// How they were counted, or that they were given.
    pub cores_basis: String,
    /// Memory of the node.
    pub memory: Bytes,
    /// SAS options of every job.
    pub options: BTreeMap<String, String>,
    /// What was changed against the suite, and why.
    pub notes: Vec<String>,
    /// Data sets to stage.
    pub datasets: Vec<PlannedDataset>,
    /// Jobs in launch order.
    pub jobs: Vec<PlannedJob>,
}

/// A data set to stage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedDataset {
    /// Member name.
    pub name: String,
    /// Recipe name and text.
    pub recipe: (String, String),
    /// Seed of this data set.
    pub seed: u64,
    /// Rows.
    pub rows: u64,
    /// Bytes of a row.
    pub row_bytes: u64,
}

impl PlannedDataset {
    /// Bytes of all rows.
    pub const fn bytes(&self) -> Bytes {
        Bytes(self.rows * self.row_bytes)
    }
}

/// A job to launch.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedJob {
    /// Name.
    pub name: String,
    /// Program text.
    pub program: String,
    /// Index of the data set it reads.
    pub input: usize,
    /// Macro variables.
    pub symbols: BTreeMap<String, String>,
    /// Launch offset, seconds.
    pub offset_s: f64,
    /// What must hold of its outputs.
    pub checks: Vec<Check>,
}

impl Plan {
    /// Bytes of all inputs.
    pub fn input_bytes(&self) -> Bytes {
        Bytes(self.datasets.iter().map(|dataset| dataset.bytes().0).sum())
    }
}

/// Why there is no plan.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The recipe in the suite is wrong.
    #[error(transparent)]
    Recipe(#[from] recipe::Error),
    /// The run does not fit.
    #[error(
        "{needed} are needed at {directory} and {free} are free there (with a tenth kept free); \
         use a smaller --scale or another directory"
    )]
    Space {
        /// Where.
        directory: String,
        /// Bytes needed.
        needed: Bytes,
        /// Bytes free.
        free: Bytes,
    },
    /// A flag is out of range.
    #[error("{0}")]
    Usage(String),
}

/// Makes the plan, or says why it cannot be carried out.
pub fn plan(suite: &Suite, request: &Request, host: &HostFacts) -> Result<Plan, Error> {
    let per_core = host.cores.saturating_mul(suite.jobs_per_core);
    let job_count = request.jobs.unwrap_or(per_core);
    check_options(request)?;
    if !(1..=10_000).contains(&job_count) {
        return Err(Error::Usage(format!(
            "--jobs {job_count}: 1 to 10000 are allowed"
        )));
    }
    let (scale, scale_reason) = choose_scale(suite, request.scale, job_count, host)?;
    let mut datasets = Vec::new();
    for number in 1..=job_count {
        for dataset in &suite.datasets {
            let text = suite
                .recipes
                .get(&dataset.recipe)
                .cloned()
                .unwrap_or_default();
            let recipe = Recipe::parse(&dataset.recipe, &text)?;
            let row_bytes = u64::from(Generator::new(&recipe, 0).layout().row_bytes);
            datasets.push(PlannedDataset {
                name: numbered(&dataset.name, number),
                recipe: (dataset.recipe.clone(), text),
                seed: request.seed.wrapping_add(u64::from(number)),
                rows: rows(suite, scale, host.memory, row_bytes),
                row_bytes,
            });
        }
    }
    let mut plan = Plan {
        suite: suite.name.clone(),
        scale,
        scale_reason,
        demonstration: request.scale == Scale::Demonstration,
        qualifying: false,
        seed: request.seed,
        cores: host.cores,
        cores_basis: host.cores_basis.clone(),
        memory: host.memory,
        options: suite.options.clone(),
        notes: Vec::new(),
        jobs: jobs(suite, job_count, &datasets),
        datasets,
    };
    plan.qualifying = plan.input_bytes().0 >= 3 * host.memory.0;
    options(suite, request, &mut plan);
    check_space(&plan, host)?;
    Ok(plan)
}

/// Options are tried before anything is staged; what changes how many rows a job sees would make
/// verification fail on intact data.
fn check_options(request: &Request) -> Result<(), Error> {
    let mut tried = engine::options::Options::new(1);
    for (name, value) in &request.options {
        if ["OBS", "FIRSTOBS"].contains(&name.to_ascii_uppercase().as_str()) {
            let message = format!("--option {name}: a suite's jobs read all rows; use --scale");
            return Err(Error::Usage(message));
        }
        let value = (!value.is_empty()).then_some(value.as_str());
        tried
            .set(name, value)
            .map_err(|message| Error::Usage(format!("--option {name}: {message}")))?;
    }
    Ok(())
}

fn numbered(text: &str, job: u32) -> String {
    text.replace("{job}", &job.to_string())
}

/// Bytes of one file at scale 1.
fn file_bytes(suite: &Suite, memory: Bytes) -> f64 {
    suite.size.memory_multiple * memory.0 as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "scale and sizes are positive and far below 2^63"
)]
fn rows(suite: &Suite, scale: f64, memory: Bytes, row_bytes: u64) -> u64 {
    ((file_bytes(suite, memory) * scale / row_bytes as f64).round() as u64).max(1)
}

fn choose_scale(
    suite: &Suite,
    scale: Scale,
    jobs: u32,
    host: &HostFacts,
) -> Result<(f64, String), Error> {
    let paper_total = file_bytes(suite, host.memory) * f64::from(jobs);
    match scale {
        Scale::Factor(factor) if factor > 0.0 && factor <= 1000.0 => {
            Ok((factor, format!("scale {factor} was asked for")))
        }
        Scale::Factor(factor) => Err(Error::Usage(format!(
            "--scale {factor}: a number above 0 and up to 1000 is needed, or auto"
        ))),
        Scale::Demonstration => {
            let bytes = suite.size.demonstration_bytes;
            let factor = bytes.0 as f64 / paper_total;
            Ok((
                factor,
                format!("demonstration scale: {bytes} of input in all"),
            ))
        }
        Scale::Auto => {
            // A qualifying run, 3.1 times the memory, if it fits in nine tenths of what is free.
            let wanted = 3.1 * host.memory.0 as f64;
            let room = host
                .free
                .iter()
                .map(|space| 0.9 * space.free.0 as f64 / f64::from(space.copies.max(1)))
                .fold(f64::INFINITY, f64::min)
                * 0.98;
            let total = wanted.min(room);
            let reason = if room >= wanted {
                format!("auto: 3.1 times the memory of {}", host.memory)
            } else {
                format!(
                    "auto: what fits, since 3.1 times the memory of {} do not",
                    host.memory
                )
            };
            Ok((total / paper_total, reason))
        }
    }
}

fn jobs(suite: &Suite, count: u32, datasets: &[PlannedDataset]) -> Vec<PlannedJob> {
    let total = count as usize * suite.jobs.len();
    let mut jobs = Vec::new();
    for number in 1..=count {
        for job in &suite.jobs {
            let symbols = job.symbols.iter();
            let input = numbered(&job.input, number);
            jobs.push(PlannedJob {
                name: numbered(&job.name, number),
                program: suite
                    .programs
                    .get(&job.program)
                    .cloned()
                    .unwrap_or_default(),
                input: datasets
                    .iter()
                    .position(|set| set.name == input)
                    .unwrap_or_default(),
                symbols: symbols
                    .map(|(k, v)| (k.clone(), numbered(v, number)))
                    .collect(),
                offset_s: suite.launch_spread_s * jobs.len() as f64 / total as f64,
                checks: job
                    .checks
                    .iter()
                    .map(|check| numbered_check(check, number))
                    .collect(),
            });
        }
    }
    jobs
}

fn numbered_check(check: &Check, number: u32) -> Check {
    let Check::Sorted {
        dataset,
        by,
        same_rows_as,
    } = check;
    Check::Sorted {
        dataset: numbered(dataset, number),
        by: by.clone(),
        same_rows_as: numbered(same_rows_as, number),
    }
}

fn options(suite: &Suite, request: &Request, plan: &mut Plan) {
    for (name, value) in &request.options {
        let name = name.to_ascii_uppercase();
        let before = plan.options.insert(name.clone(), value.clone());
        plan.notes.push(format!(
            "option {name}={value} replaces {}",
            before.map_or("the default".to_owned(), |before| format!(
                "the suite's {before}"
            ))
        ));
    }
    if request
        .options
        .keys()
        .any(|name| name.eq_ignore_ascii_case("SORTSIZE"))
    {
        return;
    }
    let smallest = plan
        .datasets
        .iter()
        .map(|set| set.bytes().0)
        .min()
        .unwrap_or(0);
    let most = smallest / suite.size.file_per_sortsize_min.max(1);
    let sortsize = plan
        .options
        .get("SORTSIZE")
        .and_then(|text| parse_size(text));
    if let Some(Bytes(sortsize)) = sortsize.filter(|size| size.0 > most) {
        let reduced = (most >> 20).max(1);
        plan.options
            .insert("SORTSIZE".to_owned(), format!("{reduced}M"));
        plan.notes.push(format!(
            "SORTSIZE reduced from {}M to {reduced}M so that sorts spill as they do at the paper's \
             scale",
            sortsize >> 20
        ));
    }
}

fn check_space(plan: &Plan, host: &HostFacts) -> Result<(), Error> {
    for space in &host.free {
        let needed = Bytes(plan.input_bytes().0 * u64::from(space.copies));
        if needed.0 > space.free.0 / 10 * 9 {
            let directory = space.directory.clone();
            return Err(Error::Space {
                directory,
                needed,
                free: space.free,
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::builtin;

    fn host(free_gib: u64) -> HostFacts {
        let free = Bytes::gib(free_gib);
        let space = FreeSpace {
            directory: "/d".into(),
            free,
            copies: 3,
        };
        HostFacts {
            cores: 4,
            cores_basis: "given".into(),
            memory: Bytes::gib(16),
            free: vec![space],
        }
    }

    fn request(scale: Scale) -> Request {
        Request {
            scale,
            jobs: None,
            seed: 1,
            options: BTreeMap::new(),
        }
    }

    fn planned(scale: Scale, free_gib: u64) -> Result<Plan, Error> {
        plan(
            &builtin("large-sorts").unwrap(),
            &request(scale),
            &host(free_gib),
        )
    }

    #[test]
    fn two_jobs_per_core_start_within_a_second() {
        let plan = planned(Scale::Demonstration, 100).unwrap();
        assert_eq!(plan.jobs.len(), 8);
        assert!(plan.jobs.iter().all(|job| job.offset_s < 1.0));
        assert_eq!(plan.jobs[2].symbols["in"], "s3");
        assert_eq!(plan.datasets[plan.jobs[2].input].name, "s3");
    }

    #[test]
    fn a_demonstration_stays_under_three_gigabytes_and_spills() {
        let plan = planned(Scale::Demonstration, 100).unwrap();
        assert!(plan.input_bytes().0 * 3 < 3_000_000_000);
        let sortsize = parse_size(&plan.options["SORTSIZE"]).unwrap().0;
        assert!(plan.datasets[0].bytes().0 / sortsize >= 4);
        assert!(
            plan.notes
                .iter()
                .any(|note| note.contains("SORTSIZE reduced"))
        );
        assert!(plan.demonstration && !plan.qualifying);
    }

    #[test]
    fn at_the_papers_scale_every_file_is_larger_than_memory() {
        let plan = planned(Scale::Factor(1.0), 10_000).unwrap();
        assert!(plan.datasets.iter().all(|set| set.bytes() > plan.memory));
        assert_eq!(plan.options["SORTSIZE"], "768M");
        assert!(plan.qualifying);
    }

    #[test]
    fn auto_qualifies_where_it_fits_and_says_so_where_not() {
        let plan = planned(Scale::Auto, 1000).unwrap();
        assert!(plan.qualifying, "{}", plan.scale_reason);
        let plan = planned(Scale::Auto, 60).unwrap();
        assert!(!plan.qualifying && plan.scale_reason.contains("what fits"));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_figures() {
        let message = planned(Scale::Factor(1.0), 100).unwrap_err().to_string();
        assert!(
            message.contains("/d") && message.contains("107 GB are free"),
            "{message}"
        );
    }

    #[test]
    fn options_are_tried_before_anything_is_staged() {
        for (name, value, part) in [
            ("FOO", "1", "FOO is not recognized"),
            ("SORTSIZE", "bogus", "SORTSIZE=bogus is not valid"),
            ("OBS", "100", "a suite's jobs read all rows"),
        ] {
            let mut request = request(Scale::Demonstration);
            request.options.insert(name.to_owned(), value.to_owned());
            let suite = builtin("large-sorts").unwrap();
            let message = plan(&suite, &request, &host(100)).unwrap_err().to_string();
            assert!(message.contains(part), "{message}");
        }
    }
}
