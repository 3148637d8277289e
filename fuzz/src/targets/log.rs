//! What SAS writes, and what others made of it.

use results::log::reader::read;

/// Reads a SAS log to its end.
pub fn read_log(bytes: &[u8]) {
    let (mut steps, mut last_line) = (0, 0);
    let about = read(bytes, &mut |step| {
        steps += 1;
        assert!(step.step == steps, "a step's number is not its place");
        assert!(
            step.line >= last_line,
            "a step begins before the one before it"
        );
        assert!(!step.name.is_empty() && !step.kind.is_empty());
        last_line = step.line;
    })
    .expect("memory gives every byte");
    match about {
        Some(about) => {
            assert!(about.bytes == bytes.len() as u64, "bytes were lost");
            assert!(last_line <= about.lines, "a step begins behind the end");
        }
        None => assert!(steps == 0, "steps in what is no log"),
    }
}
