//! Text of UUIDs, bytes, dates and times.
use super::failure::{Outcome, fail};
use super::values::{Date, Moment, SECOND_NS, Time};

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
