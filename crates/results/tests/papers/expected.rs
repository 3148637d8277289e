//! What must come out of the published tables, worked from the papers with paper and pencil (and a
//! desk calculator for the roots) before any table code was written.

/// A column of Isilon's Table 1.
pub struct Column {
    /// The reference run.
    pub run: &'static str,
    /// Sum of the 33 run times, seconds: printed as h:mm:ss and right.
    pub sum_s: f64,
    /// As the paper prints it.
    pub sum_printed: &'static str,
    /// As the paper prints the mean, mm:ss.
    pub mean_printed: &'static str,
    /// Longest, seconds.
    pub max_s: f64,
    /// Population standard deviation, seconds, to a hundredth.
    pub deviation_s: f64,
}

/// Sums: hours, minutes and seconds of the rows added up apart. 13:52:58 = 49,978 s over 33 jobs is
/// 1,514.48 s = 25:14; 12:10:40 = 43,840 s is 1,328.48 s = 22:08; 7:21:13 = 26,473 s is 802.21 s = 13:22.
pub const TABLE_1: [Column; 3] = [
    Column {
        run: "isilon-f800",
        sum_s: 49_978.0,
        sum_printed: "13:52:58",
        mean_printed: "25:14",
        max_s: 8234.0,
        deviation_s: 2289.53,
    },
    Column {
        run: "isilon-f800-binary",
        sum_s: 43_840.0,
        sum_printed: "12:10:40",
        mean_printed: "22:08",
        max_s: 5085.0,
        deviation_s: 1609.20,
    },
    Column {
        run: "isilon-f810",
        sum_s: 26_473.0,
        sum_printed: "7:21:13",
        mean_printed: "13:22",
        max_s: 2968.0,
        // 16:57.76; Table 2 prints 16:58. Divided by 32 in place of 33 it would be 17:13.54.
        deviation_s: 1017.76,
    },
];

/// Isilon's Table 2 as printed: run, programs, nodes, mean, longest, deviation, sustained MB/s.
pub type Scenario = (&'static str, u64, u32, f64, f64, f64, (f64, f64));

/// 13:12 = 792 s, 49:28 = 2,968 s, 16:58 = 1,018 s, and so on.
pub const TABLE_2: [Scenario; 5] = [
    ("isilon-f810", 33, 1, 792.0, 2968.0, 1018.0, (650.0, 750.0)),
    (
        "isilon-f810-2",
        66,
        2,
        771.0,
        2838.0,
        972.0,
        (1000.0, 1400.0),
    ),
    (
        "isilon-f810-4",
        132,
        4,
        791.0,
        2960.0,
        1002.0,
        (2000.0, 2500.0),
    ),
    (
        "isilon-f810-8",
        264,
        8,
        782.0,
        2997.0,
        988.0,
        (4500.0, 5000.0),
    ),
    (
        "isilon-f810-12",
        396,
        12,
        748.0,
        2970.0,
        947.0,
        (6500.0, 7000.0),
    ),
];

/// Isilon's Table 3, minutes of bank2 on each node: run, shortest, longest, mean, deviation.
///
/// Twelve nodes, ten times printed: 49+47+45+49+46+44+50+48+50+49 = 477, mean 47.7; squares of the
/// differences 1.69+0.49+7.29+1.69+2.89+13.69+5.29+0.09+5.29+1.69 = 40.1, 40.1/10 = 4.01, root 2.0025.
pub const TABLE_3: [(&str, usize, f64, f64, f64, f64); 8] = [
    ("isilon-f800-binary-2", 2, 82.0, 85.0, 83.5, 1.5),
    ("isilon-f800-binary-4", 4, 81.0, 86.0, 83.5, 2.0616),
    ("isilon-f800-binary-8", 8, 78.0, 85.0, 82.875, 2.3150),
    ("isilon-f810-2", 2, 48.0, 49.0, 48.5, 0.5),
    ("isilon-f810-4", 4, 47.0, 49.0, 48.25, 0.8292),
    ("isilon-f810-8", 8, 45.0, 49.0, 46.625, 1.4948),
    ("isilon-f810-12", 10, 44.0, 50.0, 47.7, 2.0025),
    ("isilon-f810", 1, 49.0, 49.0, 49.0, 0.0),
];

/// Isilon's Table 4: sums of the 28 rows, GB to a tenth, and what the paper prints below them.
///
/// First column: 4 x 63 = 252; 184 + 3 x 185 = 739; 4 x 22 = 88; 2 x 13 = 26; 2 x 1.6 = 3.2; 2 x 51 =
/// 102; 40 + 16 = 56; 2 x 12 = 24; 25 + 99 = 124; megabytes 0.01. Together 1,414.2.
/// Second: 88 + 228 + 68 + 1.65 + 0.96 + 3.4 + 77 + 19.2 + 26.2 + 0.01 = 512.4.
/// Third: 11.2 + 28.8 + 56 + 0.206 + 0.156 + 0.42 + 26.3 + 17.6 + 8.3 + 0.01 = 149.0.
pub const TABLE_4: [(f64, f64); 3] = [(1414.2, 1433.6), (512.4, 503.0), (149.0, 149.0)];

/// Pure's Table 2: minutes of real, user and system time and GB of memory, and the printed DELTA.
///
/// 1462.15 - 1482.10 = -19.95; 56.08 - 56.07 = 0.01; 1730.53 - 1750.63 = -20.10; 274.70 - 282.36 = -7.66.
pub const PURE_TABLE_2: [(&str, [f64; 4]); 3] = [
    ("pure-spinning", [1482.10, 56.07, 1750.63, 282.36]),
    ("pure-fa420", [1462.15, 56.08, 1730.53, 274.70]),
    ("delta", [-19.95, 0.01, -20.10, -7.66]),
];

/// Pure's Table 3: mean, standard deviation and range of CPU/real, and the ratio of Table 2's sums:
/// (1750.63 + 282.36) / 1482.10 = 1.3717 and (1730.53 + 274.70) / 1462.15 = 1.3714.
pub const PURE_TABLE_3: [(&str, [f64; 4]); 2] = [
    ("pure-spinning", [1.157, 0.369, 2.107, 1.3717]),
    ("pure-fa420", [1.155, 0.362, 2.039, 1.3714]),
];

/// Where the papers contradict themselves: what, as printed, and what follows or stands elsewhere.
pub const DISCREPANCIES: [(&str, &str, &str); 19] = [
    // 7:21:13 / 33 = 13:22, as Table 1 prints it.
    (
        "isilon, Table 2: mean run time of isilon-f810",
        "13:12",
        "13:22",
    ),
    // Of bank2 on two nodes Table 3 has 0:48 and 0:49, which is 48:30 at least.
    (
        "isilon, Table 2: longest run time of isilon-f810-2",
        "47:18",
        "49 min",
    ),
    ("isilon, Table 3: nodes of isilon-f810-12", "12", "10 times"),
    (
        "isilon, Table 4: total of \"No SAS compression\"",
        "1433.6 GB",
        "1414.2 GB",
    ),
    (
        "isilon, Table 4: total of \"SAS compression\"",
        "503 GB",
        "512.4 GB",
    ),
    // 512.36 / 148.97 = 3.44; of the printed totals 503 / 149 = 3.38.
    ("isilon, Table 4: storage savings ratio", "3.3:1", "3.44:1"),
    (
        "isilon, section 4: what shared storage must sustain per core",
        "60-75 GBps",
        "60-75 MBps",
    ),
    (
        "isilon, section 4: what a grid node of 8 to 16 cores asks of shared storage",
        "480-900 MBps",
        "480-1,200 MBps",
    ),
    (
        "isilon, section 4: cores that 9 GBps support at 60-75 MBps each",
        "122-153",
        "120-150",
    ),
    (
        "isilon, sections 4 and 5.4: share of all I/O that goes to SASWORK",
        "40-60 %",
        "50-60 % and more",
    ),
    (
        "isilon, section 7.4: duplicate blocks",
        "roughly 40 %",
        "44.7 %",
    ),
    // 1462.15 minutes over 105 are 13.9 jobs at once.
    (
        "pure, section Data and IO Throughput: average of jobs at once of pure-fa420",
        "30",
        "13.9",
    ),
    (
        "pure, section Test Bed Description: longest test against the span of the whole workload",
        "1 h 53 min",
        "1 h 45 min",
    ),
    (
        "pure, section Test Results, above Table 3: name of the ratio of 1.157",
        "Real time/CPU time",
        "CPU time/Real time",
    ),
    (
        "pure, section Test Results, above Table 3: CPU/real of the FA-420, called \"a much more CPU bound process\"",
        "1.155",
        "1.157",
    ),
    (
        "rhel, section SAS Data: all input and output data",
        "1.1 GB",
        "45 GB",
    ),
    (
        "rhel, section 6: the pair of host and guest that was not tested",
        "RHEL 5.5 host with RHEL 6.0 guest, not tested",
        "RHEL 5.5 host with RHEL 6.0 guest, in the list of those tested",
    ),
    (
        "survey, section SAS system options: name of the option that aligns data sets",
        "ALIGNNSASIOFILES",
        "ALIGNSASIOFILES",
    ),
    (
        "survey, sections SAS system options and GFS2: date of what was benchmarked",
        "as of April 2012",
        "mid-March 2013",
    ),
];

/// What the papers conclude of their own figures, and so what ours must conclude of them.
pub mod conclusions {
    /// "Both of these numbers indicate the storage was keeping up with the CPU demand" (Pure, Test Results).
    pub const KEEPS_UP: [&str; 2] = ["pure-spinning", "pure-fa420"];
    /// "As good as a large, high throughput spinning array" (Pure, Test Results): 1462.15 / 1482.10 = 0.98654.
    pub const PURE_ELAPSED_RATIO: f64 = 0.986_54;
    /// "The SAS jobs ... were significantly faster" (Isilon, 7.1): 26,473 / 49,978 = 0.52969 of the F800
    /// without compression, 26,473 / 43,840 = 0.60385 of the F800 with it.
    pub const F810_OF_F800: [f64; 2] = [0.529_69, 0.603_85];
    /// "As the number of Grid nodes increased, the runtime of the job remained the same" (Isilon, 7.2):
    /// the mean of all jobs on 12 nodes is 748 / 792 = 0.94444 of that on one, and the times of bank2 on
    /// 12 nodes lie between 44 and 50 minutes: 50 / 44 = 1.13636.
    pub const SCALES: (f64, f64) = (0.944_44, 1.136_36);
    /// "A sustained rate of 9 `GBps` ... we could support 122-153 CPU cores": 9,000 / 144 = 62.5 MB/s for
    /// each of the 144 cores of 12 nodes, at least 60 and below 75 (Isilon, section 4).
    pub const DD_PER_CORE: f64 = 62.5;
}
