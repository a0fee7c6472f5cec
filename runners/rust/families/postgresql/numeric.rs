//! NUMERIC in PostgreSQL's binary form, for which drivers have no type that holds it all: digits to the base 10 000.
use crate::core::Decimal;

const NEGATIVE: u16 = 0x4000;
const NAN: u16 = 0xC000;
const INFINITY: u16 = 0xD000;
const NEGATIVE_INFINITY: u16 = 0xF000;
const HEADER_BYTES: usize = 8;
const DIGITS: i32 = 4; // decimal ones in one of the base
const MOST_DIGITS: i32 = 18; // that are sure to fit 64 bits

/// Reads a decimal; none where it is cut off.
pub fn read(bytes: &[u8]) -> Option<Decimal> {
    let (words, rest) = bytes.as_chunks::<2>();
    let whole = |at: usize| i32::from(i16::from_be_bytes(words[at]));
    if !rest.is_empty() || bytes.len() < HEADER_BYTES || words.len() != 4 + usize::from(u16::from_be_bytes(words[0])) {
        return None;
    }
    let (weight, sign, scale) = (whole(1), u16::from_be_bytes(words[2]), whole(3));
    if sign > NEGATIVE {
        return match sign {
            NAN => Some(Decimal::nan()),
            INFINITY | NEGATIVE_INFINITY => Some(Decimal::infinite(sign == NEGATIVE_INFINITY)),
            _ => None,
        };
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
        return Some(Decimal::Small { unscaled, scale: scale as u8 });
    }
    let mut digits: String = (4..words.len()).map(|at| format!("{:04}", whole(at))).collect();
    let length = (point + scale).max(0) as usize;
    digits.truncate(length);
    digits += &"0".repeat(length - digits.len());
    Some(Decimal::of_digits(sign == NEGATIVE, &digits, point))
}

/// Writes what `read` reads.
pub fn write(value: &Decimal, out: &mut impl Extend<u8>) {
    let mut put = |word: u16| out.extend(word.to_be_bytes());
    let text = value.text();
    if !value.is_finite() {
        let sign = match text.as_str() {
            "nan" => NAN,
            "inf" => INFINITY,
            _ => NEGATIVE_INFINITY,
        };
        return [0, 0, sign, 0].into_iter().for_each(put);
    }
    let unsigned = text.strip_prefix('-').unwrap_or(&text);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let lead = whole.len().next_multiple_of(DIGITS as usize) - whole.len();
    let trail = fraction.len().next_multiple_of(DIGITS as usize) - fraction.len();
    let digits = format!("{}{whole}{fraction}{}", "0".repeat(lead), "0".repeat(trail));
    let groups = digits.as_bytes().as_chunks::<4>().0;
    put(groups.len() as u16);
    put((((lead + whole.len()) / DIGITS as usize) as i16 - 1) as u16);
    put(if text.starts_with('-') { NEGATIVE } else { 0 });
    put(fraction.len() as u16);
    groups.iter().for_each(|group| put(group.iter().fold(0, |sum, digit| 10 * sum + u16::from(digit - b'0'))));
}
