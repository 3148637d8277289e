//! Random numbers with the streams of SAS: RAND by the Mersenne twister of 1998, RANUNI and
//! its family by their multiplicative generator.

use super::table::{Entry, Gives, general};
use crate::expr::general::{Call, Result};
use sas7bdat::missing;
use std::f64::consts::PI;

/// The functions.
pub(super) const TABLE: &[Entry] = &[
    general("RAND", "c?n*", Gives::Number, rand),
    general("RANUNI", "n", Gives::Number, ranuni),
    general("UNIFORM", "n", Gives::Number, ranuni),
    general("RANNOR", "n", Gives::Number, rannor),
    general("NORMAL", "n", Gives::Number, rannor),
    general("RANEXP", "n", Gives::Number, |call| {
        Result::Number(-old(call).uniform().ln())
    }),
];

/// Streams of one step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Random {
    twister: Option<Box<Twister>>,
    old: Option<Congruential>,
}

impl Random {
    /// CALL STREAMINIT: only the first one of a step counts, and only before RAND. A seed below 1 is
    /// replaced by `other`.
    pub fn initialise(&mut self, seed: f64, other: u64) {
        if self.twister.is_none() {
            self.twister = Some(Box::new(Twister::new(seed_of(seed, other))));
        }
    }

    /// Whether RAND has a stream.
    pub fn is_seeded(&self) -> bool {
        self.twister.is_some()
    }

    /// The stream of RAND; without one a new one by `other`.
    pub fn twister(&mut self, other: u64) -> &mut Twister {
        self.twister
            .get_or_insert_with(|| Box::new(Twister::new(seed_of(0.0, other))))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the range is checked before, and the clock is cut on purpose"
)]
fn seed_of(seed: f64, other: u64) -> u32 {
    if (1.0..2_147_483_648.0).contains(&seed) {
        seed as u32
    } else {
        (other % 2_147_483_646) as u32 + 1
    }
}

const WORDS: usize = 624;

/// MT19937 with the initialisation of 1998, or of 2002 for seeds divisible by 8192.
#[derive(Debug, Clone, PartialEq)]
pub struct Twister {
    state: Vec<u32>,
    next: usize,
    /// The second number of a pair of normal ones.
    spare: Option<f64>,
}

impl Twister {
    fn new(seed: u32) -> Self {
        let mut state = vec![seed; WORDS];
        for index in 1..WORDS {
            let before = state[index - 1];
            state[index] = if seed.is_multiple_of(8192) {
                let mixed = before ^ (before >> 30);
                1_812_433_253_u32
                    .wrapping_mul(mixed)
                    .wrapping_add(u32::try_from(index).unwrap_or(0))
            } else {
                before.wrapping_mul(69_069)
            };
        }
        Self {
            state,
            next: WORDS,
            spare: None,
        }
    }

    fn twist(&mut self) {
        for index in 0..WORDS {
            let joined =
                (self.state[index] & 0x8000_0000) | (self.state[(index + 1) % WORDS] & 0x7FFF_FFFF);
            let odd = if joined & 1 == 1 { 0x9908_B0DF } else { 0 };
            self.state[index] = self.state[(index + 397) % WORDS] ^ (joined >> 1) ^ odd;
        }
        self.next = 0;
    }

    fn word(&mut self) -> u32 {
        if self.next >= WORDS {
            self.twist();
        }
        let mut word = self.state[self.next];
        self.next += 1;
        word ^= word >> 11;
        word ^= (word << 7) & 0x9D2C_5680;
        word ^= (word << 15) & 0xEFC6_0000;
        word ^ (word >> 18)
    }

    /// Uniform between 0 and 1, both excluded.
    pub fn uniform(&mut self) -> f64 {
        loop {
            let word = self.word();
            if word > 0 {
                return f64::from(word) / 4_294_967_296.0;
            }
        }
    }

    /// A point within the unit circle and the square of its distance: Marsaglia's polar method.
    fn point(&mut self) -> (f64, f64, f64) {
        loop {
            let (a, b) = (2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0);
            let square = a * a + b * b;
            if square < 1.0 && square > 0.0 {
                return (a, b, square);
            }
        }
    }

    /// Standard normal; numbers come in pairs.
    pub fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let (a, b, square) = self.point();
        let factor = (-2.0 * square.ln() / square).sqrt();
        self.spare = Some(b * factor);
        a * factor
    }

    fn cauchy(&mut self) -> f64 {
        let (a, b, _) = self.point();
        a / b
    }

    /// Gamma with scale 1: Marsaglia and Tsang.
    fn gamma(&mut self, shape: f64) -> f64 {
        if shape < 1.0 {
            let power = self.uniform().powf(1.0 / shape);
            return self.gamma(shape + 1.0) * power;
        }
        let d = shape - 1.0 / 3.0;
        let c = 1.0 / (9.0 * d).sqrt();
        loop {
            let x = self.normal();
            let v = (1.0 + c * x).powi(3);
            if v > 0.0 && self.uniform().ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return d * v;
            }
        }
    }

    fn poisson(&mut self, mean: f64) -> f64 {
        if mean > 30.0 {
            // Halving keeps the sum of uniforms short and stays exact.
            return self.poisson(mean / 2.0) + self.poisson(mean / 2.0);
        }
        let (limit, mut product, mut count) = ((-mean).exp(), self.uniform(), 0.0);
        while product > limit {
            product *= self.uniform();
            count += 1.0;
        }
        count
    }
}

/// `s = 397204094 s mod (2^31 - 1)`
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Congruential {
    state: u64,
}

impl Congruential {
    /// The stream of a seed; one below 1 is replaced by `other`.
    pub fn seeded(seed: f64, other: u64) -> Self {
        Self {
            state: u64::from(seed_of(seed, other)),
        }
    }

    /// The seed that goes on from here.
    pub fn seed(&self) -> f64 {
        self.state as f64
    }

    /// A standard normal number.
    pub fn normal(&mut self) -> f64 {
        let (first, second) = (self.uniform(), self.uniform());
        (-2.0 * first.ln()).sqrt() * (2.0 * PI * second).cos()
    }

    /// A number between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        const MODULUS: u64 = (1 << 31) - 1;
        self.state = self.state * 397_204_094 % MODULUS;
        self.state as f64 / MODULUS as f64
    }
}

/// The stream shared by RANUNI and its family in one step; the first call's seed counts.
fn old<'a>(call: &'a mut Call<'_, '_>) -> &'a mut Congruential {
    let seed = call.number(0);
    let surroundings = &mut call.events.surroundings;
    if surroundings.random.old.is_none() {
        let stream = Congruential::seeded(seed, surroundings.entropy());
        surroundings.random.old = Some(stream);
    }
    surroundings
        .random
        .old
        .get_or_insert(Congruential { state: 1 })
}

fn twister<'a>(call: &'a mut Call<'_, '_>) -> &'a mut Twister {
    let surroundings = &mut call.events.surroundings;
    let other = if surroundings.random.is_seeded() {
        0
    } else {
        surroundings.entropy()
    };
    surroundings.random.twister(other)
}

/// `rand('uniform')` and `rand('normal')` without further arguments, which most programs mean.
pub(crate) fn plain(distribution: &[u8]) -> Option<&'static Entry> {
    static UNIFORM: Entry = general("RAND", "", Gives::Number, |call| {
        Result::Number(twister(call).uniform())
    });
    static NORMAL: Entry = general("RAND", "", Gives::Number, |call| {
        Result::Number(twister(call).normal())
    });
    match find(distribution, 0).ok()?.name {
        "UNIFORM" => Some(&UNIFORM),
        "NORMAL" | "GAUSSIAN" => Some(&NORMAL),
        _ => None,
    }
}

fn ranuni(call: &mut Call<'_, '_>) -> Result {
    Result::Number(old(call).uniform())
}

fn rannor(call: &mut Call<'_, '_>) -> Result {
    Result::Number(old(call).normal())
}

/// A distribution of RAND.
struct Named {
    name: &'static str,
    /// How many parameters it takes.
    least: usize,
    most: usize,
    /// `None` if the parameters are not valid.
    draw: fn(&mut Twister, &[f64]) -> Option<f64>,
}

const fn named(
    name: &'static str,
    least: usize,
    most: usize,
    draw: fn(&mut Twister, &[f64]) -> Option<f64>,
) -> Named {
    Named {
        name,
        least,
        most,
        draw,
    }
}

/// The parameter at `index`, or what it is by default.
fn or(given: &[f64], index: usize, default: f64) -> f64 {
    given.get(index).copied().unwrap_or(default)
}

fn normal(twister: &mut Twister, given: &[f64]) -> Option<f64> {
    let (mean, deviation) = (or(given, 0, 0.0), or(given, 1, 1.0));
    (deviation > 0.0).then(|| mean + deviation * twister.normal())
}

fn chi_square(twister: &mut Twister, degrees: f64) -> f64 {
    2.0 * twister.gamma(degrees / 2.0)
}

/// The number of the first of `shares` that brings their sum above a uniform number, from 1; one more than there are
/// if none does.
fn table(twister: &mut Twister, shares: &[f64]) -> Option<f64> {
    if !shares.iter().all(|share| (0.0..=1.0).contains(share)) {
        return None;
    }
    let mut rest = twister.uniform();
    let place = shares.iter().position(|share| {
        rest -= share;
        rest < 0.0
    });
    Some(place.unwrap_or(shares.len()) as f64 + 1.0)
}

fn binomial(twister: &mut Twister, p: f64, n: f64) -> Option<f64> {
    if !(0.0..=1.0).contains(&p) || !(1.0..=1e7).contains(&n) {
        return None;
    }
    let (mut hits, mut trial) = (0.0, 0.0);
    while trial < n.floor() {
        hits += f64::from(u8::from(twister.uniform() < p));
        trial += 1.0;
    }
    Some(hits)
}

const LAWS: &[Named] = &[
    named("UNIFORM", 0, 2, |t, p| {
        let (low, high) = (or(p, 0, 0.0), or(p, 1, 1.0));
        Some(low + (high - low) * t.uniform())
    }),
    named("NORMAL", 0, 2, normal),
    named("GAUSSIAN", 0, 2, normal),
    named("CAUCHY", 0, 2, |t, p| {
        let (location, scale) = (or(p, 0, 0.0), or(p, 1, 1.0));
        (scale > 0.0).then(|| location + scale * t.cauchy())
    }),
    named("LOGNORMAL", 0, 2, |t, p| normal(t, p).map(f64::exp)),
    named("EXPONENTIAL", 0, 1, |t, p| {
        Some(-t.uniform().ln() * or(p, 0, 1.0))
    }),
    named("BERNOULLI", 1, 1, |t, p| {
        let drawn = || f64::from(u8::from(t.uniform() < p[0]));
        (0.0..=1.0).contains(&p[0]).then(drawn)
    }),
    named("INTEGER", 1, 2, |t, p| {
        let (low, high) = if p.len() > 1 {
            (p[0], p[1])
        } else {
            (1.0, p[0])
        };
        (high >= low).then(|| low + (t.uniform() * (high - low + 1.0)).floor())
    }),
    named("GAMMA", 1, 2, |t, p| {
        (p[0] > 0.0).then(|| t.gamma(p[0]) * or(p, 1, 1.0))
    }),
    named("ERLANG", 1, 2, |t, p| {
        (p[0] >= 1.0).then(|| t.gamma(p[0].floor()) * or(p, 1, 1.0))
    }),
    named("CHISQUARE", 1, 1, |t, p| {
        (p[0] > 0.0).then(|| chi_square(t, p[0]))
    }),
    named("T", 1, 1, |t, p| {
        (p[0] > 0.0).then(|| t.normal() / (chi_square(t, p[0]) / p[0]).sqrt())
    }),
    named("F", 2, 2, |t, p| {
        let drawn = || (chi_square(t, p[0]) / p[0]) / (chi_square(t, p[1]) / p[1]);
        (p[0] > 0.0 && p[1] > 0.0).then(drawn)
    }),
    named("BETA", 2, 2, |t, p| {
        (p[0] > 0.0 && p[1] > 0.0).then(|| {
            let (x, y) = (t.gamma(p[0]), t.gamma(p[1]));
            x / (x + y)
        })
    }),
    named("WEIBULL", 2, 2, |t, p| {
        let drawn = || p[1] * (-t.uniform().ln()).powf(1.0 / p[0]);
        (p[0] > 0.0 && p[1] > 0.0).then(drawn)
    }),
    named("TRIANGLE", 1, 1, |t, p| {
        (0.0..=1.0).contains(&p[0]).then(|| {
            let u = t.uniform();
            if u <= p[0] {
                (u * p[0]).sqrt()
            } else {
                1.0 - ((1.0 - u) * (1.0 - p[0])).sqrt()
            }
        })
    }),
    named("TABLE", 1, usize::MAX, table),
    named("POISSON", 1, 1, |t, p| {
        (p[0] > 0.0 && p[0] < 1e9).then(|| t.poisson(p[0]))
    }),
    named("BINOMIAL", 2, 2, |t, p| binomial(t, p[0], p[1])),
    // Trials up to the first success.
    named("GEOMETRIC", 1, 1, |t, p| {
        let drawn = || 1.0 + (t.uniform().ln() / (-p[0]).ln_1p()).floor();
        (p[0] > 0.0 && p[0] <= 1.0).then(drawn)
    }),
];

/// The distribution that takes `count` parameters, or what is wrong with it.
fn find(name: &[u8], count: usize) -> std::result::Result<&'static Named, String> {
    let known = LAWS.iter().map(|law| law.name);
    let law = &LAWS[super::distribution("RAND", name, known)?];
    if (law.least..=law.most).contains(&count) {
        return Ok(law);
    }
    let takes = law.least..=law.most;
    Err(super::wrong_count("RAND", law.name, takes, count))
}

/// What is wrong with the distribution of a call of RAND, if anything is.
pub(super) fn refusal(name: &[u8], arguments: usize) -> Option<String> {
    find(name, arguments.saturating_sub(1)).err()
}

fn rand(call: &mut Call<'_, '_>) -> Result {
    let law = match find(&call.text(0), call.count().saturating_sub(1)) {
        Ok(law) => law,
        Err(message) => return Result::Number(call.refuse(message)),
    };
    let (mut few, many): ([f64; 3], Vec<f64>);
    let count = call.count() - 1;
    let parameters = if count <= 3 {
        few = [0.0; 3];
        for (index, value) in few[..count].iter_mut().enumerate() {
            *value = call.number(index + 1);
        }
        &few[..count]
    } else {
        many = (1..=count).map(|index| call.number(index)).collect();
        &many
    };
    let value = (law.draw)(twister(call), parameters);
    Result::Number(match value.filter(|value| value.is_finite()) {
        Some(value) => value,
        None => {
            call.invalid();
            missing::encode(0)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: f64, published: f64, decimals: i32) -> bool {
        (found - published).abs() <= 0.500_001 * 10_f64.powi(-decimals)
    }

    #[test]
    fn rand_gives_the_published_streams() {
        let uniforms: &[(u32, &[f64], i32)] = &[
            (
                5489,
                &[
                    0.204_043_448,
                    0.457_513_349,
                    0.324_537_765,
                    0.152_246_159,
                    0.665_943_739,
                ],
                9,
            ),
            (
                6,
                &[
                    0.660_97, 0.480_44, 0.878_49, 0.199_16, 0.048_38, 0.199_66, 0.813_53,
                ],
                5,
            ),
            (123, &[0.5817, 0.035_62, 0.078_18, 0.387_85, 0.329_17], 4),
        ];
        for (seed, published, decimals) in uniforms {
            let mut twister = Twister::new(*seed);
            for value in *published {
                let found = twister.uniform();
                assert!(close(found, *value, *decimals), "{seed}: {found} {value}");
            }
        }
        let mut twister = Twister::new(6);
        for value in [
            2.106_80, -0.256_04, 0.286_92, -0.228_06, 1.345_69, 0.163_41, -0.277_88,
        ] {
            let found = twister.normal();
            assert!(close(found, value, 5), "{found} {value}");
        }
        let mut twister = Twister::new(123);
        for value in [-0.175_93, 3.761_06, 1.234_27, 0.490_95, -0.050_94] {
            let found = twister.cauchy();
            assert!(close(found, value, 5), "{found} {value}");
        }
    }

    #[test]
    fn ranuni_gives_the_published_stream() {
        let mut stream = Congruential { state: 45 };
        for value in [0.323_32, 0.653_99, 0.992_09, 0.672_94, 0.472_12] {
            let found = stream.uniform();
            assert!(close(found, value, 5), "{found} {value}");
        }
    }

    #[test]
    fn the_first_streaminit_counts() {
        let mut random = Random::default();
        random.initialise(6.0, 1);
        random.initialise(7.0, 1);
        assert!(close(random.twister(1).uniform(), 0.660_97, 5));
    }
}
