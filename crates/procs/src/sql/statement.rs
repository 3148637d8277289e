//! The statements of PROC SQL.

use engine::failure::Outcome;
use engine::index::definition::Definition;
use lang::ast::{DatasetRef, Expr, VariableKind};

use super::expression::Parser;
use super::syntax::{ColumnDefinition, Statement};

impl Parser<'_> {
    /// A whole statement.
    pub(super) fn statement(&mut self) -> Outcome<Statement> {
        let word = self.cursor.peek_word().unwrap_or_default();
        let statement = match word.to_ascii_uppercase().as_str() {
            "SELECT" => Statement::Select(self.query()?),
            "CREATE" => self.create()?,
            "INSERT" => self.insert()?,
            "UPDATE" => self.update()?,
            "DELETE" => {
                self.cursor.next();
                self.cursor.expect_word("FROM")?;
                let from = self.dataset(true)?;
                let alias = self.alias()?;
                let condition = self.where_clause()?;
                Statement::Delete {
                    from,
                    alias,
                    condition,
                }
            }
            "DROP" => self.drop()?,
            "ALTER" | "DESCRIBE" | "VALIDATE" | "RESET" | "CONNECT" | "DISCONNECT" | "EXECUTE" => {
                let what = format!("{} statement of PROC SQL", word.to_ascii_uppercase());
                return Err(self.cursor.not_yet(what).into());
            }
            _ if self.cursor.at_symbol("(") => Statement::Select(self.query()?),
            _ => return Err(self.cursor.expected("a statement of PROC SQL").into()),
        };
        self.cursor.expect_end()?;
        Ok(statement)
    }

    fn where_clause(&mut self) -> Outcome<Option<Expr>> {
        if self.cursor.eat_word("WHERE") {
            return self.expression().map(Some);
        }
        Ok(None)
    }

    fn create(&mut self) -> Outcome<Statement> {
        self.cursor.next();
        let span = self.cursor.span();
        if self.cursor.at_word("VIEW") {
            return Err(self.cursor.not_yet("CREATE VIEW").into());
        }
        let unique = self.cursor.eat_word("UNIQUE");
        if unique || self.cursor.at_word("INDEX") {
            return self.create_index(span, unique);
        }
        self.cursor.expect_word("TABLE")?;
        let table = self.dataset(true)?;
        if self.cursor.eat_word("AS") {
            return Ok(Statement::CreateAs(table, self.query()?));
        }
        if self.cursor.eat_word("LIKE") {
            return Ok(Statement::CreateLike(table, self.dataset(true)?));
        }
        self.cursor.expect_symbol("(")?;
        let mut columns = Vec::new();
        loop {
            columns.push(self.definition()?);
            if !self.cursor.eat_symbol(",") {
                break;
            }
        }
        self.cursor.expect_symbol(")")?;
        Ok(Statement::CreateWith(table, columns))
    }

    fn create_index(&mut self, span: base::diag::Span, unique: bool) -> Outcome<Statement> {
        self.cursor.expect_word("INDEX")?;
        let (name, _) = self.cursor.expect_name("the name of an index")?;
        self.cursor.expect_word("ON")?;
        let table = self.dataset(false)?;
        self.cursor.expect_symbol("(")?;
        let definition = Definition {
            name,
            variables: self.names()?,
            unique,
        };
        Ok(Statement::CreateIndex {
            span,
            table,
            definition,
        })
    }

    /// Names with commas up to the closing parenthesis.
    fn names(&mut self) -> Outcome<Vec<String>> {
        let mut names = Vec::new();
        loop {
            names.push(self.cursor.expect_name("a column")?.0);
            if !self.cursor.eat_symbol(",") {
                break;
            }
        }
        self.cursor.expect_symbol(")")?;
        Ok(names)
    }

    fn definition(&mut self) -> Outcome<ColumnDefinition> {
        for word in [
            "CONSTRAINT",
            "PRIMARY",
            "UNIQUE",
            "CHECK",
            "FOREIGN",
            "DISTINCT",
        ] {
            let followed = ["KEY", "("]
                .iter()
                .any(|next| self.cursor.is_word_at(1, next) || self.cursor.is_symbol_at(1, next));
            if self.cursor.at_word(word) && (followed || word == "CONSTRAINT") {
                return Err(self.cursor.not_yet(format!("{word} constraint")).into());
            }
        }
        let (name, span) = self.cursor.expect_name("the name of a column")?;
        let mut column = ColumnDefinition {
            name,
            span,
            kind: VariableKind::Numeric,
            length: 8,
            format: None,
            informat: None,
            label: None,
        };
        self.column_type(&mut column)?;
        loop {
            let valued = self.cursor.is_symbol_at(1, "=");
            let word = self
                .cursor
                .peek_word()
                .unwrap_or_default()
                .to_ascii_uppercase();
            match word.as_str() {
                "LABEL" | "FORMAT" | "INFORMAT" if valued => {
                    self.cursor.next();
                    self.cursor.next();
                    match word.as_str() {
                        "LABEL" => column.label = Some(self.cursor.expect_text()?),
                        "FORMAT" => column.format = Some(self.format()?),
                        _ => column.informat = Some(self.format()?),
                    }
                }
                "NOT" | "UNIQUE" | "PRIMARY" | "CHECK" | "REFERENCES" | "DISTINCT" => {
                    return Err(self.cursor.not_yet(format!("{word} constraint")).into());
                }
                _ => return Ok(column),
            }
        }
    }

    fn column_type(&mut self, column: &mut ColumnDefinition) -> Outcome<()> {
        let word = self
            .cursor
            .peek_word()
            .unwrap_or_default()
            .to_ascii_uppercase();
        match word.as_str() {
            "CHAR" | "CHARACTER" | "VARCHAR" => column.kind = VariableKind::Character,
            "NUM" | "NUMERIC" | "INT" | "INTEGER" | "SMALLINT" | "FLOAT" | "DOUBLE" | "REAL"
            | "DEC" | "DECIMAL" | "DATE" => {}
            _ => return Err(self.cursor.expected("the type of a column").into()),
        }
        let span = self.cursor.span();
        self.cursor.next();
        if word == "DOUBLE" {
            self.cursor.eat_word("PRECISION");
        }
        if word == "DATE" {
            let format = lang::ast::FormatRef {
                name: "DATE".to_owned(),
                width: 0,
                decimals: 0,
                modifier: lang::ast::FormatModifier::None,
                span,
            };
            column.format = Some(format.clone());
            column.informat = Some(format);
        }
        if self.cursor.eat_symbol("(") {
            // SAS keeps numbers as doubles whatever precision is asked for.
            let length = self.cursor.expect_count()?;
            if self.cursor.eat_symbol(",") {
                self.cursor.expect_count()?;
            }
            self.cursor.expect_symbol(")")?;
            if column.kind == VariableKind::Character {
                column.length = u32::try_from(length).unwrap_or(u32::MAX);
            }
        }
        Ok(())
    }

    fn insert(&mut self) -> Outcome<Statement> {
        self.cursor.next();
        self.cursor.expect_word("INTO")?;
        let into = self.dataset(true)?;
        let mut columns = if self.cursor.eat_symbol("(") {
            self.names()?
        } else {
            Vec::new()
        };
        if self.cursor.at_word("SELECT") || self.cursor.at_symbol("(") {
            let query = self.query()?;
            return Ok(Statement::InsertQuery {
                into,
                columns,
                query,
            });
        }
        let mut rows = Vec::new();
        if self.cursor.at_word("SET") {
            if !columns.is_empty() {
                return Err(self.cursor.expected("VALUES or SELECT").into());
            }
            while self.cursor.eat_word("SET") {
                let sets = self.assignments()?;
                let names: Vec<String> = sets.iter().map(|set| set.0.clone()).collect();
                if rows.is_empty() {
                    columns = names;
                } else if columns.len() != names.len()
                    || !columns
                        .iter()
                        .zip(&names)
                        .all(|(a, b)| a.eq_ignore_ascii_case(b))
                {
                    return Err(self
                        .cursor
                        .not_yet("SET clauses of different columns")
                        .into());
                }
                rows.push(sets.into_iter().map(|set| set.2).collect());
            }
        } else {
            self.cursor.expect_word("VALUES")?;
            loop {
                self.cursor.expect_symbol("(")?;
                rows.push(self.values()?);
                self.cursor.eat_symbol(",");
                if !self.cursor.eat_word("VALUES") {
                    break;
                }
            }
        }
        Ok(Statement::InsertValues {
            into,
            columns,
            rows,
        })
    }

    fn values(&mut self) -> Outcome<Vec<Expr>> {
        let mut values = Vec::new();
        while !self.cursor.eat_symbol(")") {
            values.push(self.expression()?);
            if !self.cursor.eat_symbol(",") && !self.cursor.at_symbol(")") {
                return Err(self.cursor.expected("',' or ')'").into());
            }
        }
        Ok(values)
    }

    fn assignments(&mut self) -> Outcome<Vec<(String, base::diag::Span, Expr)>> {
        let mut sets = Vec::new();
        loop {
            let (name, span) = self.cursor.expect_name("a column")?;
            self.cursor.expect_symbol("=")?;
            sets.push((name, span, self.expression()?));
            if !self.cursor.eat_symbol(",") {
                return Ok(sets);
            }
        }
    }

    fn update(&mut self) -> Outcome<Statement> {
        self.cursor.next();
        let table = self.dataset(true)?;
        let alias = self.alias()?;
        self.cursor.expect_word("SET")?;
        let sets = self.assignments()?;
        let condition = self.where_clause()?;
        Ok(Statement::Update {
            table,
            alias,
            sets,
            condition,
        })
    }

    fn drop(&mut self) -> Outcome<Statement> {
        self.cursor.next();
        let span = self.cursor.span();
        if self.cursor.at_word("VIEW") {
            return Err(self.cursor.not_yet("DROP VIEW").into());
        }
        if self.cursor.eat_word("INDEX") {
            let mut names = Vec::new();
            loop {
                names.push(self.cursor.expect_name("the name of an index")?.0);
                if !self.cursor.eat_symbol(",") {
                    break;
                }
            }
            self.cursor.expect_word("FROM")?;
            let table = self.dataset(false)?;
            return Ok(Statement::DropIndex { span, table, names });
        }
        self.cursor.expect_word("TABLE")?;
        let mut tables: Vec<DatasetRef> = Vec::new();
        loop {
            tables.push(self.dataset(false)?);
            if !self.cursor.eat_symbol(",") {
                return Ok(Statement::Drop(tables));
            }
        }
    }
}
