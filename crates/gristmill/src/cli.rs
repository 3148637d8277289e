//! The whole surface of the command line.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::commands::data::DataArgs;
use crate::commands::iotest::IotestArgs;
use crate::commands::probe::{ProbeArgs, ProbePeerArgs};
use crate::sizes;

/// What `--version` prints after the name, and runs record.
pub const VERSION: &str = concat!(
    env!("CARGO_PKG_VERSION"),
    " (commit ",
    env!("GRISTMILL_COMMIT"),
    ", ",
    env!("GRISTMILL_TARGET"),
    ")"
);

const EXIT_CODES: &str = "Exit codes: 0 good; 1 the answer is no; 2 usage; 3 could not run; \
4 no answer; 130 interrupted. `exec` speaks SAS: 0 clean, 1 warnings, 2 errors, 3 usage \
or could not run.";

/// Finds out whether storage can keep analytics cores fed.
#[derive(Debug, Parser)]
#[command(name = "gristmill", version = VERSION, after_help = EXIT_CODES)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Run a suite: stage its data, run its jobs, verify their outputs, report
    Run(Box<RunArgs>),
    /// Put the data of a suite in place and stop; what is there already stays
    Stage(StageArgs),
    /// List the suites, explain one, check a folder of your own
    Suites(SuitesArgs),
    /// Run one SAS-language program in the built-in engine
    Exec(ExecArgs),
    /// Generate, look into, check and convert data sets
    Data(DataArgs),
    /// Print the tables of runs, finished or not
    Report(ReportArgs),
    /// Read SAS logs, of any platform and version: tables of jobs, procedures and steps; two sets side by side
    Logs(LogsArgs),
    /// Set runs, or runs and papers, side by side: ratios, and what of them is noise
    Compare(CompareArgs),
    /// Run a suite with file systems, options and settings in every combination, several times, and say what makes a
    /// difference
    Matrix(Box<MatrixArgs>),
    /// Measure what directories move when one stream for each core writes, reads and copies large files
    Iotest(IotestArgs),
    /// Show what a file system does with locks, caches, small files and other clients, by small experiments
    Probe(ProbeArgs),
    /// Take part in the experiments of another process
    #[command(hide = true)]
    ProbePeer(ProbePeerArgs),
    /// Hold a host's settings against published advice; what fails comes with what to do
    Audit(Box<AuditArgs>),
    /// Put an event, such as a failover, on the timeline of a run that is on its way
    Mark(MarkArgs),
    /// One node's part of a run on several: started by launchers, not by people
    #[command(hide = true)]
    Agent(AgentArgs),
    /// List what Gristmill staged or left below a directory, and remove it with --yes
    Clean(CleanArgs),
    /// Print completions for a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

/// Arguments of `audit`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct AuditArgs {
    /// What else than an audit
    #[command(subcommand)]
    pub verb: Option<AuditVerb>,
    /// Audit a captured tree: a sosreport, or what --collect made, unpacked
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Make a capture of this host that has everything the audit reads, and stop
    #[arg(long, value_name = "FILE.tar.gz", conflicts_with = "root")]
    pub collect: Option<PathBuf>,
    /// What the host is (compute, kvm-host, gpfs-nsd, metadata, midtier, viya, or a bundle such as
    /// sas-grid-nfs), or what a path is, such as saswork=/saswork or sasdata=/sas
    #[arg(long, value_name = "ROLE[=PATH]")]
    pub role: Vec<String>,
    /// A vendor of storage that cannot be seen from here: isilon, azure-netapp-files, ontap, PURE
    #[arg(long, value_name = "NAME")]
    pub vendor: Vec<String>,
    /// Read a file as one of the sources of docs/reference/sources.md, such as sas-options=options.log
    #[arg(long, value_name = "SOURCE=FILE", value_parser = sizes::named_file)]
    pub also: Vec<(String, String)>,
    /// Rules that this site waives, and values of its own, with reason, owner and end
    #[arg(long, value_name = "FILE.toml")]
    pub overrides: Option<PathBuf>,
    /// Write files that mend what failed below this directory, for a person to install
    #[arg(long, value_name = "DIR")]
    pub fix: Option<PathBuf>,
    /// Compare audits (--json) of several nodes
    #[arg(long, value_name = "FILE.json", num_args = 1.., conflicts_with_all = ["root", "collect", "fix"])]
    pub compare: Vec<PathBuf>,
    /// The least severity whose failure gives exit code 1
    #[arg(long, value_name = "SEVERITY", default_value = "high")]
    pub fail_on: FailOn,
    /// Exit with 4 if a rule at or above --fail-on could not be judged
    #[arg(long)]
    pub strict: bool,
    /// Also list what passes, what is unknown and what is for others
    #[arg(long)]
    pub all: bool,
    /// Audit several nodes, and compare them
    #[command(flatten)]
    pub on: NodesArgs,
    /// Print JSON: facts and findings, sorted
    #[arg(long)]
    pub json: bool,
}

/// What `audit` does beside auditing.
#[derive(Debug, Subcommand)]
pub enum AuditVerb {
    /// What a rule says, why, who says so, and how it is mended
    Explain {
        /// Its number, such as NFS-112
        id: String,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
}

/// A severity, for `--fail-on`.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum FailOn {
    /// Data may be lost or wrong
    Critical,
    /// A large share of the speed
    High,
    /// A measurable share
    Medium,
    /// Anything
    Low,
}

impl From<FailOn> for host::audit::Severity {
    fn from(severity: FailOn) -> Self {
        match severity {
            FailOn::Critical => Self::Critical,
            FailOn::High => Self::High,
            FailOn::Medium => Self::Medium,
            FailOn::Low => Self::Low,
        }
    }
}

/// Arguments of `run`.
#[derive(Debug, Args)]
pub struct RunArgs {
    /// The suite: a name of `gristmill suites`, or the path of a folder, such as ./nightly
    #[arg(default_value = "multiuser")]
    pub suite: String,
    /// Stage input data below this directory
    #[arg(long, value_name = "DIR", default_value = "gristmill-bench")]
    pub data: PathBuf,
    /// Make permanent outputs below this directory [default: that of --data]
    #[arg(long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Make WORK directories below this directory [default: that of --data]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Make utility files below this directory [default: that of --work]
    #[arg(long, value_name = "DIR")]
    pub util: Option<PathBuf>,
    /// Keep run directories below this directory [default: runs/ in that of --data]
    #[arg(long, value_name = "DIR")]
    pub runs: Option<PathBuf>,
    /// Factor on the paper's rows (1 = the paper's size), or auto [default: demonstration scale]
    #[arg(long, value_name = "F|auto", value_parser = sizes::scale)]
    pub scale: Option<bench::plan::Scale>,
    /// Factor on launch times and thinking times [default: 1; at demonstration scale the suite's]
    #[arg(long, value_name = "F")]
    pub time_scale: Option<f64>,
    /// Jobs, of suites that have this parameter [default: as many per core as the suite says]
    #[arg(long, value_name = "N")]
    pub jobs: Option<u64>,
    /// Models, of suites that have this parameter
    #[arg(long, value_name = "N")]
    pub models: Option<u64>,
    /// No more jobs at once than this
    #[arg(long, value_name = "N")]
    pub concurrency: Option<u64>,
    /// Another parameter of the suite; `gristmill suites show SUITE` lists them
    #[arg(long, value_name = "NAME=N", value_parser = sizes::parameter)]
    pub parameter: Vec<(String, u64)>,
    /// Launches by kinds of users, such as modeller=4,etl=1,report=10; others stay as they are
    /// (`gristmill suites show SUITE` lists them)
    #[arg(long, value_name = "PERSONA=N,…", value_delimiter = ',', value_parser = sizes::parameter)]
    pub mix: Vec<(String, u64)>,
    /// A variant of the suite, such as `compressed` of multiuser
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Physical cores that rates are divided by, and jobs counted by [default: those of the host
    /// within the affinity mask and the cgroup's quota]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: Option<u32>,
    /// Set a SAS system option for every job, such as FILELOCKS=NONE
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = sizes::name_value)]
    pub option: Vec<(String, Option<String>)>,
    /// Seed of the data: the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What copies of the same data are that streams and batches read side by side: identical, as in the
    /// papers, or distinct, from seeds of their own [default: as the suite says]
    #[arg(long, value_name = "identical|distinct", value_parser = sizes::copies)]
    pub copies: Option<bench::suite::text::Copies>,
    /// What executes the programs: the built-in engine, or a licensed SAS of the site's own by the path of its
    /// command after `sas:`
    #[arg(long, value_name = "builtin|sas:PATH", default_value = "builtin", value_parser = engine)]
    pub engine: EngineArg,
    /// The pace of the jobs' steps
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Start with whatever is cached. Otherwise the page cache of the whole host is dropped as root,
    /// or the staged files are evicted
    #[arg(long)]
    pub warm: bool,
    /// Empty all caches of the input with this command, on each node, where the kernel does not (GPFS, ZFS, FUSE): it
    /// has done so if it ends with 0
    #[arg(long, value_name = "CMD", conflicts_with = "warm")]
    pub empty_caches: Option<String>,
    /// Put a series that others measure on the run's time axis, such as isi="isi statistics ...":
    /// the last number of the file's last line, or of the lines that the command writes, each second
    #[arg(long, value_name = "NAME=FILE|CMD", value_parser = sizes::series)]
    pub observe: Vec<bench::sampler::observe::Series>,
    /// Do not measure first, on tmpfs, what the engine can do: the verdict then cannot tell engine from
    /// storage
    #[arg(long)]
    pub no_ceiling: bool,
    /// How to verify: every job's outputs, those of the first launch of each program, or none (the
    /// run then shows nothing)
    #[arg(long, value_name = "full|sample|off", default_value = "full", value_parser = sizes::verify)]
    pub verify: bench::plan::Verify,
    /// End a job after so long, such as 2h, 30m or 90s
    #[arg(long, value_name = "TIME", value_parser = sizes::duration)]
    pub wall_limit: Option<Duration>,
    /// Start the jobs anew, batch after batch, until so long is over: flash that must collect garbage
    /// shows it after hours
    #[arg(long, value_name = "TIME", value_parser = sizes::duration)]
    pub duration: Option<Duration>,
    /// Run the same so many times, each run in a directory of its own, and say how far they differ
    /// [default: 1; 3 with --compare-option]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeat: Option<u32>,
    /// Run with each of these values of a SAS option in turn, --repeat times, and say how the elapsed
    /// times compare: FILELOCKS=FAIL,NONE
    #[arg(long, value_name = "NAME=A,B", value_parser = sizes::compared, conflicts_with_all = ["ladder", "duration"])]
    pub compare_option: Option<sizes::Compared>,
    /// Run at rising load, such as 1,2,4,8 (jobs, or jobs at once, as the suite has them), and find
    /// the largest that meets the requirements
    #[arg(long, value_name = "N,N,…", value_delimiter = ',', conflicts_with_all = ["repeat", "duration"])]
    pub ladder: Vec<u64>,
    /// On which nodes
    #[command(flatten)]
    pub grid: GridArgs,
    /// Keep the outputs after they were verified
    #[arg(long)]
    pub keep: bool,
    /// Say what the run is of, such as host=rhel9,array=f810: `gristmill matrix report` compares runs by it
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = ',', value_parser = sizes::label)]
    pub label: Vec<(String, String)>,
    /// Print the plan and stop
    #[arg(long)]
    pub dry_run: bool,
    /// Judge by the requirements of this file in place of the published ones
    #[arg(long, value_name = "FILE")]
    pub thresholds: Option<PathBuf>,
    /// Print the result, or the plan, as JSON; of several runs one a line, and what they show together
    #[arg(long)]
    pub json: bool,
}

/// On which nodes.
#[derive(Debug, Args)]
pub struct GridArgs {
    /// Run on several nodes by Slurm: within an allocation on all of its nodes, otherwise on as many as
    /// --nodes says. Directories must be the same on all nodes, and that of --runs shared by them
    #[arg(long, conflicts_with_all = ["ladder", "compare_option", "duration", "dry_run"])]
    pub slurm: bool,
    /// Run on the nodes on which another launcher (mpirun, LSF, PBS, an indexed Kubernetes Job) starts this same
    /// command once each. The name, the same on all, is needed where the launcher gives none
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, default_missing_value = "",
          conflicts_with_all = ["slurm", "ladder", "compare_option", "duration", "dry_run", "repeat"])]
    pub launched: Option<String>,
    /// How many processes the launcher starts, where it does not say so
    #[arg(long, value_name = "N", requires = "launched")]
    pub processes: Option<usize>,
    /// Submit a run on so many nodes, one job after the other, and say how the run times grow
    #[arg(
        long,
        value_name = "N,N,…",
        value_delimiter = ',',
        requires = "slurm",
        // The parser does not ask for --slurm beside what excludes it.
        conflicts_with_all = ["launched", "ladder", "compare_option", "duration", "dry_run"],
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub nodes: Vec<u32>,
    /// How it is submitted
    #[command(flatten)]
    pub submission: SubmissionArgs,
    /// Go on with the series that this same command began here last: numbers of nodes that were run are not run again,
    /// and --nodes may name more
    #[arg(long, requires = "nodes")]
    pub resume: bool,
    /// The folder of the series that the run is part of
    #[arg(long, value_name = "DIR", requires = "slurm", hide = true)]
    pub in_series: Option<PathBuf>,
}

/// How Slurm is asked for nodes.
#[derive(Debug, Args)]
pub struct SubmissionArgs {
    /// Slurm's partition
    #[arg(long, value_name = "NAME", requires = "nodes")]
    pub partition: Option<String>,
    /// Slurm's account
    #[arg(long, value_name = "NAME", requires = "nodes")]
    pub account: Option<String>,
    /// Another option of sbatch, such as --slurm-option=--time=2:00:00
    #[arg(
        long,
        value_name = "OPTION",
        requires = "nodes",
        allow_hyphen_values = true
    )]
    pub slurm_option: Vec<String>,
}

/// On which nodes something other than a suite is done.
#[derive(Debug, Args)]
pub struct NodesArgs {
    /// On several nodes by Slurm: within an allocation on its nodes, otherwise on as many as --nodes says
    #[arg(long)]
    pub slurm: bool,
    /// Submit it to Slurm, on so many nodes
    #[arg(long, value_name = "N", requires = "slurm", value_parser = clap::value_parser!(u32).range(2..=1000))]
    pub nodes: Option<u32>,
    /// How it is submitted
    #[command(flatten)]
    pub submission: SubmissionArgs,
}

/// Arguments of `agent`.
#[derive(Debug, Args)]
pub struct AgentArgs {
    /// The run's directory, or the folder of a test on several nodes
    #[arg(long, value_name = "DIR")]
    pub run: PathBuf,
    /// What to do of it: prepare, stage, cold, launch or verify; of a test, its phase
    #[arg(long, value_name = "PHASE", required_unless_present = "clock")]
    pub phase: Option<String>,
    /// Answer each line of standard input with this node's clock
    #[arg(long)]
    pub clock: bool,
    /// It is a test of raw throughput
    #[arg(long)]
    pub iotest: bool,
    /// Which of the nodes this is, from 0, where it has no name of Slurm's
    #[arg(long, value_name = "N")]
    pub rank: Option<usize>,
    /// When jobs are to be launched, seconds since the Unix epoch by the clock of the node that leads
    #[arg(long, value_name = "TIME")]
    pub start: Option<f64>,
    /// Which node verifies the jobs of which, by number
    #[arg(long, value_name = "N=M", value_parser = sizes::parameter)]
    pub verifies: Vec<(String, u64)>,
}

/// Value of `--engine`: the path of a licensed SAS, or the built-in engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineArg(pub Option<PathBuf>);

fn engine(text: &str) -> Result<EngineArg, String> {
    bench::sas::parse_engine(text).map(EngineArg)
}

/// How fast steps compute.
#[derive(Debug, Args)]
pub struct PaceArgs {
    /// CPU time that steps spend: none (as little as this engine can), sas (what SAS spends on such
    /// steps) or a factor on that, such as 0.5
    #[arg(long, value_name = "none|sas|FACTOR", default_value = "none", value_parser = sizes::pace)]
    pub pace: Pace,
    /// How they spend it: by computing, or by waiting, so that few cores stand in for many
    #[arg(long, value_name = "busy|sleep", value_enum, default_value_t = PaceBy::Busy)]
    pub pace_by: PaceBy,
    /// What SAS spends, in place of the built-in table (docs/reference/pace.md)
    #[arg(long, value_name = "FILE")]
    pub pace_table: Option<PathBuf>,
}

/// Value of `--pace`.
#[derive(Debug, Clone, PartialEq)]
pub struct Pace {
    /// As it was given.
    pub asked: String,
    /// Factor on the table; `None` for no pace.
    pub factor: Option<f64>,
}

/// Value of `--pace-by`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PaceBy {
    /// By computing
    Busy,
    /// By waiting
    Sleep,
}

/// Arguments of `suites`.
#[derive(Debug, Args)]
pub struct SuitesArgs {
    /// What to do [default: list them]
    #[command(subcommand)]
    pub what: Option<SuitesVerb>,
    /// Print the list as JSON
    #[arg(long)]
    pub json: bool,
}

/// What to do with suites.
#[derive(Debug, Subcommand)]
pub enum SuitesVerb {
    /// Explain a suite: its sources, data, jobs, launch and checks
    Show {
        /// A name, or the path of a folder, such as ./nightly
        suite: String,
        /// Print it as JSON
        #[arg(long)]
        json: bool,
    },
    /// Measure the sizes of its data sets uncompressed, with COMPRESS=BINARY, and those on an array that
    /// compresses, beside the published ones
    Sizes(SizesArgs),
    /// Run one job without and with SAS compression, on a file system that does not compress and on one
    /// that does: what compression saves, and what it costs
    Tradeoff(TradeoffArgs),
    /// Check the folder of a suite: suite.toml, its programs and recipes
    Check {
        /// The folder
        directory: PathBuf,
        /// Print the mistakes as JSON
        #[arg(long)]
        json: bool,
    },
}

/// Arguments of `suites sizes`.
#[derive(Debug, Args)]
pub struct SizesArgs {
    /// A name, or the path of a folder, such as ./nightly
    pub suite: String,
    /// Measure so many of the rows [default: as many as make 32 MiB of compressed pages]
    #[arg(long, value_name = "F")]
    pub scale: Option<f64>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `suites tradeoff`.
#[derive(Debug, Args)]
pub struct TradeoffArgs {
    /// A suite with a variant `compressed`
    #[arg(default_value = "multiuser")]
    pub suite: String,
    /// The job
    #[arg(long, default_value = "rwrw_1")]
    pub job: String,
    /// A directory on storage that does not compress
    #[arg(long, value_name = "DIR")]
    pub data: PathBuf,
    /// A directory on storage that does
    #[arg(long, value_name = "DIR")]
    pub data_compressed: PathBuf,
    /// Make WORK directories and utility files below this directory, on neither of them
    #[arg(long, value_name = "DIR", default_value = "gristmill-bench/work")]
    pub work: PathBuf,
    /// Keep run directories below this directory
    #[arg(long, value_name = "DIR", default_value = "gristmill-bench/runs")]
    pub runs: PathBuf,
    /// Factor on the paper's rows
    #[arg(long, value_name = "F", default_value_t = 0.02)]
    pub scale: f64,
    /// Rounds; each begins with another configuration
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repeat: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `report`.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run directories, or papers: `paper:isilon` for all tables of one, `paper:isilon-f810` for a run of it
    #[arg(required = true)]
    pub runs: Vec<PathBuf>,
    /// Print what the nodes did second by second instead: as vmstat or iostat do, or by channel
    #[arg(long, value_name = "VIEW", conflicts_with = "json")]
    pub view: Option<ViewKind>,
    /// Print the results with all tables as JSON, one a line
    #[arg(long)]
    pub json: bool,
    /// Write every table as CSV below this directory (a new one as ./NAME), or print the one of this name
    #[arg(long, value_name = "DIR|TABLE", conflicts_with = "json")]
    pub csv: Option<PathBuf>,
    /// Judge by the requirements of this file in place of the published ones
    #[arg(long, value_name = "FILE")]
    pub thresholds: Option<PathBuf>,
    /// Pack the run directory for sending
    #[arg(long, value_name = "FILE.tar.gz", conflicts_with_all = ["json", "csv"])]
    pub bundle: Option<PathBuf>,
    /// Replace names of hosts, users and paths in the bundle, and say which
    #[arg(long, requires = "bundle")]
    pub anonymise: bool,
    /// Write the report of the run as one HTML file that needs nothing else
    #[arg(long, value_name = "FILE", conflicts_with_all = ["view", "bundle"])]
    pub html: Option<PathBuf>,
}

const LOGS_EXIT_CODES: &str = "Exit codes: 0 no log has an error or lacks its session's end; 1 one has or lacks; \
2 usage; 3 could not read, or no SAS log there. With --compare: 0, 2 or 3.";

/// Arguments of `logs`.
#[derive(Debug, Args)]
#[command(after_help = LOGS_EXIT_CODES)]
pub struct LogsArgs {
    /// Logs, compressed by gzip or not, and folders that hold some
    #[arg(required_unless_present = "compare")]
    pub paths: Vec<PathBuf>,
    /// Set two logs or two folders of logs side by side, job by job and step by step, such as those before and
    /// after a migration
    #[arg(long, num_args = 2, value_names = ["BEFORE", "AFTER"], conflicts_with = "paths")]
    pub compare: Vec<PathBuf>,
    /// Rows of each table on the terminal
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub top: usize,
    /// List every step, in the order of the logs
    #[arg(long, conflicts_with = "compare")]
    pub steps: bool,
    /// What a block of the block counts is where a log does not say that it is of Linux, such as 512
    #[arg(long, value_name = "BYTES", value_parser = crate::commands::logs::block_bytes)]
    pub block_bytes: Option<u64>,
    /// Print every log with its steps as JSON
    #[arg(long)]
    pub json: bool,
    /// Write every table as CSV below this directory (a new one as ./NAME), or print the one of this name
    #[arg(long, value_name = "DIR|TABLE", conflicts_with = "json")]
    pub csv: Option<PathBuf>,
    /// Write the tables as one HTML file that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Arguments of `compare`.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// What to compare with the first of them: a run directory, several of one configuration joined by
    /// commas, or a published run such as `paper:isilon-f810`
    #[arg(required = true, num_args = 2..)]
    pub sides: Vec<String>,
    /// Print the comparison as JSON
    #[arg(long)]
    pub json: bool,
    /// Write every table as CSV below this directory (a new one as ./NAME), or print the one of this name
    #[arg(long, value_name = "DIR|TABLE", conflicts_with = "json")]
    pub csv: Option<PathBuf>,
    /// Write the comparison as one HTML file that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// Arguments of `stage`: those of `run` that decide what the data are.
#[derive(Debug, Args)]
pub struct StageArgs {
    /// The suite: a name of `gristmill suites`, or the path of a folder, such as ./nightly
    pub suite: String,
    /// Stage input data below this directory
    #[arg(long, value_name = "DIR", default_value = "gristmill-bench")]
    pub data: PathBuf,
    /// Factor on the paper's rows (1 = the paper's size), or auto [default: demonstration scale]
    #[arg(long, value_name = "F|auto", value_parser = sizes::scale)]
    pub scale: Option<bench::plan::Scale>,
    /// A parameter of the suite, such as jobs=16; `gristmill suites show SUITE` lists them
    #[arg(long, value_name = "NAME=N", value_parser = sizes::parameter)]
    pub parameter: Vec<(String, u64)>,
    /// A variant of the suite, such as `compressed` of multiuser
    #[arg(long, value_name = "NAME")]
    pub variant: Option<String>,
    /// Physical cores that jobs are counted by [default: those of the host]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub cores: Option<u32>,
    /// Set a SAS system option, such as BUFSIZE=64k
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = sizes::name_value)]
    pub option: Vec<(String, Option<String>)>,
    /// Seed of the data: the same seed gives the same bytes
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What copies of the same data are that streams and batches read side by side: identical, as in the
    /// papers, or distinct, from seeds of their own [default: as the suite says]
    #[arg(long, value_name = "identical|distinct", value_parser = sizes::copies)]
    pub copies: Option<bench::suite::text::Copies>,
}

/// Arguments of `matrix`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, after_help = MATRIX_EXIT_CODES)]
pub struct MatrixArgs {
    /// What else than a series
    #[command(subcommand)]
    pub verb: Option<MatrixVerb>,
    /// The plan, a file (docs/guide/matrix.md), or mixed-8core for the RHEL paper's
    #[arg(value_name = "PLAN.toml", required = true)]
    pub plan: Option<PathBuf>,
    /// Keep the series in this folder; one that is there is continued [default: gristmill-bench/matrix-NAME]
    #[arg(long, value_name = "DIR")]
    pub folder: Option<PathBuf>,
    /// Make files that hold file systems below this directory [default: images/ in that of --folder]
    #[arg(long, value_name = "DIR")]
    pub images: Option<PathBuf>,
    /// Put a device in the place of what the plan has for a volume
    #[arg(long, value_name = "VOLUME=DEVICE", value_parser = sizes::device)]
    pub device: Vec<(String, String)>,
    /// Confirm that a device, named exactly as in the plan, may be formatted: everything on it is lost
    #[arg(long, value_name = "DEVICE")]
    pub format: Vec<String>,
    /// Factor on the paper's rows [default: the plan's]
    #[arg(long, value_name = "F")]
    pub scale: Option<f64>,
    /// How often each cell is run; more than before continue a series [default: the plan's]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repeats: Option<u32>,
    /// Run only these levels of a factor, such as thp=never,always
    #[arg(long, value_name = "FACTOR=LEVEL,…", value_parser = sizes::levels)]
    pub only: Vec<(String, Vec<String>)>,
    /// Say what all runs are of, such as host=rhel9,array=f810, to compare them with those of other places
    #[arg(long, value_name = "NAME=VALUE,…", value_delimiter = ',', value_parser = sizes::label)]
    pub label: Vec<(String, String)>,
    /// What else `gristmill run` is given, beside the plan's arguments, such as -- --time-scale 0.02
    #[arg(last = true, value_name = "ARGUMENTS OF RUN")]
    pub arguments: Vec<String>,
    /// Print cells, order, devices and settings, and what this host cannot do, and stop
    #[arg(long)]
    pub dry_run: bool,
    /// How the result is printed
    #[command(flatten)]
    pub output: MatrixOutput,
}

const MATRIX_EXIT_CODES: &str = "Exit codes: 0 all runs that this host can do are done; 1 some failed; 2 usage; \
3 could not run, or something could not be put back; 4 nothing can be compared; 130 interrupted.";

/// How the result of a series is printed.
#[derive(Debug, Args)]
pub struct MatrixOutput {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Write every table as CSV below this directory (a new one as ./NAME), or print the one of this name
    #[arg(long, value_name = "DIR|TABLE", conflicts_with = "json")]
    pub csv: Option<PathBuf>,
    /// Write the result as one HTML file that needs nothing else
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// What `matrix` does beside running a series.
#[derive(Debug, Subcommand)]
pub enum MatrixVerb {
    /// Analyse a series, finished or not, and runs that were made elsewhere with --label
    Report {
        /// Folders of series, and run directories
        #[arg(required = true)]
        paths: Vec<PathBuf>,
        /// How the result is printed
        #[command(flatten)]
        output: MatrixOutput,
    },
    /// Put back what a series that was killed changed on this host
    Restore {
        /// Its folder
        folder: PathBuf,
    },
}

/// Arguments of `mark`.
#[derive(Debug, Args)]
pub struct MarkArgs {
    /// What happened, such as "controller A failed over"
    pub text: String,
    /// The run directory [default: the only run on its way below --runs]
    #[arg(long, value_name = "DIR")]
    pub run: Option<PathBuf>,
    /// Where run directories are
    #[arg(long, value_name = "DIR", default_value = "gristmill-bench/runs")]
    pub runs: PathBuf,
}

/// Layouts of samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ViewKind {
    /// Processors, memory and traffic of all devices
    Vmstat,
    /// Each device and each mount that counts for itself
    Iostat,
    /// What jobs were served by channel
    Channels,
}

/// Arguments of `clean`.
#[derive(Debug, Args)]
pub struct CleanArgs {
    /// Where to look
    #[arg(default_value = "gristmill-bench")]
    pub directory: PathBuf,
    /// Remove what is listed
    #[arg(long)]
    pub yes: bool,
    /// Leave run directories in place
    #[arg(long)]
    pub keep_runs: bool,
    /// Print each folder as JSON, one a line
    #[arg(long)]
    pub json: bool,
}

/// Of which data sets rows are hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum HashedRows {
    /// None
    None,
    /// Permanent ones that are read
    Inputs,
    /// All that are read or written
    All,
}

/// Arguments of `exec`.
#[derive(Debug, Args)]
pub struct ExecArgs {
    /// The program
    pub program: PathBuf,
    /// Assign a libref before the program starts
    #[arg(long, value_name = "LIBREF=DIR", value_parser = sizes::libname)]
    pub libname: Vec<(String, PathBuf)>,
    /// Make the WORK directory below this one [default: the system's temporary directory]
    #[arg(long, value_name = "DIR")]
    pub work: Option<PathBuf>,
    /// Make the utility directory below this one [default: that of --work]
    #[arg(long, value_name = "DIR")]
    pub util: Option<PathBuf>,
    /// Set a macro variable
    #[arg(long, value_name = "MACROVAR=VALUE", value_parser = sizes::name_value)]
    pub set: Vec<(String, Option<String>)>,
    /// Set a SAS system option, such as SORTSIZE=768M or FULLSTIMER
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = sizes::name_value)]
    pub option: Vec<(String, Option<String>)>,
    /// Write the log here [default: standard error]
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Write procedure output here [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub print: Option<PathBuf>,
    /// The pace of steps
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Write one JSON line per step with everything measured
    #[arg(long, value_name = "FILE")]
    pub steps: Option<PathBuf>,
    /// Count what each channel does in this shared memory, for the launcher that made it
    #[arg(long, value_name = "FILE", hide = true)]
    pub live: Option<PathBuf>,
    /// Which job's part of it
    #[arg(long, value_name = "N", hide = true, default_value_t = 0)]
    pub live_slot: u64,
    /// Write one JSON line per change of a permanent file, with hashes of the blocks written, so that what
    /// is read back later can be compared
    #[arg(long, value_name = "FILE")]
    pub written: Option<PathBuf>,
    /// Hash the rows of data sets (recorded by --steps)
    #[arg(
        long,
        value_name = "OF",
        value_enum,
        num_args = 0..=1,
        require_equals = true,
        default_value = "none",
        default_missing_value = "all"
    )]
    pub row_hashes: HashedRows,
    /// Flush every finished permanent data set to stable storage
    #[arg(long)]
    pub fsync: bool,
    /// Transfer aligned blocks past the page cache (`O_DIRECT`)
    #[arg(long)]
    pub direct: bool,
    /// Tell the kernel that files are read sequentially
    #[arg(long)]
    pub advise_sequential: bool,
}
