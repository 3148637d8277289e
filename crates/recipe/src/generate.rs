//! Rows from a recipe and a seed.

use base::random::Stream;
use base::rowhash::RowHash;
use sas7bdat::{Compression, Layout, Variable, missing};

use crate::draw::{Integer, Level, Numbers, Piece, Random, Sequence};
use crate::parse::{Column, Kind, Recipe};
use crate::text::{TextColumn, Texts};

/// Makes rows of one data set. Rows are in the layout of an uncompressed data set.
#[derive(Debug, Clone)]
pub struct Generator {
    variables: Vec<Variable>,
    layout: Layout,
    repeat: u64,
    period: u64,
    /// What differs from row to row.
    runs: Vec<Run>,
    /// A row with the columns that never change.
    template: Vec<u8>,
}

/// Neighbouring columns that are drawn in one loop.
#[derive(Debug, Clone)]
enum Run {
    Random(Numbers<Random>),
    Integer(Numbers<Integer>),
    Level(Numbers<Level>),
    Sequence(Numbers<Sequence>),
    Texts(Texts),
}

impl Generator {
    /// The generator of `recipe` with `seed`.
    pub fn new(recipe: &Recipe, seed: u64) -> Self {
        let variables: Vec<Variable> = recipe.columns.iter().map(variable).collect();
        let layout = Layout::new(&variables, Compression::None);
        let root = Stream::new(seed);
        let mut template = vec![0; layout.row_bytes as usize];
        let mut runs = Runs::default();
        for (number, (column, offset)) in recipe.columns.iter().zip(&layout.offsets).enumerate() {
            let offset = *offset as usize;
            match fixed(&column.kind) {
                Some(bytes) => template[offset..offset + bytes.len()].copy_from_slice(&bytes),
                None => runs.add(&column.kind, offset, root.child(number as u64)),
            }
            if let Kind::Character { length, .. } = column.kind {
                template[offset..offset + length as usize].fill(b' ');
            }
        }
        Self {
            variables,
            layout,
            repeat: recipe.repeat,
            period: recipe.period,
            runs: runs.finish(),
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
        assert!(
            into.len().is_multiple_of(row_bytes),
            "a slab of {} bytes is not whole rows of {row_bytes}",
            into.len()
        );
        let mut previous: Option<u64> = None;
        for index in 0..into.len() / row_bytes {
            let identity = self.identity(first + index as u64);
            let start = index * row_bytes;
            if previous == Some(identity) {
                into.copy_within(start - row_bytes..start, start);
            } else {
                self.draw(identity, &mut into[start..start + row_bytes]);
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
        for run in &self.runs {
            match run {
                Run::Random(columns) => columns.draw(identity, row),
                Run::Integer(columns) => columns.draw(identity, row),
                Run::Level(columns) => columns.draw(identity, row),
                Run::Sequence(columns) => columns.draw(identity, row),
                Run::Texts(columns) => columns.draw(identity, row),
            }
        }
    }
}

/// Puts columns together as they come.
#[derive(Default)]
struct Runs {
    runs: Vec<Run>,
    /// Character columns by alphabet; they lie behind all numbers.
    texts: Vec<(Vec<u8>, Vec<TextColumn>)>,
}

impl Runs {
    fn add(&mut self, kind: &Kind, offset: usize, stream: Stream) {
        match kind {
            Kind::Random => self.number(offset, Random(stream), Run::Random, |run| match run {
                Run::Random(columns) => Some(columns),
                _ => None,
            }),
            Kind::Integer { from, to } => {
                let column = Integer {
                    stream,
                    from: *from,
                    count: to.abs_diff(*from).saturating_add(1),
                };
                self.number(offset, column, Run::Integer, |run| match run {
                    Run::Integer(columns) => Some(columns),
                    _ => None,
                });
            }
            Kind::Level { levels } => {
                let column = Level {
                    stream,
                    values: stream.child(0),
                    levels: *levels,
                };
                self.number(offset, column, Run::Level, |run| match run {
                    Run::Level(columns) => Some(columns),
                    _ => None,
                });
            }
            Kind::Sequence { start, step } => {
                let column = Sequence {
                    start: *start,
                    step: *step,
                };
                self.number(offset, column, Run::Sequence, |run| match run {
                    Run::Sequence(columns) => Some(columns),
                    _ => None,
                });
            }
            Kind::Character { used, alphabet, .. } => {
                let column = TextColumn {
                    offset,
                    used: *used as usize,
                    stream,
                };
                match self.texts.iter_mut().find(|(there, _)| there == alphabet) {
                    Some((_, columns)) => columns.push(column),
                    None => self.texts.push((alphabet.clone(), vec![column])),
                }
            }
            Kind::Constant { .. } | Kind::Missing => unreachable!("fixed columns are not drawn"),
        }
    }

    fn number<C: crate::draw::Column>(
        &mut self,
        offset: usize,
        column: C,
        run: fn(Numbers<C>) -> Run,
        last: fn(&mut Run) -> Option<&mut Numbers<C>>,
    ) {
        let left = match self.runs.last_mut().and_then(last) {
            Some(columns) => columns.extend(offset, column),
            None => Some(column),
        };
        if let Some(column) = left {
            self.runs.push(run(Numbers::new(offset, column)));
        }
    }

    fn finish(mut self) -> Vec<Run> {
        let texts = self.texts.iter();
        let texts = texts.map(|(alphabet, columns)| Run::Texts(Texts::new(alphabet, columns)));
        self.runs.extend(texts);
        self.runs
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
        assert_eq!(format!("{:016x}", hash.sum), "b2314b78003412fc");
        assert_ne!(generator("repeat = 2", 43).row_hash(0, 1000), hash);
    }
}
