//! Values as their formats show them.

use engine::expr::evaluate::trimmed;
use engine::format::user::Formats;
use engine::format::{best, is_text_format, number_with, text_with};
use sas7bdat::{Encoding, Format};

/// A number without blanks around it; BEST12. where the format is not there.
pub(crate) fn number(value: f64, format: &Format, formats: &Formats) -> String {
    let text = number_with(value, format, formats);
    let text = text.unwrap_or_else(|| best(value, 12));
    text.trim().to_owned()
}

/// A text without blanks at its end; as it is where the format is not there.
pub(crate) fn text(value: &[u8], format: &Format, formats: &Formats, encoding: Encoding) -> String {
    let formatted = (!format.name.is_empty() && is_text_format(&format.name, formats))
        .then(|| text_with(value, format, formats));
    let labelled = formats.contains_key(&format.name.to_ascii_uppercase());
    match &formatted {
        // Labels are the program's, and that is UTF-8.
        Some(label) if labelled => String::from_utf8_lossy(trimmed(label)).into_owned(),
        Some(bytes) => encoding.decode(trimmed(bytes)).into_owned(),
        None => encoding.decode(trimmed(value)).into_owned(),
    }
}
