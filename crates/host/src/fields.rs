//! Fields of the kernel's texts.

/// A field that is a whole number.
pub(crate) fn number(field: &str) -> Option<u64> {
    field.parse().ok()
}

/// The fields of a line behind the first `skip`, up to the first that is no number.
pub(crate) fn numbers(line: &str, skip: usize) -> Vec<u64> {
    let fields = line.split_ascii_whitespace().skip(skip);
    fields.map_while(number).collect()
}

/// A path as the kernel's tables of mounts write it: blanks, tabs, newlines and backslashes are
/// octal.
pub(crate) fn unescaped(field: &str) -> String {
    let mut out = Vec::new();
    let mut rest = field.as_bytes();
    while let [first, tail @ ..] = rest {
        let octal = tail.get(..3).filter(|_| *first == b'\\');
        let value = octal
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        out.push(value.unwrap_or(*first));
        rest = if value.is_some() { &tail[3..] } else { tail };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_unescaped() {
        assert_eq!(unescaped(r"/a\040b\134c"), r"/a b\c");
        assert_eq!(unescaped(r"/a\04"), r"/a\04");
        assert_eq!(unescaped(r"\999"), r"\999");
    }

    #[test]
    fn numbers_end_where_something_else_begins() {
        assert_eq!(numbers("a 1 2 x 3", 1), [1, 2]);
        assert!(numbers("", 3).is_empty());
    }
}
