//! Parameters as the driver's types have them, made before the clock runs.
use crate::core::{Column, Decimal, Interval, Outcome, Phase, Type, Value, fail, unsupported};
use crate::families::chrono::{date, instant, time};
use crate::families::postgresql::numeric;
use crate::families::sqltext;
use bytes::{BufMut, BytesMut};
use chrono::{DateTime, NaiveDate, NaiveDateTime, Utc};
use std::error::Error;
use tokio_postgres::types::{Date, Format, IsNull, Kind, Timestamp, ToSql, Type as Engine, to_sql_checked};
use uuid::Uuid;

/// A parameter.
pub type Bound = Box<dyn ToSql + Sync + Send>;

/// A row's parameters for a statement that wants these types.
pub fn bound(row: &[Value], wanted: &[Engine]) -> Outcome<Vec<Bound>> {
    if row.len() != wanted.len() {
        return Err(fail("internal", format!("{} values for {} parameters", row.len(), wanted.len())));
    }
    row.iter().zip(wanted).map(|(value, engine)| bind(value, engine)).collect()
}

/// Refuses columns that a binary COPY or array does not take as `bind` makes them.
pub fn fits_binary(phase: &Phase, wanted: &[Engine]) -> Outcome<()> {
    for (column, engine) in phase.parameter_columns.iter().zip(wanted) {
        if !is_binary(column, engine) {
            return Err(unsupported(format!("column {}: no binary form of {engine} here", column.name)));
        }
    }
    Ok(())
}

/// A parameter in the driver's type for what the server wants; as text where the driver has none.
fn bind(value: &Value, wanted: &Engine) -> Outcome<Bound> {
    Ok(match (value, wanted.clone()) {
        (Value::Null, _) => Box::new(Text(None)),
        (Value::Integer(value), Engine::INT2) => Box::new(*value as i16),
        (Value::Integer(value), Engine::INT4) => Box::new(*value as i32),
        (Value::Integer(value), Engine::INT8) => Box::new(*value),
        (Value::Float(value), Engine::FLOAT4) => Box::new(*value as f32),
        (Value::Float(value), Engine::FLOAT8) => Box::new(*value),
        (Value::Boolean(value), Engine::BOOL) => Box::new(*value),
        (Value::Binary(value), Engine::BYTEA) => Box::new(value.clone()),
        (Value::Decimal(value), Engine::NUMERIC) => Box::new(Numeric(value.clone())),
        (Value::Date(value), Engine::DATE) => Box::new(date(*value)?),
        (Value::Time(value), Engine::TIME) => Box::new(time(*value)?),
        (Value::Timestamp(value), Engine::TIMESTAMP) => Box::new(instant(*value)?.naive_utc()),
        (Value::Instant(value), Engine::TIMESTAMPTZ) => Box::new(instant(*value)?),
        (Value::Interval(value), Engine::INTERVAL) => Box::new(Span(*value)),
        (Value::Uuid(value), Engine::UUID) => Box::new(Uuid::from_bytes(*value)),
        (Value::Array(value), Engine::INT2_ARRAY | Engine::INT4_ARRAY | Engine::INT8_ARRAY) => {
            match (value.integers(), wanted) {
                (Some(value), &Engine::INT2_ARRAY) => Box::new(narrowed(&value, |one| one as i16)),
                (Some(value), &Engine::INT4_ARRAY) => Box::new(narrowed(&value, |one| one as i32)),
                (Some(value), _) => Box::new(value),
                (None, _) => Box::new(Text(Some(sqltext::postgresql_text::array_text(value)))),
            }
        }
        (Value::Infinite { negative: true }, Engine::DATE) => Box::new(Date::<NaiveDate>::NegInfinity),
        (Value::Infinite { .. }, Engine::DATE) => Box::new(Date::<NaiveDate>::PosInfinity),
        (Value::Infinite { negative: true }, Engine::TIMESTAMP) => Box::new(Timestamp::<NaiveDateTime>::NegInfinity),
        (Value::Infinite { .. }, Engine::TIMESTAMP) => Box::new(Timestamp::<NaiveDateTime>::PosInfinity),
        (Value::Infinite { negative: true }, Engine::TIMESTAMPTZ) => Box::new(Timestamp::<DateTime<Utc>>::NegInfinity),
        (Value::Infinite { .. }, Engine::TIMESTAMPTZ) => Box::new(Timestamp::<DateTime<Utc>>::PosInfinity),
        (Value::Text(value), engine) if <String as ToSql>::accepts(&engine) => Box::new(value.clone()),
        (Value::Binary(_), _) => return Err(unsupported(format!("bytes where the server wants {wanted}"))),
        (other, _) => Box::new(Text(Some(sqltext::text(other)))),
    })
}

fn is_binary(column: &Column, wanted: &Engine) -> bool {
    let is_text = matches!(column.kind, Type::Char | Type::Varchar | Type::Text | Type::Json);
    let has_text =
        *wanted == Engine::JSON || <String as ToSql>::accepts(wanted) || matches!(wanted.kind(), Kind::Enum(_));
    if is_text { has_text } else { *wanted == declared(column) }
}

/// The server's type of a declared column; UNKNOWN: the server finds out.
pub fn declared(column: &Column) -> Engine {
    match (column.kind, column.bits) {
        (Type::Integer, 16) => Engine::INT2,
        (Type::Integer, 32) => Engine::INT4,
        (Type::Integer, _) => Engine::INT8,
        (Type::Decimal, _) => Engine::NUMERIC,
        (Type::Float32, _) => Engine::FLOAT4,
        (Type::Float64, _) => Engine::FLOAT8,
        (Type::Boolean, _) => Engine::BOOL,
        (Type::Char, _) => Engine::BPCHAR,
        (Type::Varchar | Type::Text, _) => Engine::TEXT,
        (Type::Binary, _) => Engine::BYTEA,
        (Type::Date, _) => Engine::DATE,
        (Type::Time, _) => Engine::TIME,
        (Type::Timestamp, _) => Engine::TIMESTAMP,
        (Type::Timestamptz, _) => Engine::TIMESTAMPTZ,
        (Type::Interval, _) => Engine::INTERVAL,
        (Type::Uuid, _) => Engine::UUID,
        (Type::Timetz, _) => Engine::TIMETZ,
        (Type::Bits, _) => Engine::VARBIT,
        (Type::Array, _) => match column.integer_bits() {
            Some(16) => Engine::INT2_ARRAY,
            Some(32) => Engine::INT4_ARRAY,
            Some(64) => Engine::INT8_ARRAY,
            _ => Engine::UNKNOWN,
        },
        _ => Engine::UNKNOWN,
    }
}

fn narrowed<T>(values: &[Option<i64>], narrow: impl Fn(i64) -> T) -> Vec<Option<T>> {
    values.iter().map(|value| value.map(&narrow)).collect()
}

/// A parameter as an element of an array of its type.
#[derive(Debug)]
pub struct Element<'a>(pub &'a (dyn ToSql + Sync + Send));

impl ToSql for Element<'_> {
    fn to_sql(&self, wanted: &Engine, out: &mut BytesMut) -> Written {
        self.0.to_sql_checked(wanted, out)
    }
    fn accepts(_: &Engine) -> bool {
        true
    }
    to_sql_checked!();
}

type Written = Result<IsNull, Box<dyn Error + Sync + Send>>;

/// What the server reads as a literal of whatever type it wants, or NULL.
#[derive(Debug)]
struct Text(Option<String>);

impl ToSql for Text {
    fn to_sql(&self, _: &Engine, out: &mut BytesMut) -> Written {
        let Some(text) = &self.0 else { return Ok(IsNull::Yes) };
        out.put_slice(text.as_bytes());
        Ok(IsNull::No)
    }
    fn accepts(_: &Engine) -> bool {
        true
    }
    fn encode_format(&self, _: &Engine) -> Format {
        Format::Text
    }
    to_sql_checked!();
}

/// A decimal, for which the driver has no type.
#[derive(Debug)]
struct Numeric(Decimal);

impl ToSql for Numeric {
    fn to_sql(&self, _: &Engine, out: &mut BytesMut) -> Written {
        numeric::write(&self.0, out);
        Ok(IsNull::No)
    }
    fn accepts(engine: &Engine) -> bool {
        *engine == Engine::NUMERIC
    }
    to_sql_checked!();
}

/// An interval, for which the driver has no type.
#[derive(Debug)]
struct Span(Interval);

impl ToSql for Span {
    fn to_sql(&self, _: &Engine, out: &mut BytesMut) -> Written {
        out.put_i64(self.0.nanoseconds / 1000);
        out.put_i32(self.0.days);
        out.put_i32(self.0.months);
        Ok(IsNull::No)
    }
    fn accepts(engine: &Engine) -> bool {
        *engine == Engine::INTERVAL
    }
    to_sql_checked!();
}
