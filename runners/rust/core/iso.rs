//! Dates and times in ISO 8601, read by hand: a general parser takes several times as long, measured as the driver's.
//! The usual ones have years of four digits and times of a day; `written` reads all that engines write.
use super::failure::{Outcome, unusual};
use super::values::{Date, Moment, SECOND_NS, Time};

/// Reads `2000-11-07`.
pub fn date(text: &str) -> Outcome<Date> {
    let bytes = text.as_bytes();
    if bytes.len() != 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return Err(unusual());
    }
    let parts = (digits(&bytes[..4]), digits(&bytes[5..7]), digits(&bytes[8..]));
    let (Some(year), Some(month), Some(day)) = parts else { return Err(unusual()) };
    let date = Date { year: year as i32, month: month as u8, day: day as u8 };
    if date.is_real() { Ok(date) } else { Err(unusual()) }
}

/// Reads `01:02:03` with up to nine digits of a fraction.
pub fn time(text: &str) -> Outcome<Time> {
    let bytes = text.as_bytes();
    if bytes.len() < 8 || bytes[2] != b':' || bytes[5] != b':' {
        return Err(unusual());
    }
    let parts = (digits(&bytes[..2]), digits(&bytes[3..5]), digits(&bytes[6..8]), fraction_ns(&bytes[8..]));
    let (Some(hour), Some(minute), Some(second), Some(ns)) = parts else { return Err(unusual()) };
    if hour > 23 || minute > 59 || second > 59 {
        return Err(unusual());
    }
    Ok(Time((hour * 3600 + minute * 60 + second) as i64 * SECOND_NS + ns as i64))
}

/// Reads `2000-11-07 01:02:03.456789`, a blank or a T between them.
pub fn timestamp(text: &str) -> Outcome<(Date, Time)> {
    if text.len() < 19 || !text.is_char_boundary(11) || !matches!(text.as_bytes()[10], b' ' | b'T') {
        return Err(unusual());
    }
    match (date(&text[..10]), time(&text[11..])) {
        (Ok(day), Ok(time)) => Ok((day, time)),
        _ => Err(unusual()),
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
    let offset = offset_seconds(zone).ok_or_else(unusual)?;
    Ok(Moment { seconds: moment.seconds - offset, ..moment })
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

/// Reads `Z`, `+02`, `-0530`, `-05:30` and `-15:59:59`.
fn offset_seconds(text: &str) -> Option<i64> {
    if text == "Z" {
        return Some(0);
    }
    let plain: Vec<u8> = text.bytes().skip(1).filter(|byte| *byte != b':').collect();
    let seconds = match plain.len() {
        2 => 3600 * digits(&plain)?,
        4 => 3600 * digits(&plain[..2])? + 60 * digits(&plain[2..])?,
        6 => 3600 * digits(&plain[..2])? + 60 * digits(&plain[2..4])? + digits(&plain[4..])?,
        _ => return None,
    } as i64;
    Some(if text.starts_with('-') { -seconds } else { seconds })
}

/// A date, a time and its distance from UTC, each as written: 0000-00-00, 12000-01-01, -838:59:59 and 44 BC too.
pub struct Written {
    pub date: Option<Date>,
    pub time: Option<Time>,
    pub offset_s: Option<i32>,
}

/// Reads a date, a time or both, the time perhaps with its distance from UTC, ` BC` behind it all.
pub fn written(text: &str) -> Option<Written> {
    let (text, is_bc) = text.strip_suffix(" BC").map_or((text, false), |text| (text, true));
    let dash = text.get(1..)?.find('-').map(|at| at + 1);
    let has_date = dash.is_some_and(|at| text[..at].trim_start_matches('-').bytes().all(|byte| byte.is_ascii_digit()));
    let (date, rest) = match dash.filter(|_| has_date) {
        Some(at) => {
            let rest = &text[at..];
            (Some(day_of(&text[..at], rest.get(1..6)?.as_bytes(), is_bc)?), &rest[6..])
        }
        None => (None, text),
    };
    let rest = if date.is_some() { rest.strip_prefix([' ', 'T']).unwrap_or(rest) } else { rest };
    if rest.is_empty() {
        return date.map(|date| Written { date: Some(date), time: None, offset_s: None });
    }
    let zone = rest.get(1..)?.find(['+', '-', 'Z']).map_or(rest.len(), |at| at + 1);
    let (clock, zone) = rest.split_at(zone);
    let offset_s = if zone.is_empty() { None } else { Some(offset_seconds(zone)? as i32) };
    Some(Written { date, time: Some(clock_of(clock)?), offset_s })
}

fn day_of(year: &str, month_and_day: &[u8], is_bc: bool) -> Option<Date> {
    let [tens, ones, b'-', day @ ..] = month_and_day else { return None };
    if year.trim_start_matches('-').len() < 4 {
        return None;
    }
    let year: i32 = year.parse().ok()?;
    let (month, day) = (digits(&[*tens, *ones])? as u8, digits(day)? as u8);
    Some(Date { year: if is_bc { 1 - year } else { year }, month, day })
}

/// Reads hours of two digits or more, minutes and perhaps seconds, with a sign.
fn clock_of(text: &str) -> Option<Time> {
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (hours, rest) = unsigned.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':').unwrap_or((rest, "00"));
    let (whole, fraction) = seconds.as_bytes().split_at_checked(2)?;
    if hours.len() < 2 || hours.len() > 7 || minutes.len() != 2 {
        return None;
    }
    let (minute, second) = (digits(minutes.as_bytes())?, digits(whole)?);
    if minute > 59 || second > 59 {
        return None;
    }
    let seconds = (digits(hours.as_bytes())? * 3600 + minute * 60 + second) as i64;
    let ns = seconds.checked_mul(SECOND_NS)?.checked_add(fraction_ns(fraction)? as i64)?;
    Some(Time(if unsigned.len() < text.len() { -ns } else { ns }))
}
