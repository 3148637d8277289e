//! What is embedded in the page beside its text: data, style, scripts, fonts.

use serde::Serialize;

/// The chart library, minified as published (see `docs/dependencies.md`).
pub(super) const PLOT: &str = include_str!("../../assets/vendor/uplot-1.6.32.min.js");

const PLOT_STYLE: &str = include_str!("../../assets/vendor/uplot-1.6.32.min.css");
const STYLE: &str = include_str!("../../assets/page.css");
const SERIF: &[u8] = include_bytes!("../../assets/fonts/source-serif-4-latin-600-normal.woff2");
const SANS: &[u8] = include_bytes!("../../assets/fonts/source-sans-3-latin-wght-normal.woff2");

/// JSON for a script block: no byte of the data can end the block, open a comment or a tag.
pub(super) fn json(value: &impl Serialize) -> String {
    let text = serde_json::to_string(value).expect("what is drawn has only plain keys");
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        // Outside strings JSON has none of these, and in strings each may be written by its number.
        match character {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\u{2028}' => out.push_str("\\u2028"),
            '\u{2029}' => out.push_str("\\u2029"),
            other => out.push(other),
        }
    }
    out
}

/// All style, with the fonts in it.
pub(super) fn style() -> String {
    let face = |family: &str, weight: &str, bytes: &[u8]| {
        format!(
            "@font-face{{font-family:\"{family}\";font-weight:{weight};font-display:block;\
             src:url(data:font/woff2;base64,{}) format(\"woff2\")}}\n",
            base64(bytes)
        )
    };
    let serif = face("Source Serif 4", "600", SERIF);
    let sans = face("Source Sans 3", "200 900", SANS);
    format!("{serif}{sans}{PLOT_STYLE}\n{STYLE}")
}

/// RFC 4648, section 4.
fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let all = group
            .iter()
            .chain([0, 0].iter())
            .take(3)
            .fold(0_usize, |all, byte| all << 8 | usize::from(*byte));
        for place in 0..4 {
            if place <= group.len() {
                out.push(char::from(LETTERS[all >> (18 - 6 * place) & 63]));
            } else {
                out.push('=');
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (plain, coded) in cases {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
    }

    #[test]
    fn json_cannot_leave_its_block() {
        let text = "</script><!--<script>&\u{2028}\u{2029}\"\\";
        let safe = json(&text);
        assert!(
            !safe.contains(['<', '>', '&', '\u{2028}', '\u{2029}']),
            "{safe}"
        );
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }
}
