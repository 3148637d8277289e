//! Expressions, with the seven groups of operators of the SAS language. Group I (`**`, prefix signs,
//! NOT, MIN, MAX) is evaluated from right to left, so `-2**2` is -4; all others from left to right.
//!
//! The depth of the trees built here is bounded by [`NESTING_MAX`], because whoever walks or drops a
//! tree recurses as deep as it is. Chains of AND, OR and `||`, which programs make long, are built
//! balanced.

use crate::ast::{Argument, BinaryOp, Comparison, Expr, ExprKind, TokenKind, UnaryOp};
use crate::cursor::{Cursor, Parsed};
use base::diag::Span;
use base::limits::NESTING_MAX;

/// Nodes of one expression. `a<b<c` copies `b`, so that nested chains grow exponentially in a text
/// of linear length.
const NODES_MAX: u64 = 1 << 20;

/// An expression with its measures.
pub(crate) struct Tree {
    pub(crate) expr: Expr,
    pub(crate) height: u32,
    pub(crate) nodes: u64,
}

impl Tree {
    fn leaf(span: Span, kind: ExprKind) -> Self {
        Self {
            expr: Expr { span, kind },
            height: 1,
            nodes: 1,
        }
    }
}

impl Cursor<'_> {
    /// An expression as DATA step statements have it.
    pub fn expression(&mut self) -> Parsed<Expr> {
        Ok(self.tree()?.expr)
    }

    /// An expression of a WHERE statement or option: `<>` means not equal, and BETWEEN, LIKE,
    /// CONTAINS and IS MISSING are operators.
    pub fn where_expression(&mut self) -> Parsed<Expr> {
        let before = std::mem::replace(&mut self.in_where, true);
        let expr = self.expression();
        self.in_where = before;
        expr
    }

    fn tree(&mut self) -> Parsed<Tree> {
        self.enter()?;
        let tree = self.or();
        self.leave();
        tree
    }

    fn or(&mut self) -> Parsed<Tree> {
        let mut terms = vec![self.and()?];
        while self.eat_any(&["|", "!"]) || self.eat_word("OR") {
            terms.push(self.and()?);
        }
        self.balanced(BinaryOp::Or, terms)
    }

    fn and(&mut self) -> Parsed<Tree> {
        let mut terms = vec![self.comparison()?];
        while self.eat_ampersand() || self.eat_word("AND") {
            terms.push(self.comparison()?);
        }
        self.balanced(BinaryOp::And, terms)
    }

    fn eat_ampersand(&mut self) -> bool {
        let found = self.eat_symbol("&");
        // `&&` means the same.
        while found && self.eat_symbol("&") {}
        found
    }

    /// `a < b <= c` means `a < b and b <= c`.
    fn comparison(&mut self) -> Parsed<Tree> {
        let mut left = self.concatenation()?;
        let mut terms: Vec<Tree> = Vec::new();
        loop {
            if let Some(tree) = self.membership(&mut left)? {
                if terms.is_empty() {
                    left = tree;
                    continue;
                }
                terms.push(tree);
                return self.balanced(BinaryOp::And, terms);
            }
            let Some(operator) = self.comparison_operator() else {
                break;
            };
            let right = self.concatenation()?;
            let next = Tree {
                expr: right.expr.clone(),
                height: right.height,
                nodes: right.nodes,
            };
            let left = std::mem::replace(&mut left, next);
            terms.push(self.binary(operator, left, right)?);
        }
        if terms.is_empty() {
            Ok(left)
        } else {
            self.balanced(BinaryOp::And, terms)
        }
    }

    fn comparison_operator(&mut self) -> Option<BinaryOp> {
        let comparison = match &self.peek()?.kind {
            TokenKind::Symbol(symbol) => match *symbol {
                "=" => Comparison::Equal,
                "^=" | "~=" | "¬=" => Comparison::NotEqual,
                "<>" if self.in_where => Comparison::NotEqual,
                "<" => Comparison::Less,
                "<=" | "=<" => Comparison::LessOrEqual,
                ">" => Comparison::Greater,
                ">=" | "=>" => Comparison::GreaterOrEqual,
                _ => return None,
            },
            TokenKind::Word(word) => match word.to_ascii_uppercase().as_str() {
                "EQ" => Comparison::Equal,
                "NE" => Comparison::NotEqual,
                "LT" => Comparison::Less,
                "LE" => Comparison::LessOrEqual,
                "GT" => Comparison::Greater,
                "GE" => Comparison::GreaterOrEqual,
                _ => return None,
            },
            _ => return None,
        };
        self.next();
        let shorter = self.eat_symbol(":");
        Some(BinaryOp::Compare(comparison, shorter))
    }

    pub(crate) fn concatenation(&mut self) -> Parsed<Tree> {
        let mut terms = vec![self.sum()?];
        while self.eat_any(&["||", "!!"]) {
            terms.push(self.sum()?);
        }
        self.balanced(BinaryOp::Concatenate, terms)
    }

    fn sum(&mut self) -> Parsed<Tree> {
        let mut left = self.product()?;
        loop {
            let operator = if self.eat_symbol("+") {
                BinaryOp::Add
            } else if self.eat_symbol("-") {
                BinaryOp::Subtract
            } else {
                return Ok(left);
            };
            let right = self.product()?;
            left = self.binary(operator, left, right)?;
        }
    }

    fn product(&mut self) -> Parsed<Tree> {
        let mut left = self.prefixed()?;
        loop {
            let operator = if self.eat_symbol("*") {
                BinaryOp::Multiply
            } else if self.eat_symbol("/") {
                BinaryOp::Divide
            } else {
                return Ok(left);
            };
            let right = self.prefixed()?;
            left = self.binary(operator, left, right)?;
        }
    }

    /// Group I, from right to left.
    fn prefixed(&mut self) -> Parsed<Tree> {
        self.enter()?;
        let tree = self.prefixed_inside();
        self.leave();
        tree
    }

    fn prefixed_inside(&mut self) -> Parsed<Tree> {
        let span = self.span();
        let operator = if self.eat_symbol("-") {
            UnaryOp::Minus
        } else if self.eat_symbol("+") {
            UnaryOp::Plus
        } else if self.eat_any(&["^", "~", "¬"]) || (self.at_not() && self.eat_word("NOT")) {
            UnaryOp::Not
        } else {
            let left = self.primary()?;
            let Some(operator) = self.power_operator() else {
                return Ok(left);
            };
            let right = self.prefixed()?;
            return self.binary(operator, left, right);
        };
        let mut operand = self.prefixed()?;
        // These operators exist in WHERE only and yield a truth value: NOT can only mean them.
        if self.in_where
            && operator == UnaryOp::Not
            && let Some(tree) = self.where_operator(&mut operand, false)?
        {
            operand = tree;
        }
        let (height, nodes) = (operand.height + 1, operand.nodes + 1);
        let kind = ExprKind::Unary(operator, Box::new(operand.expr));
        self.checked(Tree {
            expr: Expr { span, kind },
            height,
            nodes,
        })
    }

    /// NOT is an operator unless it is what `not = 1` names.
    pub(crate) fn at_not(&self) -> bool {
        self.at_word("NOT") && !self.is_symbol_at(1, "=")
    }

    fn power_operator(&mut self) -> Option<BinaryOp> {
        if self.eat_symbol("**") {
            Some(BinaryOp::Power)
        } else if self.eat_symbol("><") || self.eat_word("MIN") {
            Some(BinaryOp::Min)
        } else if (!self.in_where && self.eat_symbol("<>")) || self.eat_word("MAX") {
            Some(BinaryOp::Max)
        } else {
            None
        }
    }

    fn primary(&mut self) -> Parsed<Tree> {
        let span = self.span();
        let Some(token) = self.peek() else {
            return Err(self.expected("an expression"));
        };
        let kind = match &token.kind {
            TokenKind::Number(value, _) => ExprKind::Number(*value),
            TokenKind::Missing(code) => ExprKind::Missing(*code),
            TokenKind::Text(text, _) => ExprKind::Text(text.clone()),
            TokenKind::Name(name) => ExprKind::Variable(name.clone()),
            TokenKind::Word(_) => return self.named(),
            TokenKind::Symbol("(") => {
                self.next();
                let inside = self.tree()?;
                self.expect_symbol(")")?;
                return Ok(inside);
            }
            TokenKind::Format(_) => {
                return Err(self.fail("A format can only be the second argument of PUT or INPUT"));
            }
            TokenKind::Symbol(_) => return Err(self.expected("an expression")),
        };
        self.next();
        Ok(Tree::leaf(span, kind))
    }

    /// A variable, `first.x`, a function call or an array element.
    fn named(&mut self) -> Parsed<Tree> {
        let (name, span) = self.expect_name("a variable")?;
        if self.at_symbol(".") {
            if !name.eq_ignore_ascii_case("first") && !name.eq_ignore_ascii_case("last") {
                return Err(self.not_yet(format!("attribute or method of {name}")));
            }
            self.next();
            let (variable, _) = self.expect_name("a variable")?;
            return Ok(Tree::leaf(
                span,
                ExprKind::Variable(format!("{name}.{variable}")),
            ));
        }
        if self.at_symbol("(") {
            return self.call(name, span);
        }
        let close = if self.eat_symbol("{") {
            "}"
        } else if self.eat_symbol("[") {
            "]"
        } else {
            return Ok(Tree::leaf(span, ExprKind::Variable(name)));
        };
        let (mut subscripts, mut height, mut nodes) = (Vec::new(), 0, 1);
        loop {
            let tree = self.tree()?;
            height = tree.height.max(height);
            nodes += tree.nodes;
            subscripts.push(tree.expr);
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(close)?;
        let expr = Expr {
            span,
            kind: ExprKind::Element(name, subscripts),
        };
        self.checked(Tree {
            expr,
            height: height + 1,
            nodes,
        })
    }

    fn call(&mut self, name: String, span: Span) -> Parsed<Tree> {
        self.expect_symbol("(")?;
        let takes_format = name.eq_ignore_ascii_case("put") || name.eq_ignore_ascii_case("input");
        let (mut arguments, mut height, mut nodes) = (Vec::new(), 0, 1);
        while !self.at_symbol(")") {
            if takes_format && arguments.len() == 1 {
                arguments.push(self.format_argument()?);
            } else if self.at_word("OF") && !self.is_symbol_at(1, ")") && !self.is_symbol_at(1, ",")
            {
                self.next();
                arguments.push(self.of_argument()?);
            } else {
                let tree = self.tree()?;
                height = tree.height.max(height);
                nodes += tree.nodes;
                arguments.push(Argument::Value(tree.expr));
            }
            if !self.eat_symbol(",") {
                break;
            }
            if self.at_symbol(")") {
                return Err(self.expected("an argument"));
            }
        }
        self.expect_symbol(")")?;
        let expr = Expr {
            span,
            kind: ExprKind::Call(name, arguments),
        };
        self.checked(Tree {
            expr,
            height: height + 1,
            nodes,
        })
    }

    fn format_argument(&mut self) -> Parsed<Argument> {
        if self.at_symbol("?") || self.at_symbol("??") {
            return Err(self.not_yet("? modifier of the INPUT function"));
        }
        match self.format_ref() {
            Some(format) => Ok(Argument::Format(format)),
            None => Err(self.expected("a format such as BEST12.")),
        }
    }

    fn of_argument(&mut self) -> Parsed<Argument> {
        let list = self.variable_list()?;
        if self.at_symbol("{") || self.at_symbol("[") || self.at_symbol("(") {
            return Err(self.not_yet("array in an OF list"));
        }
        Ok(Argument::Of(list))
    }

    pub(crate) fn eat_any(&mut self, symbols: &[&str]) -> bool {
        symbols.iter().any(|symbol| self.eat_symbol(symbol))
    }

    fn binary(&self, operator: BinaryOp, left: Tree, right: Tree) -> Parsed<Tree> {
        let span = left.expr.span.clone();
        let height = left.height.max(right.height) + 1;
        let nodes = left.nodes + right.nodes + 1;
        let kind = ExprKind::Binary(operator, Box::new(left.expr), Box::new(right.expr));
        self.checked(Tree {
            expr: Expr { span, kind },
            height,
            nodes,
        })
    }

    pub(crate) fn checked(&self, tree: Tree) -> Parsed<Tree> {
        if tree.height > NESTING_MAX {
            return Err(self.too_deep());
        }
        if tree.nodes > NODES_MAX {
            return Err(self.fail("The expression is too large"));
        }
        Ok(tree)
    }

    /// A chain of an associative operator as a balanced tree: as deep as the logarithm of its length.
    fn balanced(&self, operator: BinaryOp, mut terms: Vec<Tree>) -> Parsed<Tree> {
        while terms.len() > 1 {
            let mut halves = Vec::with_capacity(terms.len().div_ceil(2));
            let mut rest = terms.into_iter();
            while let Some(left) = rest.next() {
                halves.push(match rest.next() {
                    Some(right) => self.binary(operator, left, right)?,
                    None => left,
                });
            }
            terms = halves;
        }
        terms.pop().ok_or_else(|| self.expected("an expression"))
    }
}
