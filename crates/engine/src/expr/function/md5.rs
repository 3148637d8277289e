//! The MD5 digest (RFC 1321).

/// Rotations of the four rounds, repeated four times each.
const ROTATIONS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The digest of `text`.
pub(super) fn digest(text: &[u8]) -> [u8; 16] {
    let sines = sines();
    let mut state = [0x6745_2301_u32, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476];
    let mut padded = text.to_vec();
    padded.push(0x80);
    padded.resize(padded.len().next_multiple_of(64), 0);
    if padded.len() - text.len() < 9 {
        padded.resize(padded.len() + 64, 0);
    }
    let end = padded.len() - 8;
    let bits = (text.len() as u64).wrapping_mul(8);
    padded[end..].copy_from_slice(&bits.to_le_bytes());
    for block in padded.as_chunks::<64>().0 {
        add(&mut state, block, &sines);
    }
    let mut digest = [0; 16];
    for (bytes, word) in digest.as_chunks_mut::<4>().0.iter_mut().zip(state) {
        *bytes = word.to_le_bytes();
    }
    digest
}

/// The constants: 2^32 times the sines of 1 to 64 radians, without signs.
fn sines() -> [u32; 64] {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "below 2^32 and not negative"
    )]
    std::array::from_fn(|index| ((index as f64 + 1.0).sin().abs() * 4_294_967_296.0) as u32)
}

fn add(state: &mut [u32; 4], block: &[u8; 64], sines: &[u32; 64]) {
    let words = block.as_chunks::<4>().0;
    let [mut a, mut b, mut c, mut d] = *state;
    for step in 0..64 {
        let (mixed, word) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), (7 * step) % 16),
        };
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(sines[step])
            .wrapping_add(u32::from_le_bytes(words[word]));
        let turned = sum.rotate_left(ROTATIONS[step / 16][step % 4]);
        (a, d, c, b) = (d, c, b, b.wrapping_add(turned));
    }
    for (one, added) in state.iter_mut().zip([a, b, c, d]) {
        *one = one.wrapping_add(added);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 1321.
    #[test]
    fn published_digests() {
        for (text, wanted) in [
            ("", "d41d8cd98f00b204e9800998ecf8427e"),
            ("abc", "900150983cd24fb0d6963f7d28e17f72"),
            (
                "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
                "57edf4a22be3c955ac49da2e2107b67a",
            ),
        ] {
            let digest = u128::from_be_bytes(digest(text.as_bytes()));
            assert_eq!(format!("{digest:032x}"), wanted, "{text}");
        }
    }
}
