//! The decoder: literals in one go up to the next code, short copies as one chunk.

const CHUNK: usize = 16;
const SPLAT: u128 = 0x0101_0101_0101_0101_0101_0101_0101_0101;

const SHORT: &str = "the stored row is cut short";
const MORE: &str = "it decompresses to more than a row";

/// A code: how many bytes of the row it makes, how many stored bytes it takes, and of what.
struct Code {
    length: usize,
    used: usize,
    what: What,
}

enum What {
    Repeat(u8),
    Back(usize),
}

/// Restores the row stored in `source[start..end]` into `out[at..row_end]`.
///
/// Bytes of `out` behind the row may be overwritten with anything. The fast paths need 16 bytes behind
/// the stored row and the row; without them the result is the same.
pub(crate) fn decode_at(
    source: &[u8],
    start: usize,
    end: usize,
    out: &mut [u8],
    at: usize,
    row_end: usize,
) -> Result<(), &'static str> {
    let (mut from, mut to) = (start, at);
    while from < end {
        let word = source
            .get(from..)
            .and_then(<[u8]>::first_chunk::<2>)
            .ok_or(SHORT)?;
        from += 2;
        // The bit behind the 16 stops the count of literals.
        let mut bits = (u32::from(u16::from_be_bytes(*word)) << 16) | 0x8000;
        loop {
            let zeros = bits.leading_zeros();
            let literals = (zeros as usize).min(end.saturating_sub(from));
            if to + literals > row_end {
                return Err(MORE);
            }
            copy_literals(source, from, out, to, literals);
            from += literals;
            to += literals;
            bits <<= zeros;
            if bits == 0x8000_0000 || from >= end {
                break;
            }
            bits <<= 1;
            let code = code(source, from)?;
            from += code.used;
            if to + code.length > row_end {
                return Err(MORE);
            }
            match code.what {
                What::Repeat(byte) => repeat(out, to, code.length, byte),
                What::Back(back) if back > to - at => {
                    return Err("a copy reaches before the row");
                }
                What::Back(back) => copy_back(out, to, code.length, back),
            }
            to += code.length;
        }
    }
    if from > end {
        return Err("a code reaches beyond the stored row");
    }
    if to == row_end {
        Ok(())
    } else {
        Err("it decompresses to less than a row")
    }
}

#[inline]
fn code(source: &[u8], from: usize) -> Result<Code, &'static str> {
    let [first, second, ..] = *source
        .get(from..)
        .and_then(<[u8]>::first_chunk::<2>)
        .ok_or(SHORT)?;
    let (command, low) = (usize::from(first >> 4), usize::from(first & 15));
    if command >= 3 {
        let back = 3 + low + 16 * usize::from(second);
        return Ok(Code {
            length: command,
            used: 2,
            what: What::Back(back),
        });
    }
    if command == 0 {
        return Ok(Code {
            length: 3 + low,
            used: 2,
            what: What::Repeat(second),
        });
    }
    let third = *source.get(from + 2).ok_or(SHORT)?;
    if command == 1 {
        let length = 19 + low + 16 * usize::from(second);
        return Ok(Code {
            length,
            used: 3,
            what: What::Repeat(third),
        });
    }
    let back = 3 + low + 16 * usize::from(second);
    Ok(Code {
        length: 16 + usize::from(third),
        used: 3,
        what: What::Back(back),
    })
}

#[inline]
fn copy_literals(source: &[u8], from: usize, out: &mut [u8], to: usize, count: usize) {
    let chunk = source
        .get(from..from + CHUNK)
        .and_then(<[u8]>::first_chunk::<CHUNK>);
    let place = out
        .get_mut(to..to + CHUNK)
        .and_then(<[u8]>::first_chunk_mut::<CHUNK>);
    if let (Some(chunk), Some(place)) = (chunk, place) {
        *place = *chunk;
    } else if let (Some(place), Some(stored)) =
        (out.get_mut(to..to + count), source.get(from..from + count))
    {
        place.copy_from_slice(stored);
    }
}

#[inline]
fn repeat(out: &mut [u8], to: usize, length: usize, byte: u8) {
    let fill = (u128::from(byte).wrapping_mul(SPLAT)).to_le_bytes();
    let place = out
        .get_mut(to..to + 2 * CHUNK)
        .and_then(<[u8]>::first_chunk_mut::<{ 2 * CHUNK }>);
    if let Some(place) = place
        && length <= 2 * CHUNK
    {
        let (first, second) = place.split_at_mut(CHUNK);
        first.copy_from_slice(&fill);
        second.copy_from_slice(&fill);
    } else if let Some(place) = out.get_mut(to..to + length) {
        place.fill(byte);
    }
}

/// Copies from what was already restored; `back` reaches no further than the row.
#[inline]
fn copy_back(out: &mut [u8], to: usize, length: usize, back: usize) {
    let from = to - back;
    if length <= CHUNK && back >= length {
        let chunk = out
            .get(from..from + CHUNK)
            .and_then(<[u8]>::first_chunk::<CHUNK>)
            .copied();
        let place = out
            .get_mut(to..to + CHUNK)
            .and_then(<[u8]>::first_chunk_mut::<CHUNK>);
        if let (Some(chunk), Some(place)) = (chunk, place) {
            *place = chunk;
            return;
        }
    }
    if back >= length {
        out.copy_within(from..from + length, to);
        return;
    }
    // A copy that overlaps itself repeats what it just wrote; SAS makes none.
    for offset in 0..length {
        let byte = out.get(from + offset).copied().unwrap_or(0);
        if let Some(place) = out.get_mut(to + offset) {
            *place = byte;
        }
    }
}
