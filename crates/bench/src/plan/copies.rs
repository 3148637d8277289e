//! Copies of the same data: those that streams of a suite read side by side, and those of batches side by
//! side, each of which has all data of its own.

use std::collections::HashMap;

use base::units::Bytes;
use results::run::CopiesRecord;

use super::{Error, Plan, PlannedDataset, PlannedJob};
use crate::suite::text::{Copies, Format};

/// How many batches there may be.
pub(super) fn check(lanes: u32) -> Result<(), Error> {
    if (1..=1000).contains(&lanes) {
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{lanes} batches side by side: 1 to 1000 are allowed"
    )))
}

/// Numbers the copies within a batch, adds the other batches, and gives copies that are to be distinct a
/// seed of their own.
pub(super) fn make(plan: &mut Plan) {
    number(&mut plan.datasets);
    let (datasets, jobs) = (plan.datasets.clone(), plan.jobs.clone());
    for lane in 2..=plan.lanes {
        let first = (plan.datasets.len(), plan.jobs.len());
        let own = datasets.iter().cloned();
        plan.datasets
            .extend(own.map(|set| PlannedDataset { lane, ..set }));
        let own = jobs.iter();
        plan.jobs.extend(own.map(|job| in_lane(job, lane, first)));
    }
    if plan.lanes > 1 {
        sort(&mut plan.jobs);
        plan.notes.push(format!(
            "{} batches side by side, each with inputs, WORK and outputs of its own: names of the jobs of \
             the second end in .2",
            plan.lanes
        ));
    }
    if plan.copies == Copies::Distinct {
        for set in &mut plan.datasets {
            set.seed = apart(set);
        }
    }
    let copied = plan.copied();
    plan.notes.extend(copied.as_ref().map(sentence));
}

/// Data of one recipe, seed, number of rows and format are copies.
fn number(datasets: &mut [PlannedDataset]) {
    let mut seen: HashMap<(String, u64, u64, bool), u64> = HashMap::new();
    for set in datasets {
        let text = set.format == Format::Csv;
        let same = (set.recipe.1.clone(), set.seed, set.rows, text);
        let before = seen.entry(same).or_default();
        set.replica = *before;
        *before += 1;
    }
}

/// The seed of a distinct copy. Data sets with one seed and number have matching keys still. What a user
/// adds to seeds are small numbers, so that the upper half is free.
fn apart(set: &PlannedDataset) -> u64 {
    let number = (u64::from(set.lane - 1) << 16) + set.replica;
    set.seed.wrapping_add(number << 32)
}

fn in_lane(job: &PlannedJob, lane: u32, (datasets, jobs): (usize, usize)) -> PlannedJob {
    PlannedJob {
        name: format!("{}.{lane}", job.name),
        lane,
        inputs: job.inputs.iter().map(|at| datasets + at).collect(),
        follows: job.follows.map(|before| jobs + before),
        ..job.clone()
    }
}

/// By offset; `follows` names places.
pub(crate) fn sort(jobs: &mut Vec<PlannedJob>) {
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by(|left, right| jobs[*left].offset_s.total_cmp(&jobs[*right].offset_s));
    let mut places = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        places[*old] = new;
    }
    *jobs = order.iter().map(|old| jobs[*old].clone()).collect();
    for job in jobs {
        job.follows = job.follows.map(|old| places[old]);
    }
}

fn is_copy(set: &PlannedDataset) -> bool {
    set.replica > 0 || set.lane > 1
}

fn sentence(copies: &CopiesRecord) -> String {
    let CopiesRecord {
        files, of_files, ..
    } = copies;
    let what = match copies.kind.as_str() {
        "identical" => "identical copies of others, each written in full",
        _ => "distinct copies: the same kind of data from seeds of their own",
    };
    let bytes = Bytes(copies.bytes);
    format!("{files} of {of_files} staged files ({bytes}) are {what}")
}

impl Plan {
    /// Staged files that stand for the same data as others, if there are any.
    pub fn copied(&self) -> Option<CopiesRecord> {
        let copies = self.datasets.iter().filter(|set| is_copy(set));
        let (files, bytes) = copies.fold((0, 0), |(files, bytes), set| {
            (files + 1, bytes + set.bytes().0)
        });
        (files > 0).then(|| CopiesRecord {
            kind: self.copies.name().to_owned(),
            files,
            bytes,
            of_files: self.datasets.len() as u64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Request;
    use crate::plan::tests::host;
    use crate::plan::{Scale, plan};
    use crate::suite::builtin;

    fn planned(suite: &str, copies: Option<Copies>, lanes: u32) -> Plan {
        let mut request = Request::of(Scale::Factor(0.001));
        (request.copies, request.lanes) = (copies, lanes);
        plan(&builtin(suite).unwrap(), &request, &host(1000)).unwrap()
    }

    fn seed(plan: &Plan, name: &str, lane: u32) -> u64 {
        let mut sets = plan.datasets.iter();
        let found = sets.find(|set| (set.name.as_str(), set.lane) == (name, lane));
        found.unwrap().seed
    }

    #[test]
    fn copies_are_identical_unless_distinct_ones_are_asked_for() {
        let same = planned("mixed-analytics", None, 1);
        assert_eq!(seed(&same, "iosort_1", 1), seed(&same, "iosort_3", 1));
        let other = planned("mixed-analytics", Some(Copies::Distinct), 1);
        assert_eq!(seed(&same, "iosort_1", 1), seed(&other, "iosort_1", 1));
        let seeds = [1, 2, 3].map(|copy| seed(&other, &format!("iosort_{copy}"), 1));
        assert!(seeds[0] != seeds[1] && seeds[1] != seeds[2] && seeds[0] != seeds[2]);
        // A detail table and its customers still have the same ids.
        assert_eq!(seed(&other, "iomerge_2", 1), seed(&other, "iomerge_c_2", 1));
        // Nine data sets, each three times.
        assert_eq!(same.copied().unwrap().files, 18);
        assert_eq!(other.copied().unwrap().kind, "distinct");
        let said = |plan: &Plan, part: &str| plan.notes.iter().any(|note| note.contains(part));
        assert!(said(&same, "18 of 27 staged files") && said(&same, "identical copies"));
        assert!(said(&other, "distinct copies"), "{:?}", other.notes);
        assert_eq!(planned("large-sorts", None, 1).copied(), None);
    }

    #[test]
    fn batches_side_by_side_have_everything_of_their_own() {
        let one = planned("multiuser", None, 1);
        let three = planned("multiuser", None, 3);
        assert_eq!(three.jobs.len(), 99);
        assert_eq!(three.input_bytes().0, 3 * one.input_bytes().0);
        let offsets = three.jobs.windows(2);
        assert!(
            offsets
                .into_iter()
                .all(|two| two[0].offset_s <= two[1].offset_s)
        );
        for job in &three.jobs {
            let lanes = job.inputs.iter().map(|at| three.datasets[*at].lane);
            assert!(
                lanes.into_iter().all(|lane| lane == job.lane),
                "{}",
                job.name
            );
            assert_eq!(job.lane > 1, job.name.ends_with(&format!(".{}", job.lane)));
        }
        let name = &three.datasets[0].name;
        assert_eq!(seed(&three, name, 1), seed(&three, name, 3));
        let apart = planned("multiuser", Some(Copies::Distinct), 3);
        assert_eq!(seed(&three, name, 1), seed(&apart, name, 1));
        assert_ne!(seed(&apart, name, 2), seed(&apart, name, 3));
    }

    #[test]
    fn streams_of_a_batch_follow_their_own_launches() {
        let two = planned("mixed-analytics", None, 2);
        for job in &two.jobs {
            let before = job.follows.map(|place| &two.jobs[place]);
            assert!(before.is_none_or(|before| before.lane == job.lane));
        }
        let followed = two.jobs.iter().find(|job| job.name == "io_sort_2.2");
        let before = followed.unwrap().follows.unwrap();
        assert_eq!(two.jobs[before].name, "io_sort_1.2");
    }
}
