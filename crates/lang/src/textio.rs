//! INFILE, INPUT, FILE, PUT: their items and options.

use crate::ast::{
    Expr, ExprKind, FileName, FileOption, FileValue, Form, GroupStyle, Pointer, Style, TextFile,
    TextItem, TokenKind, ValueItem, VariableList,
};
use crate::cursor::{Cursor, Parsed};

/// How often a literal of PUT may be repeated.
const REPEAT_MAX: u64 = 32_767;

impl Cursor<'_> {
    /// `'path'` or a fileref, with options up to the end.
    pub(crate) fn text_file(&mut self) -> Parsed<TextFile> {
        let span = self.span();
        let name = if matches!(
            self.peek().map(|token| &token.kind),
            Some(TokenKind::Text(..))
        ) {
            FileName::Path(self.expect_text()?)
        } else {
            FileName::Reference(self.expect_name("a path in quotes or a fileref")?.0)
        };
        if self.at_symbol("(") {
            return Err(self.not_yet("member of a directory"));
        }
        let options = self.file_options()?;
        Ok(TextFile {
            name,
            span,
            options,
        })
    }

    /// `name[=value] …` up to the end.
    pub(crate) fn file_options(&mut self) -> Parsed<Vec<FileOption>> {
        let mut options = Vec::new();
        while !self.is_at_end() {
            let (name, span) = self.expect_name("an option")?;
            let value = if self.eat_symbol("=") {
                Some(match self.peek().map(|token| &token.kind) {
                    Some(TokenKind::Text(..)) => FileValue::Text(self.expect_text()?),
                    _ => FileValue::Word(self.value_text()?),
                })
            } else {
                None
            };
            options.push(FileOption { name, span, value });
        }
        Ok(options)
    }

    /// The items of INPUT (`input`) or PUT up to the end.
    pub(crate) fn text_items(&mut self, input: bool) -> Parsed<Vec<TextItem>> {
        let mut items = Vec::new();
        while !self.is_at_end() {
            let item = self.text_item(input)?;
            let holds = matches!(item, TextItem::Move(Pointer::Hold | Pointer::HoldAcross));
            items.push(item);
            if holds && !self.is_at_end() {
                return Err(self.expected("';' after the @ that holds the line"));
            }
        }
        Ok(items)
    }

    fn text_item(&mut self, input: bool) -> Parsed<TextItem> {
        if let Some(pointer) = self.pointer(input)? {
            return Ok(TextItem::Move(pointer));
        }
        let span = self.span();
        match self.peek().map(|token| &token.kind) {
            Some(TokenKind::Text(..)) if !input => Ok(TextItem::Text(self.expect_text()?, 1)),
            Some(TokenKind::Number(..)) if !input && self.is_symbol_at(1, "*") => {
                let times = self.expect_count()?;
                self.next();
                let text = self.expect_text()?;
                match u32::try_from(times) {
                    Ok(count) if times <= REPEAT_MAX => Ok(TextItem::Text(text, count)),
                    _ => Err(self.fail(format!("A text is repeated at most {REPEAT_MAX} times"))),
                }
            }
            Some(TokenKind::Symbol("(")) => self.group(input),
            Some(TokenKind::Word(word)) if !input && word.eq_ignore_ascii_case("_all_") => {
                self.next();
                Ok(TextItem::All(span))
            }
            Some(TokenKind::Word(word)) if !input && word.eq_ignore_ascii_case("_infile_") => {
                self.next();
                Ok(TextItem::Infile(span))
            }
            Some(TokenKind::Word(word))
                if !input
                    && ["_PAGE_", "_BLANKPAGE_", "OVERPRINT", "_ODS_"]
                        .iter()
                        .any(|one| one.eq_ignore_ascii_case(word)) =>
            {
                Err(self.not_yet(format!("{} item of PUT", word.to_ascii_uppercase())))
            }
            _ => {
                let value = if self.is_symbol_at(1, ":") {
                    // The colon belongs to the style: `x : date9.`
                    let (name, span) = self.expect_name("a variable")?;
                    ValueItem::Variables(VariableList::Name(name, span))
                } else {
                    self.value_item(input)?
                };
                let style = self.style(input)?;
                Ok(TextItem::Value(value, style))
            }
        }
    }

    fn pointer(&mut self, input: bool) -> Parsed<Option<Pointer>> {
        Ok(Some(if self.eat_symbol("@@") {
            Pointer::HoldAcross
        } else if self.eat_symbol("@") {
            if self.is_at_end() {
                return Ok(Some(Pointer::Hold));
            }
            if self.at_symbol("@") {
                self.next();
                return Ok(Some(Pointer::HoldAcross));
            }
            match self.pointer_value()? {
                text @ Expr {
                    kind: ExprKind::Text(_),
                    ..
                } if input => Pointer::Find(text),
                value => Pointer::Column(value),
            }
        } else if self.eat_symbol("+") {
            Pointer::Relative(self.pointer_value()?)
        } else if self.eat_symbol("#") {
            Pointer::Line(self.pointer_value()?)
        } else if self.eat_symbol("/") {
            Pointer::NextLine
        } else {
            return Ok(None);
        }))
    }

    /// A number, a text, a variable, or an expression in parentheses.
    fn pointer_value(&mut self) -> Parsed<Expr> {
        if self.eat_symbol("(") {
            let value = self.expression()?;
            self.expect_symbol(")")?;
            return Ok(value);
        }
        if self.peek_word().is_some() {
            let (name, span) = self.expect_name("a variable")?;
            let kind = ExprKind::Variable(name);
            return Ok(Expr { span, kind });
        }
        // `@12n` never is a format, but `@12.` would look like one.
        self.constant()
    }

    fn value_item(&mut self, input: bool) -> Parsed<ValueItem> {
        let of_group = self.at_word("FIRST") || self.at_word("LAST");
        if of_group && !input && self.is_symbol_at(1, ".") {
            let (which, span) = self.expect_name("a variable")?;
            self.next();
            let (variable, _) = self.expect_name("a variable")?;
            let name = format!("{}.{variable}", which.to_ascii_uppercase());
            return Ok(ValueItem::Variables(VariableList::Name(name, span)));
        }
        let bracket = self.is_symbol_at(1, "{") || self.is_symbol_at(1, "[");
        if bracket && !self.is_symbol_at(2, "*") {
            let (array, span) = self.expect_name("an array")?;
            let subscripts = self.subscripts()?;
            return Ok(ValueItem::Element {
                array,
                subscripts,
                span,
            });
        }
        self.variable_item().map(ValueItem::Variables)
    }

    /// What stands behind a variable.
    fn style(&mut self, input: bool) -> Parsed<Style> {
        let named = self.eat_symbol("=");
        let mut style = Style {
            dollar: self.eat_symbol("$"),
            named,
            form: Form::List {
                format: None,
                ampersand: false,
                tilde: false,
            },
            quiet: self.quiet(input),
        };
        let (mut colon, mut ampersand, mut tilde) = (false, false, false);
        loop {
            if self.eat_symbol(":") {
                colon = true;
            } else if self.eat_symbol("&") {
                ampersand = true;
            } else if self.eat_symbol("~") {
                tilde = true;
            } else {
                break;
            }
        }
        style.quiet = style.quiet.max(self.quiet(input));
        style.dollar |= self.eat_symbol("$");
        if let Some(columns) = self.columns()? {
            style.form = columns;
            return Ok(style);
        }
        let mut format = self.format_ref();
        if let Some(format) = format.as_mut().filter(|_| !input) {
            self.alignment(format);
        }
        style.dollar |= format
            .as_ref()
            .is_some_and(|format| format.name.starts_with('$'));
        style.form = match format {
            Some(format) if !(colon || ampersand || tilde) => Form::Formatted(format),
            format => Form::List {
                format,
                ampersand,
                tilde,
            },
        };
        Ok(style)
    }

    fn quiet(&mut self, input: bool) -> u8 {
        if input && self.eat_symbol("??") {
            2
        } else {
            u8::from(input && self.eat_symbol("?"))
        }
    }

    /// `5`, `1-5`, `1-5 .2`: whole numbers without a period.
    fn columns(&mut self) -> Parsed<Option<Form>> {
        let plain = |token: Option<&crate::ast::Token>| match token.map(|token| &token.kind) {
            Some(TokenKind::Number(value, text)) => {
                text.bytes().all(|b| b.is_ascii_digit()) && *value >= 1.0
            }
            _ => false,
        };
        if !plain(self.peek()) || self.is_symbol_at(1, "*") {
            return Ok(None);
        }
        let first = self.column()?;
        let mut last = first;
        if self.at_symbol("-") && plain(self.peek_at(1)) {
            self.next();
            last = self.column()?;
        }
        if last < first {
            return Err(self.fail(format!("Columns {first}-{last} are in the wrong order")));
        }
        let mut decimals = 0;
        if let Some(TokenKind::Number(_, text)) = self.peek().map(|token| &token.kind)
            && let Some(digits) = text.strip_prefix('.')
        {
            decimals = digits.parse().unwrap_or(0);
            self.next();
        }
        Ok(Some(Form::Columns {
            first,
            last,
            decimals,
        }))
    }

    fn column(&mut self) -> Parsed<u32> {
        let number = self.expect_count()?;
        u32::try_from(number)
            .ok()
            .filter(|column| (1..=1_048_576).contains(column))
            .ok_or_else(|| self.fail("A column must be a number from 1 to 1048576"))
    }

    /// `(items)(styles)`
    fn group(&mut self, input: bool) -> Parsed<TextItem> {
        self.expect_symbol("(")?;
        let mut items = Vec::new();
        while !self.eat_symbol(")") {
            items.push(self.value_item(input)?);
            self.eat_symbol(",");
        }
        self.expect_symbol("(")?;
        let mut styles = Vec::new();
        while !self.eat_symbol(")") {
            styles.push(self.group_style(input)?);
            self.eat_symbol(",");
        }
        let useful = |style: &GroupStyle| matches!(style, GroupStyle::Style(..));
        if !items.is_empty() && !styles.iter().any(useful) {
            // `(x y)(+1)` moves and then writes as a list does.
            styles.push(GroupStyle::Style(Self::list_style(), 1));
        }
        Ok(TextItem::Group(items, styles))
    }

    const fn list_style() -> Style {
        Style {
            dollar: false,
            named: false,
            form: Form::List {
                format: None,
                ampersand: false,
                tilde: false,
            },
            quiet: 0,
        }
    }

    fn group_style(&mut self, input: bool) -> Parsed<GroupStyle> {
        if let Some(pointer) = self.pointer(input)? {
            return Ok(GroupStyle::Move(pointer));
        }
        if !input
            && matches!(
                self.peek().map(|token| &token.kind),
                Some(TokenKind::Text(..))
            )
        {
            return Ok(GroupStyle::Text(self.expect_text()?));
        }
        let mut times = 1;
        if self.is_symbol_at(1, "*") {
            times = u32::try_from(self.expect_count()?)
                .ok()
                .filter(|times| (1..=32_767).contains(times))
                .ok_or_else(|| self.fail("A format is repeated at most 32767 times"))?;
            self.next();
        }
        let before = self.index();
        let style = self.style(input)?;
        if self.index() == before {
            return Err(self.expected("a format"));
        }
        Ok(GroupStyle::Style(style, times))
    }
}
