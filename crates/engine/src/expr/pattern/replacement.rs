//! What stands for a match in `s/expression/replacement/`.

/// A replacement, taken apart.
#[derive(Debug)]
pub(super) struct Replacement {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Text(Vec<u8>),
    /// `$1`, `${1}`, `\1`; 0 is `$&`.
    Group(usize),
    /// `\U`, `\L`, `\E`: how letters are written from here on.
    Case(Case),
    /// `\u`, `\l`: how the next letter is written.
    Next(Case),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    Kept,
    Upper,
    Lower,
}

impl Replacement {
    pub(super) fn new(written: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut text = Vec::new();
        let mut rest = written.chars().peekable();
        while let Some(c) = rest.next() {
            let part = match c {
                '$' => group(&mut rest)?,
                '\\' => match rest.next() {
                    Some('U') => Some(Part::Case(Case::Upper)),
                    Some('L') => Some(Part::Case(Case::Lower)),
                    Some('E') => Some(Part::Case(Case::Kept)),
                    Some('u') => Some(Part::Next(Case::Upper)),
                    Some('l') => Some(Part::Next(Case::Lower)),
                    Some('n') => Some(Part::Text(b"\n".to_vec())),
                    Some('t') => Some(Part::Text(b"\t".to_vec())),
                    Some('r') => Some(Part::Text(b"\r".to_vec())),
                    Some(digit @ '1'..='9') => {
                        digit.to_digit(10).map(|digit| Part::Group(digit as usize))
                    }
                    Some(other) if other.is_ascii_alphanumeric() => {
                        return Err(format!("\\{other} in a replacement is not implemented yet"));
                    }
                    Some(other) => Some(Part::Text(other.to_string().into_bytes())),
                    None => Some(Part::Text(b"\\".to_vec())),
                },
                other => {
                    text.extend_from_slice(other.encode_utf8(&mut [0; 4]).as_bytes());
                    continue;
                }
            };
            if !text.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut text)));
            }
            parts.push(part.unwrap_or_else(|| Part::Text(b"$".to_vec())));
        }
        if !text.is_empty() {
            parts.push(Part::Text(text));
        }
        Ok(Self { parts })
    }

    /// Appends what stands for a match.
    pub(super) fn write(&self, text: &[u8], groups: &[Option<(usize, usize)>], out: &mut Vec<u8>) {
        let (mut case, mut next) = (Case::Kept, Case::Kept);
        for part in &self.parts {
            let piece: &[u8] = match part {
                Part::Text(piece) => piece,
                Part::Group(number) => match groups.get(*number).copied().flatten() {
                    Some((start, end)) => &text[start..end],
                    None => b"",
                },
                Part::Case(new) => {
                    case = *new;
                    continue;
                }
                Part::Next(new) => {
                    next = *new;
                    continue;
                }
            };
            for byte in piece {
                let written = match (next, case) {
                    (Case::Upper, _) | (Case::Kept, Case::Upper) => byte.to_ascii_uppercase(),
                    (Case::Lower, _) | (Case::Kept, Case::Lower) => byte.to_ascii_lowercase(),
                    (Case::Kept, Case::Kept) => *byte,
                };
                next = Case::Kept;
                out.push(written);
            }
        }
    }
}

/// Behind a `$`: a group; `None` if the `$` stands for itself.
fn group(rest: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<Option<Part>, String> {
    let digits = |rest: &mut std::iter::Peekable<std::str::Chars<'_>>| {
        let mut number = 0_usize;
        while let Some(digit) = rest.peek().and_then(|c| c.to_digit(10)) {
            number = number.saturating_mul(10).saturating_add(digit as usize);
            rest.next();
        }
        number
    };
    match rest.peek() {
        Some('&') => {
            rest.next();
            Ok(Some(Part::Group(0)))
        }
        Some('1'..='9') => Ok(Some(Part::Group(digits(rest)))),
        Some('{') => {
            rest.next();
            let number = digits(rest);
            if number == 0 || rest.next() != Some('}') {
                return Err("${…} in a replacement takes the number of a group".to_owned());
            }
            Ok(Some(Part::Group(number)))
        }
        Some(c) if c.is_ascii_alphabetic() || *c == '_' || *c == '+' || *c == '`' || *c == '\'' => {
            Err("variables in a replacement are not implemented".to_owned())
        }
        _ => Ok(None),
    }
}
