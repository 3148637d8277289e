//! Data set references, variable lists, BY lists, renames, labels: what DATA steps and procedures
//! have in common.

use crate::ast::{
    ByKey, ByList, DatasetOption, DatasetOptionValue, DatasetRef, FormatRef, TokenKind,
    VariableKind, VariableList,
};
use crate::cursor::{Cursor, Parsed};
use base::diag::Span;

impl Cursor<'_> {
    /// A data set with its options: `lib.member(keep=a b where=(x>1))`.
    pub fn dataset_ref(&mut self) -> Parsed<DatasetRef> {
        let named = self.dataset_name()?;
        if self.at_symbol(":") || self.at_symbol("-") {
            return Err(self.not_yet("list of data sets"));
        }
        let options = if self.at_symbol("(") {
            self.dataset_options()?
        } else {
            Vec::new()
        };
        Ok(DatasetRef { options, ..named })
    }

    /// A data set, or a list of them (`d1-d5`, `d:`), which share their options.
    pub fn dataset_list(&mut self) -> Parsed<Vec<DatasetRef>> {
        let start = self.index();
        let first = self.dataset_name()?;
        if self.eat_symbol(":") {
            let options = if self.at_symbol("(") {
                self.dataset_options()?
            } else {
                Vec::new()
            };
            return Ok(vec![DatasetRef {
                member: format!("{}:", first.member),
                options,
                ..first
            }]);
        }
        if !self.at_symbol("-") {
            self.rewind(start);
            return Ok(vec![self.dataset_ref()?]);
        }
        self.next();
        let place = self.index();
        let last = self.dataset_name()?;
        let (prefix, low) = split_number(&first.member);
        let (other, high) = split_number(&last.member);
        let numbers = (low.parse::<u32>(), high.parse::<u32>());
        let (first_number, last_number) = match numbers {
            (Ok(low), Ok(high))
                if prefix.eq_ignore_ascii_case(other) && low <= high && high - low < 32_767 =>
            {
                (low, high)
            }
            _ => {
                self.rewind(place);
                return Err(self.fail(format!(
                    "{}-{} is not a numbered list of data sets",
                    first.member, last.member
                )));
            }
        };
        let options = if self.at_symbol("(") {
            self.dataset_options()?
        } else {
            Vec::new()
        };
        let digits = low.len();
        Ok((first_number..=last_number)
            .map(|number| DatasetRef {
                member: format!("{prefix}{number:0digits$}"),
                options: options.clone(),
                ..first.clone()
            })
            .collect())
    }

    /// `libref.member` without options.
    pub(crate) fn dataset_name(&mut self) -> Parsed<DatasetRef> {
        if matches!(self.peek().map(|t| &t.kind), Some(TokenKind::Text(..))) {
            return Err(self.not_yet("data set named by a path in quotes"));
        }
        let (first, span) = self.expect_name("the name of a data set")?;
        let (libref, member) = if self.eat_symbol(".") {
            let (member, _) = self.expect_name("the name of a data set")?;
            (Some(first), member)
        } else {
            (None, first)
        };
        Ok(DatasetRef {
            span,
            libref,
            member,
            options: Vec::new(),
        })
    }

    /// `(keep=a b where=(x>1))`
    pub fn dataset_options(&mut self) -> Parsed<Vec<DatasetOption>> {
        self.expect_symbol("(")?;
        let mut options = Vec::new();
        while !self.eat_symbol(")") {
            let (name, span) = self.expect_name("a data set option")?;
            self.expect_symbol("=")?;
            let value = match name.to_ascii_uppercase().as_str() {
                "KEEP" | "DROP" => {
                    let enclosed = self.eat_symbol("(");
                    let list = self.variable_list()?;
                    if enclosed {
                        self.expect_symbol(")")?;
                    }
                    DatasetOptionValue::Variables(list)
                }
                "RENAME" => {
                    self.expect_symbol("(")?;
                    let renames = self.renames()?;
                    self.expect_symbol(")")?;
                    DatasetOptionValue::Renames(renames)
                }
                "WHERE" => {
                    self.expect_symbol("(")?;
                    let condition = self.where_expression()?;
                    self.expect_symbol(")")?;
                    DatasetOptionValue::Where(condition)
                }
                _ => DatasetOptionValue::Text(self.value_text()?),
            };
            options.push(DatasetOption { name, span, value });
        }
        Ok(options)
    }

    /// `old=new …`, at least one; `x1-x3=y1-y3` is taken apart.
    pub fn renames(&mut self) -> Parsed<Vec<(String, String)>> {
        let mut renames = Vec::new();
        loop {
            let old = self.variable_item()?;
            self.expect_symbol("=")?;
            let new = self.variable_item()?;
            match (old, new) {
                (VariableList::Name(old, _), VariableList::Name(new, _)) => {
                    renames.push((old, new));
                }
                (old @ VariableList::Numbered { .. }, new @ VariableList::Numbered { .. }) => {
                    let (old, new) = (self.numbered_names(&old)?, self.numbered_names(&new)?);
                    if old.len() != new.len() {
                        return Err(self.fail("The two lists of a rename differ in length"));
                    }
                    renames.extend(old.into_iter().zip(new));
                }
                _ => return Err(self.fail("Only names and numbered lists can be renamed")),
            }
            if !self.at_name() {
                return Ok(renames);
            }
        }
    }

    fn numbered_names(&self, list: &VariableList) -> Parsed<Vec<String>> {
        let VariableList::Numbered {
            prefix,
            first,
            last,
            digits,
            ..
        } = list
        else {
            return Ok(Vec::new());
        };
        // A list names variables of one data set, which cannot have more than 32,767 of them.
        if last - first >= 32_767 {
            return Err(self.fail("The numbered list is too long"));
        }
        Ok((*first..=*last)
            .map(|n| format!("{prefix}{n:0digits$}"))
            .collect())
    }

    fn at_name(&self) -> bool {
        matches!(
            self.peek().map(|t| &t.kind),
            Some(TokenKind::Word(_) | TokenKind::Name(_))
        )
    }

    /// Variables up to what cannot be one: at least one. A name before `=` is the next option and
    /// not taken.
    pub fn variable_list(&mut self) -> Parsed<Vec<VariableList>> {
        let mut list = vec![self.variable_item()?];
        while self.at_name() && !self.is_symbol_at(1, "=") {
            list.push(self.variable_item()?);
        }
        Ok(list)
    }

    /// One item of a variable list: `a`, `x1-x9`, `a--b`, `a-numeric-b`, `ab:`, `_all_`.
    pub fn variable_item(&mut self) -> Parsed<VariableList> {
        let (name, span) = self.expect_name("a variable")?;
        match name.to_ascii_uppercase().as_str() {
            "_ALL_" => return Ok(VariableList::All(None, span)),
            "_NUMERIC_" => return Ok(VariableList::All(Some(VariableKind::Numeric), span)),
            "_CHARACTER_" | "_CHAR_" => {
                return Ok(VariableList::All(Some(VariableKind::Character), span));
            }
            _ => {}
        }
        if self.at_whole_array() {
            (0..3).for_each(|_| {
                self.next();
            });
            return Ok(VariableList::Array(name, span));
        }
        if self.eat_symbol(":") {
            return Ok(VariableList::Prefix(name, span));
        }
        if !self.eat_symbol("-") {
            return Ok(VariableList::Name(name, span));
        }
        let only = if self.eat_symbol("-") {
            None
        } else if self.is_symbol_at(1, "-") && self.eat_word("numeric") {
            self.expect_symbol("-")?;
            Some(VariableKind::Numeric)
        } else if self.is_symbol_at(1, "-") && (self.eat_word("character") || self.eat_word("char"))
        {
            self.expect_symbol("-")?;
            Some(VariableKind::Character)
        } else {
            return self.numbered(&name, span);
        };
        let (to, _) = self.expect_name("a variable")?;
        Ok(VariableList::Range {
            from: name,
            to,
            only,
            span,
        })
    }

    /// Whether `{*}` follows, in any brackets.
    fn at_whole_array(&self) -> bool {
        [("{", "}"), ("[", "]"), ("(", ")")]
            .iter()
            .any(|(open, close)| {
                self.at_symbol(open) && self.is_symbol_at(1, "*") && self.is_symbol_at(2, close)
            })
    }

    fn numbered(&mut self, first: &str, span: Span) -> Parsed<VariableList> {
        let end = self.index();
        let (last, _) = self.expect_name("a variable")?;
        let (prefix, low) = split_number(first);
        let (other, high) = split_number(&last);
        let numbers = (low.parse::<u32>(), high.parse::<u32>());
        match numbers {
            (Ok(first), Ok(last)) if prefix.eq_ignore_ascii_case(other) && first <= last => {
                Ok(VariableList::Numbered {
                    prefix: prefix.to_owned(),
                    first,
                    last,
                    digits: low.len(),
                    span,
                })
            }
            _ => {
                self.rewind(end);
                Err(self.fail(format!(
                    "{first}-{last} is not a numbered list of variables"
                )))
            }
        }
    }

    /// `[DESCENDING] name … [NOTSORTED]` up to the end of the tokens or a `/`.
    pub fn by_list(&mut self) -> Parsed<ByList> {
        let mut keys = Vec::new();
        let mut not_sorted = false;
        while keys.is_empty() || self.at_name() {
            if self.at_word("GROUPFORMAT") {
                return Err(self.not_yet("GROUPFORMAT option of the BY statement"));
            }
            if !keys.is_empty() && self.eat_word("NOTSORTED") {
                not_sorted = true;
                continue;
            }
            let descending = self.eat_word("DESCENDING");
            keys.push(ByKey {
                variable: self.variable_item()?,
                descending,
            });
        }
        Ok(ByList { keys, not_sorted })
    }

    /// `name='text' …` of a LABEL statement.
    pub fn labels(&mut self) -> Parsed<Vec<(String, String)>> {
        let mut labels = Vec::new();
        while labels.is_empty() || self.at_name() {
            let (name, _) = self.expect_name("a variable")?;
            self.expect_symbol("=")?;
            labels.push((name, self.expect_text()?));
        }
        Ok(labels)
    }

    /// `list format. …` of a FORMAT or INFORMAT statement; variables after the last format get none.
    pub fn formats(&mut self) -> Parsed<Vec<(VariableList, Option<FormatRef>)>> {
        let mut formats = Vec::new();
        while formats.is_empty() || self.at_name() {
            let list = self.variable_list()?;
            let format = self.format_ref();
            formats.extend(list.into_iter().map(|item| (item, format.clone())));
        }
        Ok(formats)
    }
}

fn split_number(name: &str) -> (&str, &str) {
    let prefix = name.trim_end_matches(|c: char| c.is_ascii_digit());
    (prefix, name.get(prefix.len()..).unwrap_or(""))
}
