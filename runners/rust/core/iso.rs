//! Dates and times in ISO 8601, read by hand: a general parser takes several times as long, measured as the driver's.
use super::failure::{Failure, Outcome, fail, unsupported};
use super::values::{Date, Moment, SECOND_NS, Time};

/// Reads `2000-11-07`.
pub fn date(text: &str) -> Outcome<Date> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return Err(no_date(text));
    }
    let parts = (digits(&bytes[..4]), digits(&bytes[5..7]), digits(&bytes[8..]));
    let (Some(year), Some(month), Some(day)) = parts else { return Err(no_date(text)) };
    if !(1..=12).contains(&month) || day < 1 || day > days_of(year, month) {
        return Err(no_date(text));
    }
    Ok(Date { year: year as i32, month: month as u8, day: day as u8 })
}

/// Reads `01:02:03` with up to nine digits of a fraction.
pub fn time(text: &str) -> Outcome<Time> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || bytes[2] != b':' || bytes[5] != b':' {
        return Err(no_date(text));
    }
    let parts = (digits(&bytes[..2]), digits(&bytes[3..5]), digits(&bytes[6..8]), fraction_ns(&bytes[8..]));
    let (Some(hour), Some(minute), Some(second), Some(ns)) = parts else { return Err(no_date(text)) };
    if minute > 59 || second > 59 {
        return Err(no_date(text));
    }
    if hour > 23 {
        return Err(unsupported(format!("a time of day ends before {text}")));
    }
    Ok(Time((hour * 3600 + minute * 60 + second) * SECOND_NS + ns))
}

/// Reads `2000-11-07 01:02:03.456789`, a blank or a T between them.
pub fn timestamp(text: &str) -> Outcome<(Date, Time)> {
    if text.len() < 19 || !text.is_char_boundary(11) || !matches!(text.as_bytes()[10], b' ' | b'T') {
        return Err(no_date(text));
    }
    match (date(&text[..10]), time(&text[11..])) {
        (Ok(day), Ok(time)) => Ok((day, time)),
        _ => Err(no_date(text)),
    }
}

/// Reads a timestamp with Z or an offset of hours and perhaps minutes; without either it is UTC.
pub fn instant(text: &str) -> Outcome<Moment> {
    let Some(zone) = text.bytes().skip(19).position(|byte| matches!(byte, b'+' | b'-' | b'Z')) else {
        return timestamp(text).map(|(date, time)| date.at(time));
    };
    let (wall, zone) = text.split_at(19 + zone);
    let (date, time) = timestamp(wall)?;
    let moment = date.at(time);
    let offset = offset_seconds(zone).ok_or_else(|| no_date(text))?;
    Ok(Moment { seconds: moment.seconds - offset, ..moment })
}

fn days_of(year: u64, month: u64) -> u64 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// A number without a sign.
pub fn digits(text: &[u8]) -> Option<u64> {
    text.iter().try_fold(0, |value: u64, byte| {
        let digit = byte.wrapping_sub(b'0');
        (digit < 10).then(|| value.wrapping_mul(10).wrapping_add(u64::from(digit)))
    })
}

/// Reads nothing, or a point and one to nine digits.
pub fn fraction_ns(text: &[u8]) -> Option<u64> {
    match text {
        [] => Some(0),
        [b'.', rest @ ..] if (1..=9).contains(&rest.len()) => {
            digits(rest).map(|value| value * 10_u64.pow(9 - rest.len() as u32))
        }
        _ => None,
    }
}

/// Reads `Z`, `+02`, `-0530` and `-05:30`.
fn offset_seconds(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let plain: Vec<u8> = text.bytes().skip(1).filter(|byte| *byte != b':').collect();
    let seconds = match plain.len() {
        2 => 3600 * digits(&plain)?,
        4 => 3600 * digits(&plain[..2])? + 60 * digits(&plain[2..])?,
        _ => return None,
    } as i64;
    Some(if text.starts_with('-') { -seconds } else { seconds })
}

#[cold]
pub fn no_date(text: &str) -> Failure {
    if text.starts_with("0000-00-00") {
        return unsupported(format!("no date or time: '{text}'"));
    }
    let year = text.split('-').next().unwrap_or("");
    if text.ends_with(" BC") || (year.len() > 4 && digits(year.as_bytes()).is_some()) {
        return unsupported(format!("no year from 1 to 9999: '{text}'"));
    }
    let hours = text.strip_prefix('-').unwrap_or(text).split(':').next().unwrap_or("");
    let is_clock = text.contains(':') && (2..=3).contains(&hours.len()) && digits(hours.as_bytes()).is_some();
    if is_clock && (text.starts_with('-') || hours.len() == 3) {
        return unsupported(format!("no time of a day: '{text}'")); // a length of time
    }
    fail("verify", format!("no date or time in ISO 8601: '{text}'"))
}
