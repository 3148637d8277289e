//! What people write: programs and recipes.

use lang::{Host, Macros, Session};
use recipe::{Generator, Recipe};

/// A file that programs can include; it includes itself.
const INCLUDED: &str = "%put in; %include 'i.sas'; %let n=&n&n; x";

/// Pulls that a program may take: an %include of the file above is followed 200 deep.
const PULLS_MAX: usize = 100_000;
const PULLS_PER_BYTE: usize = 100;

/// What macros of a program may do: they may loop without end.
const MACRO_OPERATIONS_MAX: u64 = 100_000;

/// Longest rows that are drawn from a recipe, bytes.
const ROW_BYTES_MAX: usize = 1 << 20;

/// Symbols in memory and one file.
struct MemoryHost(Macros);

impl Host for MemoryHost {
    fn macros(&self) -> &Macros {
        &self.0
    }

    fn macros_mut(&mut self) -> &mut Macros {
        &mut self.0
    }

    fn include(&mut self, path: &str) -> Result<String, String> {
        match path {
            "i.sas" => Ok(INCLUDED.to_owned()),
            _ => Err("there is no such file".to_owned()),
        }
    }
}

/// Reads a program to its end.
pub fn parse_program(text: &str) {
    let symbols = [("T", "text"), ("A", "&b"), ("B", "&&a"), ("N", "2")];
    let mut host = MemoryHost(Macros::new());
    for (name, value) in symbols {
        host.0.set(name, value).expect("the names are valid");
    }
    let mut session = Session::new("program.sas", text);
    session.limit_macro_operations(MACRO_OPERATIONS_MAX);
    for _ in 0..PULLS_MAX + PULLS_PER_BYTE * text.len() {
        let pulled = session.next(&mut host);
        for diagnostic in &pulled.diagnostics {
            assert!(
                !diagnostic.message.is_empty(),
                "a finding without a message"
            );
            if let Some(span) = &diagnostic.span {
                assert!(
                    span.line > 0 && span.column > 0 && span.length > 0,
                    "a finding nowhere: {span:?}"
                );
            }
        }
        if pulled.finished {
            let after = session.next(&mut host);
            assert!(after.step.is_none(), "a step after the end");
            assert!(after.finished);
            return;
        }
    }
    panic!("the session does not end");
}

/// Reads a recipe and draws some rows from it.
pub fn parse_recipe(text: &str) {
    let recipe = match Recipe::parse("recipe.toml", text) {
        Ok(recipe) => recipe,
        Err(error) => {
            let message = error.to_string();
            assert!(
                message.starts_with("recipe.toml") && message.len() > "recipe.toml: ".len(),
                "an error without a message: {message}"
            );
            return;
        }
    };
    let generator = Generator::new(&recipe, 7);
    let row_bytes = generator.layout().row_bytes as usize;
    if row_bytes > ROW_BYTES_MAX {
        return;
    }
    let (mut rows, mut again) = (vec![0; row_bytes * 3], vec![0xFF; row_bytes * 3]);
    for first in [0, 1 << 20, 1 << 45] {
        generator.fill(first, &mut rows);
        generator.fill(first, &mut again);
        assert!(rows == again, "rows from {first} on are not the same twice");
    }
    generator.row_hash(5, 3);
}
