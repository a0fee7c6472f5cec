use super::failure::{Outcome, unusual};

const MOST_DIGITS: usize = 18; // that are sure to fit 64 bits
const MOST_ZEROS: i32 = 1 << 18; // that an exponent stands for: more than any engine's decimal has
const POWERS: [i64; MOST_DIGITS + 1] = {
    let mut all = [1; MOST_DIGITS + 1];
    let mut at = 1;
    while at < all.len() {
        all[at] = 10 * all[at - 1];
        at += 1;
    }
    all
};

/// A decimal: unscaled · 10^-scale where 64 bits hold it, else its digits, or a word.
#[derive(Clone, Debug, PartialEq)]
pub enum Decimal {
    Small { unscaled: i64, scale: u8 },
    Large(Box<str>), // -?digits[.digits], nan, inf, -inf
}

impl Decimal {
    /// Reads a decimal, with an exponent or without, NaN and the infinities too.
    pub fn parse(text: &str) -> Outcome<Decimal> {
        let (mantissa, exponent) = match text.bytes().position(|byte| byte | 0x20 == b'e') {
            Some(at) => match text[at + 1..].parse::<i32>() {
                Ok(exponent) if exponent.abs() <= MOST_ZEROS => (&text[..at], exponent),
                _ => return Err(unusual()),
            },
            None => (text, 0_i32),
        };
        let negative = mantissa.starts_with('-');
        let unsigned = mantissa.strip_prefix(['-', '+']).unwrap_or(mantissa);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let digits = whole.len() + fraction.len();
        if digits == 0 || !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return no_number(text).ok_or_else(unusual);
        }
        if exponent == 0 && digits <= MOST_DIGITS {
            let mut unscaled =
                whole.bytes().chain(fraction.bytes()).fold(0, |sum, byte| 10 * sum + i64::from(byte - b'0'));
            if negative {
                unscaled = -unscaled;
            }
            return Ok(Decimal::Small { unscaled, scale: fraction.len() as u8 });
        }
        Ok(Decimal::of_digits(negative, &(whole.to_string() + fraction), whole.len() as i32 + exponent))
    }

    /// The decimal of these digits with the point behind so many of them.
    pub fn of_digits(negative: bool, digits: &str, point: i32) -> Decimal {
        let mut digits = digits.to_string();
        let mut point = point;
        if point < 1 {
            digits = "0".repeat((1 - point) as usize) + &digits;
            point = 1;
        }
        let missing = (point as usize).saturating_sub(digits.len());
        digits += &"0".repeat(missing);
        if digits.len() <= MOST_DIGITS {
            let unscaled: i64 = digits.parse().unwrap_or(0);
            let scale = (digits.len() - point as usize) as u8;
            return Decimal::Small { unscaled: if negative { -unscaled } else { unscaled }, scale };
        }
        let (whole, fraction) = digits.split_at(point as usize);
        let whole = whole[..whole.len() - 1].trim_start_matches('0').to_string() + &whole[whole.len() - 1..];
        let sign = if negative { "-" } else { "" };
        let point = if fraction.is_empty() { "" } else { "." };
        Decimal::Large(format!("{sign}{whole}{point}{fraction}").into())
    }

    /// unscaled · 10^-scale.
    pub fn of_i128(unscaled: i128, scale: u8) -> Decimal {
        match i64::try_from(unscaled) {
            Ok(unscaled) if usize::from(scale) <= MOST_DIGITS => Decimal::Small { unscaled, scale },
            _ => {
                let digits = unscaled.unsigned_abs().to_string();
                Decimal::of_digits(unscaled < 0, &digits, digits.len() as i32 - i32::from(scale))
            }
        }
    }

    pub fn nan() -> Decimal {
        Decimal::Large("nan".into())
    }

    pub fn infinite(negative: bool) -> Decimal {
        Decimal::Large(if negative { "-inf" } else { "inf" }.into())
    }

    /// A float's shortest text.
    pub fn of_float(value: f64) -> Decimal {
        if value.is_nan() {
            return Decimal::nan();
        }
        Decimal::parse(&format!("{value:e}")).unwrap_or_else(|_| Decimal::infinite(value < 0.0))
    }

    pub fn is_finite(&self) -> bool {
        !matches!(self, Decimal::Large(text) if text.ends_with(['n', 'f']))
    }

    /// The integral part, modulo 2⁶⁴; 3 where it is no number.
    pub fn touch(&self) -> i64 {
        match self {
            Decimal::Small { unscaled, scale } => unscaled / POWERS[usize::from(*scale)],
            Decimal::Large(_) if !self.is_finite() => 3,
            Decimal::Large(text) => {
                let whole = text.split('.').next().unwrap_or("").bytes();
                let sum = whole
                    .filter(u8::is_ascii_digit)
                    .fold(0_i64, |sum, byte| sum.wrapping_mul(10).wrapping_add(i64::from(byte - b'0')));
                if text.starts_with('-') { sum.wrapping_neg() } else { sum }
            }
        }
    }

    /// The decimal notation with all digits of its scale.
    pub fn text(&self) -> String {
        match self {
            Decimal::Large(text) => text.to_string(),
            Decimal::Small { unscaled, scale: 0 } => unscaled.to_string(),
            Decimal::Small { unscaled, scale } => {
                let width = usize::from(*scale) + 1;
                let digits = format!("{:0width$}", unscaled.unsigned_abs());
                let point = digits.len() - usize::from(*scale);
                let sign = if *unscaled < 0 { "-" } else { "" };
                format!("{sign}{}.{}", &digits[..point], &digits[point..])
            }
        }
    }

    /// The plain decimal notation, without trailing zeros of the fraction.
    pub fn plain(&self) -> String {
        let text = self.text();
        let short = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
        if short == "-0" { "0".to_string() } else { short.to_string() }
    }
}

#[cold]
fn no_number(text: &str) -> Option<Decimal> {
    match text.to_ascii_lowercase().as_str() {
        "nan" => Some(Decimal::nan()),
        "inf" | "infinity" | "+inf" | "+infinity" => Some(Decimal::infinite(false)),
        "-inf" | "-infinity" => Some(Decimal::infinite(true)),
        _ => None,
    }
}
