//! NUMERIC in PostgreSQL's binary form, for which the driver has no type of its own: digits to the base 10 000.
use crate::core::{Decimal, Outcome, fail, unsupported};
use bytes::{BufMut, BytesMut};

const NEGATIVE: u16 = 0x4000;
const HEADER_BYTES: usize = 8;
const DIGITS: i32 = 4; // decimal ones in one of the base
const MOST_DIGITS: i32 = 18; // that are sure to fit 64 bits

/// Reads a decimal; NaN and the infinities are refused.
pub fn read(bytes: &[u8]) -> Outcome<Decimal> {
    let (words, rest) = bytes.as_chunks::<2>();
    let whole = |at: usize| i32::from(i16::from_be_bytes(words[at]));
    if !rest.is_empty() || bytes.len() < HEADER_BYTES || words.len() != 4 + whole(0) as usize {
        return Err(fail("verify", "a NUMERIC that is cut off"));
    }
    let (weight, sign, scale) = (whole(1), u16::from_be_bytes(words[2]), whole(3));
    if sign > NEGATIVE {
        return Err(unsupported("a decimal that is no number"));
    }
    let point = DIGITS * (weight + 1);
    if point.max(DIGITS) + scale <= MOST_DIGITS {
        let mut unscaled = 0;
        for at in 4..words.len() {
            let power = point - DIGITS * (at as i32 - 3) + scale;
            let digit = i64::from(whole(at));
            unscaled += if power < 0 { digit / 10_i64.pow(-power as u32) } else { digit * 10_i64.pow(power as u32) };
        }
        let unscaled = if sign == NEGATIVE { -unscaled } else { unscaled };
        return Ok(Decimal::Small { unscaled, scale: scale as u8 });
    }
    let mut digits: String = (4..words.len()).map(|at| format!("{:04}", whole(at))).collect();
    let length = (point + scale).max(0) as usize;
    digits.truncate(length);
    digits += &"0".repeat(length - digits.len());
    Ok(Decimal::of_digits(sign == NEGATIVE, &digits, point))
}

/// Writes what `read` reads.
pub fn write(value: &Decimal, out: &mut BytesMut) {
    let text = value.text();
    let unsigned = text.strip_prefix('-').unwrap_or(&text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let lead = whole.len().next_multiple_of(DIGITS as usize) - whole.len();
    let trail = fraction.len().next_multiple_of(DIGITS as usize) - fraction.len();
    let digits = format!("{}{whole}{fraction}{}", "0".repeat(lead), "0".repeat(trail));
    let groups = digits.as_bytes().as_chunks::<4>().0;
    let words = groups.iter().map(|group| group.iter().fold(0, |sum, digit| 10 * sum + i16::from(digit - b'0')));
    out.put_i16(groups.len() as i16);
    out.put_i16(((lead + whole.len()) / DIGITS as usize) as i16 - 1);
    out.put_u16(if text.starts_with('-') { NEGATIVE } else { 0 });
    out.put_u16(fraction.len() as u16);
    words.for_each(|word| out.put_i16(word));
}
