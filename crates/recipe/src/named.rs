//! Recipes that are built in: the input data of the published workloads.

use crate::parse::Recipe;

const TEXTS: [(&str, &str); 3] = [
    ("bank", include_str!("../../../recipes/bank.toml")),
    (
        "large-sorts",
        include_str!("../../../recipes/large-sorts.toml"),
    ),
    ("multiuser", include_str!("../../../recipes/multiuser.toml")),
];

/// Names of the built-in recipes, sorted.
pub const NAMES: [&str; TEXTS.len()] = [TEXTS[0].0, TEXTS[1].0, TEXTS[2].0];

/// The built-in recipe of a name.
pub fn named(name: &str) -> Option<Recipe> {
    let text = text(name)?;
    Some(Recipe::parse(name, text).expect("built-in recipes are tested"))
}

/// The text of a built-in recipe.
pub fn text(name: &str) -> Option<&'static str> {
    TEXTS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Generator;

    /// Row lengths follow from the papers' file sizes; suites compute their sizes from them.
    #[test]
    fn built_in_recipes_have_the_published_shapes() {
        let shapes = NAMES.map(|name| {
            let recipe = named(name).unwrap();
            let row_bytes = Generator::new(&recipe, 1).layout().row_bytes;
            (name, recipe.columns.len(), row_bytes)
        });
        assert_eq!(
            shapes,
            [
                ("bank", 126, 1312),
                ("large-sorts", 42, 488),
                ("multiuser", 144, 1216)
            ]
        );
        assert_eq!(named("nosuch"), None);
    }
}
