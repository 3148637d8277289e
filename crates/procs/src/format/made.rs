//! Formats and informats in the making: ends of ranges, their memory, their widths.

use engine::failure::Outcome;
use engine::format::default_width;
use engine::format::user::{
    Ends, Formats, Label, Overlap, Picture, Ranges, Reads, UserFormat, UserInformat,
};

use super::out_of_memory;

/// Differences that numbers may have from the end of a range where FUZZ= does not say.
const FUZZ: f64 = 1e-12;

/// Width of a numeric informat with numbers to the left of its equal signs.
const NUMBER_WIDTH: usize = 12;

/// Greatest width that MAX= allows where it does not say.
pub(super) const MAX: u16 = 40;

/// One of both.
pub(super) enum Made {
    Format(UserFormat),
    Informat(UserInformat),
}

/// How much memory formats may take.
pub(super) struct Budget {
    left: u64,
}

impl Budget {
    pub(super) const fn new(limit: u64, used: u64) -> Self {
        Self {
            left: limit.saturating_sub(used),
        }
    }

    /// Takes so many bytes, or stops the step.
    pub(super) fn take(&mut self, bytes: u64) -> Outcome<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(out_of_memory()),
        }
    }
}

/// An end of a range.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Bound {
    Low,
    High,
    Other,
    Number(f64),
    Text(Box<[u8]>),
}

/// From where to where a range goes; a single value has no end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reach {
    pub(super) low: Bound,
    pub(super) above: bool,
    pub(super) high: Option<Bound>,
    pub(super) below: bool,
}

/// Adds a range to those of numbers or texts; says what is wrong with it.
pub(super) fn add<L>(ranges: &mut Ranges<L>, reach: Reach, label: L) -> Result<(), &'static str> {
    const WRONG: &str = "These are not the ends of a range";
    let Reach {
        low,
        above,
        high,
        below,
    } = reach;
    let high = match (&low, high) {
        (Bound::Other, None) => {
            ranges.other = Some(label);
            return Ok(());
        }
        (Bound::Number(_) | Bound::Text(_), None) => low.clone(),
        (_, Some(high)) => high,
        (_, None) => return Err(WRONG),
    };
    match (low, high) {
        (low @ (Bound::Low | Bound::Text(_)), high @ (Bound::High | Bound::Text(_)))
            if matches!(low, Bound::Text(_)) || matches!(high, Bound::Text(_)) =>
        {
            let text = |bound| match bound {
                Bound::Text(text) => Some(text),
                _ => None,
            };
            let (low, high) = (text(low), text(high));
            let ends = Ends {
                low,
                above,
                high,
                below,
            };
            if let (Some(low), Some(high)) = (&ends.low, &ends.high)
                && engine::expr::evaluate::compare_padded(low, high).is_gt()
            {
                return Err("The start of a range is greater than its end");
            }
            ranges.add_texts(ends, label);
        }
        (low @ (Bound::Low | Bound::Number(_)), high @ (Bound::High | Bound::Number(_))) => {
            let number = |bound| match bound {
                Bound::Number(value) => Some(value),
                _ => None,
            };
            let (low, high) = (number(low), number(high));
            let key = engine::expr::evaluate::order_key;
            if low
                .zip(high)
                .is_some_and(|(low, high)| key(low) > key(high))
            {
                return Err("The start of a range is greater than its end");
            }
            let ends = Ends {
                low,
                above,
                high,
                below,
            };
            ranges.add_numbers(ends, label);
        }
        _ => return Err(WRONG),
    }
    Ok(())
}

/// Ranges of everything, for character formats: `low - high`.
pub(super) fn as_text(reach: Reach) -> Reach {
    match (&reach.low, &reach.high) {
        (Bound::Low, Some(Bound::High)) => Reach {
            low: Bound::Text(Box::default()),
            ..reach
        },
        _ => reach,
    }
}

/// Options of the statement, or variables of CNTLIN=, that a format or informat has as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Options {
    pub(super) default: Option<u16>,
    pub(super) min: Option<u16>,
    pub(super) max: Option<u16>,
    pub(super) fuzz: Option<f64>,
    pub(super) round: bool,
    pub(super) upcase: bool,
    pub(super) just: bool,
}

impl Options {
    fn limits(&self) -> (u16, u16) {
        (self.min.unwrap_or(1), self.max.unwrap_or(MAX))
    }

    fn width(&self, longest: usize) -> u16 {
        let longest = u16::try_from(longest).unwrap_or(u16::MAX).max(1);
        let width = self.default.unwrap_or(longest);
        let width = self.min.map_or(width, |min| width.max(min));
        self.max.map_or(width, |max| width.min(max.max(1)))
    }

    /// Before ranges are added.
    pub(super) fn ranges<L>(&self, text: bool) -> Ranges<L> {
        Ranges::with_fuzz(self.fuzz.unwrap_or(if text { 0.0 } else { FUZZ }))
    }

    /// A format of these ranges.
    pub(super) fn format(
        &self,
        mut ranges: Ranges<Label>,
        picture: bool,
        formats: &Formats,
    ) -> Result<UserFormat, String> {
        ranges
            .sort()
            .map_err(|overlap| overlap_text(&overlap, ranges.fuzz))?;
        let longest = ranges.labels().map(|label| label_width(label, formats));
        let width = self.width(longest.max().unwrap_or(1));
        Ok(UserFormat {
            width,
            ranges,
            limits: self.limits(),
            round: self.round,
            picture,
        })
    }

    /// An informat of these ranges.
    pub(super) fn informat(
        &self,
        mut ranges: Ranges<Reads>,
        text: bool,
    ) -> Result<UserInformat, String> {
        ranges
            .sort()
            .map_err(|overlap| overlap_text(&overlap, ranges.fuzz))?;
        let longest = if text {
            ranges.labels().map(read_width).max()
        } else {
            ranges.all().map(|(ends, _)| ends_width(ends)).max()
        };
        Ok(UserInformat {
            width: self.width(longest.unwrap_or(NUMBER_WIDTH)),
            ranges,
            text,
            limits: self.limits(),
            upcase: self.upcase,
            just: self.just,
        })
    }
}

/// Columns that a label takes.
pub(super) fn label_width(label: &Label, formats: &Formats) -> usize {
    match label {
        Label::Text(text) => text.chars().count(),
        Label::Picture(picture) => picture.template.chars().count(),
        Label::Format(format) if format.width > 0 => usize::from(format.width),
        Label::Format(format) => usize::from(default_width(format, formats)),
    }
}

/// Bytes that an informat reads.
fn read_width(reads: &Reads) -> usize {
    match reads {
        Reads::Text(text) => text.len(),
        Reads::Informat(format) => usize::from(format.width),
        _ => 1,
    }
}

fn ends_width(ends: engine::format::user::Shown<'_>) -> usize {
    use engine::format::user::Shown;
    let length = |text: &Option<Box<[u8]>>| text.as_ref().map_or(0, |text| text.len());
    match ends {
        Shown::Numbers(_) => NUMBER_WIDTH,
        Shown::Texts(ends) => length(&ends.low).max(length(&ends.high)),
    }
}

fn overlap_text(overlap: &Overlap, fuzz: f64) -> String {
    match overlap {
        Overlap::Shared(first, second) => {
            let fuzz = engine::format::best(fuzz, 12);
            let fuzz = fuzz.trim();
            format!("These two ranges overlap: {first} and {second} (fuzz={fuzz})")
        }
        Overlap::Repeated(range) => {
            format!("This range is repeated, or values overlap: {range}")
        }
    }
}

/// A template whose options are known.
pub(super) fn checked(picture: Picture) -> Result<Label, String> {
    if picture.is_known() {
        return Ok(Label::Picture(Box::new(picture)));
    }
    Err(format!(
        "The picture '{}' has a directive that is not known or not implemented yet",
        picture.template
    ))
}
