//! What a run puts on each channel at the peak.

use std::collections::BTreeMap;

use base::units::Bytes;
use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::{Request, Scale};
use crate::suite::Suite;
use crate::suite::expand::{Choice, expand, rounded};

/// Bytes at the peak, with the parameters of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// Permanent outputs.
    pub output: Need,
    /// WORK.
    pub work: Need,
    /// Utility files.
    pub util: Need,
    /// Logs and records in the run directory.
    pub runs: Need,
}

/// How many bytes of input need how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Need {
    /// Multiple of the input.
    pub per_input: f64,
    /// Bytes at any scale.
    pub fixed: f64,
}

impl Need {
    /// The input itself.
    pub(crate) const INPUT: Self = Self {
        per_input: 1.0,
        fixed: 0.0,
    };

    /// That of so many times as many.
    pub(crate) fn times(self, factor: f64) -> Self {
        Self {
            per_input: self.per_input * factor,
            fixed: self.fixed * factor,
        }
    }

    /// With so much input.
    pub fn at(self, input: Bytes) -> Bytes {
        Bytes(rounded(self.per_input * input.0 as f64 + self.fixed))
    }
}

impl std::iter::Sum for Need {
    fn sum<I: Iterator<Item = Self>>(needs: I) -> Self {
        needs.fold(Self::default(), |sum, need| Self {
            per_input: sum.per_input + need.per_input,
            fixed: sum.fixed + need.fixed,
        })
    }
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
    let grown = |per_input: f64, fixed: Bytes, at: &BTreeMap<Spanned<String>, u64>| {
        let factors = at.iter().map(|(name, value)| {
            let here = parameters.get(name.get_ref()).unwrap_or(value);
            *here as f64 / (*value).max(1) as f64
        });
        let factor = factors.product::<f64>();
        // The input is that of all batches side by side.
        let batches = f64::from(request.lanes.max(1));
        Need {
            per_input,
            fixed: fixed.0 as f64 * batches,
        }
        .times(factor)
    };
    Space {
        output: grown(space.output, space.output_fixed, &space.output_at),
        work: grown(space.work, space.work_fixed, &space.work_at),
        util: grown(space.util, space.util_fixed, &space.util_at),
        runs: grown(0.0, space.runs_fixed, &space.runs_at),
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
    use crate::plan::Request;
    use crate::plan::plan;
    use crate::plan::tests::host;
    use crate::suite::builtin;

    #[test]
    fn space_grows_with_the_parameters_it_depends_on() {
        let suite = builtin("demand-calibration").unwrap();
        let of = |scale: Scale, parameters: &[(&str, u64)]| {
            let mut request = Request::of(scale);
            let given = parameters.iter();
            request.parameters = given
                .map(|(name, value)| ((*name).to_owned(), *value))
                .collect();
            plan(&suite, &request, &host(10_000)).unwrap().space
        };
        let paper = [("models", 750), ("concurrency", 24)];
        let whole = of(Scale::Factor(1.0), &paper);
        let text = &suite.text.space;
        let same = |one: f64, other: f64| assert!((one - other).abs() < 1e-9 * other);
        same(whole.output.per_input, text.output);
        same(whole.work.fixed, text.work_fixed.0 as f64);
        // A tenth of the models, a quarter of the processes with a tenth of the files.
        let few = [("models", 75), ("concurrency", 6), ("temp_files", 700)];
        let few = of(Scale::Factor(1.0), &few);
        let part = |few: Need, whole: Need| {
            let fixed = few.fixed / whole.fixed;
            assert!((fixed - few.per_input / whole.per_input).abs() < 1e-9);
            fixed
        };
        assert!((part(few.output, whole.output) - 0.1).abs() < 1e-9);
        assert!((part(few.work, whole.work) - 0.025).abs() < 1e-9);
        // All models at demonstration scale are more than its own eight.
        let small = of(Scale::Demonstration, &[]);
        let many = of(Scale::Demonstration, &[("models", 750)]);
        assert!((part(many.output, small.output) - 750.0 / 8.0).abs() < 1e-9);
    }

    /// Bytes that runs were seen to need: the mart of a model and the WORK of a process, by scale.
    #[test]
    fn what_does_not_shrink_with_the_scale_is_needed_at_any() {
        let suite = builtin("demand-calibration").unwrap();
        let seen = [
            (0.25, 41_845_760.0, 920_387_584.0),
            (1.0, 93_491_200.0, 922_615_808.0),
        ];
        for (scale, mart, work) in seen {
            let mut request = Request::of(Scale::Factor(scale));
            request.parameters = [("models", 10), ("concurrency", 2)]
                .map(|(name, value)| (name.to_owned(), value))
                .into();
            let plan = plan(&suite, &request, &host(10_000)).unwrap();
            let input = plan.input_bytes();
            let near = |need: Need, seen: f64| {
                let planned = need.at(input).0 as f64;
                assert!((1.0..1.1).contains(&(planned / seen)), "{planned} {seen}");
            };
            near(plan.space.output, 10.0 * mart);
            near(plan.space.work, 2.0 * work);
        }
    }

    #[test]
    fn nodes_that_share_a_batch_need_work_for_all_that_run_on_them() {
        let suite = builtin("demand-calibration").unwrap();
        let of = |nodes: u32| {
            let mut request = Request::of(Scale::Factor(1.0));
            request.parameters = [("models", 40), ("concurrency", 12)]
                .map(|(name, value)| (name.to_owned(), value))
                .into();
            request.spread_over = nodes;
            plan(&suite, &request, &host(10_000)).unwrap().space
        };
        let alone = of(1);
        let times = |one: Need, other: Need| one.fixed / other.fixed;
        assert!((alone.work.fixed * 2.0 - suite.text.space.work_fixed.0 as f64).abs() < 1.0);
        assert!((times(of(3).work, alone.work) - 3.0).abs() < 1e-9);
        // Twelve on each of six nodes are more than there are: some nodes run seven. The mart holds what all make,
        // wherever they run.
        assert!((times(of(6).work, alone.work) - 42.0 / 12.0).abs() < 1e-9);
        assert_eq!(of(6).output, alone.output);
    }

    #[test]
    fn a_sort_in_place_has_its_file_twice_among_the_outputs() {
        let suite = builtin("large-sorts").unwrap();
        let mut request = Request::of(Scale::Demonstration);
        let usual = plan(&suite, &request, &host(100)).unwrap();
        request.variant = Some("in-place".to_owned());
        let place = plan(&suite, &request, &host(100)).unwrap();
        let outputs = (usual.space.output.per_input, place.space.output.per_input);
        assert_eq!(outputs, (1.0, 2.0));
        let moved = |plan: &crate::plan::Plan| plan.expected().unwrap().0 / plan.input_bytes().0;
        assert_eq!((moved(&usual), moved(&place)), (4, 6));
        assert_eq!(usual.jobs[0].symbols["replace"], "no");
        assert_eq!(place.jobs[0].symbols["replace"], "yes");
    }
}
