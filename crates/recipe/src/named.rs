//! Recipes that are built in: the input data of the published workloads.

use crate::parse::Recipe;

/// Recipes in the folder `recipes`, by name.
macro_rules! recipes {
    ($($name:literal),* $(,)?) => {
        const TEXTS: &[(&str, &str)] =
            &[$(($name, include_str!(concat!("../../../recipes/", $name, ".toml")))),*];

        /// Names of the built-in recipes, sorted.
        pub const NAMES: &[&str] = &[$($name),*];
    };
}

recipes![
    "bank",
    "bank1",
    "demand_calendar",
    "demand_parameters",
    "demand_prices",
    "demand_sales",
    "glminput",
    "large-sorts",
    "mixed-8core-branch",
    "mixed-8core-detail",
    "mixed-8core-model",
    "mixed-8core-trade",
    "mixed-8core-wide",
    "mixed-analytics-customer",
    "mixed-analytics-detail",
    "multiuser",
    "ranrw_medium",
    "ranrw_skinny",
    "ranrw_small",
    "ranrw_wide",
    "simdata",
    "simdata_tnk",
    "sortinput",
];

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
        let shapes = [
            ("bank", 126, 1312),
            ("bank1", 126, 1312),
            ("glminput", 8, 64),
            ("large-sorts", 42, 488),
            ("mixed-8core-branch", 5, 64),
            ("mixed-8core-detail", 52, 496),
            ("mixed-8core-wide", 297, 2376),
            ("multiuser", 144, 1216),
            ("ranrw_medium", 350, 2800),
            ("ranrw_skinny", 16, 128),
            ("ranrw_small", 68, 544),
            ("ranrw_wide", 1360, 10_880),
            ("simdata", 8, 64),
            ("simdata_tnk", 112, 1288),
            ("sortinput", 74, 1344),
        ];
        for (name, variables, row_bytes) in shapes {
            let recipe = named(name).unwrap();
            let found = Generator::new(&recipe, 1).layout().row_bytes;
            assert_eq!(
                (recipe.columns.len(), found),
                (variables, row_bytes),
                "{name}"
            );
        }
        assert!(NAMES.is_sorted() && NAMES.iter().all(|name| named(name).is_some()));
        assert_eq!(named("nosuch"), None);
    }
}
