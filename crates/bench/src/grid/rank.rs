//! Which of how many processes this is, by what launchers put into the environment.

/// A launcher's variables. Those of MPI come before those of the batch system under which it runs: a process that
/// mpirun starts in a Slurm job finds the rank of mpirun's own daemon in `SLURM_PROCID`.
struct Launcher {
    name: &'static str,
    rank: &'static str,
    /// Where the first process has this number.
    first: usize,
    size: &'static str,
    /// What together names a start: all of its processes share it, and no others.
    start: &'static [&'static str],
}

/// In the order in which they are looked for.
const LAUNCHERS: [Launcher; 8] = [
    Launcher {
        name: "Open MPI",
        rank: "OMPI_COMM_WORLD_RANK",
        first: 0,
        size: "OMPI_COMM_WORLD_SIZE",
        start: &["PMIX_NAMESPACE"],
    },
    Launcher {
        name: "MPICH or Intel MPI",
        rank: "PMI_RANK",
        first: 0,
        size: "PMI_SIZE",
        start: &["PMI_JOBID"],
    },
    Launcher {
        name: "MVAPICH2",
        rank: "MV2_COMM_WORLD_RANK",
        first: 0,
        size: "MV2_COMM_WORLD_SIZE",
        start: &[],
    },
    Launcher {
        name: "LSF jsrun",
        rank: "JSM_NAMESPACE_RANK",
        first: 0,
        size: "JSM_NAMESPACE_SIZE",
        start: &["LSB_JOBID"],
    },
    Launcher {
        name: "LSF blaunch",
        rank: "LSF_PM_TASKID",
        first: 1,
        // LSB_DJOB_NUMPROC counts slots.
        size: "",
        start: &["LSB_JOBID"],
    },
    Launcher {
        name: "Torque",
        rank: "PBS_VNODENUM",
        first: 0,
        // PBS_NP counts slots.
        size: "",
        start: &["PBS_JOBID"],
    },
    Launcher {
        name: "Slurm",
        rank: "SLURM_PROCID",
        first: 0,
        size: "SLURM_STEP_NUM_TASKS",
        start: &["SLURM_JOB_ID", "SLURM_STEP_ID"],
    },
    Launcher {
        name: "a Kubernetes indexed Job",
        rank: "JOB_COMPLETION_INDEX",
        first: 0,
        size: "",
        start: &[],
    },
];

/// Which of how many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rank {
    /// Who started the processes.
    pub launcher: &'static str,
    /// From 0.
    pub rank: usize,
    /// How many there are, if the launcher says so.
    pub size: Option<usize>,
    /// A name of this start, if the launcher gives one.
    pub start: Option<String>,
}

/// Asks an environment.
pub fn find(variable: impl Fn(&str) -> Option<String>) -> Option<Rank> {
    LAUNCHERS.iter().find_map(|launcher| {
        let number = |name: &str| variable(name)?.trim().parse::<usize>().ok();
        let rank = number(launcher.rank)?.checked_sub(launcher.first)?;
        Some(Rank {
            launcher: launcher.name,
            rank,
            size: number(launcher.size),
            start: name_of(launcher.start, &variable),
        })
    })
}

fn name_of(parts: &[&str], variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let parts: Option<Vec<String>> = parts.iter().map(|name| variable(name)).collect();
    parts
        .filter(|parts| !parts.is_empty())
        .map(|parts| parts.join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)]) -> Option<Rank> {
        find(|wanted| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn mpi_comes_before_the_batch_system() {
        let found = of(&[
            ("SLURM_PROCID", "0"),
            ("SLURM_STEP_NUM_TASKS", "1"),
            ("SLURM_JOB_ID", "7"),
            ("OMPI_COMM_WORLD_RANK", "3"),
            ("OMPI_COMM_WORLD_SIZE", "4"),
            ("PMIX_NAMESPACE", "prterun-1"),
        ]);
        let found = found.unwrap();
        assert_eq!((found.rank, found.size), (3, Some(4)));
        assert_eq!(found.launcher, "Open MPI");
        assert_eq!(found.start.as_deref(), Some("prterun-1"));
    }

    #[test]
    fn some_count_from_one_and_some_do_not_say_how_many() {
        let lsf = of(&[("LSF_PM_TASKID", "1"), ("LSB_JOBID", "8")]).unwrap();
        assert_eq!((lsf.rank, lsf.size), (0, None));
        assert_eq!(lsf.start.as_deref(), Some("8"));
        let pod = of(&[("JOB_COMPLETION_INDEX", "2")]).unwrap();
        assert_eq!((pod.rank, pod.size, pod.start), (2, None, None));
        assert_eq!(of(&[("LSF_PM_TASKID", "0")]), None);
        assert_eq!(of(&[("HOME", "/root")]), None);
    }
}
