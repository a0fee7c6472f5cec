//! Values of a row, and parameters, as the driver's own `Value` has them.
use crate::core::{
    Column, Date, Decimal, Delivered, Moment, Outcome, SECOND_NS, Sink, Source, Time, Type, Value, fail, iso,
    text_forms, unusual,
};
use crate::families::mysql::{self as family, no_type};
use crate::families::sqltext;
use mysql_common::row::Row;
use mysql_common::value::Value as Own;
use std::hint::black_box;
use std::str::FromStr;

impl Source for Row {
    #[inline]
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        let Some(value) = self.as_ref(at) else { return Err(unusual()) };
        match (column.kind, value) {
            (_, Own::NULL) => sink.null(),
            (Type::Opaque, value) => {
                black_box(value);
                sink.opaque()
            }
            (Type::Integer, Own::Int(value)) => sink.integer(*value),
            (Type::Integer | Type::Decimal, Own::UInt(value)) => sink.decimal(&Decimal::of_i128((*value).into(), 0)),
            (Type::Boolean, Own::Int(value)) => sink.boolean(*value != 0),
            (Type::Decimal, Own::Int(value)) => sink.decimal(&Decimal::Small { unscaled: *value, scale: 0 }),
            (Type::Float32 | Type::Float64, Own::Float(value)) => sink.float((*value).into()),
            (Type::Float32 | Type::Float64, Own::Double(value)) => sink.float(*value),
            (Type::Date, Own::Date(year, month, day, 0, 0, 0, 0)) => sink.date(&date(*year, *month, *day)?),
            (Type::Timestamp, Own::Date(year, month, day, hour, minute, second, us)) => {
                sink.timestamp(&(date(*year, *month, *day)?, time(*hour, *minute, *second, *us)))
            }
            (Type::Timestamptz, Own::Date(year, month, day, hour, minute, second, us)) => {
                sink.instant(&(date(*year, *month, *day)?, time(*hour, *minute, *second, *us)))
            }
            (Type::Time, Own::Time(false, 0, hour, minute, second, us)) => {
                sink.time(&time(*hour, *minute, *second, *us))
            }
            (Type::Binary, Own::Bytes(bytes)) => sink.binary(bytes),
            (kind, Own::Bytes(bytes)) => from_text(str::from_utf8(bytes).map_err(|_| unusual())?, kind, sink),
            (_, other) => sink.other(natural(other, column), column),
        }
    }

    fn natural(&self, at: usize, column: &Column) -> Outcome<Value> {
        let value = self.as_ref(at).ok_or_else(|| fail("sql", "no such column came"))?;
        Ok(natural(value, column))
    }
}

fn natural(value: &Own, column: &Column) -> Value {
    match *value {
        Own::NULL => Value::Null,
        Own::Bytes(ref bytes) => family::from_bytes(bytes, column),
        Own::Int(value) => Value::Integer(value),
        Own::UInt(value) => Value::of_u64(value),
        Own::Float(value) => Value::Float(value.into()),
        Own::Double(value) => Value::Float(value),
        Own::Date(year, month, day, hour, minute, second, us) => {
            family::from_wall(Date { year: year.into(), month, day }, time(hour, minute, second, us), column.kind)
        }
        Own::Time(is_negative, days, hour, minute, second, us) => {
            let ns = i64::from(days) * 86_400 * SECOND_NS + time(hour, minute, second, us).0;
            Value::Time(Time(if is_negative { -ns } else { ns }))
        }
    }
}

/// Takes what came as text: decimals and texts by either protocol, everything by the text protocol.
#[inline]
fn from_text(text: &str, kind: Type, sink: &mut impl Sink) -> Outcome<()> {
    match kind {
        Type::Char | Type::Varchar | Type::Text | Type::Json => sink.text(text),
        Type::Integer => sink.integer(parsed(text)?),
        Type::Decimal => sink.decimal(&Decimal::parse(text)?),
        Type::Float32 => sink.float(parsed::<f32>(text)?.into()),
        Type::Float64 => sink.float(parsed(text)?),
        Type::Boolean => sink.boolean(parsed::<i64>(text)? != 0),
        Type::Date => sink.date(&iso::date(text)?),
        Type::Time => sink.time(&iso::time(text)?),
        Type::Timestamp => sink.timestamp(&iso::timestamp(text)?),
        Type::Timestamptz => sink.instant(&iso::instant(text)?),
        Type::Uuid => sink.uuid(&text_forms::uuid(text)?),
        _ => Err(unusual()),
    }
}

fn parsed<T: FromStr>(text: &str) -> Outcome<T> {
    text.parse().map_err(|_| unusual())
}

/// A date that a calendar has.
fn date(year: u16, month: u8, day: u8) -> Outcome<Date> {
    let date = Date { year: year.into(), month, day };
    if date.is_real() { Ok(date) } else { Err(unusual()) }
}

fn time(hour: u8, minute: u8, second: u8, us: u32) -> Time {
    let seconds = i64::from(hour) * 3600 + i64::from(minute) * 60 + i64::from(second);
    Time(seconds * SECOND_NS + i64::from(us) * 1000)
}

/// What a row hands over for a column: by the text protocol everything as bytes.
pub fn delivers(column: &Column, is_text_protocol: bool) -> Delivered {
    match column.kind {
        Type::Decimal | Type::Uuid => Delivered::from_text("Value::Bytes"),
        Type::Char | Type::Varchar | Type::Text | Type::Json | Type::Binary | Type::Bits => {
            Delivered::natural("Value::Bytes")
        }
        Type::Any | Type::Opaque => Delivered::natural("Value"),
        _ if is_text_protocol => Delivered::from_text("Value::Bytes"),
        Type::Integer | Type::Boolean => Delivered::natural("Value::Int"),
        Type::Float32 => Delivered::natural("Value::Float"),
        Type::Float64 => Delivered::natural("Value::Double"),
        Type::Time => Delivered::natural("Value::Time"),
        _ => Delivered::natural("Value::Date"),
    }
}

/// A row's parameters.
pub fn bind(row: &[Value]) -> Outcome<Vec<Own>> {
    row.iter()
        .map(|value| {
            Ok(match value {
                Value::Null => Own::NULL,
                Value::Integer(value) => Own::Int(*value),
                Value::Boolean(value) => Own::Int((*value).into()),
                Value::Float(value) => Own::Double(*value),
                Value::Binary(value) => Own::Bytes(value.clone()),
                Value::Date(day) => Own::Date(day.year as u16, day.month, day.day, 0, 0, 0, 0),
                Value::Time(time) => {
                    let (hour, minute, second, us) = clock(*time);
                    Own::Time(false, 0, hour, minute, second, us)
                }
                Value::Timestamp(moment) | Value::Instant(moment) => moment_of(*moment),
                Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => return Err(no_type()),
                Value::Decimal(value) if !value.is_finite() => return Err(no_type()),
                other => Own::Bytes(sqltext::text(other).into_bytes()),
            })
        })
        .collect()
}

fn moment_of(moment: Moment) -> Own {
    let (day, (hour, minute, second, us)) = (moment.date(), clock(moment.time()));
    Own::Date(day.year as u16, day.month, day.day, hour, minute, second, us)
}

fn clock(time: Time) -> (u8, u8, u8, u32) {
    let (seconds, us) = (time.0 / SECOND_NS, time.0 % SECOND_NS / 1000);
    ((seconds / 3600) as u8, (seconds / 60 % 60) as u8, (seconds % 60) as u8, us as u32)
}

/// The last value of a row as text; nothing where it is NULL.
pub fn text_of(row: Option<Row>) -> String {
    let value = row.and_then(|row| row.as_ref(row.len() - 1).cloned());
    match value {
        Some(Own::Bytes(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        _ => String::new(),
    }
}
