//! Rows from a recipe and a seed.

use base::random::{Stream, mix};
use base::rowhash::RowHash;
use sas7bdat::{Compression, Layout, Variable, missing};

use crate::parse::{Column, Kind, Recipe};

/// Characters drawn from one 64-bit word: six bits each.
const CHARACTERS_PER_WORD: usize = 10;

/// Makes rows of one data set. Rows are in the layout of an uncompressed data set.
#[derive(Debug, Clone)]
pub struct Generator {
    variables: Vec<Variable>,
    layout: Layout,
    repeat: u64,
    period: u64,
    /// Columns that differ from row to row.
    drawn: Vec<Drawn>,
    /// A row with the columns that never change.
    template: Vec<u8>,
}

#[derive(Debug, Clone)]
struct Drawn {
    offset: usize,
    stream: Stream,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    Random,
    Integer {
        from: i64,
        count: u64,
    },
    Level {
        levels: u64,
        values: Stream,
    },
    Sequence {
        start: i64,
        step: i64,
    },
    /// `table` has 64 entries: the alphabet, repeated.
    Character {
        used: usize,
        words: u64,
        table: Box<[u8; 64]>,
    },
}

impl Generator {
    /// The generator of `recipe` with `seed`.
    pub fn new(recipe: &Recipe, seed: u64) -> Self {
        let variables: Vec<Variable> = recipe.columns.iter().map(variable).collect();
        let layout = Layout::new(&variables, Compression::None);
        let root = Stream::new(seed);
        let mut template = vec![0; layout.row_bytes as usize];
        let mut drawn = Vec::new();
        for (number, (column, offset)) in recipe.columns.iter().zip(&layout.offsets).enumerate() {
            let (offset, stream) = (*offset as usize, root.child(number as u64));
            match fixed(&column.kind) {
                Some(bytes) => template[offset..offset + bytes.len()].copy_from_slice(&bytes),
                None => drawn.push(Drawn {
                    offset,
                    stream,
                    how: how(&column.kind, stream),
                }),
            }
            if let Kind::Character { length, used, .. } = column.kind {
                template[offset + used as usize..offset + length as usize].fill(b' ');
            }
        }
        let (repeat, period) = (recipe.repeat, recipe.period);
        Self {
            variables,
            layout,
            repeat,
            period,
            drawn,
            template,
        }
    }

    /// The variables, in order.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Where they lie in a row.
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The number that decides what is in row `row`: rows with the same number are the same.
    fn identity(&self, row: u64) -> u64 {
        let row = if self.period == 0 {
            row
        } else {
            row % self.period
        };
        row / self.repeat
    }

    /// Fills `into`, whole rows, with rows from `first` on.
    pub fn fill(&self, first: u64, into: &mut [u8]) {
        let row_bytes = self.template.len();
        let mut previous: Option<u64> = None;
        for index in 0..into.len() / row_bytes {
            let identity = self.identity(first + index as u64);
            let (before, rest) = into.split_at_mut(index * row_bytes);
            let row = &mut rest[..row_bytes];
            if previous == Some(identity) {
                row.copy_from_slice(&before[before.len() - row_bytes..]);
            } else {
                self.draw(identity, row);
                previous = Some(identity);
            }
        }
    }

    /// The hash of the multiset of rows `first..first + count`, as verification computes it.
    pub fn row_hash(&self, first: u64, count: u64) -> RowHash {
        let mut hash = RowHash::default();
        let mut row = vec![0; self.template.len()];
        let mut previous: Option<u64> = None;
        for number in first..first + count {
            let identity = self.identity(number);
            if previous != Some(identity) {
                self.draw(identity, &mut row);
                previous = Some(identity);
            }
            hash.add(&row);
        }
        hash
    }

    fn draw(&self, identity: u64, row: &mut [u8]) {
        row.copy_from_slice(&self.template);
        for column in &self.drawn {
            column.draw(identity, row);
        }
    }
}

impl Drawn {
    #[inline]
    fn draw(&self, identity: u64, row: &mut [u8]) {
        let number = match &self.how {
            How::Random => self.stream.unit(identity),
            How::Integer { from, count } => {
                (from + self.stream.below(identity, *count).cast_signed()) as f64
            }
            How::Level { levels, values } => values.unit(self.stream.below(identity, *levels)),
            How::Sequence { start, step } => {
                (start + identity.cast_signed().wrapping_mul(*step)) as f64
            }
            How::Character { used, words, table } => {
                let start = identity.wrapping_mul(*words);
                let text = &mut row[self.offset..self.offset + used];
                for (index, piece) in text.chunks_mut(CHARACTERS_PER_WORD).enumerate() {
                    let mut word = self.stream.word(start + index as u64);
                    for byte in piece {
                        *byte = table[(word & 63) as usize];
                        word >>= 6;
                    }
                }
                return;
            }
        };
        row[self.offset..self.offset + 8].copy_from_slice(&number.to_le_bytes());
    }
}

fn variable(column: &Column) -> Variable {
    let mut variable = match &column.kind {
        Kind::Character { length, .. } => Variable::character(&column.name, *length),
        _ => Variable::numeric(&column.name),
    };
    variable.label.clone_from(&column.label);
    variable
}

/// The bytes of a column that is the same in every row.
fn fixed(kind: &Kind) -> Option<[u8; 8]> {
    match kind {
        Kind::Constant { value } => Some(value.to_le_bytes()),
        Kind::Missing => Some(missing::encode(0).to_le_bytes()),
        _ => None,
    }
}

fn how(kind: &Kind, stream: Stream) -> How {
    match kind {
        Kind::Random => How::Random,
        Kind::Integer { from, to } => {
            let count = to.wrapping_sub(*from).cast_unsigned().saturating_add(1);
            How::Integer { from: *from, count }
        }
        Kind::Level { levels } => How::Level {
            levels: *levels,
            values: stream.child(0),
        },
        Kind::Sequence { start, step } => How::Sequence {
            start: *start,
            step: *step,
        },
        Kind::Character { used, alphabet, .. } => {
            let mut table = Box::new([0; 64]);
            // Sixty-four entries from an alphabet that does not divide them: which characters come
            // once more is drawn, so that no letter is favoured in every column.
            let shift = usize::try_from(mix(stream.word(u64::MAX)) % 64).expect("below 64");
            for (index, entry) in table.iter_mut().enumerate() {
                *entry = alphabet[(index + shift) % alphabet.len()];
            }
            let used = *used as usize;
            How::Character {
                used,
                words: used.div_ceil(CHARACTERS_PER_WORD) as u64,
                table,
            }
        }
        Kind::Constant { .. } | Kind::Missing => unreachable!("fixed columns are not drawn"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"
        columns = [
            {name = "id", kind = "sequence", start = 5, step = 2},
            {name = "x", count = 2, kind = "random"},
            {name = "n", kind = "integer", from = -3, to = 3},
            {name = "l", kind = "level", levels = 4},
            {name = "z", kind = "constant", value = 0.0},
            {name = "m", kind = "missing"},
            {name = "c", kind = "character", length = 25, used = 21, alphabet = "a-e"},
        ]"#;

    fn generator(extra: &str, seed: u64) -> Generator {
        Generator::new(
            &Recipe::parse("r.toml", &format!("{extra}\n{TEXT}")).unwrap(),
            seed,
        )
    }

    fn rows(generator: &Generator, first: u64, count: usize) -> Vec<Vec<u8>> {
        let row_bytes = generator.layout().row_bytes as usize;
        let mut bytes = vec![0xAA; count * row_bytes];
        generator.fill(first, &mut bytes);
        bytes.chunks(row_bytes).map(<[u8]>::to_vec).collect()
    }

    fn number(generator: &Generator, row: &[u8], column: usize) -> f64 {
        let offset = generator.layout().offsets[column] as usize;
        f64::from_le_bytes(row[offset..offset + 8].try_into().unwrap())
    }

    #[test]
    fn any_row_can_be_made_alone() {
        let generator = generator("", 7);
        let together = rows(&generator, 0, 50);
        for (index, row) in together.iter().enumerate() {
            assert_eq!(rows(&generator, index as u64, 1)[0], *row);
        }
        let mut hash = RowHash::default();
        for row in &together[10..] {
            hash.add(row);
        }
        assert_eq!(generator.row_hash(10, 40), hash);
    }

    #[test]
    fn columns_hold_what_the_recipe_says() {
        let generator = generator("", 1);
        let mut levels = std::collections::BTreeSet::new();
        for (index, row) in rows(&generator, 0, 200).iter().enumerate() {
            assert!((number(&generator, row, 0) - (5.0 + 2.0 * index as f64)).abs() < 1e-9);
            assert!((0.0..1.0).contains(&number(&generator, row, 1)));
            assert!((-3.0..=3.0).contains(&number(&generator, row, 3)));
            levels.insert(number(&generator, row, 4).to_bits());
            assert_eq!(number(&generator, row, 5).to_bits(), 0);
            assert_eq!(missing::code(number(&generator, row, 6)), Some(0));
            let text = &row[generator.layout().offsets[7] as usize..][..25];
            assert!(text[..21].iter().all(|byte| (b'a'..=b'e').contains(byte)));
            assert_eq!(&text[21..], b"    ");
        }
        assert_eq!(levels.len(), 4);
    }

    #[test]
    fn rows_repeat_and_come_again_as_asked() {
        let repeated = rows(&generator("repeat = 3", 1), 0, 9);
        assert_eq!(repeated[0], repeated[2]);
        assert_ne!(repeated[2], repeated[3]);
        let periodic = rows(&generator("period = 4", 1), 0, 9);
        assert_eq!(periodic[1], periodic[5]);
        assert_ne!(periodic[1], periodic[2]);
    }

    /// The contract "same seed, same bytes": this hash may never change.
    #[test]
    fn bytes_of_a_seed_are_fixed() {
        let hash = generator("repeat = 2", 42).row_hash(0, 1000);
        assert_eq!(format!("{:016x}", hash.sum), "0000000000000000");
        assert_ne!(generator("repeat = 2", 43).row_hash(0, 1000), hash);
    }
}
