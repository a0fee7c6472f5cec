//! Values that SQL has as text: PostgreSQL's spelling of UUIDs, arrays and intervals, and what is written into SQL.
use super::failure::{Failure, Outcome, fail, unsupported};
use super::iso::{digits, fraction_ns};
use super::values::{Date, Interval, Moment, SECOND_NS, Time};

/// Reads a UUID of 36 characters.
pub fn uuid(text: &str) -> Outcome<[u8; 16]> {
    let wrong = || fail("verify", format!("no UUID: '{text}'"));
    let plain: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let mut made = [0; 16];
    if plain.len() != 32 {
        return Err(wrong());
    }
    for (byte, pair) in made.iter_mut().zip(plain.as_chunks::<2>().0) {
        let nibble = |digit: u8| (digit as char).to_digit(16).ok_or_else(wrong);
        *byte = (nibble(pair[0])? * 16 + nibble(pair[1])?) as u8;
    }
    Ok(made)
}

/// A UUID as it is written.
pub fn uuid_text(value: &[u8; 16]) -> String {
    let hex = hex_text(value);
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}

pub fn hex_text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

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

pub fn date_text(value: Date) -> String {
    format!("{:04}-{:02}-{:02}", value.year, value.month, value.day)
}

/// A time of day with as many digits of a fraction as it has.
pub fn time_text(value: Time) -> String {
    let seconds = value.0 / SECOND_NS;
    let text = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match value.0 % SECOND_NS {
        0 => text,
        ns => text + "." + format!("{ns:09}").trim_end_matches('0'),
    }
}

/// A wall clock, a blank between date and time; a fraction has six digits, as engines show it.
pub fn wall_text(value: Moment) -> String {
    let time = Time(value.time().0 / SECOND_NS * SECOND_NS);
    let whole = format!("{} {}", date_text(value.date()), time_text(time));
    if value.nanoseconds == 0 { whole } else { format!("{whole}.{:06}", value.nanoseconds / 1000) }
}

/// A time of day, a fraction with six digits.
pub fn micro_time_text(value: Time) -> String {
    wall_text(Moment { seconds: (value.0 / SECOND_NS) as i64, nanoseconds: (value.0 % SECOND_NS) as u32 })[11..].into()
}

#[cold]
fn no_interval(text: &str) -> Failure {
    unsupported(format!("no interval of months, days and time: '{text}'"))
}
