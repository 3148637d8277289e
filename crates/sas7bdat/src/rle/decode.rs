//! The decoder: a table turns the short controls, which are nearly all, into straight-line code.

/// What a control byte of 0x80 or more does.
#[derive(Debug, Clone, Copy)]
struct Op {
    /// Bytes of row.
    length: u8,
    /// Stored bytes, the control included.
    advance: u8,
    /// The repeated byte, where the control itself says it.
    byte: u8,
    /// 0xFF where the next stored byte is repeated.
    byte_mask: u8,
    /// 1 where stored bytes are copied.
    copy: u8,
}

const NONE: Op = Op {
    length: 0,
    advance: 0,
    byte: 0,
    byte_mask: 0,
    copy: 0,
};

#[expect(
    clippy::cast_possible_truncation,
    reason = "counts up to 64, computed at compile time"
)]
#[expect(clippy::indexing_slicing, reason = "computed at compile time")]
const fn table() -> [Op; 256] {
    let mut table = [NONE; 256];
    let mut control = 0x80;
    while control < 256 {
        let low = control as u8 & 15;
        table[control] = match control >> 4 {
            0xC => Op {
                length: 3 + low,
                advance: 2,
                byte_mask: 0xFF,
                ..NONE
            },
            0xD => Op {
                length: 2 + low,
                advance: 1,
                byte: b'@',
                ..NONE
            },
            0xE => Op {
                length: 2 + low,
                advance: 1,
                byte: b' ',
                ..NONE
            },
            0xF => Op {
                length: 2 + low,
                advance: 1,
                ..NONE
            },
            _ => {
                let length = control as u8 - 0x80 + 1;
                Op {
                    length,
                    advance: length + 1,
                    copy: 1,
                    ..NONE
                }
            }
        };
        control += 1;
    }
    table
}

static TABLE: [Op; 256] = table();

/// Bytes that the fast path stores whatever the length.
const CHUNK: usize = 32;
const SPLAT: u64 = 0x0101_0101_0101_0101;

/// Restores the row stored in `source[start..end]` into `out[at..row_end]`.
///
/// Bytes of `out` behind the row may be overwritten with anything. The fast path needs 33 bytes behind
/// each control and 32 behind the row; without them the result is the same.
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
        let Some(&control) = source.get(from) else {
            return Err("the stored row is cut short");
        };
        let op = TABLE.get(usize::from(control)).copied().unwrap_or(NONE);
        if control < 0x80 {
            (from, to) = long(control, source, from, end, out, to, row_end)?;
            continue;
        }
        let length = usize::from(op.length);
        let next = from + usize::from(op.advance);
        if next > end {
            return Err("a run reaches beyond the stored row");
        }
        if to + length > row_end {
            return Err("it decompresses to more than a row");
        }
        let fast = source
            .get(from + 1..from + 1 + CHUNK)
            .and_then(<[u8]>::first_chunk::<CHUNK>);
        let place = out
            .get_mut(to..to + CHUNK)
            .and_then(<[u8]>::first_chunk_mut::<CHUNK>);
        if let (Some(stored), Some(place)) = (fast, place)
            && length <= CHUNK
        {
            *place = select(op, stored);
        } else {
            short(op, source, from, out, to);
        }
        from = next;
        to += length;
    }
    if to == row_end {
        Ok(())
    } else {
        Err("it decompresses to less than a row")
    }
}

/// Copied or repeated bytes without a branch between the two.
#[inline]
fn select(op: Op, stored: &[u8; CHUNK]) -> [u8; CHUNK] {
    let [first, ..] = *stored;
    let fill = u64::from(op.byte | (first & op.byte_mask))
        .wrapping_mul(SPLAT)
        .to_le_bytes();
    let copy = 0u8.wrapping_sub(op.copy);
    let mut chunk = [0; CHUNK];
    for (group, from) in chunk.chunks_exact_mut(8).zip(stored.chunks_exact(8)) {
        for ((byte, from), fill) in group.iter_mut().zip(from).zip(&fill) {
            *byte = fill ^ ((fill ^ from) & copy);
        }
    }
    chunk
}

/// A short control that is too long for the fast path or too near to an end. Bounds were checked.
#[inline(never)]
fn short(op: Op, source: &[u8], from: usize, out: &mut [u8], to: usize) {
    let length = usize::from(op.length);
    let Some(place) = out.get_mut(to..to + length) else {
        return;
    };
    if op.copy == 1 {
        if let Some(stored) = source.get(from + 1..from + 1 + length) {
            place.copy_from_slice(stored);
        }
    } else {
        let first = source.get(from + 1).copied().unwrap_or(0);
        place.fill(op.byte | (first & op.byte_mask));
    }
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
    let stored = source
        .get(from + 1..end)
        .ok_or("the stored row is cut short")?;
    let low = usize::from(control & 15);
    let next = stored.first().map(|next| low * 256 + usize::from(*next));
    let second = next.ok_or("the stored row is cut short");
    let (length, used) = match control >> 4 {
        0 => (64 + second?, 1),
        1 => (4160 + second?, 1),
        2 => (96 + low, 0),
        4 => (18 + second?, 2),
        5..=7 => (17 + second?, 1),
        _ => return Err("it has a control byte that does not exist"),
    };
    if to + length > row_end {
        return Err("it decompresses to more than a row");
    }
    let place = out
        .get_mut(to..to + length)
        .ok_or("it decompresses to more than a row")?;
    let repeated = match control >> 4 {
        4 => Some(*stored.get(1).ok_or("the stored row is cut short")?),
        5 => Some(b'@'),
        6 => Some(b' '),
        7 => Some(0),
        _ => None,
    };
    if let Some(byte) = repeated {
        place.fill(byte);
        return Ok((from + 1 + used, to + length));
    }
    let copied = stored
        .get(used..used + length)
        .ok_or("a run reaches beyond the stored row")?;
    place.copy_from_slice(copied);
    Ok((from + 1 + used + length, to + length))
}
