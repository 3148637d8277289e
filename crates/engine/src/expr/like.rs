//! WHERE's LIKE (`%` any text, `_` any character) and CONTAINS.

/// True if `text` matches. Linear in the text for every `%` (the last one is the only to retry).
pub fn matches(text: &[u8], pattern: &[u8], contains: bool) -> bool {
    if contains {
        return pattern.is_empty() || text.windows(pattern.len()).any(|part| part == pattern);
    }
    let (mut at, mut in_pattern) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(in_pattern) {
            Some(b'%') => {
                retry = Some((at, in_pattern));
                in_pattern += 1;
            }
            Some(expected) if *expected == b'_' || *expected == text[at] => {
                at += 1;
                in_pattern += 1;
            }
            _ => match retry {
                Some((from, percent)) => {
                    retry = Some((from + 1, percent));
                    (at, in_pattern) = (from + 1, percent + 1);
                }
                None => return false,
            },
        }
    }
    pattern[in_pattern..].iter().all(|byte| *byte == b'%')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns() {
        for (text, pattern, expected) in [
            ("smith", "sm%", true),
            ("smith", "%th", true),
            ("smith", "s_ith", true),
            ("smith", "%i%t%", true),
            ("smith", "smi", false),
            ("smith", "_", false),
            ("", "%", true),
            ("", "_", false),
        ] {
            assert_eq!(
                matches(text.as_bytes(), pattern.as_bytes(), false),
                expected,
                "{pattern}"
            );
        }
        assert!(matches(b"smith", b"mit", true) && !matches(b"smith", b"mt", true));
    }
}
