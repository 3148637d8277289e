//! What the audits of the nodes found.

use crate::run::RunResult;
use crate::table::{Cell, Table, Unit};

/// What is to be looked at, the worst first; none if no node was audited or all is well.
pub fn audits(result: &RunResult) -> Option<Table> {
    let columns = [
        "Node",
        "Rule",
        "Result",
        "Severity",
        "Subject",
        "Directories",
        "What should be so",
        "Found",
        "Expected",
    ];
    let columns = columns.map(|title| (title, Unit::Text));
    let mut table = Table::new("audit", "Audit before the run", &columns);
    for audit in &result.audits {
        for one in &audit.findings {
            let directories = one.directories.as_ref().map(|all| all.join(" "));
            let found = one.running.as_ref().or(one.persisted.as_ref());
            let found = found.or(one.evidence.first());
            let cells = [
                &*audit.node,
                &one.id,
                &one.result,
                &one.severity,
                one.subject.as_deref().unwrap_or_default(),
                directories.as_deref().unwrap_or_default(),
                &one.title,
                found.map_or("", |found| found),
                &one.expected,
            ];
            table.row(cells.map(Cell::text).to_vec());
        }
    }
    (!table.rows.is_empty()).then_some(table)
}
