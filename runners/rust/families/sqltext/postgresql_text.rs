//! Arrays and intervals in PostgreSQL's form, which other engines read too.
use crate::core::iso::{digits, fraction_ns};
use crate::core::{Failure, Interval, Outcome, SECOND_NS, fail, unsupported};

/// Reads PostgreSQL's text of an array of integers: `{1,NULL,-2}`.
pub fn array(text: &str) -> Outcome<Vec<Option<i64>>> {
    let inner = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.filter(|inner| !inner.starts_with('{'));
    let inner = inner.ok_or_else(|| unsupported(format!("an array of one dimension, not '{text}'")))?;
    let element = |word: &str| match word {
        "NULL" => Ok(None),
        number => number.parse().map(Some).map_err(|_| fail("verify", format!("no array of integers: '{text}'"))),
    };
    if inner.is_empty() { Ok(Vec::new()) } else { inner.split(',').map(element).collect() }
}

/// PostgreSQL's text of an array.
pub fn array_text(values: &[Option<i64>]) -> String {
    let words: Vec<String> =
        values.iter().map(|value| value.map_or("NULL".to_string(), |number| number.to_string())).collect();
    format!("{{{}}}", words.join(","))
}

/// Reads an interval in PostgreSQL's own style: `1 year 2 mons -3 days +04:05:06.7`.
pub fn interval(text: &str) -> Outcome<Interval> {
    let mut made = Interval { months: 0, days: 0, nanoseconds: 0 };
    let mut words = text.split_whitespace();
    while let Some(word) = words.next() {
        if word.contains(':') {
            made.nanoseconds = clock_ns(word).ok_or_else(|| no_interval(text))?;
            continue;
        }
        let count: i32 = word.parse().map_err(|_| no_interval(text))?;
        match words.next().unwrap_or("").trim_end_matches('s') {
            "year" => made.months += 12 * count,
            "mon" => made.months += count,
            "day" => made.days += count,
            _ => return Err(no_interval(text)),
        }
    }
    Ok(made)
}

/// Reads hours of any number, minutes and seconds, with a sign.
fn clock_ns(text: &str) -> Option<i64> {
    let mut parts = text.trim_start_matches(['+', '-']).split(':');
    let (hours, minutes, seconds) = (parts.next()?.as_bytes(), parts.next()?.as_bytes(), parts.next()?.as_bytes());
    let (whole, fraction) = seconds.split_at_checked(2)?;
    let seconds = digits(hours)? * 3600 + digits(minutes)? * 60 + digits(whole)?;
    let ns = (seconds * SECOND_NS + fraction_ns(fraction)?) as i64;
    Some(if text.starts_with('-') { -ns } else { ns })
}

/// An interval as PostgreSQL reads it.
pub fn interval_text(value: &Interval) -> String {
    format!("{} mons {} days {} microseconds", value.months, value.days, value.nanoseconds / 1000)
}

#[cold]
fn no_interval(text: &str) -> Failure {
    unsupported(format!("no interval of months, days and time: '{text}'"))
}
