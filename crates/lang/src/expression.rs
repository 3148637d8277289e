//! Expressions, with the seven groups of operators of the SAS language. Group I (`**`, prefix signs,
//! NOT, MIN, MAX) is evaluated from right to left, so `-2**2` is -4; all others from left to right.
//!
//! The depth of the trees built here is bounded by [`NESTING_MAX`], because whoever walks or drops a
//! tree recurses as deep as it is. Chains of AND, OR and `||`, which programs make long, are built
//! balanced; long sums become a list of terms.

use crate::ast::{
    Argument, BinaryOp, Comparison, Expr, ExprKind, FormatModifier, MethodArgument, Restriction,
    SUM_CHAIN, TokenKind, UnaryOp,
};
use crate::cursor::{Cursor, Parsed};
use base::diag::Span;
use base::limits::NESTING_MAX;

/// Nodes of one expression. `a<b<c` copies `b`, so that nested chains grow exponentially in a text
/// of linear length.
const NODES_MAX: u64 = 1 << 20;

/// Terms of a sum that become a tree; what follows them does not make it deeper.
const SUM_TREE_MAX: u32 = 100;

/// An expression with its measures.
pub(crate) struct Tree {
    /// Boxed, so that the frames of the recursive functions stay small.
    pub(crate) expr: Box<Expr>,
    pub(crate) height: u32,
    pub(crate) nodes: u64,
}

impl Tree {
    fn leaf(span: Span, kind: ExprKind) -> Self {
        Self::new(span, kind, 1, 1)
    }

    pub(crate) fn new(span: Span, kind: ExprKind, height: u32, nodes: u64) -> Self {
        Self {
            expr: Box::new(Expr { span, kind }),
            height,
            nodes,
        }
    }
}

/// Measures of a list of expressions.
#[derive(Default)]
struct Size {
    height: u32,
    nodes: u64,
}

impl Size {
    fn add(&mut self, tree: Tree) -> Expr {
        self.height = self.height.max(tree.height);
        self.nodes += tree.nodes;
        *tree.expr
    }
}

/// The comparisons of SQL over the length of the shorter text.
fn truncated(word: &str) -> Option<Comparison> {
    Some(match word.to_ascii_uppercase().as_str() {
        "EQT" => Comparison::Equal,
        "NET" => Comparison::NotEqual,
        "LTT" => Comparison::Less,
        "LET" => Comparison::LessOrEqual,
        "GTT" => Comparison::Greater,
        "GET" => Comparison::GreaterOrEqual,
        _ => return None,
    })
}

impl Cursor<'_> {
    /// An expression as DATA step statements have it.
    pub fn expression(&mut self) -> Parsed<Expr> {
        Ok(*self.tree()?.expr)
    }

    /// An expression of a WHERE statement or option: `<>` means not equal, and BETWEEN, LIKE,
    /// CONTAINS and IS MISSING are operators.
    pub fn where_expression(&mut self) -> Parsed<Expr> {
        let before = std::mem::replace(&mut self.in_where, true);
        let expr = self.expression();
        self.in_where = before;
        expr
    }

    /// An expression of SQL: one of WHERE that also has the truncated comparisons, `x eqt 'A'`.
    pub fn sql_expression(&mut self) -> Parsed<Expr> {
        let before = std::mem::replace(&mut self.in_sql, true);
        let expr = self.where_expression();
        self.in_sql = before;
        expr
    }

    /// A WHERE statement from behind its first word.
    pub fn restriction(&mut self) -> Parsed<Restriction> {
        // A variable may be called ALSO or SAME.
        let operand = |token: &crate::ast::Token| match token.kind {
            TokenKind::Symbol(symbol) => matches!(symbol, "(" | "-" | "+" | "^" | "~"),
            _ => true,
        };
        let also = self.at_word("ALSO") && self.peek_at(1).is_some_and(operand)
            || self.at_word("SAME") && self.is_word_at(1, "AND");
        if also {
            let words = if self.at_word("SAME") { 2 } else { 1 };
            (0..words).for_each(|_| {
                self.next();
            });
        }
        Ok(Restriction {
            condition: self.where_expression()?,
            also,
        })
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
        if self.in_sql
            && let TokenKind::Word(word) = &self.peek()?.kind
            && let Some(comparison) = truncated(word)
        {
            self.next();
            return Some(BinaryOp::Compare(comparison, true));
        }
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
        let mut terms = 1;
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
            terms += 1;
            if terms == SUM_TREE_MAX {
                return self.rest_of_sum(left);
            }
        }
    }

    /// What follows a sum of many terms, as a call of [`SUM_CHAIN`]: sums are taken from left to right,
    /// so that a tree of them would be as deep as they are long.
    fn rest_of_sum(&mut self, first: Tree) -> Parsed<Tree> {
        let span = first.expr.span.clone();
        let mut size = Size::default();
        let mut terms = vec![Argument::Value(size.add(first))];
        loop {
            let minus = self.at_symbol("-");
            if !minus && !self.at_symbol("+") {
                break;
            }
            self.next();
            let mut term = self.product()?;
            if minus {
                let (span, height, nodes) =
                    (term.expr.span.clone(), term.height + 1, term.nodes + 1);
                let kind = ExprKind::Unary(UnaryOp::Minus, term.expr);
                term = self.checked(Tree::new(span, kind, height, nodes))?;
            }
            terms.push(Argument::Value(size.add(term)));
            if size.nodes > NODES_MAX {
                return Err(self.fail("The expression is too large"));
            }
        }
        let kind = match (terms.len(), terms.pop()) {
            (1, Some(Argument::Value(only))) => {
                return Ok(Tree {
                    expr: Box::new(only),
                    height: size.height,
                    nodes: size.nodes,
                });
            }
            (_, last) => {
                terms.extend(last);
                ExprKind::Call(SUM_CHAIN.to_owned(), terms)
            }
        };
        self.checked(Tree::new(span, kind, size.height + 1, size.nodes + 1))
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
        let kind = ExprKind::Unary(operator, operand.expr);
        self.checked(Tree::new(span, kind, height, nodes))
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
            self.next();
            if !name.eq_ignore_ascii_case("first") && !name.eq_ignore_ascii_case("last") {
                return self.method(name, span);
            }
            let (variable, _) = self.expect_name("a variable")?;
            return Ok(Tree::leaf(
                span,
                ExprKind::Variable(format!("{name}.{variable}")),
            ));
        }
        if self.at_symbol("(") {
            return self.call(name, span);
        }
        if self.eat_symbol("{") {
            return self.element(name, span, "}");
        }
        if self.eat_symbol("[") {
            return self.element(name, span, "]");
        }
        Ok(Tree::leaf(span, ExprKind::Variable(name)))
    }

    /// From behind the period: `h.find(key: x)`, `h.num_items`.
    fn method(&mut self, object: String, span: Span) -> Parsed<Tree> {
        let (method, _) = self.expect_name("a method")?;
        let (mut height, mut nodes) = (0, 0);
        let arguments = if self.at_symbol("(") {
            let (found, size) = self.method_arguments()?;
            (height, nodes) = (size.height, size.nodes);
            Some(found)
        } else {
            None
        };
        let kind = ExprKind::Method {
            object,
            method,
            arguments,
        };
        self.checked(Tree::new(span, kind, height + 1, nodes + 1))
    }

    /// `(tag: value, …)` of a method or a declaration.
    fn method_arguments(&mut self) -> Parsed<(Vec<MethodArgument>, Size)> {
        self.expect_symbol("(")?;
        let mut size = Size::default();
        let mut arguments = Vec::new();
        while !self.at_symbol(")") {
            let tag = if self.is_symbol_at(1, ":") {
                let (tag, _) = self.expect_name("an argument tag")?;
                self.next();
                Some(tag)
            } else {
                None
            };
            let tree = self.tree()?;
            let value = size.add(tree);
            arguments.push(MethodArgument { tag, value });
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(")")?;
        Ok((arguments, size))
    }

    /// The arguments of a DECLARE statement.
    pub(crate) fn declared_arguments(&mut self) -> Parsed<Vec<MethodArgument>> {
        Ok(self.method_arguments()?.0)
    }

    /// An array element from behind its name, whose brackets may be parentheses.
    pub(crate) fn subscripts(&mut self) -> Parsed<Vec<Expr>> {
        let close = match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Symbol("{")) => "}",
            Some(TokenKind::Symbol("[")) => "]",
            Some(TokenKind::Symbol("(")) => ")",
            _ => return Err(self.expected("subscripts")),
        };
        self.next();
        let mut subscripts = Vec::new();
        loop {
            subscripts.push(self.expression()?);
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(close)?;
        Ok(subscripts)
    }

    /// From behind the opening bracket.
    fn element(&mut self, name: String, span: Span, close: &str) -> Parsed<Tree> {
        let mut size = Size::default();
        let mut subscripts = Vec::new();
        loop {
            let tree = self.tree()?;
            subscripts.push(size.add(tree));
            if !self.eat_symbol(",") {
                break;
            }
        }
        self.expect_symbol(close)?;
        let kind = ExprKind::Element(name, subscripts);
        self.checked(Tree::new(span, kind, size.height + 1, size.nodes + 1))
    }

    fn call(&mut self, name: String, span: Span) -> Parsed<Tree> {
        self.expect_symbol("(")?;
        let takes_format = name.eq_ignore_ascii_case("put") || name.eq_ignore_ascii_case("input");
        let mut size = Size::default();
        let mut arguments = Vec::new();
        while !self.at_symbol(")") {
            let is_format = takes_format && arguments.len() == 1;
            if self.at_symbol(",") && !is_format {
                arguments.push(Argument::Omitted(self.span()));
                self.next();
                continue;
            }
            let special = self.special_argument(is_format)?;
            arguments.push(match special {
                Some(argument) => argument,
                None => Argument::Value(size.add(self.tree()?)),
            });
            if !self.eat_symbol(",") {
                break;
            }
            if self.at_symbol(")") {
                return Err(self.expected("an argument"));
            }
        }
        self.expect_symbol(")")?;
        let kind = ExprKind::Call(name, arguments);
        self.checked(Tree::new(span, kind, size.height + 1, size.nodes + 1))
    }

    /// An argument that is no expression: a format, or an OF list.
    fn special_argument(&mut self, is_format: bool) -> Parsed<Option<Argument>> {
        if is_format {
            return self.format_argument().map(Some);
        }
        if !self.at_word("OF") || self.is_symbol_at(1, ")") || self.is_symbol_at(1, ",") {
            return Ok(None);
        }
        self.next();
        self.of_argument().map(Some)
    }

    fn format_argument(&mut self) -> Parsed<Argument> {
        if self.at_symbol("?") && !self.is_symbol_at(1, "?") {
            return Err(self.not_yet("? modifier of the INPUT function"));
        }
        let silent = self.eat_symbol("??") || (self.eat_symbol("?") && self.eat_symbol("?"));
        let Some(mut format) = self.format_ref() else {
            return Err(self.expected("a format such as BEST12."));
        };
        if silent {
            format.modifier = FormatModifier::Silent;
        } else {
            self.alignment(&mut format);
        }
        Ok(Argument::Format(format))
    }

    fn of_argument(&mut self) -> Parsed<Argument> {
        self.variable_list().map(Argument::Of)
    }

    pub(crate) fn eat_any(&mut self, symbols: &[&str]) -> bool {
        symbols.iter().any(|symbol| self.eat_symbol(symbol))
    }

    fn binary(&self, operator: BinaryOp, left: Tree, right: Tree) -> Parsed<Tree> {
        let span = left.expr.span.clone();
        let height = left.height.max(right.height) + 1;
        let nodes = left.nodes + right.nodes + 1;
        let kind = ExprKind::Binary(operator, left.expr, right.expr);
        self.checked(Tree::new(span, kind, height, nodes))
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
