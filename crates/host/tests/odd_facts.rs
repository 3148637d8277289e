//! Whatever a source says, no parser panics.

use host::facts::sources;
use proptest::prelude::*;

/// Pieces that parsers look for, so that random texts get further than their first line.
const PIECES: [&str; 60] = [
    "a",
    "/",
    "/sas",
    " ",
    "  ",
    "\t",
    "\n",
    "=",
    "==",
    ":",
    "::",
    "-",
    "--",
    " - ",
    ",",
    "'",
    "\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "%",
    "%3A",
    "%",
    "#",
    "0",
    "1",
    "128",
    "-1",
    "99999999999999999999",
    "\0",
    "\\",
    "\\040",
    "\u{fffd}",
    "é",
    "*",
    "|",
    "device ",
    " mounted on ",
    " with fstype nfs4",
    "opts:",
    "xprt:",
    "HEADER",
    "mmlsdisk::HEADER:nsdName:",
    "NAME ",
    "NAME=\"",
    "policy='",
    " dm-0 ",
    "ATTR{queue/scheduler}=\"",
    "stripe_count:",
    "Settings for ",
    "RX:",
    " on ",
    " type ",
    "-WORK ",
    "/* ",
    "*/",
    "<disk ",
];

fn text() -> impl Strategy<Value = String> {
    let piece = (0..PIECES.len()).prop_map(|index| PIECES[index].to_owned());
    let other = any::<char>().prop_map(String::from);
    proptest::collection::vec(prop_oneof![4 => piece, 1 => other], 0..60)
        .prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_parser_panics_on_texts(path in text(), text in text()) {
        for source in sources::all() {
            (source.parse)(&path, &text);
            if let Some(pattern) = source.paths.first() {
                (source.parse)(&pattern.replace('*', "0"), &text);
            }
        }
    }

    #[test]
    fn no_parser_panics_on_bytes(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let text = host::facts::root::text_of(&bytes);
        for source in sources::all() {
            (source.parse)("/proc/1/limits", &text);
        }
    }
}
