//! The cursor, used as procedures use it.

use crate::print;
use crate::tokens::tokens;
use base::diag::Diagnostic;
use lang::cursor::Cursor;

/// PROC SORT's two statements in a few lines: what the cursor must make easy.
fn sort(options: &str, by: &str) -> Result<String, Diagnostic> {
    let options = tokens(options);
    let start = options[0].span.clone();
    let mut cursor = Cursor::new(&options, &start);
    let (mut data, mut out, mut flags) = (String::new(), String::new(), Vec::new());
    while !cursor.is_done() {
        let (name, _) = cursor.expect_name("an option of PROC SORT")?;
        match name.to_uppercase().as_str() {
            "DATA" => {
                cursor.expect_symbol("=")?;
                data = print::dataset(&cursor.dataset_ref()?);
            }
            "OUT" => {
                cursor.expect_symbol("=")?;
                out = print::dataset(&cursor.dataset_ref()?);
            }
            _ => flags.push(name),
        }
    }
    let by = tokens(by);
    let mut cursor = Cursor::new(&by, &by[0].span);
    cursor.expect_word("BY")?;
    let keys = cursor.by_list()?;
    cursor.expect_end()?;
    Ok(format!(
        "{data} > {out} {flags:?} by {}",
        print::by_list(&keys)
    ))
}

#[test]
fn a_procedure_reads_its_statements() {
    let read = sort(
        "data=a.b(keep=x where=(y>1)) out=c nodupkey",
        "by descending k1 k2",
    );
    assert_eq!(
        read.as_deref(),
        Ok("a.b(keep=x where=(> y 1)) > c [\"nodupkey\"] by -k1 k2")
    );
}

#[test]
fn a_procedures_errors_name_their_place() {
    let message = |options, by| {
        sort(options, by)
            .map_err(|found| found.message)
            .unwrap_err()
    };
    assert_eq!(
        message("data=", "by x"),
        "22-322: Syntax error, expecting the name of a data set but found the end of the statement \
         (program.sas, line 1, column 14)."
    );
    assert_eq!(
        message("data=a", "by x /"),
        "22-322: Syntax error, expecting ';' but found '/' (program.sas, line 1, column 14)."
    );
}

#[test]
fn settings_keep_the_text_of_their_values() {
    for (text, expect) in [
        ("a b=1 c='d e' f=(g h=1)", "a b=\"1\" c=\"d e\" f=\"g h=1\""),
        (
            "size=128k path=a.b low=-5",
            "size=\"128k\" path=\"a.b\" low=\"-5\"",
        ),
        (
            "fmt=best12.2 hex=0ffx next",
            "fmt=\"best12.2\" hex=\"0ffx\" next",
        ),
    ] {
        let tokens = tokens(text);
        let mut cursor = Cursor::new(&tokens, &tokens[0].span);
        assert_eq!(
            cursor.settings().map(|s| print::settings(&s)).as_deref(),
            Ok(expect)
        );
        assert!(cursor.is_done());
    }
}

#[test]
fn numbers_texts_and_formats_are_taken_or_refused() {
    let tokens = tokens("5 -2 1.5 'a' 8.2 best12.");
    let mut cursor = Cursor::new(&tokens, &tokens[0].span);
    assert_eq!(cursor.expect_count(), Ok(5));
    assert!(cursor.expect_count().is_err());
    assert_eq!(cursor.expect_number(), Ok(-2.0));
    assert!(cursor.expect_text().is_err());
    assert_eq!(cursor.expect_number(), Ok(1.5));
    assert_eq!(cursor.expect_text().as_deref(), Ok("a"));
    assert_eq!(
        cursor.format_ref().map(|f| (f.width, f.decimals)),
        Some((8, 2))
    );
    assert_eq!(cursor.rest_text(), "best12.");
    assert!(cursor.expect_end().is_ok());
}
