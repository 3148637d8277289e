//! Operators that stand beside the comparisons: IN with its list of constants, and what only WHERE
//! has: BETWEEN, IS MISSING, LIKE, CONTAINS.

use crate::ast::{Argument, Expr, ExprKind, IN_PREFIX, InItem, TokenKind, UnaryOp};
use crate::cursor::{Cursor, Parsed};
use crate::expression::Tree;

impl Cursor<'_> {
    /// IN lists, and what only WHERE has. Takes `left` only if there is such an operator.
    pub(crate) fn membership(&mut self, left: &mut Tree) -> Parsed<Option<Tree>> {
        let start = self.index();
        let negated = self.eat_any(&["^", "~", "¬"]) || self.eat_word("NOT");
        let not_in = !negated && self.eat_word("NOTIN");
        if !not_in && !self.eat_word("IN") {
            let found = if self.in_where {
                self.where_operator(left, negated)?
            } else {
                None
            };
            if found.is_none() {
                self.rewind(start);
            }
            return Ok(found);
        }
        let prefix = self.eat_symbol(":");
        if self.peek_word().is_some() {
            return Err(self.not_yet("array after IN"));
        }
        let items = self.in_items()?;
        let (height, nodes) = (left.height + 1, left.nodes + items.len() as u64);
        let value = take(left);
        let span = value.span.clone();
        let negated = negated || not_in;
        // Of numbers the colon says nothing.
        let is_text = |item: &InItem| matches!(item, InItem::Value(one) if matches!(one.kind, ExprKind::Text(_)));
        if prefix && items.iter().all(is_text) {
            let kind = prefix_of(*value, items, negated);
            return self
                .checked(Tree::new(span, kind, height + 1, nodes + 1))
                .map(Some);
        }
        let kind = ExprKind::In {
            value,
            items,
            negated,
        };
        self.checked(Tree::new(span, kind, height, nodes)).map(Some)
    }

    fn in_items(&mut self) -> Parsed<Vec<InItem>> {
        self.expect_symbol("(")?;
        let mut items = Vec::new();
        while !self.eat_symbol(")") {
            let item = self.constant()?;
            if self.eat_symbol(":") {
                let low = self.whole(&item)?;
                let high = self.constant()?;
                items.push(InItem::Range(low, self.whole(&high)?));
            } else {
                items.push(InItem::Value(item));
            }
            self.eat_symbol(",");
        }
        Ok(items)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "range and fraction are checked"
    )]
    fn whole(&self, constant: &Expr) -> Parsed<i64> {
        match constant.kind {
            ExprKind::Number(value) if value.fract() == 0.0 && value.abs() <= 9e15 => {
                Ok(value as i64)
            }
            _ => Err(self.fail("The ends of a range in an IN list must be whole numbers")),
        }
    }

    /// A constant; the sign of a number becomes part of it.
    pub(crate) fn constant(&mut self) -> Parsed<Expr> {
        let span = self.span();
        let negative = self.eat_symbol("-");
        let signed = negative || self.eat_symbol("+");
        let kind = match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Number(value, _)) => {
                ExprKind::Number(if negative { -value } else { *value })
            }
            Some(TokenKind::Text(text, _)) if !signed => ExprKind::Text(text.clone()),
            Some(TokenKind::Missing(code)) if !signed => ExprKind::Missing(*code),
            _ => return Err(self.expected("a constant")),
        };
        self.next();
        Ok(Expr { span, kind })
    }

    /// BETWEEN, IS MISSING, LIKE, CONTAINS. Takes `left` only if there is such an operator.
    pub(crate) fn where_operator(
        &mut self,
        left: &mut Tree,
        negated: bool,
    ) -> Parsed<Option<Tree>> {
        let start = self.index();
        let mut negated = negated || (self.at_not() && self.eat_word("NOT"));
        let span = left.expr.span.clone();
        let (mut height, mut nodes) = (left.height, left.nodes + 1);
        let kind = if self.eat_word("BETWEEN") {
            let low = self.concatenation()?;
            self.expect_word("AND")?;
            let high = self.concatenation()?;
            height = height.max(low.height).max(high.height);
            nodes += low.nodes + high.nodes;
            let (low, high) = (low.expr, high.expr);
            ExprKind::Between {
                value: take(left),
                low,
                high,
                negated,
            }
        } else if self.eat_word("IS") {
            negated ^= self.eat_word("NOT");
            if !self.eat_word("MISSING") && !self.eat_word("NULL") {
                return Err(self.expected("MISSING or NULL"));
            }
            ExprKind::IsMissing(take(left), negated)
        } else if self.eat_word("LIKE") {
            let pattern = self.expect_text()?;
            if self.at_word("ESCAPE") {
                return Err(self.not_yet("ESCAPE clause of LIKE"));
            }
            ExprKind::Like {
                value: take(left),
                pattern,
                contains: false,
                negated,
            }
        } else if self.eat_symbol("?") || self.eat_word("CONTAINS") {
            let pattern = self.expect_text()?;
            ExprKind::Like {
                value: take(left),
                pattern,
                contains: true,
                negated,
            }
        } else if self.at_symbol("=") && self.is_symbol_at(1, "*") {
            return Err(self.not_yet("sounds-like operator"));
        } else {
            self.rewind(start);
            return Ok(None);
        };
        self.checked(Tree::new(span, kind, height + 1, nodes))
            .map(Some)
    }
}

/// `value in: (items)` or its contrary, as a call of [`IN_PREFIX`].
fn prefix_of(value: Expr, items: Vec<InItem>, negated: bool) -> ExprKind {
    let span = value.span.clone();
    let mut arguments = vec![Argument::Value(value)];
    arguments.extend(items.into_iter().filter_map(|item| match item {
        InItem::Value(item) => Some(Argument::Value(item)),
        InItem::Range(..) => None,
    }));
    let call = ExprKind::Call(IN_PREFIX.to_owned(), arguments);
    if negated {
        ExprKind::Unary(UnaryOp::Not, Box::new(Expr { span, kind: call }))
    } else {
        call
    }
}

/// Takes an operand out of its tree, which the caller replaces.
#[expect(clippy::unnecessary_box_returns, reason = "the box is moved, not made")]
fn take(tree: &mut Tree) -> Box<Expr> {
    let span = tree.expr.span.clone();
    std::mem::replace(
        &mut tree.expr,
        Box::new(Expr {
            span,
            kind: ExprKind::Missing(0),
        }),
    )
}
