//! From Perl's syntax to that of the library. Where the library reads something else than Perl, it is
//! written in another way; where it lacks something, that is an error.

/// `s/expression/replacement/options`, taken apart.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) expression: String,
    pub(super) replacement: Option<String>,
    pub(super) insensitive: bool,
    pub(super) multiline: bool,
    pub(super) dot_all: bool,
    pub(super) extended: bool,
}

impl Parts {
    pub(super) fn of(written: &str) -> Result<Self, String> {
        let (substitutes, rest) = match written.chars().next() {
            Some('s') => (true, &written[1..]),
            Some('m') => (false, &written[1..]),
            _ => (false, written),
        };
        let delimiter = rest.chars().next();
        let delimiter = delimiter.filter(|c| c.is_ascii_punctuation() && *c != '\\');
        let Some(open) = delimiter else {
            return Err("it does not begin with a delimiter such as /".to_owned());
        };
        let close = match open {
            '(' => ')',
            '[' => ']',
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let (expression, mut rest) = until(&rest[1..], close)?;
        let mut replacement = None;
        if substitutes {
            if close != open {
                let opened = rest.trim_start().strip_prefix(open);
                rest = opened.ok_or("the delimiter of the replacement is missing")?;
            }
            let (text, behind) = until(rest, close)?;
            (replacement, rest) = (Some(text), behind);
        }
        let mut parts = Self {
            expression,
            replacement,
            insensitive: false,
            multiline: false,
            dot_all: false,
            extended: false,
        };
        for option in rest.trim_end().chars() {
            match option {
                'i' => parts.insensitive = true,
                'm' => parts.multiline = true,
                's' => parts.dot_all = true,
                'x' => parts.extended = true,
                // Compiled once: expressions given as texts always are.
                'o' => {}
                other => return Err(format!("the option {other} is not known")),
            }
        }
        Ok(parts)
    }
}

/// What stands before an unescaped `close`, and what stands behind it.
fn until(text: &str, close: char) -> Result<(String, &str), String> {
    let (mut part, mut escaped) = (String::new(), false);
    for (at, c) in text.char_indices() {
        if escaped {
            // An escaped delimiter is the character itself.
            if c != close || c.is_ascii_alphanumeric() || "()[]{}.*+?|^$".contains(c) {
                part.push('\\');
            }
            part.push(c);
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == close {
            return Ok((part, &text[at + c.len_utf8()..]));
        } else {
            part.push(c);
        }
    }
    Err("its closing delimiter is missing".to_owned())
}

/// An expression in the library's syntax.
pub(super) fn expression(perl: &str, extended: bool) -> Result<String, String> {
    let translation = Translation {
        rest: perl.chars().collect(),
        at: 0,
        out: String::with_capacity(perl.len()),
        extended,
    };
    translation.run()
}

struct Translation {
    rest: Vec<char>,
    at: usize,
    out: String,
    extended: bool,
}

impl Translation {
    fn peek(&self, count: usize) -> Option<char> {
        self.rest.get(self.at + count).copied()
    }

    fn take(&mut self) -> Option<char> {
        let c = self.peek(0)?;
        self.at += 1;
        Some(c)
    }

    fn run(mut self) -> Result<String, String> {
        // What a quantifier would stand behind is one already.
        let mut quantified = false;
        while let Some(c) = self.take() {
            let was = std::mem::replace(&mut quantified, false);
            match c {
                '\\' => self.escape()?,
                '[' => self.class()?,
                '(' => self.group()?,
                '*' | '+' | '?' => {
                    quantified = !self.quantifier(c, was)?;
                }
                '{' => match self.repetition() {
                    Some(text) => {
                        if was {
                            return Err("nested quantifiers are not valid".to_owned());
                        }
                        self.out.push_str(&text);
                        quantified = true;
                    }
                    None => self.out.push_str("\\{"),
                },
                '}' => self.out.push_str("\\}"),
                '#' if self.extended => {
                    while self.peek(0).is_some_and(|c| c != '\n') {
                        self.at += 1;
                    }
                }
                other => self.out.push(other),
            }
        }
        Ok(self.out)
    }

    /// `*`, `+` or `?`; true if it makes the quantifier before it lazy.
    fn quantifier(&mut self, c: char, behind: bool) -> Result<bool, String> {
        match (c, behind) {
            ('+', true) => Err("possessive quantifiers are not implemented".to_owned()),
            ('*', true) => Err("nested quantifiers are not valid".to_owned()),
            _ => {
                self.out.push(c);
                Ok(behind)
            }
        }
    }

    /// Behind `{`: `2}`, `2,}`, `2,5}`; otherwise the brace stands for itself.
    fn repetition(&mut self) -> Option<String> {
        let end = self.rest[self.at..].iter().position(|c| *c == '}')?;
        let text: String = self.rest[self.at..self.at + end].iter().collect();
        let (low, high) = text.split_once(',').unwrap_or((&text, ""));
        let digits = |part: &str| part.bytes().all(|b| b.is_ascii_digit());
        if low.is_empty() || !digits(low) || !digits(high) {
            return None;
        }
        self.at += end + 1;
        Some(format!("{{{text}}}"))
    }

    fn escape(&mut self) -> Result<(), String> {
        let Some(c) = self.take() else {
            return Err("a backslash stands at its end".to_owned());
        };
        match c {
            '1'..='9' | 'k' | 'g' => Err("back references are not implemented".to_owned()),
            'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'A' | 'z' | 'n' | 't' | 'r' | 'f' | 'a' => {
                self.out.extend(['\\', c]);
                Ok(())
            }
            'b' | 'B' if self.peek(0) != Some('{') => {
                self.out.extend(['\\', c]);
                Ok(())
            }
            'e' => {
                self.out.push_str("\\x1B");
                Ok(())
            }
            'x' => self.hexadecimal(),
            other if other.is_ascii_alphanumeric() => {
                Err(format!("\\{other} in an expression is not implemented"))
            }
            other => {
                self.literal(other);
                Ok(())
            }
        }
    }

    /// `\x41` or `\x{41}`.
    fn hexadecimal(&mut self) -> Result<(), String> {
        let wrong = || "\\x takes two hexadecimal digits".to_owned();
        let braced = self.peek(0) == Some('{');
        self.at += usize::from(braced);
        let (Some(first), Some(second)) = (self.take(), self.take()) else {
            return Err(wrong());
        };
        let both = first.is_ascii_hexdigit() && second.is_ascii_hexdigit();
        if !both || (braced && self.take() != Some('}')) {
            return Err(wrong());
        }
        self.out.extend(['\\', 'x', first, second]);
        Ok(())
    }

    /// A character that stands for itself.
    fn literal(&mut self, c: char) {
        if c.is_ascii_punctuation() && !"<>".contains(c) {
            self.out.push('\\');
            self.out.push(c);
        } else if c.is_ascii_whitespace() {
            // Extended expressions pass over blanks that are written as such.
            self.out.push_str(&format_byte(c));
        } else {
            self.out.push(c);
        }
    }

    /// Behind `[`.
    fn class(&mut self) -> Result<(), String> {
        self.out.push('[');
        if self.peek(0) == Some('^') {
            self.at += 1;
            self.out.push('^');
        }
        let mut first = true;
        loop {
            let Some(c) = self.take() else {
                return Err("unclosed character class".to_owned());
            };
            match c {
                ']' if !first => {
                    self.out.push(']');
                    return Ok(());
                }
                '[' if self.peek(0) == Some(':') => {
                    let rest: String = self.rest[self.at..].iter().collect();
                    let Some(end) = rest.find(":]") else {
                        return Err("unclosed character class".to_owned());
                    };
                    self.out.push('[');
                    self.out.push_str(&rest[..end + 2]);
                    self.at += rest[..end + 2].chars().count();
                }
                '\\' if self.peek(0) == Some('b') => {
                    self.at += 1;
                    self.out.push_str("\\x08");
                }
                '\\' if self.peek(0).is_some_and(|c| "ABz".contains(c)) => {
                    return Err("an escape that matches no character in a class".to_owned());
                }
                '\\' => self.escape()?,
                // A range: its ends are written so that nothing else is read into them.
                '-' if !first && self.peek(0).is_some_and(|c| c != ']') => self.out.push('-'),
                other => self.literal(other),
            }
            first = false;
        }
    }

    /// Behind `(`.
    fn group(&mut self) -> Result<(), String> {
        if self.peek(0) != Some('?') {
            if self.peek(0) == Some('*') {
                return Err("verbs such as (*FAIL) are not implemented".to_owned());
            }
            self.out.push('(');
            return Ok(());
        }
        let behind: String = self.rest[self.at + 1..].iter().take(2).collect();
        let wrong = match behind.as_str() {
            "<=" | "<!" => Some("lookaround is not implemented"),
            text => match text.chars().next() {
                Some('=' | '!') => Some("lookaround is not implemented"),
                Some('>') => Some("atomic groups are not implemented"),
                Some('|') => Some("branch reset is not implemented"),
                Some('R' | '&' | '+' | '0'..='9') => Some("recursion is not implemented"),
                Some('{' | '?') => Some("program text is not implemented"),
                Some('(') => Some("conditions are not implemented"),
                _ => None,
            },
        };
        if let Some(wrong) = wrong {
            return Err(wrong.to_owned());
        }
        self.at += 1;
        if self.peek(0) == Some('#') {
            while let Some(c) = self.take() {
                if c == ')' {
                    return Ok(());
                }
            }
            return Err("unclosed comment".to_owned());
        }
        let head: String = self.rest[self.at..]
            .iter()
            .take_while(|c| !":)>".contains(**c))
            .collect();
        let flags = head.bytes().all(|b| b"imsx-".contains(&b));
        let name = head.trim_start_matches('P').starts_with('<');
        if !flags && !name {
            return Err(format!("the group (?{head} is not implemented"));
        }
        // `(?x)` changes what blanks mean, which has been settled before.
        if flags && head.contains('x') && !self.extended {
            return Err("the option x inside of an expression is not implemented".to_owned());
        }
        self.out.push_str("(?");
        self.out.push_str(&head);
        self.at += head.chars().count();
        if let Some(end) = self.take() {
            self.out.push(end);
        }
        Ok(())
    }
}

fn format_byte(c: char) -> String {
    format!("\\x{:02X}", u32::from(c))
}
