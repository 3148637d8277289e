//! PROC FREQ: one pass over the input; all tables are counted at once.

mod chisq;
mod counts;
mod listing;
mod output;
mod statements;

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::expr::Slot;
use engine::failure::{Failure, Outcome};
use engine::procedure::{Procedure, Support};
use engine::session::World;
use lang::ast::{ProcStep, VariableList};
use sas7bdat::{Kind, Variable, missing};

use self::counts::{Cell, Counts, Crossed, counted};
use self::output::Output;
use self::statements::{Options, Statements, Tables, parse};
use crate::by::{ByGroups, open_by};
use crate::levels::{ClassVariable, Classes};
use crate::table::Table;
use crate::target::{Attributes, named_fields};

/// PROC FREQ.
pub(crate) struct Freq;

/// One request of a TABLES statement.
struct Request<'a> {
    counts: Counts,
    options: &'a Options,
    /// Of the last request of a statement with OUT=.
    out: Option<Table>,
    /// Of the last request of the step, where there is an OUTPUT statement.
    tests: Option<(&'a Output, Table)>,
    by_count: usize,
    /// Some BY group had negative weights.
    negative: bool,
}

impl Procedure for Freq {
    fn name(&self) -> &'static str {
        "FREQ"
    }

    fn support(&self) -> Support {
        Support {
            yes: "FORMAT, LABEL; TABLES of one to many variables (`a*(b c)`) with OUT=, OUTPCT, LIST, \
                  MISSING, CHISQ (with Fisher's exact test of tables of two by two), NOROW, NOCOL, \
                  NOPERCENT, NOCUM, NOPRINT; OUTPUT with N PCHI LRCHI PHI CONTGY CRAMV; WEIGHT, BY, \
                  WHERE. Values are grouped as formatted",
            no: "ORDER= but INTERNAL, other statistics of OUTPUT, FISHER of larger tables, MEASURES, \
                 TESTP=, SPARSE, LIST with CHISQ",
        }
    }

    fn check(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        parse(step, world).map(drop)
    }

    fn run(&self, step: &ProcStep, world: &mut World) -> Outcome<()> {
        let statements = parse(step, world)?;
        let mut input = open_by(
            world,
            &statements.data,
            statements.condition.as_ref(),
            statements.by.as_ref(),
        )?;
        let mut by = match &statements.by {
            Some(list) => Some(ByGroups::new(&input, list, &statements.attributes, world)?),
            None => None,
        };
        let weight = match &statements.weight {
            Some((name, span)) => Some(weight(&input, name, span)?),
            None => None,
        };
        let mut requests = Vec::new();
        for tables in &statements.tables {
            requests.extend(bind(
                tables,
                &statements.attributes,
                &input,
                by.as_ref(),
                world,
            )?);
        }
        bind_tests(&statements, &mut requests, &input, by.as_ref(), world)?;
        if statements.printed {
            world.listing.begin();
            world.listing.centered_line("The FREQ Procedure");
            world.listing.line("");
        }
        let done = pass(
            &mut input,
            by.as_mut(),
            weight,
            &statements,
            &mut requests,
            world,
        );
        if statements.printed {
            world.listing.end();
        }
        if let Err(failure) = done {
            for request in requests {
                request.discard(world);
            }
            return Err(failure);
        }
        input.finish(world)?;
        for request in requests {
            request.finish(world)?;
        }
        Ok(())
    }
}

fn weight(input: &Input, name: &str, span: &Span) -> Outcome<Slot> {
    let list = [VariableList::Name(name.to_owned(), span.clone())];
    let field = named_fields(input, &list)?.remove(0);
    if field.variable.kind == Kind::Character {
        let message =
            format!("Variable {name} in list does not match type prescribed for this list");
        return Err(Failure::at(span, message));
    }
    Ok(field.slot)
}

/// All tables that a statement asks for.
fn bind<'a>(
    tables: &'a Tables,
    attributes: &Attributes,
    input: &Input,
    by: Option<&ByGroups>,
    world: &mut World,
) -> Outcome<Vec<Request<'a>>> {
    let mut products: Vec<Vec<Field>> = Vec::new();
    for request in &tables.requests {
        let mut crossed: Vec<Vec<Field>> = vec![Vec::new()];
        for factor in request {
            let mut fields = named_fields(input, factor)?;
            attributes.apply(input, &mut fields, world)?;
            crossed = crossed
                .iter()
                .flat_map(|left| {
                    fields
                        .iter()
                        .map(|field| [left.as_slice(), std::slice::from_ref(field)].concat())
                })
                .collect();
        }
        products.extend(crossed);
    }
    let by_fields = by.map_or(&[][..], ByGroups::fields);
    let last = products.len().saturating_sub(1);
    let mut requests = Vec::new();
    for (number, fields) in products.into_iter().enumerate() {
        let out = match &tables.options.out {
            Some(out) if number == last => {
                let variables = out_variables(by_fields, &fields, &tables.options);
                let encoding = input.metadata().encoding;
                Some(Table::create(world, out, variables, "FREQ", encoding)?)
            }
            _ => None,
        };
        let missing = tables.options.missing;
        let classes = |missing| {
            let fields = fields.iter().cloned();
            let each =
                fields.map(|field| ClassVariable::new(field, false, missing, &world.formats));
            Classes::new(each.collect())
        };
        let mut counts = Counts::new(classes(missing), world.options.summary_memory());
        if out.is_some() && !missing {
            counts.keep_left_out(classes(true));
        }
        requests.push(Request {
            counts,
            options: &tables.options,
            out,
            tests: None,
            by_count: by_fields.len(),
            negative: false,
        });
    }
    Ok(requests)
}

/// OUTPUT is about the last table, which has to have two variables at least.
fn bind_tests<'a>(
    statements: &'a Statements,
    requests: &mut [Request<'a>],
    input: &Input,
    by: Option<&ByGroups>,
    world: &mut World,
) -> Outcome<()> {
    let Some((output, span)) = &statements.output else {
        return Ok(());
    };
    let Some(request) = requests.last_mut() else {
        return Ok(());
    };
    let classes = &request.counts.classes.variables;
    let Some(strata) = classes.len().checked_sub(2) else {
        let message = "OUTPUT needs a table of two variables at least";
        return Err(Failure::at(span, message));
    };
    let strata = classes.iter().take(strata);
    let strata: Vec<Field> = strata.map(|class| class.field.clone()).collect();
    let variables = output.variables(by.map_or(&[][..], ByGroups::fields), &strata);
    let encoding = input.metadata().encoding;
    let table = Table::create(world, &output.out, variables, "FREQ", encoding)?;
    request.tests = Some((output, table));
    Ok(())
}

fn out_variables(by: &[Field], fields: &[Field], options: &Options) -> Vec<Variable> {
    let mut variables: Vec<Variable> = by
        .iter()
        .chain(fields)
        .map(|field| field.variable.clone())
        .collect();
    let mut described = vec![
        ("COUNT", "Frequency Count"),
        ("PERCENT", "Percent of Total Frequency"),
    ];
    if options.out_percents && fields.len() > 1 {
        if fields.len() > 2 {
            described.push(("PCT_TABL", "Percent of 2-Way Table Frequency"));
        }
        described.push(("PCT_ROW", "Percent of Row Frequency"));
        described.push(("PCT_COL", "Percent of Column Frequency"));
    }
    for (name, label) in described {
        let mut variable = Variable::numeric(name);
        label.clone_into(&mut variable.label);
        variables.push(variable);
    }
    variables
}

fn pass(
    input: &mut Input,
    mut by: Option<&mut ByGroups>,
    weight: Option<Slot>,
    statements: &Statements,
    requests: &mut [Request<'_>],
    world: &mut World,
) -> Outcome<()> {
    let encoding = input.metadata().encoding;
    let mut emit = |by: Option<&ByGroups>, requests: &mut [Request<'_>]| -> Outcome<()> {
        if let (Some(by), true) = (by, statements.printed) {
            world
                .listing
                .centered_line(&format!("---------- {} ----------", by.heading()));
            world.listing.line("");
        }
        for request in requests {
            request.counts.unify();
            request.negative |= request.counts.negative;
            if statements.printed && !request.options.no_print {
                listing::print(world, &request.counts, request.options, encoding);
            }
            request.write(by)?;
            if let (Some((output, table)), false) = (&mut request.tests, request.negative) {
                output.write(table, &request.counts, by, request.by_count)?;
            }
            request.counts.clear();
        }
        Ok(())
    };
    while let Some(row) = input.next_row()? {
        if let Some(by) = &mut by
            && by.begins(row)?
        {
            if !by.row().is_empty() {
                emit(Some(by), requests)?;
            }
            by.enter(row);
        }
        let weight = weight.map_or(1.0, |slot| slot.number(row));
        // As in SAS, what weighs nothing, or not known how much, is not counted.
        if weight.is_nan() || weight == 0.0 {
            continue;
        }
        for request in &mut *requests {
            request.counts.add(row, weight)?;
        }
    }
    if by.as_ref().is_none_or(|by| !by.row().is_empty()) {
        emit(by.as_deref(), requests)?;
    }
    Ok(())
}

impl Request<'_> {
    fn discard(self, world: &mut World) {
        let tests = self.tests.map(|(_, table)| table);
        for table in self.out.into_iter().chain(tests) {
            table.discard(world);
        }
    }

    /// Completes the data sets; as in SAS there is no data set of statistics where weights were negative.
    fn finish(self, world: &mut World) -> Outcome<()> {
        if self.negative {
            let classes = self.counts.classes.variables.iter();
            let names = classes.map(|class| class.field.variable.name.as_str());
            world.log.note(&format!(
                "Percentages and statistics are not computed for {}, since some weights are negative.",
                names.collect::<Vec<_>>().join("*")
            ));
        }
        if let Some(table) = self.out {
            table.finish(world)?;
        }
        match self.tests {
            Some((_, table)) if self.negative => {
                table.withhold(world);
                let message = "The data set of the OUTPUT statement is not created.";
                world.log.note(message);
            }
            Some((_, table)) => {
                table.finish(world)?;
            }
            None => {}
        }
        Ok(())
    }

    /// Writes the cells to OUT=.
    fn write(&mut self, by: Option<&ByGroups>) -> Outcome<()> {
        let Some(table) = &mut self.out else {
            return Ok(());
        };
        if let Some(by) = by {
            by.copy(table);
        }
        let (cells, negative) = (self.counts.with_left_out(), self.counts.negative);
        let total: f64 = counted(&cells).iter().map(|(_, count)| count).sum();
        let variables = &self.counts.classes.variables;
        let parts = self.counts.classes.parts();
        let strata = variables.len().saturating_sub(2);
        let mut begin = 0;
        while begin < cells.len() {
            // One two-way table after the other: the percentages of rows and columns are of these.
            let head = parts.get(strata).map_or(0, |part| part.start);
            let same = |cell: &&Cell<'_>| cell.key[..head] == cells[begin].key[..head];
            let count = cells[begin..].iter().take_while(same).count();
            let stratum = &cells[begin..begin + count];
            let crossed = (variables.len() > 1)
                .then(|| Crossed::new(&counted(stratum), &parts[strata], &parts[strata + 1]));
            for Cell {
                key,
                count,
                left_out,
            } in stratum
            {
                for (index, (variable, part)) in variables.iter().zip(&parts).enumerate() {
                    let column = self.by_count + index;
                    match variable.field.variable.kind {
                        Kind::Numeric => table.number(column, variable.number(&key[part.clone()])),
                        Kind::Character => table.text(column, &variable.text(&key[part.clone()])),
                    }
                }
                let mut column = self.by_count + variables.len();
                let mut next = |value: f64| {
                    table.number(column, missing::normalize(value));
                    column += 1;
                };
                next(*count);
                let share = |whole: f64| {
                    if negative || *left_out {
                        f64::NAN
                    } else {
                        100.0 * count / whole
                    }
                };
                next(share(total));
                if let (Some(crossed), true) = (&crossed, self.options.out_percents) {
                    if strata > 0 {
                        next(share(crossed.total()));
                    }
                    let of_row = &key[parts[strata].clone()];
                    let of_column = &key[parts[strata + 1].clone()];
                    let row = crossed.rows.binary_search(&of_row).unwrap_or_default();
                    let place = crossed
                        .columns
                        .binary_search(&of_column)
                        .unwrap_or_default();
                    next(share(crossed.row_total(row)));
                    next(share(crossed.column_total(place)));
                }
                table.write()?;
            }
            begin += count;
        }
        Ok(())
    }
}
