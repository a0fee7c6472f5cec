use super::column::{Column, Type};
use super::decimal::Decimal;
use super::iso;
use super::text_forms::{natural_text, uuid};
use super::values::{Bits, Interval, Moment, SECOND_NS, Time, Value};

const EXACT: f64 = 9_007_199_254_740_992.0; // 2⁵³
const DAY_NS: i64 = 86_400 * SECOND_NS;

/// A value in the form that is nearest to its column's declared type; foreign where there is none.
pub fn nearest(value: Value, column: &Column) -> Value {
    match (column.kind, value) {
        (_, Value::Null) => Value::Null,
        (Type::Opaque, _) => Value::Opaque,
        (Type::Any, value) => as_any(value),
        (_, Value::Foreign(foreign)) => Value::Foreign(foreign),
        (kind, value) if is_natural(kind, &value) => value,
        (kind, value) if kind.is_text() => as_text(value),
        (_, value) => converted(column, &value).unwrap_or_else(|| foreign(column.kind, &value)),
    }
}

/// Whether it is one of the values that a type has by itself.
fn is_natural(kind: Type, value: &Value) -> bool {
    match value {
        Value::Integer(_) | Value::Decimal(_) => matches!(kind, Type::Integer | Type::Decimal),
        Value::Float(_) => matches!(kind, Type::Float32 | Type::Float64),
        Value::Boolean(_) => kind == Type::Boolean,
        Value::Text(_) | Value::Raw(_) => kind.is_text(),
        Value::Binary(_) => kind == Type::Binary,
        Value::Bits(_) => kind == Type::Bits,
        Value::Date(_) => kind == Type::Date,
        Value::Time(_) => kind == Type::Time,
        Value::Timetz(..) => kind == Type::Timetz,
        Value::Timestamp(_) => kind == Type::Timestamp,
        Value::Instant(_) => kind == Type::Timestamptz,
        Value::NoDay(_, time) => {
            kind == Type::Timestamp || kind == Type::Timestamptz || (kind == Type::Date && time.0 == 0)
        }
        Value::Infinite { .. } => matches!(kind, Type::Date | Type::Timestamp | Type::Timestamptz | Type::Interval),
        Value::Interval(_) => kind == Type::Interval,
        Value::Uuid(_) => kind == Type::Uuid,
        Value::Array(_) => kind == Type::Array,
        Value::Struct(_) => kind == Type::Struct,
        Value::Map(_) => kind == Type::Map,
        Value::Rows(_) => kind == Type::Rows,
        Value::Null | Value::Opaque | Value::Foreign(_) => true,
    }
}

/// A number is one whatever its type: a float without a fraction is an integer.
fn as_any(value: Value) -> Value {
    match value {
        Value::Float(float) if float.fract() == 0.0 && float.abs() < EXACT => Value::Integer(float as i64),
        other => other,
    }
}

fn as_text(value: Value) -> Value {
    match value {
        Value::Binary(bytes) => Value::of_text(&bytes),
        other => Value::Text(natural_text(&other)),
    }
}

fn converted(column: &Column, value: &Value) -> Option<Value> {
    match value {
        Value::Text(text) => return from_text(column, text),
        Value::Raw(bytes) | Value::Binary(bytes) => return from_bytes(column, bytes),
        _ => {}
    }
    match column.kind {
        Type::Integer | Type::Decimal => match value {
            Value::Float(float) => Some(Value::Decimal(Decimal::of_float(*float))),
            Value::Boolean(flag) => Some(Value::Integer((*flag).into())),
            Value::Infinite { negative } => Some(Value::Decimal(Decimal::infinite(*negative))),
            _ => None,
        },
        Type::Float32 | Type::Float64 => match value {
            Value::Integer(whole) => Some(Value::Float(*whole as f64)),
            Value::Decimal(decimal) => decimal.plain().parse().ok().map(Value::Float),
            Value::Boolean(flag) => Some(Value::Float((*flag).into())),
            _ => None,
        },
        Type::Boolean => match value {
            Value::Integer(whole) => Some(Value::Boolean(*whole != 0)),
            Value::Decimal(decimal) => Some(Value::Boolean(decimal.plain() != "0")),
            Value::Float(float) => Some(Value::Boolean(*float != 0.0)),
            Value::Bits(bits) => Some(Value::Boolean(bits.bytes.iter().any(|byte| *byte != 0))),
            _ => None,
        },
        Type::Binary => match value {
            Value::Uuid(bytes) => Some(Value::Binary(bytes.to_vec())),
            Value::Bits(bits) => Some(Value::Binary(bits.bytes.clone())),
            _ => None,
        },
        Type::Bits => match value {
            Value::Boolean(flag) => Some(Value::Bits(Bits::of_low(&[(*flag).into()], 1))),
            Value::Integer(whole) if column.length > 0 => {
                Some(Value::Bits(Bits::of_low(&whole.to_be_bytes(), column.length as usize)))
            }
            _ => None,
        },
        _ => as_time(column.kind, value),
    }
}

fn as_time(kind: Type, value: &Value) -> Option<Value> {
    Some(match (kind, value) {
        (Type::Date, Value::Timestamp(moment) | Value::Instant(moment)) if moment.time() == Time(0) => {
            Value::Date(moment.date())
        }
        (Type::Timestamp, Value::Date(day)) => Value::Timestamp(day.at(Time(0))),
        (Type::Timestamptz, Value::Date(day)) => Value::Instant(day.at(Time(0))),
        (Type::Timestamp, Value::Instant(moment)) => Value::Timestamp(*moment),
        (Type::Timestamptz, Value::Timestamp(moment)) => Value::Instant(*moment),
        (Type::Time, Value::Timetz(time, _)) => Value::Time(*time),
        (Type::Timetz, Value::Time(time)) => Value::Timetz(*time, 0),
        (Type::Time, Value::Interval(Interval { months: 0, days, nanoseconds })) => {
            let days_ns = i64::from(*days).checked_mul(DAY_NS)?;
            Value::Time(Time(days_ns.checked_add(*nanoseconds)?))
        }
        (Type::Interval, Value::Time(time)) => {
            Value::Interval(Interval { months: 0, days: 0, nanoseconds: time.0 })
        }
        _ => return None,
    })
}

fn from_bytes(column: &Column, bytes: &[u8]) -> Option<Value> {
    match column.kind {
        Type::Binary => Some(Value::Binary(bytes.to_vec())),
        Type::Bits => {
            let count = if column.length > 0 { column.length as usize } else { bytes.len() * 8 };
            Some(Value::Bits(Bits::of_low(bytes, count)))
        }
        Type::Uuid if bytes.len() == 16 => bytes.try_into().ok().map(Value::Uuid),
        _ => from_text(column, str::from_utf8(bytes).ok()?),
    }
}

/// Reads text that spells a value of the column's type.
fn from_text(column: &Column, text: &str) -> Option<Value> {
    match column.kind {
        Type::Integer | Type::Decimal => match text.parse() {
            Ok(whole) => Some(Value::Integer(whole)),
            Err(_) => Decimal::parse(text).ok().map(Value::Decimal),
        },
        Type::Float32 | Type::Float64 => text.parse().ok().map(Value::Float),
        Type::Boolean => match text.to_ascii_lowercase().as_str() {
            "t" | "true" | "1" => Some(Value::Boolean(true)),
            "f" | "false" | "0" => Some(Value::Boolean(false)),
            _ => None,
        },
        Type::Binary => Some(Value::Binary(text.as_bytes().to_vec())),
        Type::Bits => Bits::of_text(text).map(Value::Bits),
        Type::Uuid => uuid(text).ok().map(Value::Uuid),
        Type::Date | Type::Timestamp | Type::Timestamptz | Type::Interval if is_infinite(text) => {
            Some(Value::Infinite { negative: text.starts_with('-') })
        }
        kind => iso::written(text).and_then(|written| from_written(kind, written)),
    }
}

fn is_infinite(text: &str) -> bool {
    matches!(text, "infinity" | "-infinity" | "inf" | "-inf")
}

fn from_written(kind: Type, written: iso::Written) -> Option<Value> {
    let iso::Written { date, time, offset_s } = written;
    match kind {
        Type::Date => date.filter(|_| time.unwrap_or(Time(0)) == Time(0)).map(Value::of_date),
        Type::Time => time.filter(|_| date.is_none()).map(Value::Time),
        Type::Timetz => time.filter(|_| date.is_none()).map(|time| Value::Timetz(time, offset_s.unwrap_or(0))),
        Type::Timestamp | Type::Timestamptz => {
            let (date, time) = (date?, time.unwrap_or(Time(0)));
            if !date.is_real() {
                return Some(Value::NoDay(date, time));
            }
            let wall = date.at(time);
            let moment = Moment { seconds: wall.seconds - i64::from(offset_s.unwrap_or(0)), ..wall };
            Some(if kind == Type::Timestamp { Value::Timestamp(moment) } else { Value::Instant(moment) })
        }
        Type::Interval => time.filter(|_| date.is_none()).map(|time| {
            Value::Interval(Interval { months: 0, days: 0, nanoseconds: time.0 })
        }),
        _ => None,
    }
}

fn foreign(kind: Type, value: &Value) -> Value {
    let text = natural_text(value);
    let reason = format!("no {}: '{}'", format!("{kind:?}").to_lowercase(), text.chars().take(40).collect::<String>());
    Value::foreign(text, reason)
}
