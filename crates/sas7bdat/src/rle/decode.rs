//! The decoder. Copies and repetitions take turns in nearly every row, which processors predict well:
//! a branch between the two lets the next control be read before this one is done, and is faster than
//! code without branches, in which every control waits for the one before.

/// Bytes that are stored for a short copy or repetition whatever its length.
const CHUNK: usize = 32;
/// The longest short copy.
const WIDE: usize = 64;
/// What the controls from 0xD0 on repeat, by the low two bits of their high half.
const REPEATED: [u8; 4] = [0, b'@', b' ', 0];

const CUT_SHORT: &str = "the stored row is cut short";
const BEYOND: &str = "a run reaches beyond the stored row";
const TOO_LONG: &str = "it decompresses to more than a row";

/// Restores the row stored in `source[start..end]` into `out[at..row_end]`.
///
/// Bytes of `out` behind the row may be overwritten with anything. The fast path needs 64 bytes behind
/// each control and 64 behind the row; without them the result is the same.
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
        let &control = source.get(from).ok_or(CUT_SHORT)?;
        let low = usize::from(control & 15);
        (from, to) = match control {
            0x80..=0xBF => {
                let length = usize::from(control & 63) + 1;
                let next = from + 1 + length;
                check(next, end, to + length, row_end)?;
                copy(source, from + 1, out, to, length);
                (next, to + length)
            }
            0xD0.. => {
                let length = 2 + low;
                check(from + 1, end, to + length, row_end)?;
                let byte = REPEATED.get(usize::from(control >> 4 & 3));
                repeat(byte.copied().unwrap_or(0), out, to, length);
                (from + 1, to + length)
            }
            0xC0..=0xCF => {
                let length = 3 + low;
                check(from + 2, end, to + length, row_end)?;
                repeat(source.get(from + 1).copied().unwrap_or(0), out, to, length);
                (from + 2, to + length)
            }
            _ => long(control, source, from, end, out, to, row_end)?,
        };
    }
    if to == row_end {
        Ok(())
    } else {
        Err("it decompresses to less than a row")
    }
}

#[inline]
fn check(next: usize, end: usize, to: usize, row_end: usize) -> Result<(), &'static str> {
    if next > end {
        return Err(BEYOND);
    }
    if to > row_end { Err(TOO_LONG) } else { Ok(()) }
}

/// Up to 64 bytes. Bounds were checked.
#[inline]
fn copy(source: &[u8], from: usize, out: &mut [u8], to: usize, length: usize) {
    let stored = source.get(from..).and_then(<[u8]>::first_chunk::<WIDE>);
    let place = out.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<WIDE>);
    if let (Some(stored), Some(place)) = (stored, place) {
        let ((near, far), (stored_near, stored_far)) =
            (place.split_at_mut(CHUNK), stored.split_at(CHUNK));
        near.copy_from_slice(stored_near);
        if length > CHUNK {
            far.copy_from_slice(stored_far);
        }
    } else {
        copy_exactly(source, from, out, to, length);
    }
}

/// The same near an end. Apart, because code that is in the loop costs registers there.
#[cold]
#[inline(never)]
fn copy_exactly(source: &[u8], from: usize, out: &mut [u8], to: usize, length: usize) {
    let stored = source.get(from..from + length).unwrap_or_default();
    if let Some(place) = out.get_mut(to..to + stored.len()) {
        place.copy_from_slice(stored);
    }
}

/// Up to 18 bytes. Bounds were checked.
#[inline]
fn repeat(byte: u8, out: &mut [u8], to: usize, length: usize) {
    let place = out.get_mut(to..).and_then(<[u8]>::first_chunk_mut::<CHUNK>);
    match place {
        Some(place) => *place = [byte; CHUNK],
        None => repeat_exactly(byte, out, to, length),
    }
}

#[cold]
#[inline(never)]
fn repeat_exactly(byte: u8, out: &mut [u8], to: usize, length: usize) {
    out.get_mut(to..to + length).unwrap_or_default().fill(byte);
}

/// The controls below 0x80, with a second count byte.
#[inline(never)]
fn long(
    control: u8,
    source: &[u8],
    from: usize,
    end: usize,
    out: &mut [u8],
    to: usize,
    row_end: usize,
) -> Result<(usize, usize), &'static str> {
    let stored = source.get(from + 1..end).ok_or(CUT_SHORT)?;
    let low = usize::from(control & 15);
    let next = stored.first().map(|next| low * 256 + usize::from(*next));
    let second = next.ok_or(CUT_SHORT);
    let (length, used) = match control >> 4 {
        0 => (64 + second?, 1),
        1 => (4160 + second?, 1),
        2 => (96 + low, 0),
        4 => (18 + second?, 2),
        5..=7 => (17 + second?, 1),
        _ => return Err("it has a control byte that does not exist"),
    };
    if to + length > row_end {
        return Err(TOO_LONG);
    }
    let rest = out.get_mut(to..).unwrap_or_default();
    let repeated = match control >> 4 {
        4 => Some(*stored.get(1).ok_or(CUT_SHORT)?),
        5 => Some(b'@'),
        6 => Some(b' '),
        7 => Some(0),
        _ => None,
    };
    if let Some(byte) = repeated {
        match rest.first_chunk_mut::<WIDE>() {
            Some(place) if length <= WIDE => *place = [byte; WIDE],
            _ => rest.get_mut(..length).ok_or(TOO_LONG)?.fill(byte),
        }
        return Ok((from + 1 + used, to + length));
    }
    let copied = stored.get(used..used + length).ok_or(BEYOND)?;
    let place = rest.get_mut(..length).ok_or(TOO_LONG)?;
    place.copy_from_slice(copied);
    Ok((from + 1 + used + length, to + length))
}
