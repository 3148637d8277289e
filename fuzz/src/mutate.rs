//! How one input becomes another.

use crate::Target;
use crate::random::Random;
use crate::seeds::Seeds;

/// Most changes to one input.
const CHANGES_MAX: usize = 12;
/// Most bytes that one change puts in.
const BLOCK_MAX: usize = 4096;

/// Numbers at the edges of what fields hold.
const NUMBERS: [u64; 24] = [
    0,
    1,
    2,
    3,
    7,
    127,
    128,
    255,
    256,
    1023,
    4096,
    32_767,
    32_768,
    65_535,
    65_536,
    (1 << 24) - 1,
    (1 << 31) - 1,
    1 << 31,
    u32::MAX as u64,
    1 << 32,
    i64::MAX as u64,
    1 << 63,
    u64::MAX - 1,
    u64::MAX,
];

/// Pieces that mean something to a target, so that texts get past its first branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words {
    /// None: the input is not a text.
    None,
    /// The SAS language.
    Program,
    /// TOML.
    Recipe,
}

impl Words {
    fn list(self) -> &'static str {
        match self {
            Self::None => "",
            Self::Program => include_str!("../seeds/program.words"),
            Self::Recipe => include_str!("../seeds/recipe.words"),
        }
    }
}

/// Makes the inputs of a run: each follows from the run's seed and its own number.
pub struct Mutator {
    seeds: Vec<Vec<u8>>,
    words: Vec<&'static str>,
    longest: usize,
    seed: u64,
}

impl Mutator {
    /// The inputs of `target` in a run with `seed`.
    pub fn new(target: &Target, seeds: &Seeds, seed: u64) -> Self {
        Self {
            seeds: (target.seeds)(seeds),
            words: target.words.list().lines().collect(),
            longest: target.longest,
            seed,
        }
    }

    /// What inputs are made of.
    pub fn seeds(&self) -> &[Vec<u8>] {
        &self.seeds
    }

    /// Input number `iteration`; the first ones are the seeds as they are.
    pub fn input(&self, iteration: u64) -> Vec<u8> {
        let whole = usize::try_from(iteration).ok();
        if let Some(seed) = whole.and_then(|number| self.seeds.get(number)) {
            return seed.clone();
        }
        let mut random = Random::new(self.seed, iteration);
        let mut input = random.pick(&self.seeds).clone();
        for _ in 0..=random.skewed(CHANGES_MAX) {
            self.change(&mut input, &mut random);
            input.truncate(self.longest);
        }
        input
    }

    fn change(&self, input: &mut Vec<u8>, random: &mut Random) {
        let text = !self.words.is_empty();
        match random.below(if text { 18 } else { 15 }) {
            0 | 1 => {
                let at = place(input, random);
                if let Some(byte) = input.get_mut(at) {
                    *byte ^= 1 << random.below(8);
                }
            }
            2 | 3 => {
                let at = place(input, random);
                let value = match random.below(3) {
                    0 => *random.pick(b"\0 @A\x7F\x80\xFF\xFE\n;&%'"),
                    _ => random.byte(),
                };
                if let Some(byte) = input.get_mut(at) {
                    *byte = value;
                }
            }
            4..=6 => overwrite(input, random),
            7 => nudge(input, random),
            8 => fill(input, random),
            9 => copy_over(input, random),
            10 => copy_in(input, random),
            11 => {
                let range = block(input, random);
                input.drain(range);
            }
            12 => input.truncate(random.below(input.len() + 1)),
            13 => self.splice(input, random),
            14 => self.patch(input, random),
            15 | 16 => self.say(input, random),
            _ => nest(input, random, self.longest),
        }
    }

    /// The front of this input and the back of another.
    fn splice(&self, input: &mut Vec<u8>, random: &mut Random) {
        let other = random.pick(&self.seeds);
        let at = random.below(input.len() + 1);
        let from = match random.below(2) {
            0 => at.min(other.len()),
            _ => random.below(other.len() + 1),
        };
        input.truncate(at);
        input.extend_from_slice(&other[from..]);
    }

    /// A block of another input in the same place.
    fn patch(&self, input: &mut [u8], random: &mut Random) {
        let range = block(input, random);
        let other = random.pick(&self.seeds);
        let end = range.end.min(other.len()).min(input.len());
        let start = range.start.min(end);
        input[start..end].copy_from_slice(&other[start..end]);
    }

    /// Some words somewhere.
    fn say(&self, input: &mut Vec<u8>, random: &mut Random) {
        let at = random.below(input.len() + 1);
        let mut said = Vec::new();
        for _ in 0..=random.skewed(8) {
            // Words are lines of a file, so that a line end is written as a backslash and n.
            said.extend_from_slice(random.pick(&self.words).replace("\\n", "\n").as_bytes());
        }
        input.splice(at..at, said);
    }
}

/// A place to change: anywhere, in the header, or near the start or the end of a page, where
/// most of what describes a data set lies.
fn place(input: &[u8], random: &mut Random) -> usize {
    let page = 1024 << random.below(5);
    let border = random.below(input.len() / page + 2) * page;
    let place = match random.below(5) {
        0 => random.below(input.len().min(400)),
        1 => border + random.below(64),
        2 => border + random.below(1500),
        3 => border.saturating_sub(random.below(1500)),
        _ => random.below(input.len()),
    };
    if place < input.len() {
        place
    } else {
        random.below(input.len())
    }
}

/// A short stretch of the input.
fn block(input: &[u8], random: &mut Random) -> std::ops::Range<usize> {
    let start = place(input, random).min(input.len());
    let length = random.skewed(BLOCK_MAX.min(input.len() - start));
    start..start + length
}

/// A number of 1 to 8 bytes with a value that may be a lie.
fn overwrite(input: &mut [u8], random: &mut Random) {
    let length = input.len() as u64;
    let value = match random.below(6) {
        0 => random.number(),
        1 => length.wrapping_add(random.below(5) as u64).wrapping_sub(2),
        2 => random.below(input.len()) as u64,
        _ => *random.pick(&NUMBERS),
    };
    let width = 1 << random.below(4);
    // Fields lie at multiples of their width mostly.
    let mut at = place(input, random);
    if random.below(4) > 0 {
        at -= at % width.min(4);
    }
    let Some(field) = input.get_mut(at..at + width) else {
        return;
    };
    if random.below(4) > 0 {
        field.copy_from_slice(&value.to_le_bytes()[..width]);
    } else {
        field.copy_from_slice(&value.to_be_bytes()[8 - width..]);
    }
}

/// A little more or less than what is there, in either byte order.
fn nudge(input: &mut [u8], random: &mut Random) {
    let width = 1 << random.below(4);
    let at = place(input, random);
    let delta = (random.skewed(64) as u64).wrapping_sub(random.skewed(64) as u64);
    let Some(field) = input.get_mut(at..at + width) else {
        return;
    };
    let big = random.below(2) == 1;
    if big {
        field.reverse();
    }
    let mut all = [0; 8];
    all[..width].copy_from_slice(field);
    let value = u64::from_le_bytes(all).wrapping_add(delta);
    field.copy_from_slice(&value.to_le_bytes()[..width]);
    if big {
        field.reverse();
    }
}

fn fill(input: &mut [u8], random: &mut Random) {
    let range = block(input, random);
    let byte = match random.below(4) {
        0 => random.byte(),
        _ => *random.pick(b"\0 @\xFF"),
    };
    input[range].fill(byte);
}

fn copy_over(input: &mut [u8], random: &mut Random) {
    let range = block(input, random);
    let to = place(input, random);
    if to + range.len() <= input.len() {
        input.copy_within(range, to);
    }
}

fn copy_in(input: &mut Vec<u8>, random: &mut Random) {
    let copied = input[block(input, random)].to_vec();
    let at = random.below(input.len() + 1);
    input.splice(at..at, copied);
}

/// The same few bytes many times.
fn nest(input: &mut Vec<u8>, random: &mut Random, longest: usize) {
    let start = random.below(input.len());
    let length = 1 + random.skewed(24);
    let piece = input.get(start..start + length).unwrap_or(b"(").to_vec();
    let room = longest.saturating_sub(input.len()) / piece.len();
    let times = random.skewed(room.min(4000));
    input.splice(start..start, piece.repeat(times));
}
