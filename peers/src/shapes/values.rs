//! Values of rows.

use sas7bdat::{Kind, missing};

use super::Shape;

/// A value to store.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Number(f64),
    /// In the encoding of the data set.
    Text(Vec<u8>),
}

/// `SplitMix64`.
#[derive(Debug, Clone)]
pub(super) struct Random(pub(super) u64);

impl Random {
    /// A seed of one's own for each name.
    pub(super) fn seed(name: &str) -> u64 {
        name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
        })
    }

    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap_or(0)
    }

    /// From 1 to below 2, with all bits of the mantissa used; no peer rounds such a number.
    fn fraction(&mut self) -> f64 {
        f64::from_bits(0x3FF0_0000_0000_0000 | (self.next() >> 12))
    }
}

const WORDS: [&str; 8] = [
    "Cary",
    "Heidelberg",
    "naïve",
    "Größe",
    "東京",
    "π≈3",
    "San Luis Obispo",
    "",
];

/// What most shapes hold: counts, measured numbers, words, blanks.
pub(super) fn ordinary(shape: &Shape, number: u64, random: &mut Random) -> Vec<Value> {
    let value = |(index, variable): (usize, &sas7bdat::Variable)| match variable.kind {
        Kind::Numeric if index == 0 => Value::Number(number as f64),
        Kind::Numeric => Value::Number(match random.below(4) {
            0 => random.below(1000) as f64,
            1 if random.below(2) == 0 => missing::missing(),
            _ => random.fraction() * 1000.0,
        }),
        Kind::Character => Value::Text(words(variable.length as usize, random)),
    };
    shape.variables.iter().enumerate().map(value).collect()
}

/// Whole words up to a length.
fn words(length: usize, random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..random.below(5) {
        let word = WORDS[random.below(WORDS.len())];
        if text.len() + word.len() < length {
            text.push_str(word);
            text.push(' ');
        }
    }
    if text.is_empty() && random.below(2) == 0 {
        text.push('x');
    }
    text.trim_end().as_bytes().to_vec()
}

/// Numbers and ASCII characters without any order.
pub(super) fn incompressible(shape: &Shape, _: u64, random: &mut Random) -> Vec<Value> {
    let value = |variable: &sas7bdat::Variable| match variable.kind {
        Kind::Numeric => Value::Number(random.fraction()),
        Kind::Character => Value::Text(noise(variable.length as usize, random)),
    };
    shape.variables.iter().map(value).collect()
}

fn noise(length: usize, random: &mut Random) -> Vec<u8> {
    (0..length)
        .map(|_| b'!' + u8::try_from(random.below(94)).unwrap_or(0))
        .collect()
}

/// Every missing value in every column.
pub(super) fn all_missing(shape: &Shape, number: u64, _: &mut Random) -> Vec<Value> {
    let codes: Vec<u8> = [0, b'_'].into_iter().chain(b'A'..=b'Z').collect();
    (0..shape.variables.len())
        .map(|column| {
            let at = (usize::try_from(number).unwrap_or(0) + column) % codes.len();
            Value::Number(missing::encode(codes[at]))
        })
        .collect()
}

/// Lengths of runs around every border of the two encodings.
const RUNS: [usize; 40] = [
    1, 2, 3, 4, 5, 15, 16, 17, 18, 19, 20, 32, 33, 34, 63, 64, 65, 66, 80, 81, 128, 144, 256, 257,
    271, 272, 273, 274, 275, 528, 1000, 1023, 1040, 1041, 2048, 4096, 4113, 4114, 4115, 5000,
];
const BYTES: [u8; 4] = [b' ', b'@', b'x', b'.'];

/// A run of a byte, between texts without any run; a piece of the first text again behind it.
pub(super) fn runs(shape: &Shape, number: u64, random: &mut Random) -> Vec<Value> {
    let number_at = usize::try_from(number).unwrap_or(0);
    let (length, byte) = (
        RUNS[number_at % RUNS.len()],
        BYTES[number_at / RUNS.len() % BYTES.len()],
    );
    let room = shape.variables[1].length as usize;
    let lead = [0, 1, 7, 64, 65, 300, 1025][random.below(7)];
    let mut text = noise(lead, random);
    text.resize(lead + length, byte);
    let again = lead.min([3, 15, 16, 40, 271, 272][random.below(6)]);
    text.extend_from_within(lead - again..lead);
    let tail = random.below(200);
    text.extend(noise(tail, random));
    text.truncate(room);
    vec![Value::Number(number as f64), Value::Text(text)]
}

/// A run of zero bytes: numbers that are 0 between others that have zeros only in part.
pub(super) fn zeros(shape: &Shape, number: u64, random: &mut Random) -> Vec<Value> {
    let columns = shape.variables.len();
    let length = RUNS[usize::try_from(number).unwrap_or(0) % RUNS.len()].min(columns);
    let start = random.below(columns - length + 1);
    (0..columns)
        .map(|column| {
            let is_in_run = (start..start + length).contains(&column);
            let others = [1.0, 0.5, random.fraction(), 4097.0];
            Value::Number(if is_in_run {
                0.0
            } else {
                others[random.below(4)]
            })
        })
        .collect()
}

/// Bits of a number whose bytes are those of a subheader's signature.
const SIGNATURES: [u64; 4] = [
    0xF7F7_F7F7,
    0xF6F6_F6F6,
    0xF7F7_F7F7_F7F7_F7F7,
    0xF6F6_F6F6_F6F6_F6F6,
];

/// Rows that begin like a subheader, and that no encoding makes shorter.
pub(super) fn signatures(shape: &Shape, number: u64, random: &mut Random) -> Vec<Value> {
    let mut values = incompressible(shape, number, random);
    let at = usize::try_from(number).unwrap_or(0);
    if let Some(bits) = SIGNATURES.get(at % (SIGNATURES.len() + 1)) {
        values[0] = Value::Number(f64::from_bits(*bits));
    }
    values
}

/// The same with text in a single-byte encoding, where every signature is a text.
pub(super) fn text_signatures(shape: &Shape, number: u64, random: &mut Random) -> Vec<Value> {
    let mut values = incompressible(shape, number, random);
    let last = [0xF6, 0xF7, 0xFC, 0xFD, 0xFE, 0xFF];
    let at = usize::try_from(number).unwrap_or(0);
    if let (Some(first), Value::Text(text)) = (last.get(at % 7), &mut values[0]) {
        text[..8].fill(if *first < 0xF8 { *first } else { 0xFF });
        text[0] = *first;
    }
    values
}
