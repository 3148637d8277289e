//! Queries: SELECT with its clauses, joins, set operators, INTO.

use engine::failure::Outcome;
use lang::ast::{DatasetRef, TokenKind};

use super::expression::{Parser, is_one_of};
use super::syntax::{
    Body, From, Into, JoinKind, OrderItem, Query, Select, SelectItem, SelectValue, SetOperator,
    Target,
};

/// Words that cannot be an alias without AS.
const CLAUSES: &[&str] = &[
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "ON",
    "LEFT",
    "RIGHT",
    "FULL",
    "INNER",
    "CROSS",
    "NATURAL",
    "JOIN",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "OUTER",
    "INTO",
    "SET",
    "VALUES",
    "SELECT",
];

impl Parser<'_> {
    /// A query from SELECT or a parenthesis up to its end.
    pub(super) fn query(&mut self) -> Outcome<Query> {
        self.enter()?;
        let span = self.cursor.span();
        let mut into = Vec::new();
        let body = self.union(&mut into)?;
        let mut order = Vec::new();
        if self.cursor.at_word("ORDER") && self.cursor.is_word_at(1, "BY") {
            self.cursor.next();
            self.cursor.next();
            loop {
                order.push(self.order_item()?);
                if !self.cursor.eat_symbol(",") {
                    break;
                }
            }
        }
        self.leave();
        Ok(Query {
            span,
            body,
            order,
            into,
        })
    }

    /// From behind the opening parenthesis, with the closing one.
    pub(super) fn parenthesised_query(&mut self) -> Outcome<Query> {
        let query = self.query()?;
        self.cursor.expect_symbol(")")?;
        Ok(query)
    }

    fn order_item(&mut self) -> Outcome<OrderItem> {
        let expr = self.expression()?;
        let descending = self.cursor.eat_word("DESC") || self.cursor.eat_word("DESCENDING");
        if !descending && !self.cursor.eat_word("ASC") {
            self.cursor.eat_word("ASCENDING");
        }
        Ok(OrderItem { expr, descending })
    }

    fn union(&mut self, into: &mut Vec<Into>) -> Outcome<Body> {
        let mut left = self.intersection(into)?;
        loop {
            let outer = self.cursor.at_word("OUTER") && self.cursor.is_word_at(1, "UNION");
            if outer {
                self.cursor.next();
            }
            let operator = if self.cursor.eat_word("UNION") {
                if outer {
                    SetOperator::OuterUnion
                } else {
                    SetOperator::Union
                }
            } else if self.cursor.eat_word("EXCEPT") {
                SetOperator::Except
            } else {
                return Ok(left);
            };
            let (all, corresponding) = self.set_modifiers();
            let right = self.intersection(into)?;
            left = Body::Set {
                operator,
                all,
                corresponding,
                left: Box::new(left),
                right: Box::new(right),
            };
        }
    }

    fn intersection(&mut self, into: &mut Vec<Into>) -> Outcome<Body> {
        let mut left = self.query_term(into)?;
        while self.cursor.eat_word("INTERSECT") {
            let (all, corresponding) = self.set_modifiers();
            let right = self.query_term(into)?;
            left = Body::Set {
                operator: SetOperator::Intersect,
                all,
                corresponding,
                left: Box::new(left),
                right: Box::new(right),
            };
        }
        Ok(left)
    }

    fn set_modifiers(&mut self) -> (bool, bool) {
        let (mut all, mut corresponding) = (false, false);
        loop {
            if self.cursor.eat_word("ALL") {
                all = true;
            } else if self.cursor.eat_word("CORR") || self.cursor.eat_word("CORRESPONDING") {
                corresponding = true;
            } else {
                return (all, corresponding);
            }
        }
    }

    fn query_term(&mut self, into: &mut Vec<Into>) -> Outcome<Body> {
        self.enter()?;
        let body = if self.cursor.eat_symbol("(") {
            let body = self.union(into)?;
            self.cursor.expect_symbol(")")?;
            body
        } else {
            Body::Select(Box::new(self.select(into)?))
        };
        self.leave();
        Ok(body)
    }

    fn select(&mut self, into: &mut Vec<Into>) -> Outcome<Select> {
        self.cursor.expect_word("SELECT")?;
        let distinct = self.cursor.eat_word("DISTINCT") || self.cursor.eat_word("UNIQUE");
        if !distinct && self.cursor.at_word("ALL") {
            self.cursor.next();
        }
        let mut items = Vec::new();
        loop {
            items.push(self.select_item()?);
            if !self.cursor.eat_symbol(",") {
                break;
            }
        }
        if self.cursor.eat_word("INTO") {
            self.targets(into)?;
        }
        let from = if self.cursor.eat_word("FROM") {
            Some(self.from()?)
        } else {
            None
        };
        let condition = if self.cursor.eat_word("WHERE") {
            Some(self.expression()?)
        } else {
            None
        };
        let mut groups = Vec::new();
        if self.cursor.at_word("GROUP") && self.cursor.is_word_at(1, "BY") {
            self.cursor.next();
            self.cursor.next();
            loop {
                groups.push(self.expression()?);
                if !self.cursor.eat_symbol(",") {
                    break;
                }
            }
        }
        let having = if self.cursor.eat_word("HAVING") {
            Some(self.expression()?)
        } else {
            None
        };
        Ok(Select {
            distinct,
            items,
            from,
            condition,
            groups,
            having,
        })
    }

    fn select_item(&mut self) -> Outcome<SelectItem> {
        let span = self.cursor.span();
        if self.cursor.eat_symbol("*") {
            return Ok(SelectItem::All(None, span));
        }
        if self.cursor.is_symbol_at(1, ".") && self.cursor.is_symbol_at(2, "*") {
            let (table, _) = self.cursor.expect_name("a table")?;
            self.cursor.next();
            self.cursor.next();
            return Ok(SelectItem::All(Some(table), span));
        }
        let mut value = SelectValue {
            expr: self.expression()?,
            name: None,
            label: None,
            format: None,
            informat: None,
            length: None,
        };
        loop {
            let valued = self.cursor.is_symbol_at(1, "=");
            if self.cursor.eat_word("AS") {
                value.name = Some(self.cursor.expect_name("the name of a column")?.0);
            } else if valued && self.cursor.at_word("LABEL") {
                self.attribute();
                value.label = Some(self.cursor.expect_text()?);
            } else if valued && self.cursor.at_word("FORMAT") {
                self.attribute();
                value.format = Some(self.format()?);
            } else if valued && self.cursor.at_word("INFORMAT") {
                self.attribute();
                value.informat = Some(self.format()?);
            } else if valued && (self.cursor.at_word("LENGTH") || self.cursor.at_word("LEN")) {
                self.attribute();
                self.cursor.eat_symbol("$");
                let length = self.cursor.expect_count()?;
                value.length = Some(u32::try_from(length).unwrap_or(u32::MAX));
            } else if matches!(
                self.cursor.peek().map(|token| &token.kind),
                Some(TokenKind::Text(..))
            ) {
                value.label = Some(self.cursor.expect_text()?);
            } else {
                return Ok(SelectItem::Value(Box::new(value)));
            }
        }
    }

    /// Passes `name =`.
    fn attribute(&mut self) {
        self.cursor.next();
        self.cursor.next();
    }

    pub(super) fn format(&mut self) -> Outcome<lang::ast::FormatRef> {
        let format = self.cursor.format_ref();
        format.ok_or_else(|| self.cursor.expected("a format").into())
    }

    fn targets(&mut self, into: &mut Vec<Into>) -> Outcome<()> {
        loop {
            let span = self.cursor.span();
            let first = self.macro_name()?;
            let ranged = ["-", "THROUGH", "THRU"]
                .iter()
                .any(|word| self.cursor.eat_symbol(word) || self.cursor.eat_word(word));
            let target = if ranged {
                let last = if self.cursor.at_symbol(":") {
                    Some(self.macro_name()?)
                } else {
                    None
                };
                self.range(&first, last.as_deref())?
            } else {
                Target::One(first)
            };
            let mut one = Into {
                span,
                target,
                separator: None,
                trimmed: None,
            };
            loop {
                if self.cursor.eat_word("SEPARATED") {
                    self.cursor.expect_word("BY")?;
                    one.separator = Some(self.cursor.expect_text()?);
                } else if self.cursor.eat_word("TRIMMED") {
                    one.trimmed = Some(true);
                } else if self.cursor.eat_word("NOTRIM") {
                    one.trimmed = Some(false);
                } else {
                    break;
                }
            }
            into.push(one);
            if !self.cursor.eat_symbol(",") {
                return Ok(());
            }
        }
    }

    fn macro_name(&mut self) -> Outcome<String> {
        self.cursor.expect_symbol(":")?;
        Ok(self.cursor.expect_name("a macro variable")?.0)
    }

    /// `:a1 - :a9`; without an end as far as there are rows.
    fn range(&self, first: &str, last: Option<&str>) -> Outcome<Target> {
        let split = |name: &str| {
            let head = name.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = name.get(head.len()..).unwrap_or_default();
            let number: Option<u32> = digits.parse().ok();
            number.map(|number| (head.to_owned(), number, digits.len()))
        };
        let failed = || {
            self.cursor
                .fail("A range of macro variables is :name1 - :name9")
        };
        let (prefix, first, digits) = split(first).ok_or_else(failed)?;
        let last = match last.map(split) {
            None => u32::MAX,
            Some(Some((other, last, _)))
                if other.eq_ignore_ascii_case(&prefix) && last >= first =>
            {
                last
            }
            Some(_) => return Err(failed().into()),
        };
        let digits = if digits > first.to_string().len() {
            digits
        } else {
            0
        };
        Ok(Target::Range {
            prefix,
            first,
            last,
            digits,
        })
    }

    fn from(&mut self) -> Outcome<From> {
        let mut left = self.joined()?;
        while self.cursor.eat_symbol(",") {
            let right = self.joined()?;
            left = From::Join {
                kind: JoinKind::Inner,
                left: Box::new(left),
                right: Box::new(right),
                condition: None,
            };
        }
        Ok(left)
    }

    fn joined(&mut self) -> Outcome<From> {
        self.enter()?;
        let mut left = self.table_item()?;
        while let Some((kind, crossed)) = self.join_words()? {
            let right = self.table_item()?;
            let condition = if crossed {
                None
            } else {
                self.cursor.expect_word("ON")?;
                Some(self.expression()?)
            };
            left = From::Join {
                kind,
                left: Box::new(left),
                right: Box::new(right),
                condition,
            };
        }
        self.leave();
        Ok(left)
    }

    /// `[INNER | LEFT | RIGHT | FULL [OUTER] | CROSS] JOIN`
    fn join_words(&mut self) -> Outcome<Option<(JoinKind, bool)>> {
        if self.cursor.eat_word("JOIN") {
            return Ok(Some((JoinKind::Inner, false)));
        }
        let kinds = [
            ("INNER", JoinKind::Inner),
            ("LEFT", JoinKind::Left),
            ("RIGHT", JoinKind::Right),
            ("FULL", JoinKind::Full),
            ("CROSS", JoinKind::Inner),
        ];
        for (word, kind) in kinds {
            if self.cursor.eat_word(word) {
                if matches!(word, "LEFT" | "RIGHT" | "FULL") {
                    self.cursor.eat_word("OUTER");
                }
                self.cursor.expect_word("JOIN")?;
                return Ok(Some((kind, word == "CROSS")));
            }
        }
        if self.cursor.at_word("NATURAL") {
            return Err(self.cursor.not_yet("NATURAL JOIN").into());
        }
        Ok(None)
    }

    fn table_item(&mut self) -> Outcome<From> {
        let span = self.cursor.span();
        if self.cursor.eat_symbol("(") {
            if self.cursor.at_word("SELECT") || self.cursor.at_symbol("(") {
                let query = self.parenthesised_query()?;
                let alias = self.alias()?;
                return Ok(From::View {
                    query: Box::new(query),
                    alias,
                    span,
                });
            }
            let joined = self.from()?;
            self.cursor.expect_symbol(")")?;
            return Ok(joined);
        }
        let dataset = self.dataset(true)?;
        let alias = self.alias()?;
        Ok(From::Table { dataset, alias })
    }

    pub(super) fn alias(&mut self) -> Outcome<Option<String>> {
        let named = self.cursor.eat_word("AS");
        let word = self.cursor.peek_word();
        if named || word.is_some_and(|word| !is_one_of(word, CLAUSES)) {
            return Ok(Some(self.cursor.expect_name("an alias")?.0));
        }
        Ok(None)
    }

    /// `lib.member`, with its options if they may stand there.
    pub(super) fn dataset(&mut self, options: bool) -> Outcome<DatasetRef> {
        let (first, span) = self.cursor.expect_name("the name of a table")?;
        let (libref, member) = if self.cursor.eat_symbol(".") {
            let (member, _) = self.cursor.expect_name("the name of a table")?;
            (Some(first), member)
        } else {
            (None, first)
        };
        if libref
            .as_deref()
            .is_some_and(|libref| libref.eq_ignore_ascii_case("DICTIONARY"))
        {
            let what = format!("table DICTIONARY.{}", member.to_ascii_uppercase());
            let mut at = self.cursor.clone();
            at.rewind(self.cursor.index().saturating_sub(3));
            return Err(at.not_yet(what).into());
        }
        let listed = options && self.cursor.at_symbol("(") && self.cursor.is_symbol_at(2, "=");
        let options = if listed {
            self.cursor.dataset_options()?
        } else {
            Vec::new()
        };
        Ok(DatasetRef {
            span,
            libref,
            member,
            options,
        })
    }
}
