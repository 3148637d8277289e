//! What NOTEs say of data: which data sets and files were read and written, and how many rows.

use super::LogDataset;
use super::figures::count;
use super::line::decoded;

/// Something that a NOTE says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Said {
    /// A data set or file was read.
    Read(LogDataset),
    /// A data set or file was written.
    Written(LogDataset),
    /// So many observations were appended to the data set that is named next.
    Added(u64),
    /// The text is the begin of one of these: it goes on in the next line.
    Unfinished,
}

/// What a NOTE says of data, if it does.
pub(super) fn data(text: &[u8]) -> Option<Said> {
    match text.first()? {
        b'T' => observations_read(text)
            .or_else(|| has_observations(text))
            .or_else(|| updated(text))
            .or_else(|| table_created(text))
            .or_else(|| german_table(text)),
        b'A' => records(text.strip_prefix(b"A total of ")?),
        b'0'..=b'9' => records(text).or_else(|| rows_changed(text)),
        b'E' => german_read(text),
        b'D' => german_written(text),
        _ => None,
    }
}

/// `There were N observations read from the data set X.`
fn observations_read(text: &[u8]) -> Option<Said> {
    let rest = text.strip_prefix(b"There w")?;
    let rest_of = |word: &[u8]| rest.strip_prefix(word);
    let Some(rest) = rest_of(b"ere ").or_else(|| rest_of(b"as ")) else {
        return cut(rest, &[b"ere ", b"as "]);
    };
    let (observations, rest) = count(rest)?;
    let Some(rest) = rest.strip_prefix(b" observation") else {
        return cut(rest, &[b" observation"]);
    };
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b" read from the data set ") else {
        return cut(rest, &[b" read from the data set "]);
    };
    Some(named(rest).map_or(Said::Unfinished, |name| {
        Said::Read(dataset(name, observations, None))
    }))
}

/// `The data set X has N observations and M variables.`
fn has_observations(text: &[u8]) -> Option<Said> {
    let rest = text.strip_prefix(b"The data set ")?;
    let Some((name, rest)) = split(rest, b" has ") else {
        return short(rest);
    };
    if rest.is_empty() {
        return Some(Said::Unfinished);
    }
    let (observations, rest) = count(rest)?;
    let Some(rest) = rest.strip_prefix(b" observations and ") else {
        return cut(rest, &[b" observations and "]);
    };
    let Some((variables, rest)) = count(rest) else {
        return rest.is_empty().then_some(Said::Unfinished);
    };
    if rest.is_empty() {
        return Some(Said::Unfinished);
    }
    let said = Said::Written(dataset(name, observations, Some(variables)));
    rest.starts_with(b" variable").then_some(said)
}

/// `The data set X has been updated.  There were N observations rewritten, N observations added and N …`
fn updated(text: &[u8]) -> Option<Said> {
    let rest = text.strip_prefix(b"The data set ")?;
    let (name, rest) = split(rest, b" has been updated.")?;
    let rest = rest.trim_ascii_start();
    let begin = b"There were ";
    let Some(rest) = rest.strip_prefix(begin) else {
        return cut(rest, &[begin]);
    };
    let (rewritten, rest) = count(rest)?;
    let Some(rest) = rest.strip_prefix(b" observations rewritten, ") else {
        return cut(rest, &[b" observations rewritten, "]);
    };
    let Some((added, rest)) = count(rest) else {
        return rest.is_empty().then_some(Said::Unfinished);
    };
    rest.starts_with(b" observations added")
        .then(|| Said::Written(dataset(name, rewritten.saturating_add(added), None)))
}

/// `Table X created, with N rows and M columns.`
fn table_created(text: &[u8]) -> Option<Said> {
    let rest = text.strip_prefix(b"Table ")?;
    let Some((name, rest)) = split(rest, b" created, with ") else {
        return split(rest, b" created").and_then(|(_, rest)| cut(rest, &[b", with "]));
    };
    table(name, rest, b" rows and ", b" column")
}

/// `Tabelle X wurde erstellt mit N Zeilen und M Spalten.`
fn german_table(text: &[u8]) -> Option<Said> {
    let rest = text.strip_prefix(b"Tabelle ")?;
    let (name, rest) = split(rest, b" erstellt").or_else(|| split(rest, b" wurde erstellt"))?;
    let name = name.strip_suffix(b" wurde").unwrap_or(name);
    let rest = rest.trim_ascii_start();
    let rest = rest
        .strip_prefix(b", ")
        .unwrap_or(rest)
        .strip_prefix(b"mit ")?;
    table(name, rest, b" Zeilen und ", b" Spalte")
}

fn table(name: &[u8], rest: &[u8], rows_and: &[u8], columns_word: &[u8]) -> Option<Said> {
    let Some((rows, rest)) = count(rest) else {
        return rest.is_empty().then_some(Said::Unfinished);
    };
    let Some(rest) = rest.strip_prefix(rows_and) else {
        return cut(rest, &[rows_and]);
    };
    let Some((columns, rest)) = count(rest) else {
        return rest.is_empty().then_some(Said::Unfinished);
    };
    if rest.is_empty() {
        return Some(Said::Unfinished);
    }
    let said = Said::Written(dataset(name, rows, Some(columns)));
    rest.starts_with(columns_word).then_some(said)
}

/// `N records were read from the infile X.`, `N records were written to the file X.`
fn records(text: &[u8]) -> Option<Said> {
    let (records, rest) = count(text)?;
    let rest = rest.strip_prefix(b" record")?;
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    let rest = rest
        .strip_prefix(b" were ")
        .or_else(|| rest.strip_prefix(b" was "))?;
    let read = rest.strip_prefix(b"read from the infile");
    let name = read.or_else(|| rest.strip_prefix(b"written to the file"))?;
    let name = name
        .strip_prefix(b" library")
        .unwrap_or(name)
        .trim_ascii_start();
    let Some(name) = named(name) else {
        return Some(Said::Unfinished);
    };
    let file = LogDataset {
        file: true,
        ..dataset(name, records, None)
    };
    Some(match read {
        Some(_) => Said::Read(file),
        None => Said::Written(file),
    })
}

/// `N rows were inserted into X.`, `N rows were updated in X.`, `N observations added.`
fn rows_changed(text: &[u8]) -> Option<Said> {
    let (rows, rest) = count(text)?;
    if rest.starts_with(b" observations added.") || rest == b" observations added" {
        return Some(Said::Added(rows));
    }
    let rest = rest.strip_prefix(b" row")?;
    let rest = rest.strip_prefix(b"s").unwrap_or(rest);
    let rest = rest
        .strip_prefix(b" were ")
        .or_else(|| rest.strip_prefix(b" was "))?;
    let name = rest
        .strip_prefix(b"inserted into")
        .or_else(|| rest.strip_prefix(b"updated in"))?;
    Some(
        named(name.trim_ascii_start()).map_or(Said::Unfinished, |name| {
            Said::Written(dataset(name, rows, None))
        }),
    )
}

/// `Es wurden N Beobachtungen aus der Datei X gelesen.`
fn german_read(text: &[u8]) -> Option<Said> {
    let rest = text.strip_prefix(b"Es wurde")?;
    let rest = rest.strip_prefix(b"n").unwrap_or(rest).strip_prefix(b" ")?;
    let (observations, rest) = count(rest)?;
    let rest = rest.strip_prefix(b" Beobachtung")?;
    let (_, rest) = split(rest, b" aus der Datei ").or_else(|| split(rest, b" von der Datei "))?;
    let Some((name, _)) = split(rest, b" gelesen") else {
        return short(rest);
    };
    let name = name.strip_suffix(b".").unwrap_or(name);
    Some(Said::Read(dataset(name, observations, None)))
}

/// `Die Datei X weist N Beobachtungen und M Variablen auf.`, or with `hat`.
fn german_written(text: &[u8]) -> Option<Said> {
    let rest = text.strip_prefix(b"Die Datei ")?;
    let Some((name, rest)) = split(rest, b" weist ").or_else(|| split(rest, b" hat ")) else {
        return short(rest);
    };
    let (observations, rest) = count(rest)?;
    let Some(rest) = rest.strip_prefix(b" Beobachtungen und ") else {
        return cut(rest, &[b" Beobachtungen und "]);
    };
    let (variables, _) = count(rest)?;
    Some(Said::Written(dataset(name, observations, Some(variables))))
}

fn dataset(name: &[u8], observations: u64, variables: Option<u64>) -> LogDataset {
    LogDataset {
        name: decoded(name.trim_ascii()),
        observations: Some(observations),
        variables,
        file: false,
    }
}

/// The name at the begin of a text, up to the point that ends the sentence; quoted ones without their quotes.
fn named(text: &[u8]) -> Option<&[u8]> {
    if let [quote @ (b'\'' | b'"'), rest @ ..] = text {
        let end = rest.iter().position(|byte| byte == quote)?;
        return Some(&rest[..end]);
    }
    let end = text
        .windows(2)
        .position(|pair| pair == b". ")
        .or_else(|| text.strip_suffix(b".").map(<[u8]>::len))?;
    (end > 0).then(|| &text[..end])
}

/// The parts before and after a separator that may be broken off at the text's end.
fn split<'a>(text: &'a [u8], separator: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    if let Some(at) = text
        .windows(separator.len())
        .position(|part| part == separator)
    {
        return Some((&text[..at], &text[at + separator.len()..]));
    }
    let bare = separator.trim_ascii_end();
    Some((text.strip_suffix(bare)?, &[]))
}

/// The rest of a line is the begin of one of these.
fn cut(rest: &[u8], expected: &[&[u8]]) -> Option<Said> {
    let begins = expected.iter().any(|one| one.starts_with(rest));
    begins.then_some(Said::Unfinished)
}

/// Only a name so far, or nothing.
fn short(rest: &[u8]) -> Option<Said> {
    let one_word = !rest.trim_ascii_end().contains(&b' ');
    one_word.then_some(Said::Unfinished)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, observations: u64) -> Said {
        Said::Read(dataset(name.as_bytes(), observations, None))
    }

    fn written(name: &str, observations: u64, variables: Option<u64>) -> Said {
        Said::Written(dataset(name.as_bytes(), observations, variables))
    }

    #[test]
    fn notes_name_what_was_read_and_written() {
        for (text, expected) in [
            (
                "There were 19 observations read from the data set SASHELP.CLASS.",
                Some(read("SASHELP.CLASS", 19)),
            ),
            (
                "There were 10,000,000 observations read from the data set SPDE.HAVE_SPDE.",
                Some(read("SPDE.HAVE_SPDE", 10_000_000)),
            ),
            (
                "The data set WORK.A has 5 observations and 3 variables.",
                Some(written("WORK.A", 5, Some(3))),
            ),
            (
                "Table WORK.T created, with 0 rows and 8 columns.",
                Some(written("WORK.T", 0, Some(8))),
            ),
            (
                "8 rows were inserted into WORK.T.",
                Some(written("WORK.T", 8, None)),
            ),
            (
                "1 row was updated in WORK.T.",
                Some(written("WORK.T", 1, None)),
            ),
            (
                "The data set A.B has been updated.  There were 2 observations rewritten, \
                 3 observations added and 4 observations deleted.",
                Some(written("A.B", 5, None)),
            ),
            ("12 observations added.", Some(Said::Added(12))),
            (
                "3 observations with duplicate key values were deleted.",
                None,
            ),
            ("The data set WORK.A may be incomplete.", None),
            ("The DATA step printed page 1.", None),
            ("There were 5 apples.", None),
            (
                "Es wurden 1.234 Beobachtungen aus der Datei SASHELP.CLASS gelesen.",
                Some(read("SASHELP.CLASS", 1234)),
            ),
            (
                "Die Datei WORK.A weist 5 Beobachtungen und 3 Variablen auf.",
                Some(written("WORK.A", 5, Some(3))),
            ),
            (
                "Tabelle WORK.T wurde erstellt, mit 7 Zeilen und 2 Spalten.",
                Some(written("WORK.T", 7, Some(2))),
            ),
        ] {
            assert_eq!(data(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn files_are_named_as_the_log_names_them() {
        let file = |said| match said {
            Some(Said::Read(file) | Said::Written(file)) => {
                (file.name, file.observations, file.file)
            }
            other => panic!("{other:?}"),
        };
        let found = file(data(b"0 records were read from the infile NWRPIPE."));
        assert_eq!(found, ("NWRPIPE".to_owned(), Some(0), true));
        let found = file(data(
            b"1049 records were written to the file '/a/b.csv'.      The",
        ));
        assert_eq!(found, ("/a/b.csv".to_owned(), Some(1049), true));
    }

    #[test]
    fn a_note_broken_anywhere_is_read_when_it_is_whole() {
        for text in [
            "There were 254 observations read from the data set SOURCE.ADSL.",
            "The data set WORK.CSS_ADSL has 254 observations and 49 variables.",
            "Table WORK.T created, with 10 rows and 8 columns.",
        ] {
            let blanks = text.match_indices(' ').map(|(at, _)| at);
            // The first words alone may be anything.
            for at in blanks.skip(3) {
                let found = data(&text.as_bytes()[..at]);
                assert_eq!(found, Some(Said::Unfinished), "{:?}", &text[..at]);
            }
        }
    }
}
