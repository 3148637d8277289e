//! What an index is to be: `account`, `place=(region branch) / unique`.

use sas7bdat::{IndexInfo, Variable};

/// An index as asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Definition {
    /// Its name: that of the variable if there is only one.
    pub name: String,
    /// The variables of its key.
    pub variables: Vec<String>,
    /// No two rows may have the same key.
    pub unique: bool,
}

impl Definition {
    /// An index over one variable.
    pub fn simple(variable: &str, unique: bool) -> Self {
        Self {
            name: variable.to_owned(),
            variables: vec![variable.to_owned()],
            unique,
        }
    }

    /// Reads the value of INDEX= or what follows INDEX CREATE. Errors are sentences without a final
    /// period.
    pub fn parse_all(text: &str) -> Result<Vec<Self>, String> {
        let spaced: String = text
            .chars()
            .flat_map(|one| match one {
                '=' | '(' | ')' | '/' => vec![' ', one, ' '],
                other => vec![other],
            })
            .collect();
        let mut words = spaced.split_whitespace().peekable();
        let mut found: Vec<Self> = Vec::new();
        // Options belong to the index before them; those of INDEX CREATE to all of it.
        let mut slash = false;
        while let Some(word) = words.next() {
            if word == "/" {
                slash = true;
                continue;
            }
            if slash && word.eq_ignore_ascii_case("UNIQUE") {
                let Some(last) = found.last_mut() else {
                    return Err("UNIQUE follows no index".to_owned());
                };
                last.unique = true;
                continue;
            }
            if slash && word.eq_ignore_ascii_case("NOMISS") {
                return Err("The option NOMISS of an index is not implemented yet".to_owned());
            }
            slash = false;
            if !is_name(word) {
                return Err(format!("{word} is not the name of an index"));
            }
            if words.next_if_eq(&"=").is_none() {
                found.push(Self::simple(word, false));
                continue;
            }
            if words.next() != Some("(") {
                return Err(format!(
                    "The index {word} needs its variables in parentheses"
                ));
            }
            let mut variables = Vec::new();
            loop {
                match words.next() {
                    Some(")") => break,
                    Some(name) if is_name(name) => variables.push(name.to_owned()),
                    _ => return Err(format!("The variables of index {word} have no end")),
                }
            }
            if variables.is_empty() {
                return Err(format!("The index {word} has no variables"));
            }
            found.push(Self {
                name: word.to_owned(),
                variables,
                unique: false,
            });
        }
        Ok(found)
    }

    /// The index over the variables of a data set. Errors are sentences without a final period.
    pub fn resolve(&self, variables: &[Variable], dataset: &str) -> Result<IndexInfo, String> {
        let find = |name: &str| {
            variables
                .iter()
                .position(|variable| variable.name.eq_ignore_ascii_case(name))
        };
        let columns: Result<Vec<usize>, String> = self
            .variables
            .iter()
            .map(|name| {
                find(name).ok_or_else(|| format!("Variable {name} is not on file {dataset}"))
            })
            .collect();
        let columns = columns?;
        let name = match columns.as_slice() {
            [only] => {
                let known = variables[*only].name.clone();
                if !known.eq_ignore_ascii_case(&self.name) {
                    return Err(format!(
                        "An index over one variable has its name: {known} and not {}",
                        self.name
                    ));
                }
                known
            }
            _ if find(&self.name).is_some() => {
                return Err(format!(
                    "The composite index {} has the name of a variable of {dataset}",
                    self.name
                ));
            }
            _ => self.name.clone(),
        };
        Ok(IndexInfo {
            name,
            unique: self.unique,
            columns,
        })
    }
}

fn is_name(word: &str) -> bool {
    let start = word.starts_with(|one: char| one.is_ascii_alphabetic() || one == '_');
    start
        && word.len() <= 32
        && word
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || one == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn definitions_are_read_as_sas_reads_them() {
        let read =
            Definition::parse_all("acct place=(region branch)/unique code1 / unique x").unwrap();
        let shown: Vec<(&str, usize, bool)> = read
            .iter()
            .map(|one| (one.name.as_str(), one.variables.len(), one.unique))
            .collect();
        assert_eq!(
            shown,
            [
                ("acct", 1, false),
                ("place", 2, true),
                ("code1", 1, true),
                ("x", 1, false)
            ]
        );
        for wrong in ["1a", "a=b", "a=(b", "a=()", "/ unique", "a / nomiss"] {
            assert!(Definition::parse_all(wrong).is_err(), "{wrong}");
        }
    }
}
