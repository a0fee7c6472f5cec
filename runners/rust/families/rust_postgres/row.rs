//! Values of a row in the binary format, as the driver's types have them; of those that it lacks our own.
use super::failed;
use crate::core::{Column, Delivered, Interval, Outcome, Sink, Source, Type, Value, unusual};
use crate::families::postgresql::{binary, numeric, widened};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use std::error::Error;
use std::hint::black_box;
use tokio_postgres::Row;
use tokio_postgres::types::{Date, FromSql, Kind, Timestamp, Type as Engine};
use uuid::Uuid;

const DAY_US: i64 = 86_400_000_000;

/// A row that knows how many columns it has.
pub trait Width {
    fn width(&self) -> usize;
}

impl Width for Row {
    fn width(&self) -> usize {
        self.len()
    }
}

impl Source for Row {
    #[inline]
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        match column.kind {
            Type::Integer => match column.bits {
                16 => given(self, at, |value: i16| sink.integer(value.into())),
                32 => given(self, at, |value: i32| sink.integer(value.into())),
                _ => given(self, at, |value: i64| sink.integer(value)),
            },
            Type::Float32 => given(self, at, |value: f32| sink.float(value.into())),
            Type::Float64 => given(self, at, |value: f64| sink.float(value)),
            Type::Boolean => given(self, at, |value: bool| sink.boolean(value)),
            Type::Char | Type::Varchar | Type::Text | Type::Json => given(self, at, |Words(value)| sink.text(value)),
            Type::Binary => given(self, at, |value: &[u8]| sink.binary(value)),
            Type::Decimal => given(self, at, |Numeric(value)| sink.decimal(&numeric::read(value).ok_or_else(unusual)?)),
            Type::Uuid => given(self, at, |value: Uuid| sink.uuid(value.as_bytes())),
            Type::Opaque => given(self, at, |Bytes(value)| {
                black_box(value);
                sink.opaque()
            }),
            Type::Array => match column.integer_bits() {
                Some(16) => given(self, at, |List::<i16>(value)| sink.array(&widened(&value))),
                Some(32) => given(self, at, |List::<i32>(value)| sink.array(&widened(&value))),
                Some(64) => given(self, at, |List::<i64>(value)| sink.array(&value)),
                _ => return sink.other(self.natural(at, column)?, column),
            },
            Type::Date | Type::Time | Type::Timestamp | Type::Timestamptz | Type::Interval => {
                temporal(self, at, column.kind, sink)
            }
            _ => return sink.other(self.natural(at, column)?, column), // the driver has no type for the others
        }
        .unwrap_or_else(|| sink.null())
    }

    fn natural(&self, at: usize, column: &Column) -> Outcome<Value> {
        let Some(Bytes(raw)) = self.try_get(at).map_err(failed)? else { return Ok(Value::Null) };
        Ok(binary::value(self.columns()[at].type_().oid(), raw, column))
    }
}

fn temporal(row: &Row, at: usize, kind: Type, sink: &mut impl Sink) -> Option<Outcome<()>> {
    match kind {
        Type::Date => given(row, at, |value: Date<NaiveDate>| match value {
            Date::Value(day) => sink.date(&day),
            infinite => sink.infinite(infinite == Date::NegInfinity),
        }),
        Type::Time => given(row, at, |Clock(value)| match value {
            Some(time) => sink.time(&time),
            None => Err(unusual()),
        }),
        Type::Timestamp => given(row, at, |value: Timestamp<NaiveDateTime>| match value {
            Timestamp::Value(wall) => sink.timestamp(&wall),
            infinite => sink.infinite(infinite == Timestamp::NegInfinity),
        }),
        Type::Timestamptz => given(row, at, |value: Timestamp<DateTime<Utc>>| match value {
            Timestamp::Value(instant) => sink.instant(&instant),
            infinite => sink.infinite(infinite == Timestamp::NegInfinity),
        }),
        _ => given(row, at, |Span(value)| match value {
            Some(span) => sink.interval(&span),
            None => Err(unusual()),
        }),
    }
}

/// Takes a value of the driver's type; none where it is NULL.
#[inline]
fn given<'a, T: FromSql<'a>>(row: &'a Row, at: usize, take: impl FnOnce(T) -> Outcome<()>) -> Option<Outcome<()>> {
    match row.try_get::<usize, Option<T>>(at) {
        Ok(value) => value.map(take),
        Err(_) => Some(Err(unusual())), // beyond the driver's type; `natural` has the bytes
    }
}

/// The type that a row hands over for a column.
pub fn delivers(column: &Column) -> Delivered {
    Delivered::natural(match column.kind {
        Type::Char | Type::Varchar | Type::Text | Type::Json => "&str",
        Type::Uuid => "Uuid",
        Type::Date => "Date<NaiveDate>",
        Type::Time => "NaiveTime",
        Type::Timestamp => "Timestamp<NaiveDateTime>",
        Type::Timestamptz => "Timestamp<DateTime<Utc>>",
        _ => column.rust_type().unwrap_or("&[u8]"), // it has no type for the others
    })
}

type Read<T> = Result<T, Box<dyn Error + Sync + Send>>;

/// Text of every type that has it in binary too.
struct Words<'a>(&'a str);

impl<'a> FromSql<'a> for Words<'a> {
    #[inline]
    fn from_sql(engine: &Engine, raw: &'a [u8]) -> Read<Self> {
        let text = if *engine == Engine::JSONB { raw.get(1..).unwrap_or_default() } else { raw }; // a version first
        Ok(Words(str::from_utf8(text)?))
    }
    fn accepts(engine: &Engine) -> bool {
        matches!(*engine, Engine::JSON | Engine::JSONB | Engine::XML)
            || <&str as FromSql>::accepts(engine)
            || matches!(engine.kind(), Kind::Enum(_))
    }
}

/// NUMERIC as it came.
struct Numeric<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Numeric<'a> {
    fn from_sql(_: &Engine, raw: &'a [u8]) -> Read<Self> {
        Ok(Numeric(raw))
    }
    fn accepts(engine: &Engine) -> bool {
        *engine == Engine::NUMERIC
    }
}

/// A value of any type as it came.
struct Bytes<'a>(&'a [u8]);

impl<'a> FromSql<'a> for Bytes<'a> {
    fn from_sql(_: &Engine, raw: &'a [u8]) -> Read<Self> {
        Ok(Bytes(raw))
    }
    fn accepts(_: &Engine) -> bool {
        true
    }
}

/// The driver's list; none where its first index is not 1, which a list does not keep.
struct List<T>(Vec<Option<T>>);

impl<'a, T: FromSql<'a>> FromSql<'a> for List<T> {
    fn from_sql(engine: &Engine, raw: &'a [u8]) -> Read<Self> {
        match raw.get(16..20) {
            Some(lower) if lower != [0, 0, 0, 1] => Err("a lower bound".into()),
            _ => Ok(List(Vec::from_sql(engine, raw)?)),
        }
    }
    fn accepts(engine: &Engine) -> bool {
        Vec::<Option<T>>::accepts(engine)
    }
}

/// The driver's time; none at 24:00, of which it would make 00:00.
struct Clock(Option<NaiveTime>);

impl<'a> FromSql<'a> for Clock {
    fn from_sql(engine: &Engine, raw: &'a [u8]) -> Read<Self> {
        let is_in_day = i64::from_be_bytes(raw.try_into()?) < DAY_US;
        Ok(Clock(if is_in_day { Some(NaiveTime::from_sql(engine, raw)?) } else { None }))
    }
    fn accepts(engine: &Engine) -> bool {
        NaiveTime::accepts(engine)
    }
}

/// INTERVAL, for which the driver has no type: microseconds, days, months.
struct Span(Option<Interval>);

impl<'a> FromSql<'a> for Span {
    fn from_sql(_: &Engine, raw: &'a [u8]) -> Read<Self> {
        let (microseconds, rest) = raw.split_first_chunk().ok_or("an INTERVAL that is cut off")?;
        let (days, months) = rest.split_first_chunk().ok_or("an INTERVAL that is cut off")?;
        let nanoseconds = i64::from_be_bytes(*microseconds).checked_mul(1000);
        let (days, months) = (i32::from_be_bytes(*days), i32::from_be_bytes(months.try_into()?));
        Ok(Span(nanoseconds.map(|nanoseconds| Interval { months, days, nanoseconds })))
    }
    fn accepts(engine: &Engine) -> bool {
        *engine == Engine::INTERVAL
    }
}
