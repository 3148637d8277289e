//! Effects as a program writes them: `a b a*b c(a) a|b|c@2 x1-x9`.

use base::diag::Span;
use engine::dataset::input::{Field, Input};
use engine::failure::{Failure, Outcome};
use lang::ast::VariableList;
use lang::cursor::Cursor;

use crate::target::named_fields;

/// What stands between `|`: variables, crossed, and those they are nested in.
#[derive(Debug, Clone)]
struct Product {
    factors: Vec<VariableList>,
    nested: Vec<VariableList>,
}

/// One item of a list of effects.
#[derive(Debug, Clone)]
pub(crate) struct Written {
    bars: Vec<Product>,
    /// `@n`: no more variables than so many in an effect.
    most: Option<usize>,
    span: Span,
}

/// An effect of variables by position in the data set; classes and covariates are not told apart
/// yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Term {
    pub(crate) factors: Vec<usize>,
    pub(crate) nested: Vec<usize>,
}

/// Reads effects up to the end or a `/`.
pub(crate) fn effects(cursor: &mut Cursor<'_>) -> Outcome<Vec<Written>> {
    let mut list = Vec::new();
    while !cursor.is_at_end() && !cursor.at_symbol("/") {
        list.push(effect(cursor)?);
    }
    Ok(list)
}

/// Reads one effect.
pub(crate) fn effect(cursor: &mut Cursor<'_>) -> Outcome<Written> {
    let span = cursor.span();
    let mut bars = vec![product(cursor)?];
    while cursor.eat_symbol("|") {
        bars.push(product(cursor)?);
    }
    let most = if cursor.eat_symbol("@") {
        let most = cursor.expect_count()?;
        Some(usize::try_from(most).unwrap_or(usize::MAX))
    } else {
        None
    };
    Ok(Written { bars, most, span })
}

fn product(cursor: &mut Cursor<'_>) -> Outcome<Product> {
    let mut factors = vec![cursor.variable_item()?];
    while cursor.eat_symbol("*") {
        factors.push(cursor.variable_item()?);
    }
    let mut nested = Vec::new();
    if cursor.eat_symbol("(") {
        while !cursor.eat_symbol(")") {
            nested.push(cursor.variable_item()?);
            cursor.eat_symbol("*");
        }
    }
    Ok(Product { factors, nested })
}

impl Written {
    /// The effects with their variables found in `input`.
    pub(crate) fn terms(&self, input: &Input) -> Outcome<Vec<Term>> {
        if let [only] = self.bars.as_slice()
            && let [list] = only.factors.as_slice()
        {
            let nested = positions(input, &only.nested)?;
            let each = |factor| Term {
                factors: vec![factor],
                nested: nested.clone(),
            };
            return Ok(positions(input, std::slice::from_ref(list))?
                .into_iter()
                .map(each)
                .collect());
        }
        let mut terms: Vec<Term> = Vec::new();
        for product in &self.bars {
            let own = Term {
                factors: self.singles(input, &product.factors)?,
                nested: positions(input, &product.nested)?,
            };
            let crossed: Vec<Term> = terms.iter().map(|term| term.times(&own)).collect();
            terms.push(own);
            terms.extend(crossed);
        }
        terms.retain(|term| {
            let count = term.factors.len() + term.nested.len();
            let within = term
                .factors
                .iter()
                .any(|factor| term.nested.contains(factor));
            !within && self.most.is_none_or(|most| count <= most)
        });
        Ok(terms)
    }

    fn singles(&self, input: &Input, lists: &[VariableList]) -> Outcome<Vec<usize>> {
        let mut singles = Vec::new();
        for list in lists {
            match positions(input, std::slice::from_ref(list))?.as_slice() {
                [one] => singles.push(*one),
                _ => {
                    let message = "A list of several variables cannot be a factor of an effect";
                    return Err(Failure::at(&self.span, message));
                }
            }
        }
        Ok(singles)
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }
}

impl Term {
    fn times(&self, other: &Self) -> Self {
        let join = |left: &[usize], right: &[usize]| {
            let mut all = left.to_vec();
            all.extend_from_slice(right);
            all
        };
        let mut nested = join(&self.nested, &other.nested);
        nested.sort_unstable();
        nested.dedup();
        Self {
            factors: join(&self.factors, &other.factors),
            nested,
        }
    }
}

fn positions(input: &Input, lists: &[VariableList]) -> Outcome<Vec<usize>> {
    let fields = named_fields(input, lists)?;
    let place = |field: &Field| input.fields().iter().position(|one| one.slot == field.slot);
    Ok(fields.iter().filter_map(place).collect())
}
