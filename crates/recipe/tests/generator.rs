//! Properties of the generator for any recipe, and the hashes that may never change.

use base::rowhash::RowHash;
use proptest::prelude::*;
use recipe::{Generator, NAMES, Recipe, named};

fn column() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(r#"kind="random""#.to_owned()),
        (-5i64..5, 0i64..1000)
            .prop_map(|(from, more)| format!("kind=\"integer\", from={from}, to={}", from + more)),
        (1u64..20).prop_map(|levels| format!("kind=\"level\", levels={levels}")),
        Just(r#"kind="constant", value=1.5"#.to_owned()),
        Just(r#"kind="missing""#.to_owned()),
        (-9i64..9).prop_map(|step| format!("kind=\"sequence\", step={step}")),
        (1u32..700, 0u32..=100, "[a-z]{1,9}").prop_map(|(length, percent, alphabet)| {
            let used = length * percent / 100;
            format!("kind=\"character\", length={length}, used={used}, alphabet=\"{alphabet}\"")
        }),
    ]
}

fn recipe() -> impl Strategy<Value = Recipe> {
    let columns = prop::collection::vec((1u32..4, column()), 1..8);
    (1u64..5, 0u64..30, columns).prop_map(|(repeat, period, columns)| {
        let columns: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(number, (count, text))| {
                format!("{{name=\"c{number}_\", count={count}, {text}}}")
            })
            .collect();
        let text = format!(
            "repeat={repeat}\nperiod={period}\ncolumns=[{}]",
            columns.join(",")
        );
        Recipe::parse("p.toml", &text).unwrap()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn rows_do_not_depend_on_the_rows_made_with_them(
        recipe in recipe(), seed: u64, first in 0u64..1_000_000, count in 1usize..40,
    ) {
        let generator = Generator::new(&recipe, seed);
        let row_bytes = generator.layout().row_bytes as usize;
        let mut together = vec![0xAA; count * row_bytes];
        generator.fill(first, &mut together);
        let mut hash = RowHash::default();
        for (number, row) in (first..).zip(together.chunks_exact(row_bytes)) {
            let mut alone = vec![0x55; row_bytes];
            generator.fill(number, &mut alone);
            prop_assert_eq!(&alone, row);
            hash.add(row);
        }
        prop_assert_eq!(generator.row_hash(first, count as u64), hash);
    }
}

/// The contract "same seed, same bytes" for the built-in recipes: these hashes may never change.
#[test]
fn built_in_recipes_make_the_same_rows_for_ever() {
    let hashes = NAMES.map(|name| {
        let generator = Generator::new(&named(name).unwrap(), 42);
        format!("{name} {:016x}", generator.row_hash(0, 1000).sum)
    });
    assert_eq!(
        hashes,
        [
            "bank b5d1b256af398110",
            "large-sorts 37686fcd2b6ed999",
            "multiuser d9df00d50797cec3"
        ]
    );
}

#[test]
fn the_recipe_of_the_guide_is_one() {
    let guide = include_str!("../../../docs/guide/data.md");
    let (_, rest) = guide.split_once("```toml\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let recipe = Recipe::parse("guide", text).unwrap();
    assert_eq!(recipe.columns.len(), 65);
    // It shows every kind there is.
    let shown = text.matches("kind = ").count();
    assert_eq!(shown, 7);
}
