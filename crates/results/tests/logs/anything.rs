//! Whatever a file holds, reading it comes back.

use proptest::collection::vec;
use proptest::prelude::*;
use results::log::reader::read;

/// Pieces of logs, so that what is put together reaches the reader's branches.
const PIECES: [&str; 30] = [
    "NOTE: DATA statement used (Total process time):\n",
    "NOTE: PROCEDURE SORT used:\n",
    "NOTE: The PROCEDURE SORT used 0.19 CPU seconds and 15021K.\n",
    "NOTE: The SAS System used:\n",
    "NOTE: SAS initialization used:\n",
    "      real time           1:05.27\n",
    "      cpu time            0.25 seconds\n",
    "      user cpu time       99999999999999999999999\n",
    "      memory              458.00k\n",
    "      Step Count                        5  Switch Count  676\n",
    "      Block Output Operations           2018776904\n",
    "         real        0.05 seconds        page faults   0 \n",
    "NOTE: There were 18446744073709551615 observations read from the data set WORK.A.\n",
    "NOTE: There were 5 observations read from the\n",
    "data set WORK.A.\n",
    "NOTE: The data set WORK.A has 5 observations and\n",
    "5 variables.\n",
    "ERROR 22-322: Syntax\n",
    "ERROR: ",
    "WARNING: a\n",
    "\u{c}2 The SAS System\n",
    "2    The SAS System    14:32 Thursday, November 17, 2016\n",
    "\n",
    "      \n",
    "/*",
    "*/",
    "\u{1b}[0m",
    "<font>",
    "é\u{0}\r\n",
    "12   data a;\n",
];

fn check(bytes: &[u8]) {
    let mut steps = 0;
    let mut last_line = 0;
    let about = read(bytes, &mut |step| {
        steps += 1;
        assert_eq!(step.step, steps);
        assert!(step.line >= last_line && step.line > 0);
        last_line = step.line;
        assert!(!step.name.is_empty());
    })
    .unwrap();
    if let Some(about) = about {
        assert_eq!(about.bytes, bytes.len() as u64);
        assert!(last_line <= about.lines);
    } else {
        assert_eq!(steps, 0);
    }
}

proptest! {
    #[test]
    fn any_bytes(bytes in vec(any::<u8>(), 0..2000)) {
        check(&bytes);
    }

    #[test]
    fn any_pieces_of_logs(pieces in vec(0..PIECES.len(), 0..60), cut in 0usize..4000) {
        let text: String = pieces.into_iter().map(|at| PIECES[at]).collect();
        check(&text.as_bytes()[..cut.min(text.len())]);
    }

    #[test]
    fn pieces_on_one_line(pieces in vec(0..PIECES.len(), 0..60)) {
        let text: String = pieces.into_iter().map(|at| PIECES[at].trim_end_matches('\n')).collect();
        check(text.as_bytes());
    }
}
