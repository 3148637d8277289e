//! Finding the recipe that an argument names.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use recipe::{NAMES, Recipe, named};

use crate::exit::usage;

/// A built-in recipe by its name, or one from a file.
pub fn find(argument: &str) -> Result<Recipe> {
    if let Some(recipe) = named(argument) {
        return Ok(recipe);
    }
    let path = Path::new(argument);
    let looks_like_a_file = argument.contains('/') || path.extension().is_some();
    if !looks_like_a_file && !path.exists() {
        usage!(
            "there is no recipe named {argument}; the built-in ones are {}, \
             and a recipe file is given by its path, such as ./{argument}.toml",
            NAMES.join(", ")
        );
    }
    let text = fs::read_to_string(path)
        .with_context(|| format!("failed to read the recipe {argument}"))?;
    Ok(Recipe::parse(argument, &text)?)
}
