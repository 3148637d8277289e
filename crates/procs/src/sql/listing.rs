//! What SELECT prints: headings of names or labels over a line of dashes, columns as wide as their
//! formats, in the middle of the page.

use engine::dataset::input::Field;
use engine::failure::Outcome;
use engine::format::{best, number_with};
use engine::session::World;
use sas7bdat::{Format, Kind};

use super::Run;
use super::into::Variables;
use super::rows::Relation;
use super::syntax::Into;
use crate::shown;

/// Width of numbers without a format.
const NUMBER_WIDTH: usize = 8;

struct Column {
    /// `None` for the row numbers of NUMBER.
    field: Option<Field>,
    heading: String,
    width: usize,
    right: bool,
}

impl Run {
    /// Prints the rows unless NOPRINT says otherwise, and puts them into macro variables; returns how
    /// many there were.
    pub(super) fn list(
        &self,
        mut relation: Relation,
        into: &[Into],
        world: &mut World,
    ) -> Outcome<u64> {
        let mut variables = Variables::new(into, relation.fields.len(), world);
        let one_row = self.options.no_print && variables.want_one_row();
        let fields = relation.fields.clone();
        let mut columns: Vec<Column> = Vec::new();
        if self.options.number {
            columns.push(Column {
                field: None,
                heading: "Row".to_owned(),
                width: NUMBER_WIDTH,
                right: true,
            });
        }
        columns.extend(relation.fields.iter().map(|field| column(field, world)));
        let lines = split(&columns, world.listing.line_size());
        let mut rows = 0;
        while let Some(row) = relation.rows.next(world)? {
            if self.options.rows_out.is_some() && self.is_enough(rows, world) {
                break;
            }
            rows += 1;
            if !into.is_empty() {
                let texts: Vec<String> = fields
                    .iter()
                    .take(into.len())
                    .map(|field| self.text(field, row, world))
                    .collect();
                variables.take(texts.into_iter(), rows, world)?;
            }
            if one_row {
                break;
            }
            if self.options.no_print {
                continue;
            }
            if rows == 1 {
                headings(&columns, &lines, world);
            }
            let cells: Vec<String> = columns
                .iter()
                .map(|column| match &column.field {
                    None => rows.to_string(),
                    Some(field) => self.cell(field, row, world),
                })
                .collect();
            for line in &lines {
                print(&columns[line.clone()], &cells[line.clone()], world);
            }
        }
        relation.rows.close(world)?;
        variables.finish(world)?;
        if rows > 0 && !self.options.no_print {
            world.listing.end();
        }
        Ok(rows)
    }

    fn cell(&self, field: &Field, row: &[u8], world: &World) -> String {
        let format = &field.variable.format;
        match field.variable.kind {
            Kind::Numeric => {
                let value = field.slot.number(row);
                if *format == Format::default() {
                    return best(value, NUMBER_WIDTH).trim().to_owned();
                }
                shown::number(value, format, &world.formats)
            }
            Kind::Character => {
                let value = field.slot.bytes(row);
                shown::text(value, format, &world.formats, self.context.encoding())
                    .replace(|c: char| c.is_control(), ".")
            }
        }
    }
}

fn column(field: &Field, world: &World) -> Column {
    let variable = &field.variable;
    let heading = if variable.label.is_empty() {
        &variable.name
    } else {
        &variable.label
    };
    let format = &variable.format;
    let user = world
        .formats
        .get(&format.name.to_ascii_uppercase())
        .map(|user| usize::from(user.width));
    let width = if format.width > 0 {
        usize::from(format.width)
    } else if let Some(width) = user {
        width
    } else if variable.kind == Kind::Character {
        variable.length as usize
    } else if *format == Format::default() {
        NUMBER_WIDTH
    } else {
        number_with(0.0, format, &world.formats).map_or(NUMBER_WIDTH, |text| text.len())
    };
    Column {
        field: Some(field.clone()),
        width: width.max(heading.chars().count()).max(1),
        heading: heading.clone(),
        right: variable.kind == Kind::Numeric,
    }
}

/// Which columns stand side by side; what a line has no room for comes below.
fn split(columns: &[Column], line_size: usize) -> Vec<std::ops::Range<usize>> {
    let mut lines = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (at, column) in columns.iter().enumerate() {
        let wanted = if at == start {
            column.width
        } else {
            column.width + 2
        };
        if at > start && used + wanted > line_size {
            lines.push(start..at);
            (start, used) = (at, column.width);
        } else {
            used += wanted;
        }
    }
    lines.push(start..columns.len());
    lines
}

fn headings(columns: &[Column], lines: &[std::ops::Range<usize>], world: &mut World) {
    world.listing.begin();
    for line in lines {
        let columns = &columns[line.clone()];
        let cells: Vec<String> = columns.iter().map(|one| one.heading.clone()).collect();
        print(columns, &cells, world);
    }
    let widths = lines.iter().map(|line| total(&columns[line.clone()]));
    let widest = widths.max().unwrap_or(0);
    world
        .listing
        .centered_line(&"-".repeat(widest.min(world.listing.line_size())));
}

fn total(columns: &[Column]) -> usize {
    let widths: usize = columns.iter().map(|column| column.width).sum();
    widths + 2 * columns.len().saturating_sub(1)
}

/// One line of cells; a text too long for its column goes on below.
fn print(columns: &[Column], cells: &[String], world: &mut World) {
    let padded = columns.iter().zip(cells).map(|(column, cell)| {
        let (width, cell) = (column.width, cell.chars().take(column.width));
        let cell: String = cell.collect();
        if column.right {
            format!("{cell:>width$}")
        } else {
            format!("{cell:<width$}")
        }
    });
    let line = padded.collect::<Vec<_>>().join("  ");
    world.listing.centered_line(&line);
}
