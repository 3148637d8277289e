//! Expressions of SQL: what only SQL has is parsed here and replaced by names of parts, the rest is the
//! language's own WHERE expression.

use base::diag::Span;
use engine::failure::Outcome;
use lang::ast::{Expr, Token, TokenKind};
use lang::cursor::Cursor;

use super::syntax::{Case, Function, Part, Summary, part_name};

/// Parentheses, CASE expressions and subqueries inside of each other: bounds the stack.
const DEPTH_MAX: u32 = 150;

/// Words that end an expression wherever they stand outside of parentheses.
const ENDS: &[&str] = &[
    "FROM",
    "WHERE",
    "HAVING",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "INTO",
    "ON",
    "WHEN",
    "THEN",
    "ELSE",
    "END",
    "AS",
    "SET",
    "VALUES",
    "JOIN",
];

/// Words before JOIN.
const JOINS: &[&str] = &["INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL"];

/// Words that are operators, after which NOT is a prefix.
const OPERATORS: &[&str] = &[
    "AND", "OR", "NOT", "EQ", "NE", "LT", "LE", "GT", "GE", "LIKE", "CONTAINS", "BETWEEN", "MIN",
    "MAX",
];

/// Reads the tokens of one statement.
pub(super) struct Parser<'a> {
    pub(super) cursor: Cursor<'a>,
    pub(super) parts: Vec<Part>,
    depth: u32,
}

/// Tokens with parts in the place of what only SQL has, and where each comes from.
#[derive(Default)]
struct Rewritten {
    tokens: Vec<Token>,
    origins: Vec<usize>,
}

impl Rewritten {
    fn push(&mut self, token: Token, origin: usize) {
        self.tokens.push(token);
        self.origins.push(origin);
    }

    /// Whether an operand comes next, so that NOT stands before one.
    fn wants_operand(&self) -> bool {
        self.tokens.last().is_none_or(|token| match &token.kind {
            TokenKind::Symbol(symbol) => *symbol != ")",
            TokenKind::Word(word) => is_one_of(word, OPERATORS),
            _ => false,
        })
    }
}

/// Where rewriting stops, besides a closing parenthesis and the end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// At a comma or a word that ends expressions.
    Clause,
    /// Also at AND and OR.
    Predicate,
    /// Nowhere else: inside of parentheses.
    Parenthesis,
}

pub(super) fn is_one_of(word: &str, words: &[&str]) -> bool {
    words.iter().any(|one| word.eq_ignore_ascii_case(one))
}

impl<'a> Parser<'a> {
    pub(super) fn new(tokens: &'a [Token], start: &Span) -> Self {
        Self {
            cursor: Cursor::new(tokens, start),
            parts: Vec::new(),
            depth: 0,
        }
    }

    pub(super) fn enter(&mut self) -> Outcome<()> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            let message = format!("The statement is nested more than {DEPTH_MAX} levels deep");
            return Err(self.cursor.fail(message).into());
        }
        Ok(())
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// An expression.
    pub(super) fn expression(&mut self) -> Outcome<Expr> {
        self.enter()?;
        let start = self.cursor.span();
        let mut out = Rewritten::default();
        self.rewrite(&mut out, Stop::Clause)?;
        let end = self.cursor.index();
        if out.tokens.is_empty() {
            return Err(self.cursor.expected("an expression").into());
        }
        let mut cursor = Cursor::new(&out.tokens, &start);
        let expr = cursor.sql_expression()?;
        let next = out.origins.get(cursor.index()).copied().unwrap_or(end);
        self.cursor.rewind(next);
        self.leave();
        Ok(expr)
    }

    fn rewrite(&mut self, out: &mut Rewritten, stop: Stop) -> Outcome<()> {
        self.enter()?;
        let mut between = false;
        while let Some(token) = self.cursor.peek() {
            match &token.kind {
                TokenKind::Symbol(")" | ";") => break,
                TokenKind::Symbol(",") if stop != Stop::Parenthesis => break,
                TokenKind::Word(word) => {
                    if stop != Stop::Parenthesis && self.ends(word) {
                        break;
                    }
                    let is_and = word.eq_ignore_ascii_case("AND");
                    if stop == Stop::Predicate
                        && ((is_and && !between) || word.eq_ignore_ascii_case("OR"))
                    {
                        break;
                    }
                    between = word.eq_ignore_ascii_case("BETWEEN") || (between && !is_and);
                }
                _ => {}
            }
            self.rewrite_one(out, token)?;
        }
        self.leave();
        Ok(())
    }

    fn ends(&self, word: &str) -> bool {
        let by = self.cursor.is_word_at(1, "BY");
        let join = self.cursor.is_word_at(1, "JOIN") || self.cursor.is_word_at(1, "OUTER");
        is_one_of(word, ENDS)
            || (by && is_one_of(word, &["GROUP", "ORDER", "SEPARATED"]))
            || (join && is_one_of(word, JOINS))
            || (word.eq_ignore_ascii_case("OUTER") && self.cursor.is_word_at(1, "UNION"))
    }

    /// Rewrites what stands next.
    fn rewrite_one(&mut self, out: &mut Rewritten, token: &Token) -> Outcome<()> {
        let origin = self.cursor.index();
        let part = match &token.kind {
            TokenKind::Symbol("(") if self.at_query() => {
                self.cursor.next();
                let query = self.parenthesised_query()?;
                Some(Part::Scalar(Box::new(query)))
            }
            TokenKind::Symbol("(") => {
                self.take(out);
                self.rewrite(out, Stop::Parenthesis)?;
                if !self.cursor.at_symbol(")") {
                    return Err(self.cursor.expected("')'").into());
                }
                self.take(out);
                return Ok(());
            }
            TokenKind::Symbol("^" | "~" | "¬") if out.wants_operand() => {
                return self.negation(out);
            }
            TokenKind::Word(_) | TokenKind::Name(_) if self.cursor.is_symbol_at(1, ".") => {
                let (table, _) = self.cursor.expect_name("a table")?;
                self.cursor.expect_symbol(".")?;
                let (name, _) = self.cursor.expect_name("a column")?;
                Some(Part::Column { table, name })
            }
            TokenKind::Word(word) => match self.word(word, out)? {
                Special::Part(part) => Some(*part),
                Special::Done => return Ok(()),
                Special::Nothing => None,
            },
            _ => None,
        };
        match part {
            Some(part) => self.push_part(out, part, token, origin),
            None => self.take(out),
        }
        Ok(())
    }

    fn push_part(&mut self, out: &mut Rewritten, part: Part, token: &Token, origin: usize) {
        let name = part_name(self.parts.len());
        self.parts.push(part);
        let token = Token {
            kind: TokenKind::Name(name),
            ..token.clone()
        };
        out.push(token, origin);
    }

    fn take(&mut self, out: &mut Rewritten) {
        let origin = self.cursor.index();
        if let Some(token) = self.cursor.next() {
            out.push(token.clone(), origin);
        }
    }

    fn at_query(&self) -> bool {
        self.cursor.at_symbol("(") && self.cursor.is_word_at(1, "SELECT")
    }

    /// What a word begins that only SQL has.
    fn word(&mut self, word: &str, out: &mut Rewritten) -> Outcome<Special> {
        let queried = self.cursor.is_symbol_at(1, "(") && self.cursor.is_word_at(2, "SELECT");
        let called = self.cursor.is_symbol_at(1, "(");
        match word.to_ascii_uppercase().as_str() {
            "CASE" => Ok(Special::part(Part::Case(self.case()?))),
            "EXISTS" if queried => {
                self.skip(2);
                let query = self.parenthesised_query()?;
                Ok(Special::part(Part::Exists(Box::new(query))))
            }
            "CALCULATED" if !called => {
                self.cursor.next();
                let (name, _) = self.cursor.expect_name("a column")?;
                Ok(Special::part(Part::Calculated(name)))
            }
            upper @ ("IN" | "NOTIN") if queried => {
                self.among(upper == "NOTIN", out)?;
                Ok(Special::Done)
            }
            "ANY" | "ALL" | "SOME" if queried => {
                let what = format!("{} before a subquery", word.to_ascii_uppercase());
                Err(self.cursor.not_yet(what).into())
            }
            "NOT" if out.wants_operand() => {
                self.negation(out)?;
                Ok(Special::Done)
            }
            _ if called => match Function::find(word) {
                Some(function) if self.arguments() == 1 => {
                    Ok(Special::part(Part::Summary(self.summary(function)?)))
                }
                _ => Ok(Special::Nothing),
            },
            _ => Ok(Special::Nothing),
        }
    }

    fn skip(&mut self, count: usize) {
        let index = self.cursor.index();
        self.cursor.rewind(index + count);
    }

    /// NOT means the whole predicate behind it: `not a = b and c` is `(not (a = b)) and c`.
    fn negation(&mut self, out: &mut Rewritten) -> Outcome<()> {
        let origin = self.cursor.index();
        let Some(token) = self.cursor.next() else {
            return Ok(());
        };
        let symbol = |symbol| Token {
            kind: TokenKind::Symbol(symbol),
            ..token.clone()
        };
        out.push(token.clone(), origin);
        out.push(symbol("("), origin);
        self.rewrite(out, Stop::Predicate)?;
        out.push(symbol(")"), self.cursor.index());
        Ok(())
    }

    /// `[NOT] IN (SELECT …)`
    fn among(&mut self, mut negated: bool, out: &mut Rewritten) -> Outcome<()> {
        let is_not = |token: &Token| match &token.kind {
            TokenKind::Word(word) => word.eq_ignore_ascii_case("NOT"),
            TokenKind::Symbol(symbol) => ["^", "~", "¬"].contains(symbol),
            _ => false,
        };
        if out.tokens.last().is_some_and(is_not) {
            out.tokens.pop();
            out.origins.pop();
            negated = !negated;
        }
        let origin = self.cursor.index();
        let Some(token) = self.cursor.peek() else {
            return Ok(());
        };
        self.skip(2);
        let query = self.parenthesised_query()?;
        let operator = Token {
            kind: TokenKind::Symbol(if negated { "^=" } else { "=" }),
            ..token.clone()
        };
        out.push(operator, origin);
        self.push_part(out, Part::Among(Box::new(query)), token, origin);
        Ok(())
    }

    /// How many arguments the call has that begins here.
    fn arguments(&self) -> usize {
        let (mut depth, mut count, mut at) = (0u32, 1, 1);
        while let Some(token) = self.cursor.peek_at(at) {
            match token.kind {
                TokenKind::Symbol("(") => depth += 1,
                TokenKind::Symbol(")") if depth <= 1 => break,
                TokenKind::Symbol(")") => depth -= 1,
                TokenKind::Symbol(",") if depth == 1 => count += 1,
                TokenKind::Symbol(";") => break,
                _ => {}
            }
            at += 1;
        }
        count
    }

    fn summary(&mut self, function: Function) -> Outcome<Summary> {
        self.skip(2);
        let distinct = (self.cursor.at_word("DISTINCT") || self.cursor.at_word("UNIQUE"))
            && !self.cursor.is_symbol_at(1, ")");
        let all = self.cursor.at_word("ALL") && !self.cursor.is_symbol_at(1, ")");
        if distinct || all {
            self.cursor.next();
        }
        if self.cursor.at_word("OF") && !self.cursor.is_symbol_at(1, ")") {
            return Err(self.cursor.not_yet("OF list in SQL").into());
        }
        let argument = if self.cursor.eat_symbol("*") {
            if function != Function::Count || distinct {
                return Err(self.cursor.expected("an expression").into());
            }
            None
        } else {
            Some(self.expression()?)
        };
        self.cursor.expect_symbol(")")?;
        Ok(Summary {
            function,
            distinct,
            argument,
        })
    }

    fn case(&mut self) -> Outcome<Case> {
        self.cursor.next();
        let operand = if self.cursor.at_word("WHEN") {
            None
        } else {
            Some(self.expression()?)
        };
        let mut arms = Vec::new();
        while self.cursor.eat_word("WHEN") {
            let when = self.expression()?;
            self.cursor.expect_word("THEN")?;
            arms.push((when, self.expression()?));
        }
        let otherwise = if self.cursor.eat_word("ELSE") {
            Some(self.expression()?)
        } else {
            None
        };
        if arms.is_empty() {
            return Err(self.cursor.expected("WHEN").into());
        }
        self.cursor.expect_word("END")?;
        Ok(Case {
            operand,
            arms,
            otherwise,
        })
    }
}

enum Special {
    Part(Box<Part>),
    /// Everything was rewritten.
    Done,
    Nothing,
}

impl Special {
    fn part(part: Part) -> Self {
        Self::Part(Box::new(part))
    }
}
