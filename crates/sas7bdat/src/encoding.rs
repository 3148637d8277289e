//! Character encodings by the byte that names them in the file header.

use std::borrow::Cow;

use crate::error::Error;

/// The character encoding of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Encoding {
    /// The byte in the file header.
    pub byte: u8,
    /// SAS's word for it, such as `utf-8` or `wlatin1`; `unknown` if the byte is not known.
    pub name: &'static str,
}

/// Byte, SAS's word, and the label by which `encoding_rs` knows it (empty where it does not).
const TABLE: &[(u8, &str, &str)] = &[
    (0, "session", "windows-1252"),
    (20, "utf-8", "utf-8"),
    (28, "us-ascii", "us-ascii"),
    (29, "latin1", "windows-1252"),
    (30, "latin2", "iso-8859-2"),
    (31, "latin3", "iso-8859-3"),
    (32, "latin4", "iso-8859-4"),
    (33, "cyrillic", "iso-8859-5"),
    (34, "arabic", "iso-8859-6"),
    (35, "greek", "iso-8859-7"),
    (36, "hebrew", "iso-8859-8"),
    (37, "latin5", "windows-1254"),
    (38, "latin6", "iso-8859-10"),
    (39, "thai", "windows-874"),
    (40, "latin9", "iso-8859-15"),
    (41, "pcoem437", ""),
    (42, "pcoem850", ""),
    (43, "pcoem852", ""),
    (44, "pcoem857", ""),
    (45, "pcoem858", ""),
    (46, "pcoem862", ""),
    (47, "pcoem864", ""),
    (48, "pcoem865", ""),
    (49, "pcoem866", "ibm866"),
    (50, "pcoem869", ""),
    (51, "pcoem874", "windows-874"),
    (52, "pcoem921", ""),
    (53, "pcoem922", ""),
    (54, "pcoem1129", ""),
    (55, "pcoem720", ""),
    (56, "pcoem737", ""),
    (57, "pcoem775", ""),
    (58, "pcoem860", ""),
    (59, "pcoem863", ""),
    (60, "wlatin2", "windows-1250"),
    (61, "wcyrillic", "windows-1251"),
    (62, "wlatin1", "windows-1252"),
    (63, "wgreek", "windows-1253"),
    (64, "wturkish", "windows-1254"),
    (65, "whebrew", "windows-1255"),
    (66, "warabic", "windows-1256"),
    (67, "wbaltic", "windows-1257"),
    (68, "wvietnamese", "windows-1258"),
    (69, "macroman", "macintosh"),
    (70, "macarabic", ""),
    (71, "machebrew", ""),
    (72, "macgreek", ""),
    (73, "macthai", ""),
    (75, "macturkish", ""),
    (76, "macukraine", "x-mac-cyrillic"),
    (118, "ms-950", "big5"),
    (119, "euc-tw", ""),
    (123, "big5", "big5"),
    (125, "euc-cn", "gb18030"),
    (126, "ms-936", "gbk"),
    (128, "ibm-1381", "gbk"),
    (134, "euc-jp", "euc-jp"),
    (136, "ms-932", "shift_jis"),
    (138, "shift-jis", "shift_jis"),
    (140, "euc-kr", "euc-kr"),
    (141, "ms-949", "euc-kr"),
    (163, "maciceland", ""),
    (167, "iso-2022-jp", "iso-2022-jp"),
    (168, "iso-2022-kr", ""),
    (169, "iso-2022-cn", ""),
    (172, "iso-2022-cn-ext", ""),
    (204, "any", "windows-1252"),
    (205, "gb18030-2005", "gb18030"),
    (227, "latin8", "iso-8859-14"),
    (242, "latin7", "iso-8859-13"),
    (245, "maccroatian", ""),
    (246, "maccyrillic", "x-mac-cyrillic"),
    (247, "macromania", ""),
    (248, "shift-jisx0213", "shift_jis"),
];

impl Encoding {
    /// UTF-8, which new data sets have.
    pub const UTF_8: Self = Self {
        byte: 20,
        name: "utf-8",
    };
    /// ISO 8859-1.
    pub const LATIN1: Self = Self {
        byte: 29,
        name: "latin1",
    };
    /// Windows code page 1252.
    pub const WLATIN1: Self = Self {
        byte: 62,
        name: "wlatin1",
    };

    /// The encoding that a byte of the header names.
    pub fn from_byte(byte: u8) -> Self {
        let name = TABLE
            .iter()
            .find(|row| row.0 == byte)
            .map_or("unknown", |row| row.1);
        Self { byte, name }
    }

    /// The encoding that SAS knows by this word.
    pub fn from_name(name: &str) -> Option<Self> {
        let row = TABLE.iter().find(|row| row.1.eq_ignore_ascii_case(name))?;
        Some(Self {
            byte: row.0,
            name: row.1,
        })
    }

    fn codec(self) -> Option<&'static encoding_rs::Encoding> {
        let label = TABLE.iter().find(|row| row.0 == self.byte)?.2;
        encoding_rs::Encoding::for_label(label.as_bytes())
    }

    /// Whether characters beyond ASCII can be turned into UTF-8. If not, the raw bytes remain.
    pub fn is_supported(self) -> bool {
        self.codec().is_some()
    }

    /// Bytes of the file as UTF-8; what cannot be read becomes U+FFFD.
    ///
    /// Texts of ASCII characters are borrowed, whatever the encoding.
    pub fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        self.decode_lossy(bytes).0
    }

    /// As [`decode`](Self::decode), and whether something could not be read.
    pub fn decode_lossy(self, bytes: &[u8]) -> (Cow<'_, str>, bool) {
        if bytes.is_ascii() && !matches!(self.byte, 167..=172) {
            return (String::from_utf8_lossy(bytes), false);
        }
        if self == Self::LATIN1 {
            // The web's latin1, which the library knows, is windows-1252.
            return (bytes.iter().map(|byte| char::from(*byte)).collect(), false);
        }
        match self.codec() {
            Some(codec) => codec.decode_without_bom_handling(bytes),
            None => {
                let shown = |byte: &u8| match byte {
                    0..=127 => char::from(*byte),
                    _ => char::REPLACEMENT_CHARACTER,
                };
                (bytes.iter().map(shown).collect(), !bytes.is_ascii())
            }
        }
    }

    /// A text in the file's encoding, if the encoding has all of its characters.
    pub fn encode(self, text: &str) -> Result<Cow<'_, [u8]>, Error> {
        let lacking = || Error::Unencodable {
            text: text.to_owned(),
            encoding: self.name,
        };
        if text.is_ascii() || self.byte == Self::UTF_8.byte {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        if self == Self::LATIN1 {
            let bytes = text
                .chars()
                .map(|character| u8::try_from(character).map_err(|_| lacking()));
            return bytes.collect::<Result<Vec<u8>, Error>>().map(Cow::Owned);
        }
        let (bytes, _, lossy) = self.codec().ok_or_else(lacking)?.encode(text);
        if lossy { Err(lacking()) } else { Ok(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_to_utf_8_by_the_encoding_byte() {
        assert_eq!(Encoding::from_byte(62).decode(b"caf\xe9"), "café");
        assert_eq!(Encoding::from_byte(29).decode(b"caf\xe9\x80"), "café\u{80}");
        assert_eq!(Encoding::from_byte(61).decode(b"\xcf"), "П");
        assert_eq!(Encoding::from_byte(125).decode(b"\xd6\xd0"), "中");
        assert_eq!(Encoding::from_byte(255).decode(b"a\xe9"), "a\u{fffd}");
        assert_eq!(Encoding::from_byte(255).name, "unknown");
        for (byte, bytes, lossy) in [
            (20, &b"a\xe9"[..], true),
            (20, "\u{fffd}".as_bytes(), false),
            (255, b"a\xe9", true),
            (255, b"a", false),
            (62, b"caf\xe9", false),
            (29, b"caf\xe9", false),
        ] {
            assert_eq!(
                Encoding::from_byte(byte).decode_lossy(bytes).1,
                lossy,
                "{bytes:?}"
            );
        }
    }

    #[test]
    fn characters_that_an_encoding_lacks_are_refused() {
        assert!(matches!(Encoding::WLATIN1.encode("é"), Ok(bytes) if *bytes == *b"\xe9"));
        assert!(matches!(
            Encoding::WLATIN1.encode("中"),
            Err(Error::Unencodable { .. })
        ));
        assert!(matches!(Encoding::LATIN1.encode("é"), Ok(bytes) if *bytes == *b"\xe9"));
        assert!(matches!(
            Encoding::LATIN1.encode("€"),
            Err(Error::Unencodable { .. })
        ));
        assert!(matches!(Encoding::UTF_8.encode("中"), Ok(bytes) if bytes.len() == 3));
    }
}
