//! A table as text for a terminal, and as CSV.

use base::units::Bytes;
use results::table::{Cell, Column, Table, Unit};

/// Rows of a table as text, with its title above and its notes below.
pub fn text(table: &Table) -> String {
    let mut out = title(table);
    let rows: Vec<Vec<String>> = table
        .rows
        .iter()
        .map(|row| {
            let cells = row.cells.iter().zip(&table.columns);
            cells
                .map(|(cell, column)| shown(cell, column.unit))
                .collect()
        })
        .collect();
    let used = used(table, &rows);
    let titles: Vec<String> = table.columns.iter().map(heading).collect();
    let widths: Vec<usize> = table
        .columns
        .iter()
        .enumerate()
        .map(|(at, _)| {
            let cells = rows.iter().map(|row| row[at].chars().count());
            cells.max().unwrap_or(0).max(titles[at].chars().count())
        })
        .collect();
    let line = |cells: &[String]| {
        let mut line = String::new();
        for (at, cell) in cells.iter().enumerate().filter(|(at, _)| used[*at]) {
            let fill = " ".repeat(widths[at].saturating_sub(cell.chars().count()));
            let gap = if line.is_empty() { "" } else { "  " };
            line = match table.columns[at].unit {
                Unit::Text => format!("{line}{gap}{cell}{fill}"),
                _ => format!("{line}{gap}{fill}{cell}"),
            };
        }
        format!("{}\n", line.trim_end())
    };
    out.push_str(&line(&titles));
    let mut summaries = false;
    for (row, cells) in table.rows.iter().zip(&rows) {
        if row.summary && !summaries {
            summaries = true;
            let width = widths.iter().zip(&used).filter(|(_, used)| **used);
            let width: usize = width.map(|(width, _)| width + 2).sum();
            add(&mut out, &"-".repeat(width.saturating_sub(2)));
        }
        out.push_str(&line(cells));
    }
    for note in &table.notes {
        for line in wrapped(note, 96) {
            add(&mut out, &format!("  {line}"));
        }
    }
    out
}

/// Columns that say something: the first, unless it names one run only, and those with a figure.
fn used(table: &Table, rows: &[Vec<String>]) -> Vec<bool> {
    let one_run = table
        .columns
        .first()
        .is_some_and(|column| column.title == "Run")
        && rows.iter().all(|row| row[0] == rows[0][0]);
    let says = |at: usize| rows.iter().any(|row| !matches!(&*row[at], "-" | ""));
    (0..table.columns.len())
        .map(|at| if at == 0 { !one_run } else { says(at) })
        .collect()
}

/// The title with the unit, where cells do not show it themselves.
pub(crate) fn heading(column: &Column) -> String {
    let unit = unit_word(column.unit);
    if unit.is_empty() || column.title.ends_with(unit) {
        return column.title.clone();
    }
    format!("{} {unit}", column.title)
}

/// The unit of cells that do not show it themselves.
pub(crate) const fn unit_word(unit: Unit) -> &'static str {
    match unit {
        Unit::Minutes => "min",
        Unit::Seconds => "s",
        Unit::MegabytesPerSecond => "MB/s",
        Unit::Percent => "%",
        _ => "",
    }
}

fn title(table: &Table) -> String {
    match &table.form {
        Some(form) => format!("{} (in the form of {form})\n", table.title),
        None => format!("{}\n", table.title),
    }
}

/// A line.
pub(crate) fn add(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

/// Lines of at most so many characters, broken at blanks.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A cell as people read it; a dash where nothing was measured.
pub fn shown(cell: &Cell, unit: Unit) -> String {
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(value) => number(*value, unit),
        Cell::Difference(value) if *value < 0.0 => format!("-{}", number(-value, unit)),
        Cell::Difference(value) => format!("+{}", number(*value, unit)),
        Cell::Range(from, to) => format!("{} to {}", number(*from, unit), number(*to, unit)),
        Cell::List(values) => {
            let all: Vec<String> = values.iter().map(|value| number(*value, unit)).collect();
            all.join(", ")
        }
        Cell::Absent => "-".to_owned(),
    }
}

/// A figure in its unit; a time that would be 0 in it, and is not, in seconds.
fn number(value: f64, unit: Unit) -> String {
    // An empty sum is -0.
    let value = value + 0.0;
    let shown = in_unit(value, unit);
    let is_time = matches!(
        unit,
        Unit::HoursMinutesSeconds | Unit::MinutesSeconds | Unit::HoursMinutes | Unit::Minutes
    );
    if is_time && value != 0.0 && !shown.bytes().any(|byte| matches!(byte, b'1'..=b'9')) {
        return format!("{} s", plain(value));
    }
    shown
}

fn in_unit(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Text | Unit::Count | Unit::Microseconds => format!("{value:.0}"),
        Unit::HoursMinutesSeconds => clock(value, true),
        Unit::MinutesSeconds => {
            let whole = value.round();
            format!("{}:{:02}", (whole / 60.0).floor(), whole % 60.0)
        }
        Unit::HoursMinutes => clock((value / 60.0).round() * 60.0, false),
        Unit::Minutes => format!("{:.2}", value / 60.0),
        Unit::Seconds => format!("{value:.2}"),
        Unit::Stimer => stimer(value),
        Unit::Bytes => bytes(value).map_or_else(|| format!("{value}"), |bytes| bytes.to_string()),
        Unit::BinaryBytes => binary(value),
        Unit::Gigabytes => format!("{:.2}", value / 1e9),
        Unit::MegabytesPerSecond | Unit::Percent | Unit::PerSecond | Unit::PerHour => {
            format!("{value:.1}")
        }
        Unit::Ratio => format!("{value:.3}"),
        Unit::Plain => plain(value),
    }
}

/// `h:mm:ss` or `h:mm`.
fn clock(seconds: f64, with_seconds: bool) -> String {
    let whole = seconds.round();
    let hours = (whole / 3600.0).floor();
    let minutes = (whole % 3600.0 / 60.0).floor();
    if with_seconds {
        format!("{hours}:{minutes:02}:{:02}", whole % 60.0)
    } else {
        format!("{hours}:{minutes:02}")
    }
}

/// `41.73`, `1:41.08`, `2:27:44.66`.
fn stimer(seconds: f64) -> String {
    let hundredths = (seconds * 100.0).round();
    let (hours, minutes) = (
        (hundredths / 360_000.0).floor(),
        (hundredths / 6000.0).floor(),
    );
    let rest = hundredths % 6000.0 / 100.0;
    match (hours, minutes) {
        (0.0, 0.0) => format!("{rest:.2}"),
        (0.0, _) => format!("{minutes}:{rest:05.2}"),
        _ => format!("{hours}:{:02}:{rest:05.2}", minutes % 60.0),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "what is not within the range of u64 is refused first"
)]
fn bytes(value: f64) -> Option<Bytes> {
    (0.0..1.8e19)
        .contains(&value)
        .then(|| Bytes(value.round() as u64))
}

/// As `du -h` does, but with the unit's own name: `63 GiB`, `1.7 GiB`.
fn binary(value: f64) -> String {
    // Totals of many files stay comparable with the files: nothing above GiB.
    let units = ["B", "KiB", "MiB", "GiB"];
    let mut size = value;
    let mut unit = 0;
    while size >= 1023.5 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    let decimals = usize::from(unit > 0 && !(9.95..999.5).contains(&size));
    format!("{size:.decimals$} {}", units[unit])
}

/// Up to three decimals, as many as a figure of its size needs.
fn plain(value: f64) -> String {
    match value.abs() {
        size if size.fract() == 0.0 && size < 1e6 => format!("{value:.0}"),
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 100.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// The table as CSV (RFC 4180): full figures, units in the headings, nothing where nothing was measured.
/// Ranges and lists take their values apart by semicolons.
pub fn csv(table: &Table) -> String {
    let heading = |unit: Unit| match unit_name(unit) {
        "" => String::new(),
        unit => format!(" [{unit}]"),
    };
    let titles = table
        .columns
        .iter()
        .map(|column| field(&format!("{}{}", column.title, heading(column.unit))));
    let mut out = format!("{}\r\n", titles.collect::<Vec<_>>().join(","));
    for row in &table.rows {
        let cells: Vec<String> = row.cells.iter().map(|cell| field(&raw(cell))).collect();
        add(&mut out, &format!("{}\r", cells.join(",")));
    }
    out
}

/// What the numbers of a column are in CSV and JSON.
pub const fn unit_name(unit: Unit) -> &'static str {
    match unit {
        Unit::Text | Unit::Count | Unit::Ratio | Unit::Plain => "",
        Unit::HoursMinutesSeconds
        | Unit::MinutesSeconds
        | Unit::HoursMinutes
        | Unit::Minutes
        | Unit::Seconds
        | Unit::Stimer => "s",
        Unit::Bytes | Unit::BinaryBytes | Unit::Gigabytes => "bytes",
        Unit::MegabytesPerSecond => "MB/s",
        Unit::Percent => "%",
        Unit::PerSecond => "1/s",
        Unit::PerHour => "1/h",
        Unit::Microseconds => "us",
    }
}

fn raw(cell: &Cell) -> String {
    let join = |values: &[f64]| {
        let all: Vec<String> = values.iter().map(f64::to_string).collect();
        all.join(";")
    };
    match cell {
        Cell::Text(text) => text.clone(),
        Cell::Number(value) | Cell::Difference(value) => value.to_string(),
        Cell::Range(from, to) => join(&[*from, *to]),
        Cell::List(values) => join(values),
        Cell::Absent => String::new(),
    }
}

/// Quoted where it must be. A text that a spreadsheet would take for a formula is given a blank first.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err();
    let text = if formula {
        format!(" {text}")
    } else {
        text.to_owned()
    };
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_shown_in_the_unit_of_their_column() {
        let number = |value, unit| shown(&Cell::Number(value), unit);
        assert_eq!(number(49_978.0, Unit::HoursMinutesSeconds), "13:52:58");
        assert_eq!(number(802.2, Unit::MinutesSeconds), "13:22");
        assert_eq!(number(5100.0, Unit::HoursMinutes), "1:25");
        for unit in [
            Unit::HoursMinutesSeconds,
            Unit::MinutesSeconds,
            Unit::HoursMinutes,
            Unit::Minutes,
        ] {
            assert_eq!(number(0.04, unit), "0.040 s");
        }
        assert_eq!(number(20.0, Unit::HoursMinutes), "20 s");
        assert_eq!(number(0.0, Unit::HoursMinutesSeconds), "0:00:00");
        assert_eq!(shown(&Cell::Difference(-0.04), Unit::Minutes), "-0.040 s");
        assert_eq!(number(59.994, Unit::Stimer), "59.99");
        assert_eq!(number(59.996, Unit::Stimer), "1:00.00");
        assert_eq!(number(8864.66, Unit::Stimer), "2:27:44.66");
        assert_eq!(number(88_926.0, Unit::Minutes), "1482.10");
        assert_eq!(number(63.0 * 1_073_741_824.0, Unit::BinaryBytes), "63 GiB");
        assert_eq!(number(1.7 * 1_073_741_824.0, Unit::BinaryBytes), "1.7 GiB");
        assert_eq!(shown(&Cell::Difference(-1197.0), Unit::Minutes), "-19.95");
        assert_eq!(shown(&Cell::Difference(1e7), Unit::Gigabytes), "+0.01");
        assert_eq!(shown(&Cell::Absent, Unit::Seconds), "-");
    }

    #[test]
    fn csv_has_full_figures_and_quotes_what_it_must() {
        let mut table = Table::new(
            "t",
            "T",
            &[("Run, name", Unit::Text), ("Time", Unit::Minutes)],
        );
        table.row(vec![Cell::text("a \"b\""), Cell::Number(0.1)]);
        table.row(vec![Cell::text("=1+1"), Cell::Absent]);
        assert_eq!(
            csv(&table),
            "\"Run, name\",Time [s]\r\n\"a \"\"b\"\"\",0.1\r\n =1+1,\r\n"
        );
    }
}
