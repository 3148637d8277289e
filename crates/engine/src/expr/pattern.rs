//! Regular expressions of the PRX functions: Perl's syntax over a library that matches in time
//! proportional to the text. What that cannot do (lookaround, back references) is refused by name.

mod replacement;
mod translate;

use std::collections::HashMap;
use std::sync::Arc;

use regex::bytes::{Regex, RegexBuilder};

use self::replacement::Replacement;

/// Most that one compiled expression takes, bytes, and its tables while it matches.
const PROGRAM_BYTES: usize = 1 << 20;
const TABLE_BYTES: usize = 256 << 10;

/// What an expression takes beside its text, about.
const ENTRY_BYTES: usize = 64 << 10;

/// A match: where the whole and its groups lie.
pub type Groups = Vec<Option<(usize, usize)>>;

/// A compiled expression.
#[derive(Debug)]
pub struct Pattern {
    regex: Regex,
    replacement: Option<Replacement>,
}

/// The expressions of a step by their identifiers.
#[derive(Debug, Clone, Default)]
pub struct Patterns {
    known: Vec<Option<Entry>>,
    /// Those that functions were given as texts, by their place in the program.
    by_text: HashMap<(usize, Vec<u8>), usize>,
    bytes: usize,
}

#[derive(Debug, Clone)]
struct Entry {
    pattern: Arc<Pattern>,
    last: Groups,
    bytes: usize,
}

impl Pattern {
    /// Compiles `/expression/options` or `s/expression/replacement/options`; says what is wrong.
    pub fn new(written: &str) -> Result<Self, String> {
        let parts = translate::Parts::of(written)?;
        let translated = translate::expression(&parts.expression, parts.extended)?;
        let regex = RegexBuilder::new(&translated)
            .unicode(false)
            .case_insensitive(parts.insensitive)
            .multi_line(parts.multiline)
            .dot_matches_new_line(parts.dot_all)
            .ignore_whitespace(parts.extended)
            .size_limit(PROGRAM_BYTES)
            .dfa_size_limit(TABLE_BYTES)
            .build()
            .map_err(|error| match error {
                regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
                other => other
                    .to_string()
                    .lines()
                    .last()
                    .unwrap_or("it is not valid")
                    .trim_start_matches("error: ")
                    .to_owned(),
            })?;
        let replacement = parts.replacement.as_deref().map(Replacement::new);
        Ok(Self {
            replacement: replacement.transpose()?,
            regex,
        })
    }

    /// The first match from `start` on.
    pub fn find(&self, text: &[u8], start: usize) -> Option<Groups> {
        let captures = self.regex.captures_at(text, start)?;
        let groups = captures.iter();
        Some(
            groups
                .map(|one| one.map(|one| (one.start(), one.end())))
                .collect(),
        )
    }

    /// How many groups there are.
    pub fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// `text` with the first `times` matches replaced (of all that there are), the last match and how many
    /// there were; `None` if the expression has no replacement.
    pub fn replaced(&self, text: &[u8], times: u64) -> Option<(Vec<u8>, Groups, u64)> {
        let replacement = self.replacement.as_ref()?;
        let (mut out, mut last, mut done, mut from, mut at) = (Vec::new(), Vec::new(), 0, 0, 0);
        while at <= text.len() && done < times {
            let Some(groups) = self.find(text, at) else {
                break;
            };
            let Some((start, end)) = groups.first().copied().flatten() else {
                break;
            };
            // A match of nothing right behind the last match is none.
            if start == end && done > 0 && start == from {
                at = end + 1;
                continue;
            }
            out.extend_from_slice(&text[from..start]);
            replacement.write(text, &groups, &mut out);
            (from, at) = (end, if end == start { end + 1 } else { end });
            done += 1;
            last = groups;
        }
        out.extend_from_slice(&text[from..]);
        Some((out, last, done))
    }
}

impl Patterns {
    /// Compiles an expression and gives its identifier, from 1. `most` is what all may take, bytes.
    fn parse(&mut self, written: &[u8], most: u64) -> Result<usize, String> {
        let text = String::from_utf8_lossy(written);
        let pattern = Arc::new(Pattern::new(text.trim())?);
        let bytes = ENTRY_BYTES + TABLE_BYTES + 2 * written.len();
        if (self.bytes + bytes) as u64 > most {
            return Err(
                "there is not enough memory for one more; free others by CALL PRXFREE".to_owned(),
            );
        }
        self.bytes += bytes;
        self.known.push(Some(Entry {
            pattern,
            last: Vec::new(),
            bytes,
        }));
        Ok(self.known.len())
    }

    /// The identifier of an expression that a function at `site` was given as text: it is compiled
    /// once.
    pub fn of_site(&mut self, site: usize, written: &[u8], most: u64) -> Result<usize, String> {
        let key = (site, written.to_vec());
        if let Some(known) = self.by_text.get(&key) {
            return Ok(*known);
        }
        let id = self.parse(written, most)?;
        self.by_text.insert(key, id);
        Ok(id)
    }

    /// The expression of an identifier.
    pub fn get(&self, id: usize) -> Option<Arc<Pattern>> {
        let entry = self.known.get(id.checked_sub(1)?)?.as_ref()?;
        Some(entry.pattern.clone())
    }

    /// The last match; empty if there was none.
    pub fn last(&self, id: usize) -> &[Option<(usize, usize)>] {
        let entry = id.checked_sub(1).and_then(|index| self.known.get(index));
        entry
            .and_then(Option::as_ref)
            .map_or(&[], |entry| entry.last.as_slice())
    }

    /// Keeps a match for PRXPOSN and PRXPAREN.
    pub fn keep(&mut self, id: usize, groups: Groups) {
        if let Some(Some(entry)) = id
            .checked_sub(1)
            .and_then(|index| self.known.get_mut(index))
        {
            entry.last = groups;
        }
    }

    /// Forgets an expression; false if there is none.
    pub fn free(&mut self, id: usize) -> bool {
        let entry = id
            .checked_sub(1)
            .and_then(|index| self.known.get_mut(index));
        match entry.and_then(Option::take) {
            Some(entry) => {
                self.bytes -= entry.bytes;
                self.by_text.retain(|_, known| *known != id);
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, text: &str) -> Option<(usize, usize)> {
        let groups = Pattern::new(pattern).unwrap().find(text.as_bytes(), 0)?;
        groups[0]
    }

    /// What Perl finds, by its documentation (perlre).
    #[test]
    fn expressions_find_what_perl_finds() {
        for (pattern, text, place) in [
            ("/world/", "Hello world!", Some((6, 11))),
            ("/WORLD/i", "Hello world!", Some((6, 11))),
            ("m#a/b#", "xa/b", Some((1, 4))),
            (r"/a\/b/", "xa/b", Some((1, 4))),
            (r"/\bcat\b/", "concat cat", Some((7, 10))),
            (r"/[[]x]/", "a[x]", Some((1, 4))),
            (r"/[a&&b]+/", "x&&y", Some((1, 3))),
            (r"/[+--]+/", "x,-+y", Some((1, 4))),
            (r"/\<b\>/", "a<b>", Some((1, 4))),
            (r"/[]a]+/", "x]a", Some((1, 3))),
            (r"/[^]a]+/", "]ab", Some((2, 3))),
            (r"/a b # comment/x", "xab", Some((1, 3))),
            (r"/a[ #]b/x", "xa b", Some((1, 4))),
            (r"/a{2}/", "baaa", Some((1, 3))),
            (r"/a{,x/", "a{,x", Some((0, 4))),
            (r"/(?i)ab(?#no)c/", "ABC", Some((0, 3))),
            (r"/a|ab/", "ab", Some((0, 1))),
            (r"/a.c/", "a\nc", None),
            (r"/a.c/s", "a\nc", Some((0, 3))),
            (r"/^b/m", "a\nb", Some((2, 3))),
            (r"/\x41\t/", "A\t", Some((0, 2))),
            (r"/x*?y/", "xxy", Some((0, 3))),
        ] {
            assert_eq!(found(pattern, text), place, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_done_is_named() {
        for (pattern, wrong) in [
            (r"/(a)\1/", "back references"),
            (r"/(?<n>a)\k<n>/", "back references"),
            ("/a(?=b)/", "lookaround"),
            ("/a(?!b)/", "lookaround"),
            ("/(?<=a)b/", "lookaround"),
            ("/(?<!a)b/", "lookaround"),
            ("/(?>a)b/", "atomic groups"),
            ("/(?|a)/", "branch reset"),
            ("/(?R)/", "recursion"),
            ("/(?1)/", "recursion"),
            ("/(?{1})/", "program text"),
            ("/a++b/", "possessive"),
            ("/a{2}+b/", "possessive"),
            (r"/\Qa\E/", r"\Q"),
            (r"/a\Z/", r"\Z"),
            (r"/\012/", r"\0"),
            ("/a/g", "the option g"),
            ("/a", "delimiter"),
            ("s/a/b", "delimiter"),
            ("a", "delimiter"),
            ("/(a/", "unclosed group"),
            ("/a**/", "nested quantifier"),
        ] {
            let error = Pattern::new(pattern).unwrap_err();
            assert!(error.contains(wrong), "{pattern}: {error}");
        }
    }

    #[test]
    fn time_is_bounded() {
        let pattern = Pattern::new("/(a*)*(a*)*b/").unwrap();
        assert_eq!(pattern.find(&b"a".repeat(20_000), 0), None);
        assert!(Pattern::new("/((a{100}){100}){100}/").is_err());
    }

    #[test]
    fn replacements_take_groups() {
        for (pattern, text, times, result) in [
            (r"s/(\w+) (\w+)/$2, $1/", "Jones Fred", None, "Fred, Jones"),
            ("s/a/b/", "aaa", Some(2), "bba"),
            ("s/x*/-/", "abc", None, "-a-b-c-"),
            ("s/a//", "banana", None, "bnn"),
            (r"s/(\w+)/\u$1/", "the end", None, "The End"),
            (r"s/(b)(c)/\U$1\E${2}x$&/", "abcd", None, "aBcxbcd"),
            (r"s#/#\\#", "a/b", None, r"a\b"),
            (r"s/b/$5 \$1/", "abc", None, "a $1c"),
        ] {
            let pattern = Pattern::new(pattern).unwrap();
            let times = times.unwrap_or(u64::MAX);
            let (replaced, ..) = pattern.replaced(text.as_bytes(), times).unwrap();
            assert_eq!(String::from_utf8(replaced).unwrap(), result, "{text}");
        }
        assert!(Pattern::new("/a/").unwrap().replaced(b"a", 1).is_none());
    }
}
