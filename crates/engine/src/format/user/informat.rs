//! Informats made by INVALUE.

use sas7bdat::Format;

use super::{Formats, Ranges};
use crate::format::informat::Informat;

/// How often an informat may go on to another.
const DEPTH_MAX: u32 = 8;

/// One informat.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct UserInformat {
    /// Texts and numbers with what they become.
    pub ranges: Ranges<Reads>,
    /// It gives texts.
    pub text: bool,
    /// DEFAULT=, or the longest value.
    pub width: u16,
    /// MIN= and MAX=.
    pub limits: (u16, u16),
    /// Texts are compared in capitals.
    pub upcase: bool,
    /// Leading blanks are left out before texts are compared.
    pub just: bool,
}

/// What a text becomes.
#[derive(Debug, Clone, PartialEq)]
pub enum Reads {
    /// A number.
    Number(f64),
    /// A text.
    Text(Box<str>),
    /// `_SAME_`: what it is.
    Same,
    /// `_ERROR_`: invalid data.
    Error,
    /// What another informat reads.
    Informat(Box<Format>),
}

impl Reads {
    fn bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Informat(_) => size_of::<Format>(),
            _ => 0,
        }
    }
}

impl UserInformat {
    /// Bytes of memory.
    pub fn bytes(&self) -> u64 {
        self.ranges.bytes(Reads::bytes)
    }

    /// Bytes that the last range added takes.
    pub fn last_bytes(&self) -> u64 {
        self.ranges.last_bytes(Reads::bytes)
    }

    /// What belongs to the text in `bytes`.
    fn find(&self, bytes: &[u8]) -> Option<&Reads> {
        let mut text = bytes.to_vec();
        if self.upcase {
            text.make_ascii_uppercase();
        }
        let start = text.iter().position(|byte| *byte != b' ').unwrap_or(0);
        let compared = if self.just { &text[start..] } else { &text[..] };
        if let Some(found) = self.ranges.listed_text(compared) {
            return Some(found);
        }
        if !self.text
            && let Some(value) = Informat::Number(0).number(bytes)
            && let Some(found) = self.ranges.listed_number(value)
        {
            return Some(found);
        }
        self.ranges.other.as_ref()
    }

    /// The number that `bytes` stand for; `None` if they are not valid.
    pub fn number(&self, bytes: &[u8], formats: &Formats) -> Option<f64> {
        self.number_within(bytes, formats, DEPTH_MAX)
    }

    fn number_within(&self, bytes: &[u8], formats: &Formats, depth: u32) -> Option<f64> {
        match self.find(bytes) {
            Some(Reads::Number(value)) => Some(*value),
            Some(Reads::Error | Reads::Text(_)) => None,
            Some(Reads::Same) | None => Informat::Number(0).number(bytes),
            Some(Reads::Informat(format)) => {
                let bytes = cut(bytes, format.width);
                match formats.informat(&format.name) {
                    Some(user) => user.number_within(bytes, formats, depth.checked_sub(1)?),
                    None => crate::format::informat::read(bytes, format, formats),
                }
            }
        }
    }

    /// The text that `bytes` stand for; `None` if they are not valid.
    pub fn text(&self, bytes: &[u8], formats: &Formats) -> Option<Vec<u8>> {
        self.text_within(bytes, formats, DEPTH_MAX)
    }

    fn text_within(&self, bytes: &[u8], formats: &Formats, depth: u32) -> Option<Vec<u8>> {
        match self.find(bytes) {
            Some(Reads::Text(text)) => Some(text.as_bytes().to_vec()),
            Some(Reads::Error | Reads::Number(_)) => None,
            Some(Reads::Same) | None => Some(bytes.to_vec()),
            Some(Reads::Informat(format)) => {
                let bytes = cut(bytes, format.width);
                match formats.informat(&format.name) {
                    Some(user) => user.text_within(bytes, formats, depth.checked_sub(1)?),
                    None => {
                        let (informat, _) = Informat::find(&format.name, 0, formats)?;
                        Some(informat.text(bytes, formats)?.into_owned())
                    }
                }
            }
        }
    }
}

fn cut(bytes: &[u8], width: u16) -> &[u8] {
    match usize::from(width) {
        0 => bytes,
        width => &bytes[..width.min(bytes.len())],
    }
}
