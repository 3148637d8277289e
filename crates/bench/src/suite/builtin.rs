//! The built-in suites: the folders of `suites/`, part of the binary.

/// A folder of `suites/`.
pub struct Builtin {
    /// Name of the folder.
    pub name: &'static str,
    /// suite.toml.
    pub text: &'static str,
    /// Programs by file name.
    pub programs: &'static [(&'static str, &'static str)],
}

macro_rules! suites {
    ($($suite:literal: $($program:literal)+;)+) => {
        /// All built-in suites, sorted by name.
        pub const BUILTIN: &[Builtin] = &[$(Builtin {
            name: $suite,
            text: include_str!(concat!("../../../../suites/", $suite, "/suite.toml")),
            programs: &[$((
                concat!($program, ".sas"),
                include_str!(concat!("../../../../suites/", $suite, "/programs/", $program, ".sas")),
            )),+],
        }),+];
    };
}

suites! {
    "demand-calibration": "calibrate";
    "large-sorts": "sort";
    "mixed-8core": "freq" "freq_text" "glm" "logistic" "means" "means_text" "reg" "reg_by"
        "reg_resid" "risk" "sort" "sql_distinct" "sql_group" "sql_join" "sql_text" "summary"
        "summary_text";
    "mixed-analytics": "c_freq" "c_glm" "c_glm_by" "c_hplog" "c_logistic" "c_mat" "c_reg"
        "c_reg_by" "c_sim" "c_summary" "io_append" "io_ds" "io_index" "io_means" "io_merge"
        "io_sort" "io_sql" "m_class" "m_hash";
    "multiuser": "bank1" "bank2" "comp_glm" "etl_inbound" "fscheck" "hplogistic" "rtumble"
        "rwrw" "rwtumble" "smallnoise" "sort" "where_test" "wr_junk";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::plan::Request;
    use crate::plan::tests::host;
    use crate::plan::{PlannedJob, Scale, plan};

    /// Names behind `out.` in a job's program, with what the job sets put in. Names of loops stay as they are written.
    fn outputs(job: &PlannedJob) -> Vec<String> {
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "_&.".contains(letter);
        let places = job.program.match_indices("out.");
        let libref = places.filter(|(at, _)| !job.program[..*at].ends_with(is_part));
        let behind = libref.map(|(at, _)| &job.program[at + "out.".len()..]);
        behind
            .map(|text| {
                let name: String = text.chars().take_while(|one| is_part(*one)).collect();
                let mut symbols: Vec<_> = job.symbols.iter().collect();
                symbols.sort_by_key(|(symbol, _)| std::cmp::Reverse(symbol.len()));
                symbols.into_iter().fold(name, |name, (symbol, value)| {
                    name.replace(&format!("&{symbol}"), value)
                })
            })
            .filter(|name| !name.is_empty())
            .collect()
    }

    #[test]
    fn no_two_jobs_of_a_suite_write_the_same_data_set_however_many_users_come() {
        for own in BUILTIN {
            let suite = crate::suite::builtin(own.name).unwrap();
            let mut request = Request::of(Scale::Demonstration);
            let personas = suite
                .text
                .personas
                .keys()
                .filter(|_| suite.text.mix.is_some());
            request.mix = personas.map(|persona| (persona.clone(), 20)).collect();
            let plan = plan(&suite, &request, &host(1000)).unwrap();
            let mut writers: BTreeMap<String, &str> = BTreeMap::new();
            for job in &plan.jobs {
                for name in outputs(job) {
                    let other = writers.entry(name.clone()).or_insert(&job.name);
                    assert_eq!(*other, job.name, "{}: out.{name}", own.name);
                }
            }
            assert!(!writers.is_empty(), "{}", own.name);
        }
    }
}
