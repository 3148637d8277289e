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
