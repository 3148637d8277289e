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
    let hashes: Vec<String> = NAMES
        .iter()
        .map(|name| {
            let generator = Generator::new(&named(name).unwrap(), 42);
            format!("{name} {:016x}", generator.row_hash(0, 1000).sum)
        })
        .collect();
    assert_eq!(
        hashes,
        [
            "bank b5d1b256af398110",
            "bank1 e5a759d540f988b8",
            "demand_calendar 7a21cb4a66ec89cc",
            "demand_parameters 6a6ae9993d399b72",
            "demand_prices 89988a3170e46445",
            "demand_sales c89d5ce066d3a8f1",
            "glminput a1683d286a82a885",
            "large-sorts 37686fcd2b6ed999",
            "mixed-8core-branch cb1de6231cbe4f7d",
            "mixed-8core-detail 94e2177f2a2a754c",
            "mixed-8core-model 10aba1fc20ba43ab",
            "mixed-8core-trade 0348cb1c2fc6c24e",
            "mixed-8core-wide 6a28b81703fb4735",
            "mixed-analytics-customer 95b9c47f3d187177",
            "mixed-analytics-detail 5d5fa273915a0f4a",
            "multiuser d9df00d50797cec3",
            "ranrw_medium 3cfa38a7a7d541de",
            "ranrw_skinny be17bef1f3463942",
            "ranrw_small c662490fb4217056",
            "ranrw_wide b17fd35138a4a27e",
            "simdata eded30e90504312b",
            "simdata_tnk 8529df142532f031",
            "sortinput 95f68319ec77fd74",
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
