//! Statistics of single observations that OUTPUT statements of linear models ask for.

use engine::failure::{Failure, Outcome};
use lang::ast::DatasetRef;
use lang::cursor::Cursor;
use sas7bdat::{Variable, missing};

use crate::target::{dataset_value, unknown};

/// A statistic of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statistic {
    Predicted,
    Residual,
    /// Standard errors of the mean, of a new value, of the residual.
    ErrorOfMean,
    ErrorOfValue,
    ErrorOfResidual,
    LowerMean,
    UpperMean,
    LowerValue,
    UpperValue,
    Student,
    StudentWithout,
    Cook,
    Leverage,
    Press,
    Influence,
}

/// Keywords, statistic, label.
const STATISTICS: [(&[&str], Statistic, &str); 15] = [
    (
        &["P", "PREDICTED", "PRED"],
        Statistic::Predicted,
        "Predicted Value of",
    ),
    (
        &["R", "RESIDUAL", "RESID"],
        Statistic::Residual,
        "Residual of",
    ),
    (
        &["STDP"],
        Statistic::ErrorOfMean,
        "Standard Error of Mean Predicted Value of",
    ),
    (
        &["STDI"],
        Statistic::ErrorOfValue,
        "Standard Error of Individual Prediction of",
    ),
    (
        &["STDR"],
        Statistic::ErrorOfResidual,
        "Standard Error of Residual of",
    ),
    (
        &["LCLM", "L95M"],
        Statistic::LowerMean,
        "Lower Bound of 95% C.I. for Mean of",
    ),
    (
        &["UCLM", "U95M"],
        Statistic::UpperMean,
        "Upper Bound of 95% C.I. for Mean of",
    ),
    (
        &["LCL", "L95"],
        Statistic::LowerValue,
        "Lower Bound of 95% C.I.(Individual Pred) of",
    ),
    (
        &["UCL", "U95"],
        Statistic::UpperValue,
        "Upper Bound of 95% C.I.(Individual Pred) of",
    ),
    (&["STUDENT"], Statistic::Student, "Studentized Residual of"),
    (
        &["RSTUDENT"],
        Statistic::StudentWithout,
        "Studentized Residual without Current Obs of",
    ),
    (
        &["COOKD"],
        Statistic::Cook,
        "Cook's D Influence Statistic of",
    ),
    (&["H"], Statistic::Leverage, "Leverage of"),
    (
        &["PRESS"],
        Statistic::Press,
        "Residual without Current Observation of",
    ),
    (
        &["DFFITS"],
        Statistic::Influence,
        "Standard Influence on Predicted Value of",
    ),
];

/// An OUTPUT statement.
pub(crate) struct OutputStatement {
    pub(crate) out: DatasetRef,
    /// Statistics with the names of their variables, one for each dependent variable.
    pub(crate) requests: Vec<(Statistic, Vec<String>)>,
}

/// Reads an OUTPUT statement behind its first word.
pub(crate) fn output_statement(
    cursor: &mut Cursor<'_>,
    procedure: &str,
) -> Outcome<OutputStatement> {
    let (mut out, mut requests) = (None, Vec::new());
    while let Some(word) = cursor.peek_word() {
        let word = word.to_ascii_uppercase();
        if word == "OUT" {
            cursor.next();
            out = Some(dataset_value(cursor)?);
            continue;
        }
        let known = STATISTICS
            .iter()
            .find(|(keywords, ..)| keywords.contains(&word.as_str()));
        let Some((_, statistic, _)) = known else {
            return Err(unknown(cursor, procedure, "statistic of OUTPUT"));
        };
        cursor.next();
        cursor.expect_symbol("=")?;
        let mut names = Vec::new();
        while cursor.peek_word().is_some() && !cursor.is_symbol_at(1, "=") {
            names.push(cursor.expect_name("a name")?.0);
        }
        requests.push((*statistic, names));
    }
    let out = out.ok_or_else(|| Failure::from(cursor.fail("OUTPUT needs OUT=")))?;
    Ok(OutputStatement { out, requests })
}

impl OutputStatement {
    /// Whether a statistic is asked for that needs the leverage.
    pub(crate) fn needs_leverage(&self) -> bool {
        let simple = [Statistic::Predicted, Statistic::Residual];
        self.requests
            .iter()
            .any(|(statistic, _)| !simple.contains(statistic))
    }

    /// What to compute, in the order of [`Self::variables`]: statistic and dependent variable.
    pub(crate) fn columns(&self, dependents: usize) -> Vec<(Statistic, usize)> {
        let of = |(statistic, names): &(Statistic, Vec<String>)| {
            let statistic = *statistic;
            (0..names.len().min(dependents)).map(move |dependent| (statistic, dependent))
        };
        self.requests.iter().flat_map(of).collect()
    }

    /// The variables to make, for dependent variables of these names.
    pub(crate) fn variables(&self, dependents: &[&str]) -> Vec<Variable> {
        let mut variables = Vec::new();
        for (statistic, names) in &self.requests {
            let known = STATISTICS.iter().find(|(_, one, _)| one == statistic);
            let label = known.map_or("", |(_, _, label)| label);
            for (name, dependent) in names.iter().zip(dependents) {
                let mut variable = Variable::numeric(name.clone());
                variable.label = format!("{label} {dependent}");
                variables.push(variable);
            }
        }
        variables
    }
}

/// What the statistics of an observation are computed from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observation {
    pub(crate) value: f64,
    pub(crate) predicted: f64,
    pub(crate) weight: f64,
    /// x (X'X)^- x', without the weight.
    pub(crate) leverage: f64,
    pub(crate) mean_square: f64,
    pub(crate) error_degrees: f64,
    pub(crate) rank: f64,
    pub(crate) t_quantile: f64,
}

impl Observation {
    /// A statistic; a missing value where there is none.
    pub(crate) fn statistic(&self, statistic: Statistic) -> f64 {
        let residual = self.value - self.predicted;
        let own = if self.weight > 0.0 {
            self.weight
        } else {
            f64::NAN
        };
        let h = own * self.leverage;
        let of_mean = (self.mean_square * self.leverage).sqrt();
        let of_value = (self.mean_square * (self.leverage + 1.0 / own)).sqrt();
        let of_residual = (self.mean_square * (1.0 - h) / own).sqrt();
        let without = ((self.error_degrees * self.mean_square
            - own * residual * residual / (1.0 - h))
            / (self.error_degrees - 1.0))
            .sqrt();
        let student_without = residual * own.sqrt() / (without * (1.0 - h).sqrt());
        let value = match statistic {
            Statistic::Predicted => self.predicted,
            Statistic::Residual => residual,
            Statistic::ErrorOfMean => of_mean,
            Statistic::ErrorOfValue => of_value,
            Statistic::ErrorOfResidual => of_residual,
            Statistic::LowerMean => self.predicted - self.t_quantile * of_mean,
            Statistic::UpperMean => self.predicted + self.t_quantile * of_mean,
            Statistic::LowerValue => self.predicted - self.t_quantile * of_value,
            Statistic::UpperValue => self.predicted + self.t_quantile * of_value,
            Statistic::Student => residual / of_residual,
            Statistic::StudentWithout => student_without,
            Statistic::Cook => (residual / of_residual).powi(2) * h / ((1.0 - h) * self.rank),
            Statistic::Leverage => h,
            Statistic::Press => residual / (1.0 - h),
            Statistic::Influence => student_without * (h / (1.0 - h)).sqrt(),
        };
        if value.is_finite() {
            value
        } else {
            missing::missing()
        }
    }
}
