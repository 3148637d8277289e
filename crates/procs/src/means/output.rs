//! The data sets of OUTPUT statements.

use std::collections::HashSet;

use engine::dataset::input::{Field, Input};
use engine::dataset::options::select_all;
use engine::failure::{Failure, Outcome};
use engine::session::World;
use sas7bdat::{Format, Kind, Variable, missing};

use super::Analysis;
use super::groups::Groups;
use super::statements::OutputStatement;
use super::statistic::{Rules, Wanted};
use crate::by::ByGroups;
use crate::levels::Classes;
use crate::table::Table;

/// Longest name of a variable.
const NAME_BYTES_MAX: usize = 32;

/// What OUTPUT writes when no statistic is named, one row each.
const DEFAULT: [&str; 5] = ["N", "MIN", "MAX", "MEAN", "STD"];

/// One OUTPUT statement's data set.
pub(super) struct OutputTable {
    table: Table,
    columns: Columns,
    chartype: bool,
    /// The first columns: BY variables, then class variables.
    by_count: usize,
    class_count: usize,
}

enum Columns {
    /// Each a statistic of an analysis variable.
    Named(Vec<(usize, Wanted)>),
    /// Rows of `_STAT_`, all analysis variables under their own names.
    Rows(Vec<Wanted>),
}

/// The names of AUTONAME, where they are not the keyword with a capital.
fn automatic(keyword: &str) -> String {
    match keyword {
        "NMISS" => "NMiss",
        "STD" | "STDDEV" => "StdDev",
        "STDERR" | "STDMEAN" => "StdErr",
        "SUMWGT" => "SumWgt",
        "USS" => "USS",
        "CSS" => "CSS",
        "CV" => "CV",
        "SKEWNESS" | "SKEW" => "Skew",
        "KURTOSIS" | "KURT" => "Kurt",
        "T" => "t",
        "PROBT" | "PRT" => "Probt",
        "LCLM" => "LCLM",
        "UCLM" => "UCLM",
        "QRANGE" => "QRange",
        _ => {
            let (first, rest) = keyword.split_at(1);
            return format!("{first}{}", rest.to_ascii_lowercase());
        }
    }
    .to_owned()
}

impl OutputTable {
    pub(super) fn create(
        world: &mut World,
        statement: &OutputStatement,
        input: &Input,
        analysis: &Analysis,
        (chartype, creator): (bool, &'static str),
    ) -> Outcome<Self> {
        let (by, classes) = (analysis.by.as_ref(), &analysis.classes);
        let analysis = analysis.fields.as_slice();
        let by_fields = by.map_or(&[][..], ByGroups::fields);
        let class_fields = classes.variables.iter().map(|class| &class.field);
        let mut variables: Vec<Variable> = by_fields
            .iter()
            .chain(class_fields)
            .map(|field| field.variable.clone())
            .collect();
        variables.push(if chartype {
            let length = u32::try_from(classes.variables.len().max(1)).unwrap_or(1);
            Variable::character("_TYPE_", length)
        } else {
            Variable::numeric("_TYPE_")
        });
        variables.push(Variable::numeric("_FREQ_"));
        let columns = if statement.items.is_empty() && analysis.is_empty() {
            Columns::Named(Vec::new())
        } else if statement.items.is_empty() {
            variables.push(Variable::character("_STAT_", 8));
            variables.extend(analysis.iter().map(|field| field.variable.clone()));
            Columns::Rows(
                DEFAULT
                    .iter()
                    .filter_map(|word| Wanted::find(word))
                    .collect(),
            )
        } else {
            let named = named(statement, analysis, input)?;
            for (variable, wanted, name) in &named {
                variables.push(described(&analysis[*variable], *wanted, name, statement));
            }
            Columns::Named(
                named
                    .iter()
                    .map(|(variable, wanted, _)| (*variable, *wanted))
                    .collect(),
            )
        };
        no_doubles(statement, &variables)?;
        let encoding = input.metadata().encoding;
        Ok(Self {
            table: Table::create(world, &statement.out, variables, creator, encoding)?,
            columns,
            chartype,
            by_count: by_fields.len(),
            class_count: classes.variables.len(),
        })
    }

    /// Every statistic that its columns need.
    pub(super) fn wanted(statement: &OutputStatement) -> Vec<Wanted> {
        if statement.items.is_empty() {
            return DEFAULT
                .iter()
                .filter_map(|word| Wanted::find(word))
                .collect();
        }
        statement.items.iter().map(|item| item.wanted).collect()
    }

    /// Writes the groups of one type.
    pub(super) fn write(
        &mut self,
        by: Option<&ByGroups>,
        classes: &Classes,
        mask: u64,
        groups: &Groups,
        rules: Rules,
    ) -> Outcome<()> {
        if let Some(by) = by {
            by.copy(&mut self.table);
        }
        let kind = self.by_count + self.class_count;
        if self.chartype {
            let digits = (0..self.class_count).map(|class| {
                if mask >> (self.class_count - 1 - class) & 1 == 1 {
                    b'1'
                } else {
                    b'0'
                }
            });
            self.table.text(kind, &digits.collect::<Vec<u8>>());
        } else {
            self.table.number(kind, mask as f64);
        }
        for group in groups.in_order() {
            self.class_values(classes, mask, groups.key(group));
            self.table.number(kind + 1, groups.frequency(group));
            self.statistics(kind + 2, groups, group, rules)?;
        }
        Ok(())
    }

    fn class_values(&mut self, classes: &Classes, mask: u64, key: &[u8]) {
        for (index, (class, part)) in classes.variables.iter().zip(classes.parts()).enumerate() {
            let here = mask >> (self.class_count - 1 - index) & 1 == 1;
            let column = self.by_count + index;
            match (class.field.variable.kind, here) {
                (Kind::Numeric, true) => self.table.number(column, class.number(&key[part])),
                (Kind::Numeric, false) => self.table.number(column, missing::missing()),
                (Kind::Character, true) => self.table.text(column, &class.text(&key[part])),
                (Kind::Character, false) => self.table.text(column, b""),
            }
        }
    }

    fn statistics(
        &mut self,
        first: usize,
        groups: &Groups,
        group: usize,
        rules: Rules,
    ) -> Outcome<()> {
        let value = |wanted: &Wanted, variable: usize| {
            let (cell, values) = (groups.cell(group, variable), groups.values(group, variable));
            wanted.statistic.value(&cell, values, rules)
        };
        match &self.columns {
            Columns::Named(columns) => {
                for (column, (variable, wanted)) in columns.iter().enumerate() {
                    self.table.number(first + column, value(wanted, *variable));
                }
                self.table.write()
            }
            Columns::Rows(rows) => {
                for wanted in rows {
                    self.table.text(first, wanted.keyword.as_bytes());
                    for variable in 0..groups.variables() {
                        self.table
                            .number(first + 1 + variable, value(wanted, variable));
                    }
                    self.table.write()?;
                }
                Ok(())
            }
        }
    }

    pub(super) fn finish(self, world: &mut World) -> Outcome<u64> {
        self.table.finish(world)
    }

    pub(super) fn discard(self, world: &mut World) {
        self.table.discard(world);
    }
}

/// Analysis variable, statistic and name of every column.
fn named(
    statement: &OutputStatement,
    analysis: &[Field],
    input: &Input,
) -> Outcome<Vec<(usize, Wanted, String)>> {
    let file = input.member().full_name();
    let mut columns = Vec::new();
    for item in &statement.items {
        let variables = if item.variables.is_empty() {
            (0..analysis.len()).collect()
        } else {
            select_all(analysis, &item.variables, |name, span| {
                let message = format!(
                    "Variable {name} in list does not match any analysis variable of file {file}"
                );
                Failure::at(span, message)
            })?
        };
        if item.names.len() > variables.len() {
            let message = format!(
                "{}= has {} names for {} variables",
                item.wanted.keyword,
                item.names.len(),
                variables.len()
            );
            return Err(Failure::at(&item.span, message));
        }
        for (position, variable) in variables.into_iter().enumerate() {
            let own = &analysis[variable].variable.name;
            let name = match item.names.get(position) {
                Some(name) => name.clone(),
                // Variables beyond the names that were given are not wanted.
                None if !item.names.is_empty() => continue,
                None if statement.autoname => {
                    let suffix = format!("_{}", automatic(item.wanted.keyword));
                    let room = NAME_BYTES_MAX - suffix.len();
                    let own: String = own.chars().take(room).collect();
                    format!("{own}{suffix}")
                }
                None => own.clone(),
            };
            columns.push((variable, item.wanted, name));
        }
    }
    Ok(columns)
}

/// A column's variable: label and format of the analysis variable where they fit.
fn described(field: &Field, wanted: Wanted, name: &str, statement: &OutputStatement) -> Variable {
    let mut variable = Variable::numeric(name);
    if !statement.noinherit {
        variable.label.clone_from(&field.variable.label);
        variable.format = if wanted.statistic.keeps_format() {
            field.variable.format.clone()
        } else {
            Format::default()
        };
    }
    variable
}

fn no_doubles(statement: &OutputStatement, variables: &[Variable]) -> Outcome<()> {
    let mut seen = HashSet::new();
    for variable in variables {
        if !seen.insert(variable.name.to_ascii_uppercase()) {
            let message = format!(
                "Variable {} already exists on the output data set; name the statistics apart or use \
                 AUTONAME",
                variable.name
            );
            return Err(Failure::at(&statement.out.span, message));
        }
    }
    Ok(())
}
