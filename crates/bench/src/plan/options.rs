//! The SAS options of a run and of its jobs.

use std::collections::BTreeMap;

use base::units::{Bytes, parse_size};
use toml::Spanned;

use super::{Error, Plan, Request};
use crate::suite::text::SuiteText;

const SORTSIZE: &str = "SORTSIZE";

/// Options are tried before anything is staged; what changes how many rows a job sees would make
/// verification fail on intact data.
pub(super) fn check(request: &Request) -> Result<(), Error> {
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

/// The suite's options, with those of the variant.
pub(super) fn of_suite(
    text: &SuiteText,
    request: &Request,
) -> Result<BTreeMap<String, String>, Error> {
    let mut options = BTreeMap::new();
    let mut add = |more: &BTreeMap<Spanned<String>, String>| {
        for (name, value) in more {
            options.insert(name.get_ref().to_ascii_uppercase(), value.clone());
        }
    };
    add(&text.options);
    if let Some(name) = &request.variant {
        let Some(variant) = text.variants.get(name) else {
            let known: Vec<&str> = text.variants.keys().map(String::as_str).collect();
            return Err(Error::Usage(format!(
                "the suite {} has no variant {name}; there are: {}",
                text.name.get_ref(),
                if known.is_empty() {
                    "none".to_owned()
                } else {
                    known.join(", ")
                }
            )));
        };
        add(&variant.options);
    }
    Ok(options)
}

/// Options asked for replace those of the suite and of its jobs.
pub(super) fn replace(request: &Request, plan: &mut Plan) {
    for (name, value) in &request.options {
        let name = name.to_ascii_uppercase();
        let before = plan.options.insert(name.clone(), value.clone());
        for job in &mut plan.jobs {
            job.options.remove(&name);
        }
        plan.notes.push(format!(
            "option {name}={value} replaces {}",
            before.map_or("the default".to_owned(), |before| format!(
                "the suite's {before}"
            ))
        ));
    }
}

/// Reduces SORTSIZE of jobs whose largest scaled input is small, so that their sorts spill.
pub(super) fn reduce_sortsize(text: &SuiteText, request: &Request, plan: &mut Plan) {
    let asked = |name: &String| name.eq_ignore_ascii_case(SORTSIZE);
    let Some(times) = text.file_per_sortsize_min else {
        return;
    };
    if request.options.keys().any(asked) {
        return;
    }
    let mut reduced = Vec::new();
    for job in &plan.jobs {
        let inputs = job.inputs.iter().map(|at| &plan.datasets[*at]);
        let largest = inputs
            .filter(|set| !set.fixed)
            .map(|set| set.bytes().0)
            .max();
        let options = plan.options_of(job);
        let sortsize = options.get(SORTSIZE).and_then(|text| parse_size(text));
        let most = largest.map(|bytes| bytes / times.max(1));
        let smaller = sortsize.zip(most).filter(|(Bytes(size), most)| size > most);
        reduced.push(smaller.map(|(_, most)| (most >> 20).max(1)));
    }
    let sizes = || reduced.iter().flatten().copied();
    let (Some(least), Some(most)) = (sizes().min(), sizes().max()) else {
        return;
    };
    let before = plan.options.get(SORTSIZE).cloned().unwrap_or_default();
    let after = if least == most {
        format!("{least}M")
    } else {
        format!("{least}M to {most}M")
    };
    plan.notes.push(format!(
        "SORTSIZE reduced from {before} to {after} so that sorts spill as they do at the paper's scale"
    ));
    if least == most && reduced.iter().all(Option::is_some) {
        plan.options.insert(SORTSIZE.to_owned(), after);
        return;
    }
    for (job, size) in plan.jobs.iter_mut().zip(reduced) {
        if let Some(size) = size {
            job.options.insert(SORTSIZE.to_owned(), format!("{size}M"));
        }
    }
}
