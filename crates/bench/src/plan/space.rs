//! What a run puts on each channel at the peak, as multiples of its input.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Request, Scale};
use crate::suite::Suite;
use crate::suite::expand::{Choice, expand};

/// Bytes at the peak as multiples of the input, with the parameters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// Permanent outputs.
    pub output: f64,
    /// WORK.
    pub work: f64,
    /// Utility files.
    pub util: f64,
}

/// That of the variant, or of the demonstration, or of the suite; in proportion to the parameters that it
/// grows with. All nodes are counted together.
pub(super) fn of_run(suite: &Suite, request: &Request, choice: &Choice) -> Space {
    let text = &suite.text;
    let variant = request
        .variant
        .as_ref()
        .and_then(|name| text.variants.get(name));
    let variant = variant.and_then(|variant| variant.space.as_ref());
    let small = text.demonstration.space.as_ref();
    let small = small.filter(|_| request.scale == Scale::Demonstration);
    let space = variant.or(small).unwrap_or(&text.space);
    let parameters = on_all_nodes(suite, request, choice);
    let grown = |multiple: f64, at: &BTreeMap<Spanned<String>, u64>| {
        let factors = at.iter().map(|(name, value)| {
            let here = parameters.get(name.get_ref()).unwrap_or(value);
            *here as f64 / (*value).max(1) as f64
        });
        multiple * factors.product::<f64>()
    };
    Space {
        output: grown(space.output, &space.output_at),
        work: grown(space.work, &space.work_at),
        util: grown(space.util, &space.util_at),
    }
}

/// The parameters with the jobs that run at once on all nodes together. Nodes have equal numbers of them, or one more.
fn on_all_nodes(suite: &Suite, request: &Request, choice: &Choice) -> BTreeMap<String, u64> {
    let mut parameters = choice.parameters.clone();
    if let Some(count) = parameters.get_mut("concurrency") {
        let nodes = u64::from(request.spread_over.max(1));
        let jobs = expand(suite, choice).jobs.len() as u64;
        *count = (*count).min(jobs.div_ceil(nodes)).max(1) * nodes;
    }
    parameters
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::plan;
    use crate::plan::tests::{host, request};
    use crate::suite::builtin;

    #[test]
    fn space_grows_with_the_parameters_it_depends_on() {
        let suite = builtin("demand-calibration").unwrap();
        let of = |scale: Scale, parameters: &[(&str, u64)]| {
            let mut request = request(scale);
            let given = parameters.iter();
            request.parameters = given
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect();
            plan(&suite, &request, &host(10_000)).unwrap().space
        };
        let paper = [("models", 750), ("concurrency", 24)];
        let whole = of(Scale::Factor(1.0), &paper);
        assert_eq!((whole.output, whole.work), (30.0, 21.0));
        // A hundredth of the models, a quarter of the processes with a tenth of the files.
        let few = [("models", 75), ("concurrency", 6), ("temp_files", 700)];
        let few = of(Scale::Factor(1.0), &few);
        assert!(
            (few.output - 3.0).abs() < 1e-9 && (few.work - 0.525).abs() < 1e-9,
            "{few:?}"
        );
        // All models at demonstration scale are more than its own eight.
        let small = of(Scale::Demonstration, &[]);
        let many = of(Scale::Demonstration, &[("models", 750)]);
        assert!((many.output / small.output - 750.0 / 8.0).abs() < 1e-9);
    }

    #[test]
    fn nodes_that_share_a_batch_need_work_for_all_that_run_on_them() {
        let suite = builtin("demand-calibration").unwrap();
        let of = |nodes: u32| {
            let mut request = request(Scale::Factor(1.0));
            request.parameters = [("models", 40), ("concurrency", 12)]
                .map(|(name, value)| (name.to_owned(), value))
                .into();
            request.spread_over = nodes;
            plan(&suite, &request, &host(10_000)).unwrap().space
        };
        let alone = of(1);
        assert!((alone.work - 10.5).abs() < 1e-9, "{alone:?}");
        assert!((of(3).work / alone.work - 3.0).abs() < 1e-9);
        // Twelve on each of six nodes are more than there are: some nodes run seven. The mart holds what all make,
        // wherever they run.
        assert!((of(6).work / alone.work - 42.0 / 12.0).abs() < 1e-9);
        assert!((of(6).output - alone.output).abs() < 1e-9);
    }

    #[test]
    fn a_sort_in_place_has_its_file_twice_among_the_outputs() {
        let suite = builtin("large-sorts").unwrap();
        let mut request = request(Scale::Demonstration);
        let usual = plan(&suite, &request, &host(100)).unwrap();
        request.variant = Some("in-place".to_owned());
        let place = plan(&suite, &request, &host(100)).unwrap();
        assert_eq!((usual.space.output, place.space.output), (1.0, 2.0));
        let moved = |plan: &crate::plan::Plan| plan.expected().unwrap().0 / plan.input_bytes().0;
        assert_eq!((moved(&usual), moved(&place)), (4, 6));
        assert_eq!(usual.jobs[0].symbols["replace"], "no");
        assert_eq!(place.jobs[0].symbols["replace"], "yes");
    }
}
