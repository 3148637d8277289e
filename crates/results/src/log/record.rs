//! Steps of a log as the records that a run keeps.

use crate::step::{DatasetRecord, StepRecord};

use super::{LogDataset, LogStep};

/// The record of a step, with what its log has; bytes by channel and hashes of rows it has not. `None` where the
/// log lacks elapsed time, user or system CPU time, as without FULLSTIMER. `unix_s` knows the moment of a local
/// time such as `2016-08-25T08:37:42`.
pub fn step_record(step: &LogStep, unix_s: &dyn Fn(&str) -> Option<f64>) -> Option<StepRecord> {
    let used = &step.used;
    Some(StepRecord {
        step: step.step,
        kind: step.kind.clone(),
        name: step.name.clone(),
        ended_unix_s: used.ended.as_deref().and_then(unix_s),
        real_s: used.real_s?,
        user_s: used.user_s?,
        system_s: used.system_s?,
        memory_bytes: used.memory_bytes,
        page_faults: used.page_faults,
        page_reclaims: used.page_reclaims,
        voluntary_switches: used.voluntary_switches,
        involuntary_switches: used.involuntary_switches,
        block_input: used.block_input,
        block_output: used.block_output,
        sleep_s: None,
        pace_s: None,
        pace_fixed_s: None,
        pace_cpu_s: None,
        channels: std::collections::BTreeMap::new(),
        observations_read: step.observations_read,
        observations_written: step.observations_written,
        inputs: datasets(&step.inputs),
        outputs: datasets(&step.outputs),
        sort: None,
        notes: step.notes,
        warnings: step.warnings,
        errors: step.errors,
    })
}

/// Data sets whose rows the log tells.
fn datasets(all: &[LogDataset]) -> Vec<DatasetRecord> {
    let of = |one: &LogDataset| {
        Some(DatasetRecord {
            name: one.name.clone(),
            observations: one.observations?,
            variables: one.variables,
            row_hash: None,
        })
    };
    all.iter().filter(|one| !one.file).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::reader::read;

    const LOG: &str = "\
NOTE: There were 7 observations read from the data set IN.A.
NOTE: The data set WORK.B has 7 observations and 3 variables.
NOTE: DATA statement used (Total process time):
      real time           1.50 seconds
      user cpu time       0.25 seconds
      system cpu time     0.10 seconds
      memory              500.00k
      OS Memory           9000.00k
      Timestamp           08/25/2016 08:37:42 AM
      Step Count                        1  Switch Count  2
      Page Faults                       0
      Page Reclaims                     93
      Page Swaps                        0
      Voluntary Context Switches        40
      Involuntary Context Switches      5
      Block Input Operations            800
      Block Output Operations           264

NOTE: PROCEDURE SORT used (Total process time):
      real time           0.01 seconds
      cpu time            0.00 seconds

";

    #[test]
    fn a_record_has_what_the_log_has_and_no_more() {
        let mut steps = Vec::new();
        read(LOG.as_bytes(), &mut |step| steps.push(step)).unwrap();
        let moment = |text: &str| (text == "2016-08-25T08:37:42").then_some(5.0);
        let record = step_record(&steps[0], &moment).unwrap();
        assert_eq!(
            (record.real_s, record.user_s, record.system_s),
            (1.5, 0.25, 0.1)
        );
        assert_eq!(
            (record.block_input, record.block_output),
            (Some(800), Some(264))
        );
        assert_eq!(
            (record.memory_bytes, record.ended_unix_s),
            (Some(512_000), Some(5.0))
        );
        assert_eq!(record.observations_read, Some(7));
        assert_eq!(record.outputs[0].name, "WORK.B");
        assert_eq!(
            (&*record.inputs[0].name, record.inputs[0].variables),
            ("IN.A", None)
        );
        assert!(record.channels.is_empty() && record.sleep_s.is_none());
        let text = serde_json::to_string(&record).unwrap();
        assert!(
            !text.contains("row_hash") && !text.contains("sleep_s"),
            "{text}"
        );
        // STIMER does not tell user time.
        assert_eq!(step_record(&steps[1], &moment), None);
    }
}
