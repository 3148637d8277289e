//! Arithmetic and comparisons of plain numbers as a list of steps over an accumulator and a small
//! stack: the form in which most expressions of a DATA step are evaluated. Results, missing values and
//! what is counted are those of the tree it is made from.

use sas7bdat::missing;

use super::evaluate::{Events, holds, order_key, unusual};
use super::{Arithmetic, Number, Relation, Slot};

/// Most values that wait for an operator.
const DEPTH_MAX: usize = 8;

/// An expression of operators. What else it has (function calls, array elements, AND and OR) is
/// evaluated by itself and loaded as a value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Code {
    pub(super) steps: Vec<Step>,
    pub(super) others: Vec<Number>,
}

/// What is done with the accumulator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    /// Puts it on the stack and loads a number.
    Load(u32),
    /// Puts it on the stack and takes a constant.
    Constant(f64),
    /// Puts it on the stack and takes the value of another expression.
    Other(u32),
    /// `top of stack op accumulator`; the site counts missing values.
    Operate(Arithmetic, u32),
    /// `accumulator op number`
    OperateLoad(Arithmetic, u32, u32),
    /// `accumulator op constant`
    OperateConstant(Arithmetic, u32, f64),
    /// `-accumulator`
    Negate,
    /// `top of stack relation accumulator`
    Compare(Relation),
    /// `accumulator relation constant`
    CompareConstant(Relation, f64),
}

impl Number {
    /// The same expression in the form that is evaluated fastest.
    #[must_use]
    pub fn lowered(self) -> Self {
        let mut code = Code::default();
        if is_compound(&self) && emit(&self, 0, &mut code).is_some() {
            return Self::Code(Box::new(code));
        }
        let lower = |operand: Box<Self>| Box::new(operand.lowered());
        match self {
            Self::Negate(operand) => Self::Negate(lower(operand)),
            Self::Not(operand) => Self::Not(lower(operand)),
            Self::Arithmetic(operator, left, right, site) => {
                Self::Arithmetic(operator, lower(left), lower(right), site)
            }
            Self::Compare(relation, left, right) => {
                Self::Compare(relation, lower(left), lower(right))
            }
            Self::And(left, right) => Self::And(lower(left), lower(right)),
            Self::Or(left, right) => Self::Or(lower(left), lower(right)),
            Self::Call(function, arguments) => {
                Self::Call(function, arguments.into_iter().map(Self::lowered).collect())
            }
            other => other,
        }
    }
}

fn is_compound(number: &Number) -> bool {
    matches!(
        number,
        Number::Arithmetic(..) | Number::Compare(..) | Number::Negate(_)
    )
}

/// The place of a variable that lies in its row as a number in memory does.
fn plain(slot: &Slot) -> Option<u32> {
    slot.is_plain().then_some(slot.offset)
}

/// Appends the steps of `number`, with `depth` values on the stack; `None` if that takes more of them
/// than there is room for.
fn emit(number: &Number, depth: usize, code: &mut Code) -> Option<()> {
    // The first value finds an empty accumulator, which is put on the stack all the same.
    if depth >= DEPTH_MAX {
        return None;
    }
    match number {
        Number::Constant(value) => code.steps.push(Step::Constant(*value)),
        Number::Variable(slot) if plain(slot).is_some() => {
            code.steps.push(Step::Load(slot.offset));
        }
        Number::Negate(operand) => {
            emit(operand, depth, code)?;
            code.steps.push(Step::Negate);
        }
        Number::Arithmetic(operator, left, right, site) => {
            let site = u32::try_from(*site).ok()?;
            emit(left, depth, code)?;
            match right.as_ref() {
                Number::Constant(value) => {
                    let step = Step::OperateConstant(*operator, site, *value);
                    code.steps.push(step);
                }
                Number::Variable(slot) if plain(slot).is_some() => {
                    let step = Step::OperateLoad(*operator, site, slot.offset);
                    code.steps.push(step);
                }
                right => {
                    emit(right, depth + 1, code)?;
                    code.steps.push(Step::Operate(*operator, site));
                }
            }
        }
        Number::Compare(relation, left, right) => {
            emit(left, depth, code)?;
            if let Number::Constant(value) = right.as_ref() {
                code.steps.push(Step::CompareConstant(*relation, *value));
            } else {
                emit(right, depth + 1, code)?;
                code.steps.push(Step::Compare(*relation));
            }
        }
        other => {
            let index = u32::try_from(code.others.len()).ok()?;
            code.others.push(other.clone().lowered());
            code.steps.push(Step::Other(index));
        }
    }
    Some(())
}

impl Code {
    /// `first` and all `terms`, added one by one from left to right; the sites count missing values.
    pub(super) fn sum(first: Number, terms: Vec<(Number, usize)>) -> Self {
        let mut code = Self::default();
        code.other(first);
        for (term, site) in terms {
            let site = u32::try_from(site).unwrap_or(u32::MAX);
            let step = match term {
                Number::Constant(value) => Step::OperateConstant(Arithmetic::Add, site, value),
                Number::Variable(slot) if slot.is_plain() => {
                    Step::OperateLoad(Arithmetic::Add, site, slot.offset)
                }
                term => {
                    code.other(term);
                    Step::Operate(Arithmetic::Add, site)
                }
            };
            code.steps.push(step);
        }
        code
    }

    fn other(&mut self, number: Number) {
        let index = u32::try_from(self.others.len()).unwrap_or(u32::MAX);
        self.others.push(number.lowered());
        self.steps.push(Step::Other(index));
    }

    /// The value over `row`.
    pub fn value(&self, row: &[u8], events: &mut Events) -> f64 {
        let mut stack = [0.0; DEPTH_MAX + 1];
        let mut depth = 0;
        let mut held = 0.0;
        for step in &self.steps {
            match *step {
                Step::Load(offset) => {
                    stack[depth % (DEPTH_MAX + 1)] = held;
                    depth += 1;
                    held = load(row, offset);
                }
                Step::Constant(value) => {
                    stack[depth % (DEPTH_MAX + 1)] = held;
                    depth += 1;
                    held = value;
                }
                Step::Other(index) => {
                    stack[depth % (DEPTH_MAX + 1)] = held;
                    depth += 1;
                    held = self.others[index as usize].value(row, events);
                }
                Step::Operate(operator, site) => {
                    depth -= 1;
                    let left = stack[depth % (DEPTH_MAX + 1)];
                    held = operate(operator, left, held, site, events);
                }
                Step::OperateLoad(operator, site, offset) => {
                    held = operate(operator, held, load(row, offset), site, events);
                }
                Step::OperateConstant(operator, site, value) => {
                    held = operate(operator, held, value, site, events);
                }
                Step::Negate => {
                    held = if held.is_nan() {
                        missing::encode(0)
                    } else {
                        -held
                    };
                }
                Step::Compare(relation) => {
                    depth -= 1;
                    held = compare(relation, stack[depth % (DEPTH_MAX + 1)], held);
                }
                Step::CompareConstant(relation, value) => held = compare(relation, held, value),
            }
        }
        held
    }
}

#[inline]
fn load(row: &[u8], offset: u32) -> f64 {
    let start = offset as usize;
    let bytes = row[start..start + 8].try_into();
    f64::from_le_bytes(bytes.expect("the range has eight bytes"))
}

#[inline]
pub(super) fn operate(
    operator: Arithmetic,
    left: f64,
    right: f64,
    site: u32,
    events: &mut Events,
) -> f64 {
    let result = operator.of(left, right);
    if result.is_finite() {
        return result;
    }
    unusual(operator, left, right, site as usize, events)
}

#[inline]
#[expect(clippy::float_cmp, reason = "SAS compares exactly")]
pub(super) fn compare(relation: Relation, left: f64, right: f64) -> f64 {
    // Numbers compare as they are; only missing values need SAS's order.
    let yes = if left.is_nan() || right.is_nan() {
        holds(relation, order_key(left).cmp(&order_key(right)))
    } else {
        match relation {
            Relation::Equal => left == right,
            Relation::NotEqual => left != right,
            Relation::Less => left < right,
            Relation::LessOrEqual => left <= right,
            Relation::Greater => left > right,
            Relation::GreaterOrEqual => left >= right,
        }
    };
    f64::from(u8::from(yes))
}

#[cfg(test)]
mod tests {
    use base::random::Stream;
    use sas7bdat::Kind;

    use super::*;

    const RELATIONS: [Relation; 6] = [
        Relation::Equal,
        Relation::NotEqual,
        Relation::Less,
        Relation::LessOrEqual,
        Relation::Greater,
        Relation::GreaterOrEqual,
    ];
    const OPERATORS: [Arithmetic; 5] = [
        Arithmetic::Add,
        Arithmetic::Subtract,
        Arithmetic::Multiply,
        Arithmetic::Divide,
        Arithmetic::Power,
    ];

    /// A random tree; its sites are counted in `sites`.
    fn tree(stream: &mut impl FnMut() -> u64, height: u32, sites: &mut usize) -> Number {
        let pick = stream();
        if height == 0 || pick.is_multiple_of(5) {
            return if pick & 64 == 0 {
                Number::Constant([0.0, 1.5, -2.0, missing::encode(b'A')][(pick >> 8 & 3) as usize])
            } else {
                Number::Variable(Slot {
                    kind: Kind::Numeric,
                    offset: u32::try_from(pick >> 8 & 3).unwrap() * 8,
                    length: 8,
                    big_endian: pick & 0xF000_0000 == 0,
                })
            };
        }
        let mut below = |stream: &mut _| Box::new(tree(stream, height - 1, sites));
        match pick % 7 {
            0 => Number::Negate(below(stream)),
            1 | 2 => {
                let relation = RELATIONS[(pick >> 16) as usize % 6];
                Number::Compare(relation, below(stream), below(stream))
            }
            3 => Number::And(below(stream), below(stream)),
            _ => {
                let operator = OPERATORS[(pick >> 16) as usize % 5];
                let (left, right) = (below(stream), below(stream));
                *sites += 2;
                Number::Arithmetic(operator, left, right, *sites - 2)
            }
        }
    }

    #[test]
    fn lowered_expressions_have_the_values_and_events_of_their_trees() {
        let source = Stream::new(11);
        let mut at = 0;
        let mut next = || {
            at += 1;
            source.word(at)
        };
        let mut coded = 0;
        for _ in 0..3_000 {
            let mut sites = 0;
            let number = tree(&mut next, 5, &mut sites);
            let lowered = number.clone().lowered();
            coded += u32::from(matches!(lowered, Number::Code(_)));
            for values in [
                [1.0, 0.0, -3.5, 1e300],
                [missing::encode(0), 2.0, -0.0, 7.0],
            ] {
                let row: Vec<u8> = values
                    .iter()
                    .flat_map(|value| value.to_le_bytes())
                    .collect();
                let events = || Events {
                    counts: vec![0; sites],
                    ..Events::default()
                };
                let (mut plain, mut fast) = (events(), events());
                let expected = number.value(&row, &mut plain);
                let value = lowered.value(&row, &mut fast);
                assert_eq!(expected.to_bits(), value.to_bits(), "{number:?}");
                assert_eq!(plain, fast, "{number:?}");
            }
        }
        assert!(coded > 1_500, "{coded}");
    }
}
