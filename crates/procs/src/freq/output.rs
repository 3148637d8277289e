//! OUTPUT of PROC FREQ: statistics of the last table asked for.

use engine::dataset::input::Field;
use engine::failure::{Failure, Outcome};
use lang::ast::DatasetRef;
use lang::cursor::Cursor;
use sas7bdat::{Kind, Variable, missing};

use super::counts::{Counts, Crossed};
use crate::by::ByGroups;
use crate::distribution::chi_square_probability;
use crate::table::Table;
use crate::target::{dataset_value, unknown};

/// A statistic that OUTPUT names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Statistic {
    Sample,
    Pearson,
    Likelihood,
    Phi,
    Contingency,
    Cramer,
}

/// An OUTPUT statement.
pub(super) struct Output {
    pub(super) out: DatasetRef,
    statistics: Vec<Statistic>,
}

impl Output {
    /// Reads the statement behind its keyword.
    pub(super) fn read(cursor: &mut Cursor<'_>) -> Outcome<Self> {
        let start = cursor.span();
        let (mut out, mut statistics) = (None, Vec::new());
        while let Some(word) = cursor.peek_word() {
            statistics.push(match word.to_ascii_uppercase().as_str() {
                "OUT" => {
                    cursor.next();
                    out = Some(dataset_value(cursor)?);
                    continue;
                }
                "N" => Statistic::Sample,
                "PCHI" => Statistic::Pearson,
                "LRCHI" => Statistic::Likelihood,
                "PHI" => Statistic::Phi,
                "CONTGY" => Statistic::Contingency,
                "CRAMV" => Statistic::Cramer,
                _ => return Err(unknown(cursor, "FREQ", "statistic of OUTPUT")),
            });
            cursor.next();
        }
        let Some(out) = out else {
            return Err(Failure::at(&start, "OUTPUT needs a data set: OUT="));
        };
        if statistics.is_empty() {
            return Err(Failure::at(&start, "OUTPUT names no statistic"));
        }
        Ok(Self { out, statistics })
    }

    /// The variables of the data set, behind those of BY and of the strata.
    pub(super) fn variables(&self, by: &[Field], strata: &[Field]) -> Vec<Variable> {
        let mut variables: Vec<Variable> = by
            .iter()
            .chain(strata)
            .map(|field| field.variable.clone())
            .collect();
        for statistic in &self.statistics {
            for (name, label) in statistic.columns() {
                let mut variable = Variable::numeric(*name);
                (*label).clone_into(&mut variable.label);
                variables.push(variable);
            }
        }
        variables
    }

    /// Writes a row for each two-way table of `counts`.
    pub(super) fn write(
        &self,
        table: &mut Table,
        counts: &Counts,
        by: Option<&ByGroups>,
        by_count: usize,
    ) -> Outcome<()> {
        if let Some(by) = by {
            by.copy(table);
        }
        let cells = counts.in_order();
        let (variables, parts) = (&counts.classes.variables, counts.classes.parts());
        let strata = variables.len().saturating_sub(2);
        let head = parts.get(strata).map_or(0, |part| part.start);
        let mut rest = cells.as_slice();
        while let Some((first, _)) = rest.first() {
            let same = |cell: &&(&[u8], f64)| cell.0[..head] == first[..head];
            let (stratum, behind) = rest.split_at(rest.iter().take_while(same).count());
            let crossed = Crossed::new(stratum, &parts[strata], &parts[strata + 1]);
            for (index, (variable, part)) in variables.iter().zip(&parts).take(strata).enumerate() {
                let value = &first[part.clone()];
                match variable.field.variable.kind {
                    Kind::Numeric => table.number(by_count + index, variable.number(value)),
                    Kind::Character => table.text(by_count + index, &variable.text(value)),
                }
            }
            let values = self.statistics.iter().flat_map(|one| one.values(&crossed));
            for (index, value) in values.enumerate() {
                table.number(by_count + strata + index, missing::normalize(value));
            }
            table.write()?;
            rest = behind;
        }
        Ok(())
    }
}

impl Statistic {
    /// Names and labels of its variables.
    const fn columns(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Sample => &[("N", "Number of Subjects in the Stratum")],
            Self::Pearson => &[
                ("_PCHI_", "Chi-Square"),
                ("DF_PCHI", "DF for Chi-Square"),
                ("P_PCHI", "P-value for Chi-Square"),
            ],
            Self::Likelihood => &[
                ("_LRCHI_", "Likelihood Ratio Chi-Square"),
                ("DF_LRCHI", "DF for Likelihood Ratio Chi-Square"),
                ("P_LRCHI", "P-value for Likelihood Ratio Chi-Square"),
            ],
            Self::Phi => &[("_PHI_", "Phi Coefficient")],
            Self::Contingency => &[("_CONTGY_", "Contingency Coefficient")],
            Self::Cramer => &[("_CRAMV_", "Cramer's V")],
        }
    }

    fn values(self, crossed: &Crossed<'_>) -> Vec<f64> {
        let (pearson, likelihood, degrees) = crossed.chi_squares();
        let chi_square = |value: f64| {
            if degrees < 1.0 {
                return vec![f64::NAN, f64::NAN, f64::NAN];
            }
            vec![value, degrees, chi_square_probability(value, degrees)]
        };
        match self {
            Self::Sample => vec![crossed.total()],
            Self::Pearson => chi_square(pearson),
            Self::Likelihood => chi_square(likelihood),
            Self::Phi => vec![crossed.phi()],
            Self::Contingency => vec![crossed.contingency()],
            Self::Cramer => vec![crossed.cramer()],
        }
    }
}
