//! PROC PRINT: VAR, ID, SUM, BY, FORMAT, LABEL, NOOBS, N; OBS= and WHERE= through data set options.

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::dataset::options::{select, select_all};
use engine::failure::{Failure, Outcome};
use engine::format;
use engine::format::user::Formats;
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ByList, DatasetRef, Expr, ProcStep, VariableList};
use lang::cursor::Cursor;
use sas7bdat::{Encoding, Kind};

use crate::by::{ByGroups, open_by};
use crate::shown;
use crate::target::{Attributes, dataset_value, input_or_last, restrict, unknown};

/// PROC PRINT.
pub(crate) struct Print;

#[derive(Default)]
struct Statements {
    data: Option<DatasetRef>,
    variables: Option<Vec<VariableList>>,
    id: Option<Vec<VariableList>>,
    sum: Option<Vec<VariableList>>,
    by: Option<ByList>,
    condition: Option<Expr>,
    attributes: Attributes,
    no_obs: bool,
    labels: bool,
    count: bool,
}

/// Rows held to find column widths. SAS too fits columns to the rows of one page.
const PAGE_ROWS: usize = 500;

/// Bytes of cells held for the same reason: where rows are so long, a page has fewer of them.
const PAGE_BYTES: usize = 4 << 20;

/// Width of the line that names a BY group.
const HEADING_WIDTH: usize = 80;

impl Procedure for Print {
    fn name(&self) -> &'static str {
        "PRINT"
    }

    fn support(&self) -> Support {
        Support {
            yes: "DATA=, VAR, ID, BY, SUM, WHERE, FORMAT, LABEL, NOOBS, N",
            no: "N with texts, PAGEBY, SUMBY, SPLIT=, ROUND, UNIFORM",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        parse(step, world).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let statements = parse(step, world)?;
        let data = input_or_last(statements.data.clone(), world, &step.span)?;
        let mut input = open_by(
            world,
            &data,
            statements.condition.as_ref(),
            statements.by.as_ref(),
        )?;
        let mut by = match &statements.by {
            Some(list) => Some(ByGroups::new(&input, list, &statements.attributes, world)?),
            None => None,
        };
        let mut table = Columns::choose(&statements, &input, by.as_ref(), world)?;
        note_formats(world, &table.fields);
        let encoding = input.metadata().encoding;
        let formats = world.formats.clone();
        world.listing.begin();
        let (mut number, mut before) = (0u64, 0u64);
        while input.next_row()?.is_some() {
            let observation = if table.number_rows {
                input.last_number()?
            } else {
                0
            };
            let row = input.last_row();
            if let Some(by) = &mut by
                && by.begins(row)?
            {
                if number > 0 {
                    table.end_groups(by.first_change(row), world);
                    table.print(world);
                    statements.counted(world, "N", number - before);
                    world.listing.line("");
                    before = number;
                }
                by.enter(row);
                let line = format!("{:-^1$}", format!(" {} ", by.heading()), HEADING_WIDTH);
                world.listing.centered_line(&line);
            }
            number += 1;
            table.add(row, observation, encoding, &formats);
            if table.rows.len() >= PAGE_ROWS || table.bytes >= PAGE_BYTES {
                table.print(world);
            }
        }
        if by.is_some() && number > 0 {
            table.end_groups(0, world);
        }
        table.end(world);
        statements.counted(world, "N", number - before);
        // As in SAS the total comes with that of SUM.
        if by.is_some() && statements.sum.is_some() {
            statements.counted(world, "Total N", number);
        }
        world.listing.end();
        if number == 0 {
            world.note(&format!(
                "No observations in data set {}.",
                input.member().full_name()
            ));
        }
        input.finish(world)?;
        Ok(())
    }
}

impl Statements {
    /// What the option N prints.
    fn counted(&self, world: &mut World, name: &str, count: u64) {
        if self.count {
            world.listing.line("");
            world.listing.line(&format!("{name} = {count}"));
        }
    }
}

fn parse(step: &ProcStep, world: &mut World) -> Outcome<Statements> {
    let mut parsed = Statements::default();
    let mut cursor = Cursor::new(&step.options, &step.span);
    while let Some(word) = cursor.peek_word() {
        match word.to_ascii_uppercase().as_str() {
            "DATA" => {
                cursor.expect_word("DATA")?;
                parsed.data = Some(dataset_value(&mut cursor)?);
                continue;
            }
            "NOOBS" => parsed.no_obs = true,
            "LABEL" => parsed.labels = true,
            "N" => parsed.count = true,
            _ => return Err(unknown(&cursor, "PRINT", "option")),
        }
        cursor.next();
    }
    cursor.expect_end()?;
    for statement in &step.statements {
        let mut cursor = Cursor::new(&statement.tokens, &statement.span);
        if cursor.eat_word("VAR") {
            parsed.variables = Some(cursor.variable_list()?);
        } else if cursor.eat_word("ID") {
            parsed.id = Some(cursor.variable_list()?);
        } else if cursor.eat_word("SUM") {
            parsed.sum = Some(cursor.variable_list()?);
        } else if cursor.eat_word("BY") {
            parsed.by = Some(cursor.by_list()?);
        } else if cursor.eat_word("WHERE") {
            restrict(&mut parsed.condition, cursor.restriction()?, world)?;
        } else if !parsed.attributes.eat(&mut cursor)? {
            return Err(unknown(&cursor, "PRINT", "statement"));
        }
        cursor.expect_end()?;
    }
    Ok(parsed)
}

/// What is printed of each row, and the rows of the page in progress.
struct Columns {
    /// ID variables first.
    fields: Vec<Field>,
    ids: usize,
    /// Whether each is summed.
    summed: Vec<bool>,
    /// Those of all rows, and of the groups of each BY variable, outer ones first.
    levels: Vec<Level>,
    number_rows: bool,
    labels: bool,
    rows: Vec<Vec<String>>,
    /// What the cells of the rows take.
    bytes: usize,
}

/// The rows of one value of a BY variable.
struct Level {
    name: String,
    rows: u64,
    sums: Vec<f64>,
}

impl Level {
    fn new(name: &str, fields: usize) -> Self {
        Self {
            name: name.to_owned(),
            rows: 0,
            sums: vec![0.0; fields],
        }
    }
}

impl Columns {
    fn choose(
        statements: &Statements,
        input: &Input,
        by: Option<&ByGroups>,
        world: &World,
    ) -> Outcome<Self> {
        let all = |lists: &Option<Vec<VariableList>>| match lists {
            Some(lists) => chosen(input, Some(lists)),
            None => Ok(Vec::new()),
        };
        let (ids, sums) = (all(&statements.id)?, all(&statements.sum)?);
        let named = |fields: &[Field], field: &Field| {
            fields
                .iter()
                .any(|one| one.variable.name == field.variable.name)
        };
        let mut rest = chosen(input, statements.variables.as_deref())?;
        if statements.variables.is_none() {
            // The values of BY stand in the heading, those of ID in front.
            let shown = by.map_or(&[][..], ByGroups::fields);
            rest.retain(|field| !named(shown, field) && !named(&ids, field));
        } else {
            // What is summed is shown.
            rest.retain(|field| !named(&ids, field));
            let added: Vec<Field> = sums
                .iter()
                .filter(|field| !named(&rest, field))
                .cloned()
                .collect();
            rest.extend(added);
        }
        let count = ids.len();
        let mut fields = ids;
        fields.extend(rest);
        let summed: Vec<bool> = fields
            .iter()
            .map(|field| field.variable.kind == Kind::Numeric && named(&sums, field))
            .collect();
        statements.attributes.apply(input, &mut fields, world)?;
        let mut levels = vec![Level::new("", fields.len())];
        let shown = by.map_or(&[][..], ByGroups::fields);
        levels.extend(
            shown
                .iter()
                .map(|by| Level::new(&by.variable.name, fields.len())),
        );
        Ok(Self {
            ids: count,
            levels,
            fields,
            summed,
            number_rows: !statements.no_obs && statements.id.is_none(),
            labels: statements.labels,
            rows: Vec::new(),
            bytes: 0,
        })
    }

    fn add(&mut self, row: &[u8], number: u64, encoding: Encoding, formats: &Formats) {
        let mut cells = Vec::with_capacity(self.fields.len() + 1);
        if self.number_rows {
            cells.push(number.to_string());
        }
        for (index, field) in self.fields.iter().enumerate() {
            cells.push(cell(field, row, encoding, formats));
            if self.summed[index] {
                let value = field.slot.number(row);
                if !value.is_nan()
                    && let Some(level) = self.levels.last_mut()
                {
                    level.sums[index] += value;
                }
            }
        }
        if let Some(level) = self.levels.last_mut() {
            level.rows += 1;
        }
        let cell = |cell: &String| size_of::<String>() + cell.capacity();
        self.bytes += cells.iter().map(cell).sum::<usize>();
        self.rows.push(cells);
    }

    /// A line of sums below a rule of `mark`, with `name` in front.
    fn add_sums(&mut self, name: &str, sums: &[f64], mark: char, formats: &Formats) {
        let before = usize::from(self.number_rows);
        let mut cells = vec![String::new(); before + self.fields.len()];
        let mut rule = cells.clone();
        let width = name.chars().count();
        if before + self.ids > 0 && !self.front_is_summed() {
            name.clone_into(&mut cells[0]);
            rule[0] = mark.to_string().repeat(width);
        }
        for (index, field) in self
            .fields
            .iter()
            .enumerate()
            .filter(|(index, _)| self.summed[*index])
        {
            let text = shown::number(sums[index], &field.variable.format, formats);
            let column = before + index;
            let widest = self
                .rows
                .iter()
                .map(|row| row[column].chars().count())
                .max();
            let width = widest.unwrap_or(0).max(text.chars().count());
            rule[column] = mark
                .to_string()
                .repeat(width.max(field.variable.name.len()));
            cells[column] = text;
        }
        self.rows.push(rule);
        self.rows.push(cells);
    }

    fn front_is_summed(&self) -> bool {
        !self.number_rows && self.summed.first() == Some(&true)
    }

    /// The groups of the BY variables from the `first` one on are over. Groups of one row have no line
    /// of sums: it would say the same again.
    fn end_groups(&mut self, first: usize, world: &World) {
        for index in (first + 1..self.levels.len()).rev() {
            let empty = Level::new(&self.levels[index].name, self.fields.len());
            let level = std::mem::replace(&mut self.levels[index], empty);
            if level.rows > 1 && self.summed.contains(&true) {
                self.add_sums(&level.name, &level.sums, '-', &world.formats);
            }
            let outer = &mut self.levels[index - 1];
            outer.rows += level.rows;
            for (sum, value) in outer.sums.iter_mut().zip(&level.sums) {
                *sum += value;
            }
        }
    }

    fn end(&mut self, world: &mut World) {
        if self.summed.contains(&true) {
            let sums = self.levels[0].sums.clone();
            self.add_sums("", &sums, '=', &world.formats);
        }
        self.print(world);
    }

    /// The rows gathered so far: columns as wide as their widest cell, side by side as far as the line
    /// goes, the rest below.
    fn print(&mut self, world: &mut World) {
        let page = std::mem::take(&mut self.rows);
        self.bytes = 0;
        if page.is_empty() {
            return;
        }
        let mut headings: Vec<(String, bool)> = Vec::new();
        if self.number_rows {
            headings.push(("Obs".to_owned(), true));
        }
        headings.extend(self.fields.iter().map(|field| {
            let variable = &field.variable;
            let labelled = self.labels && !variable.label.is_empty();
            let text = if labelled {
                &variable.label
            } else {
                &variable.name
            };
            (text.clone(), variable.kind == Kind::Numeric)
        }));
        // The number of the row, or the ID variables, stand in front of every part.
        let first = usize::from(self.number_rows) + self.ids;
        print_page(world, &headings, first, &page);
    }
}

fn chosen(input: &Input, lists: Option<&[VariableList]>) -> Outcome<Vec<Field>> {
    let fields = input.fields();
    let Some(lists) = lists else {
        return Ok(fields.to_vec());
    };
    let name = input.member().full_name();
    let absent = |variable: &str, span: &Span| {
        Failure::at(
            span,
            format!("Variable {variable} not found on file {name}."),
        )
    };
    // A variable may be printed twice if it is named twice.
    if let [only] = lists {
        return Ok(select(fields, only, absent)?
            .into_iter()
            .map(|i| fields[i].clone())
            .collect());
    }
    Ok(select_all(fields, lists, absent)?
        .into_iter()
        .map(|i| fields[i].clone())
        .collect())
}

/// Says which formats are not there; their values are printed with BEST12. or as they are.
fn note_formats(world: &mut World, fields: &[Field]) {
    for field in fields {
        let format = &field.variable.format;
        if field.variable.kind == Kind::Numeric
            && format::number_with(0.0, format, &world.formats).is_none()
        {
            world.log.warning(&format!(
                "The format {} of variable {} is not implemented yet; BEST12. is used.",
                format.name, field.variable.name
            ));
        }
    }
}

fn cell(field: &Field, row: &[u8], encoding: Encoding, formats: &Formats) -> String {
    let format = &field.variable.format;
    match field.variable.kind {
        Kind::Numeric => shown::number(field.slot.number(row), format, formats),
        Kind::Character => shown::text(field.slot.bytes(row), format, formats, encoding)
            .replace(|c: char| c.is_control(), "."),
    }
}

fn print_page(world: &mut World, headings: &[(String, bool)], first: usize, page: &[Vec<String>]) {
    let widths: Vec<usize> = headings
        .iter()
        .enumerate()
        .map(|(column, (heading, _))| {
            let cells = page.iter().map(|cells| cells[column].chars().count());
            cells.max().unwrap_or(0).max(heading.chars().count())
        })
        .collect();
    let mut start = first.min(headings.len());
    loop {
        let mut used: usize = widths[..first].iter().map(|width| width + 2).sum();
        let mut end = start;
        while end < headings.len()
            && (end == start || used + widths[end] + 2 <= world.listing.line_size())
        {
            used += widths[end] + 2;
            end += 1;
        }
        let columns: Vec<usize> = (0..first).chain(start..end).collect();
        let line = |text: &dyn Fn(usize) -> String| {
            let cells = columns.iter().map(|column| {
                let (width, text) = (widths[*column], text(*column));
                if headings[*column].1 {
                    format!("{text:>width$}")
                } else {
                    format!("{text:<width$}")
                }
            });
            cells.collect::<Vec<_>>().join("  ")
        };
        world.listing.line("");
        let heading = line(&|column| headings[column].0.clone());
        world.listing.line(&heading);
        world.listing.line("");
        for cells in page {
            let text = line(&|column| cells[column].clone());
            world.listing.line(&text);
        }
        start = end;
        if start >= headings.len() {
            return;
        }
    }
}
