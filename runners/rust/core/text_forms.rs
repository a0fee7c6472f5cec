//! Text of UUIDs, bytes, dates and times.
use super::failure::{Outcome, unusual};
use super::values::{Bits, Date, Interval, Moment, SECOND_NS, Time, Value};

/// Reads a UUID of 36 characters.
pub fn uuid(text: &str) -> Outcome<[u8; 16]> {
    let plain: Vec<u8> = text.bytes().filter(|byte| *byte != b'-').collect();
    let mut made = [0; 16];
    if plain.len() != 32 {
        return Err(unusual());
    }
    for (byte, pair) in made.iter_mut().zip(plain.as_chunks::<2>().0) {
        let nibble = |digit: u8| (digit as char).to_digit(16).ok_or_else(unusual);
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

/// A date in ISO 8601; before the year 1 with ` BC` behind it.
pub fn date_text(value: Date) -> String {
    if value.year < 1 && value.is_real() {
        return format!("{:04}-{:02}-{:02} BC", 1 - value.year, value.month, value.day);
    }
    format!("{:04}-{:02}-{:02}", value.year, value.month, value.day)
}

/// A time of day, or how long something took, with as many digits of a fraction as it has.
pub fn time_text(value: Time) -> String {
    let (sign, ns) = (if value.0 < 0 { "-" } else { "" }, value.0.unsigned_abs());
    let (seconds, fraction) = (ns / SECOND_NS as u64, ns % SECOND_NS as u64);
    let text = format!("{sign}{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    if fraction == 0 { text } else { text + "." + format!("{fraction:09}").trim_end_matches('0') }
}

/// A wall clock, a blank between date and time; a fraction has six digits, as engines show it.
pub fn wall_text(value: Moment) -> String {
    format!("{} {}", date_text(value.date()), micro_time_text(value.time()))
}

/// A time of day, a fraction with six digits.
pub fn micro_time_text(value: Time) -> String {
    let whole = time_text(Time(value.0 / SECOND_NS * SECOND_NS));
    let microseconds = value.0 % SECOND_NS / 1000;
    if value.0 % SECOND_NS == 0 { whole } else { format!("{whole}.{microseconds:06}") }
}

fn bits_text(value: &Bits) -> String {
    let bit = |at: u32| value.bytes.get(at as usize / 8).map_or(0, |byte| byte >> (7 - at % 8) & 1);
    (0..value.count).map(|at| if bit(at) == 1 { '1' } else { '0' }).collect()
}

fn list_text(values: &[Value]) -> String {
    values.iter().map(natural_text).collect::<Vec<_>>().join(",")
}

/// A value of any kind as text: where a column is declared as text, and of values that have no other form.
pub fn natural_text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer(value) => value.to_string(),
        Value::Decimal(value) => value.text(),
        Value::Float(value) => value.to_string(),
        Value::Boolean(value) => value.to_string(),
        Value::Text(value) => value.clone(),
        Value::Raw(value) => String::from_utf8_lossy(value).into_owned(),
        Value::Binary(value) => hex_text(value),
        Value::Bits(value) => bits_text(value),
        Value::Date(value) => date_text(*value),
        Value::Time(value) => time_text(*value),
        Value::Timetz(value, offset_s) => format!("{}{offset_s:+}s", time_text(*value)),
        Value::Timestamp(value) => wall_text(*value),
        Value::Instant(value) => wall_text(*value) + "+00:00",
        Value::NoDay(day, time) => format!("{} {}", date_text(*day), time_text(*time)),
        Value::Interval(Interval { months, days, nanoseconds }) => {
            format!("{months} mons {days} days {nanoseconds} ns")
        }
        Value::Uuid(value) => uuid_text(value),
        Value::Array(value) => format!("[{}]", list_text(&value.elements)),
        Value::Struct(values) => format!("({})", list_text(values)),
        Value::Map(entries) => {
            let entry = |(key, value): &(Value, Value)| format!("{}={}", natural_text(key), natural_text(value));
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(","))
        }
        Value::Rows(rows) => rows.iter().map(|row| format!("({})", list_text(row))).collect(),
        Value::Infinite { negative } => if *negative { "-infinity" } else { "infinity" }.into(),
        Value::Opaque => String::new(),
        Value::Foreign(foreign) => foreign.text.clone(),
    }
}
