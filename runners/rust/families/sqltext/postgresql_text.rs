//! Values in PostgreSQL's text, whose arrays and intervals other engines read too.
use crate::core::iso::{digits, fraction_ns};
use crate::core::{Array, Column, Interval, SECOND_NS, Type, Value};

/// A value of a column in PostgreSQL's text; what has no form of its own there stays text.
pub fn value(text: &[u8], column: &Column) -> Value {
    let Ok(words) = str::from_utf8(text) else { return Value::Raw(text.to_vec()) };
    let read = match column.kind {
        Type::Array => Elements { text: words, at: 0 }.whole(column),
        Type::Interval => interval(words).map(Value::Interval),
        Type::Binary => bytea(text).map(Value::Binary),
        _ => None,
    };
    read.unwrap_or_else(|| Value::Text(words.to_string()))
}

/// Reads bytea in hexadecimal digits, or with escapes in octal ones.
pub fn bytea(text: &[u8]) -> Option<Vec<u8>> {
    let nibble = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    if let Some(digits) = text.strip_prefix(b"\\x") {
        let (pairs, rest) = digits.as_chunks::<2>();
        let byte = |pair: &[u8; 2]| Some(nibble(pair[0])? * 16 + nibble(pair[1])?);
        return if rest.is_empty() { pairs.iter().map(byte).collect() } else { None };
    }
    let (mut made, mut rest) = (Vec::new(), text);
    loop {
        rest = match rest {
            [] => return Some(made),
            [b'\\', b'\\', rest @ ..] => {
                made.push(b'\\');
                rest
            }
            [b'\\', a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', rest @ ..] => {
                made.push((a - b'0') * 64 + (b - b'0') * 8 + (c - b'0'));
                rest
            }
            [b'\\', ..] => return None,
            [byte, rest @ ..] => {
                made.push(*byte);
                rest
            }
        };
    }
}

/// The text of an array from some byte on: `{1,NULL,-2}`, `{"a","b\"c"}`, `[0:1]={{1},{2}}`.
struct Elements<'a> {
    text: &'a str,
    at: usize,
}

impl Elements<'_> {
    fn next(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then(|| self.at += 1)
    }

    fn whole(mut self, column: &Column) -> Option<Value> {
        let mut lowers = Vec::new();
        if self.next() == Some(b'[') {
            let (bounds, _) = self.text.split_once('=')?;
            for dimension in bounds.split_terminator(']') {
                lowers.push(dimension.strip_prefix('[')?.split_once(':')?.0.parse().ok()?);
            }
            self.at = bounds.len() + 1;
        }
        let made = self.dimension(&lowers, column)?;
        (self.at == self.text.len()).then_some(made)
    }

    fn dimension(&mut self, lowers: &[i32], column: &Column) -> Option<Value> {
        self.skip(b'{')?;
        let (lower, deeper) = lowers.split_first().map_or((1, lowers), |(lower, deeper)| (*lower, deeper));
        let mut elements = Vec::new();
        while self.next()? != b'}' {
            if !elements.is_empty() {
                self.skip(b',')?;
            }
            elements.push(match self.next()? {
                b'{' => self.dimension(deeper, column)?,
                b'"' => value(self.quoted()?.as_bytes(), column.element()),
                _ => self.bare(column)?,
            });
        }
        self.at += 1;
        Some(Value::Array(Array { lower, elements }))
    }

    fn bare(&mut self, column: &Column) -> Option<Value> {
        let rest = &self.text[self.at..];
        let word = &rest[..rest.find([',', '}'])?];
        self.at += word.len();
        Some(if word == "NULL" { Value::Null } else { value(word.as_bytes(), column.element()) })
    }

    fn quoted(&mut self) -> Option<String> {
        let (mut made, mut is_escaped) = (String::new(), false);
        for (at, character) in self.text[self.at + 1..].char_indices() {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => {
                    is_escaped = true;
                    continue;
                }
                '"' => {
                    self.at += at + 2;
                    return Some(made);
                }
                _ => {}
            }
            made.push(character);
        }
        None
    }
}

/// PostgreSQL's text of an array of integers.
pub fn array_text(value: &Array) -> String {
    let word = |one: &Value| match one {
        Value::Array(inner) => array_text(inner),
        other => super::text(other),
    };
    format!("{{{}}}", value.elements.iter().map(word).collect::<Vec<_>>().join(","))
}

/// Reads an interval in PostgreSQL's own style: `1 year 2 mons -3 days +04:05:06.7`.
pub fn interval(text: &str) -> Option<Interval> {
    let mut made = Interval { months: 0, days: 0, nanoseconds: 0 };
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word.contains(':') {
            made.nanoseconds = clock_ns(word)?;
            continue;
        }
        let count: i32 = word.parse().ok()?;
        match words.next()?.trim_end_matches('s') {
            "year" => made.months = made.months.checked_add(count.checked_mul(12)?)?,
            "mon" => made.months = made.months.checked_add(count)?,
            "day" => made.days = made.days.checked_add(count)?,
            _ => return None,
        }
    }
    Some(made)
}

/// Reads hours of any number, minutes and seconds, with a sign.
fn clock_ns(text: &str) -> Option<i64> {
    let mut parts = text.trim_start_matches(['+', '-']).split(':');
    let (hours, minutes, seconds) = (parts.next()?.as_bytes(), parts.next()?.as_bytes(), parts.next()?.as_bytes());
    let (whole, fraction) = seconds.split_at_checked(2)?;
    let seconds = (digits(hours)? * 3600 + digits(minutes)? * 60 + digits(whole)?) as i64;
    let ns = seconds.checked_mul(SECOND_NS)?.checked_add(fraction_ns(fraction)? as i64)?;
    Some(if text.starts_with('-') { -ns } else { ns })
}

/// An interval as PostgreSQL reads it.
pub fn interval_text(value: &Interval) -> String {
    format!("{} mons {} days {} microseconds", value.months, value.days, value.nanoseconds / 1000)
}
