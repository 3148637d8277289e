//! Rows against the recipe that made them.

use recipe::Generator;
use sas7bdat::{Kind, Metadata, Variable, missing};

use super::super::value::{missing_text, printable, shortest};
use super::Finding;

/// Compares rows in file order with what a generator makes.
pub struct Comparison<'g> {
    generator: &'g Generator,
    expected: Vec<u8>,
    differing: u64,
    first: Option<First>,
}

/// The first difference: row from 0, column, what is there and what should be.
struct First {
    row: u64,
    column: String,
    detail: String,
}

impl<'g> Comparison<'g> {
    /// For a data set with the variables of the recipe; otherwise says how they differ.
    pub fn new(generator: &'g Generator, metadata: &Metadata) -> Result<Self, Finding> {
        let (there, wanted) = (&metadata.variables, generator.variables());
        for (there, wanted) in there.iter().zip(wanted) {
            if describe(there) != describe(wanted) {
                return Err(Finding {
                    column: Some(there.name.clone()),
                    ..Finding::whole(format!(
                        "the variable is {}; the recipe has {} there",
                        describe(there),
                        describe(wanted)
                    ))
                });
            }
        }
        if there.len() != wanted.len() {
            return Err(Finding::whole(format!(
                "there are {} variables; the recipe has {}",
                there.len(),
                wanted.len()
            )));
        }
        Ok(Self {
            generator,
            expected: Vec::new(),
            differing: 0,
            first: None,
        })
    }

    /// Compares rows `first_row`.. that lie back to back.
    pub fn check(&mut self, first_row: u64, slab: &[u8]) {
        self.expected.resize(slab.len(), 0);
        self.generator.fill(first_row, &mut self.expected);
        if self.expected == slab {
            return;
        }
        let row_bytes = self.generator.layout().row_bytes as usize;
        let pairs = slab
            .chunks_exact(row_bytes)
            .zip(self.expected.chunks_exact(row_bytes));
        for (row, (there, wanted)) in (first_row..).zip(pairs) {
            if there != wanted {
                self.differing += 1;
                if self.first.is_none() {
                    self.first = Some(self.difference(row, there, wanted));
                }
            }
        }
    }

    fn difference(&self, row: u64, there: &[u8], wanted: &[u8]) -> First {
        let variables = self.generator.variables().iter();
        let mut values = variables.zip(&self.generator.layout().offsets);
        let different = values.find_map(|(variable, offset)| {
            let place = *offset as usize..(*offset + variable.length) as usize;
            let (there, wanted) = (&there[place.clone()], &wanted[place]);
            (there != wanted).then_some((variable, there, wanted))
        });
        let (variable, there, wanted) = different.expect("both rows are padded with zeros");
        First {
            row,
            column: variable.name.clone(),
            detail: format!(
                "holds {}, the recipe says {}",
                shown(variable, there),
                shown(variable, wanted)
            ),
        }
    }

    /// The finding, if there is one.
    pub fn finish(self, metadata: &Metadata) -> Option<Finding> {
        let first = self.first?;
        let more = match self.differing {
            1 => String::new(),
            count => format!(" ({count} rows differ; this is the first)"),
        };
        Some(Finding {
            page: page_of(metadata, first.row),
            row: Some(first.row + 1),
            column: Some(first.column),
            detail: format!("{}{more}", first.detail),
        })
    }
}

fn describe(variable: &Variable) -> String {
    let kind = match variable.kind {
        Kind::Numeric => "numeric",
        Kind::Character => "character",
    };
    format!("{} {kind} {}", variable.name, variable.length)
}

fn shown(variable: &Variable, bytes: &[u8]) -> String {
    match (variable.kind, bytes.first_chunk::<8>()) {
        (Kind::Numeric, Some(bytes)) => {
            let value = f64::from_le_bytes(*bytes);
            let odd = value.is_nan() && missing::normalize(value).to_bits() != value.to_bits();
            if odd {
                return format!("the bits {:016x}", value.to_bits());
            }
            missing_text(value).unwrap_or_else(|| shortest(value))
        }
        _ => format!("{:?}", printable(&String::from_utf8_lossy(bytes))),
    }
}

/// The page of a row, where that is a matter of arithmetic.
fn page_of(metadata: &Metadata, row: u64) -> Option<u64> {
    if metadata.rows_per_page == 0 || metadata.deleted_rows > 0 {
        return None;
    }
    let (first_page, mix_rows) = (metadata.first_data_page, metadata.mix_rows);
    Some(match row.checked_sub(mix_rows) {
        None => first_page,
        Some(behind) => first_page + u64::from(mix_rows > 0) + behind / metadata.rows_per_page,
    })
}
