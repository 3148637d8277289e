//! Texts with names in braces: `{number}` stands for a value, `{1..3}` and `{20..perm_sets:20}` for
//! numbers, one text for each.

use std::collections::BTreeMap;

/// Names in braces and their values.
pub type Values = BTreeMap<String, String>;

/// More texts than this come from a mistake.
const TEXTS_MAX: usize = 100_000;

/// The text with values for names. Numbers `{1..3}` are not allowed here.
pub fn substitute(text: &str, values: &Values) -> Result<String, String> {
    let mut texts = expand(text, values)?;
    match (texts.pop(), texts.is_empty()) {
        (Some(one), true) => Ok(one),
        _ => Err(format!(
            "{text:?} stands for several texts, and only one is allowed here"
        )),
    }
}

/// All texts that a text stands for.
pub fn expand(text: &str, values: &Values) -> Result<Vec<String>, String> {
    let mut texts = vec![String::new()];
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((inner, behind)) = behind.split_once('}') else {
            return Err(format!("{text:?} has a {{ without a }}"));
        };
        rest = behind;
        let pieces = piece(inner, values)?;
        if texts.len().saturating_mul(pieces.len()) > TEXTS_MAX {
            return Err(format!("{text:?} stands for more than {TEXTS_MAX} texts"));
        }
        texts = texts
            .iter()
            .flat_map(|begun| {
                pieces
                    .iter()
                    .map(move |piece| format!("{begun}{before}{piece}"))
            })
            .collect();
    }
    for one in &mut texts {
        one.push_str(rest);
    }
    Ok(texts)
}

/// The part of a text before its first numbers, with values for names: what all texts begin with.
pub fn common_start(text: &str, values: &Values) -> Result<String, String> {
    let end = text.find("..").map_or(text.len(), |range| {
        text[..range].rfind('{').unwrap_or(range)
    });
    substitute(&text[..end], values)
}

/// The numbers of `1..jobs`.
pub fn numbers(text: &str, values: &Values) -> Result<Vec<u64>, String> {
    let (range, step) = match text.split_once(':') {
        Some((range, step)) => (range, number(step, values)?),
        None => (text, 1),
    };
    let Some((from, to)) = range.split_once("..") else {
        return Err(format!("{text:?} is not a range; write 1..10"));
    };
    let (from, to) = (number(from, values)?, number(to, values)?);
    if step == 0 {
        return Err(format!("the step of {text:?} is 0"));
    }
    let count = to.checked_sub(from).map_or(0, |span| span / step + 1);
    if count > TEXTS_MAX as u64 {
        return Err(format!("{text:?} are more than {TEXTS_MAX} numbers"));
    }
    Ok((0..count).map(|place| from + place * step).collect())
}

fn piece(inner: &str, values: &Values) -> Result<Vec<String>, String> {
    if inner.contains("..") {
        let numbers = numbers(inner, values)?;
        return Ok(numbers.iter().map(u64::to_string).collect());
    }
    lookup(inner, values).map(|value| vec![value.clone()])
}

fn lookup<'a>(name: &str, values: &'a Values) -> Result<&'a String, String> {
    values.get(name).ok_or_else(|| {
        let known: Vec<String> = values.keys().map(|name| format!("{{{name}}}")).collect();
        format!(
            "{{{name}}} stands for nothing here; there are {}",
            known.join(", ")
        )
    })
}

/// A number, or the name of one.
fn number(text: &str, values: &Values) -> Result<u64, String> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let value = lookup(text, values)?;
    value
        .parse()
        .map_err(|_| format!("{{{text}}} is {value:?}, which is not a whole number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        [("n", "7"), ("sets", "40")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn names_and_numbers_are_put_in() {
        assert_eq!(substitute("a{n}_b", &values()).unwrap(), "a7_b");
        assert_eq!(
            expand("m{n}_{20..sets:20}", &values()).unwrap(),
            ["m7_20", "m7_40"]
        );
        assert_eq!(expand("p{2..1}", &values()).unwrap(), Vec::<String>::new());
        assert_eq!(common_start("m{n}_{1..sets}", &values()).unwrap(), "m7_");
        assert_eq!(common_start("m{n}", &values()).unwrap(), "m7");
    }

    #[test]
    fn mistakes_say_what_there_is() {
        for (text, part) in [
            ("{x}", "{x} stands for nothing here; there are {n}, {sets}"),
            ("{n", "without a }"),
            ("{1..x}", "{x} stands for nothing"),
            ("{1..5:0}", "step"),
            ("{1..999999999}", "more than"),
        ] {
            let message = expand(text, &values()).unwrap_err();
            assert!(message.contains(part), "{message}");
        }
        assert!(substitute("{1..2}", &values()).is_err());
    }
}
