//! Values in PostgreSQL's binary form by the server's type, for what a driver's own types have no room for.
use super::numeric;
use crate::core::text_forms::hex_text;
use crate::core::{Array, Bits, Column, Date, Interval, Moment, Time, Type, Value};

const DAYS_TO_2000: i64 = 10_957; // from 1970-01-01
const SECONDS_TO_2000: i64 = DAYS_TO_2000 * 86_400;

// The server's types (its catalogue pg_type).
const BOOL: u32 = 16;
const BYTEA: u32 = 17;
const INT8: u32 = 20;
const INT2: u32 = 21;
const INT4: u32 = 23;
const OID: u32 = 26;
const XID: u32 = 28;
const CID: u32 = 29;
const CHAR: u32 = 18;
const TEXTS: [u32; 7] = [19, 25, 114, 142, 705, 1042, 1043]; // name, text, json, xml, unknown, char, varchar
const FLOAT4: u32 = 700;
const FLOAT8: u32 = 701;
const DATE: u32 = 1082;
const TIME: u32 = 1083;
const TIMESTAMP: u32 = 1114;
const TIMESTAMPTZ: u32 = 1184;
const INTERVAL: u32 = 1186;
const TIMETZ: u32 = 1266;
const BIT: u32 = 1560;
const VARBIT: u32 = 1562;
const NUMERIC: u32 = 1700;
const UUID: u32 = 2950;
const JSONB: u32 = 3802;
const XID8: u32 = 5069;

/// A value of the server's type; of an enumeration, a domain or an array as the column is declared.
pub fn value(oid: u32, raw: &[u8], column: &Column) -> Value {
    let read = match oid {
        oid if TEXTS.contains(&oid) => Some(Value::of_text(raw)),
        CHAR if raw == [0] => Some(Value::Text(String::new())),
        CHAR => Some(Value::of_text(raw)),
        JSONB => raw.get(1..).map(Value::of_text), // a version first
        _ if column.kind == Type::Array => array(raw, column),
        oid => scalar(oid, raw).or_else(|| match column.kind {
            kind if kind.is_text() => Some(Value::of_text(raw)),
            _ => scalar(declared(column), raw),
        }),
    };
    read.unwrap_or_else(|| Value::foreign(hex_text(raw), format!("{} bytes of the server's type {oid}", raw.len())))
}

fn scalar(oid: u32, raw: &[u8]) -> Option<Value> {
    Some(match oid {
        BOOL => Value::Boolean(*raw.first()? != 0),
        BYTEA => Value::Binary(raw.to_vec()),
        INT2 => Value::Integer(i16::from_be_bytes(raw.try_into().ok()?).into()),
        INT4 => Value::Integer(i32::from_be_bytes(raw.try_into().ok()?).into()),
        INT8 => Value::Integer(long(raw)?),
        OID | XID | CID => Value::Integer(u32::from_be_bytes(raw.try_into().ok()?).into()),
        XID8 => Value::of_u64(u64::from_be_bytes(raw.try_into().ok()?)),
        FLOAT4 => Value::Float(f32::from_be_bytes(raw.try_into().ok()?).into()),
        FLOAT8 => Value::Float(f64::from_be_bytes(raw.try_into().ok()?)),
        NUMERIC => Value::Decimal(numeric::read(raw)?),
        DATE => date(i32::from_be_bytes(raw.try_into().ok()?))?,
        TIME => Value::Time(Time::of(long(raw)?, 1000)?),
        TIMETZ => {
            let (time, west) = raw.split_first_chunk()?;
            let offset_s = i32::from_be_bytes(west.try_into().ok()?).checked_neg()?;
            Value::Timetz(Time::of(i64::from_be_bytes(*time), 1000)?, offset_s)
        }
        TIMESTAMP => moment(long(raw)?).map_or_else(infinite, Value::Timestamp),
        TIMESTAMPTZ => moment(long(raw)?).map_or_else(infinite, Value::Instant),
        INTERVAL => interval(raw)?,
        BIT | VARBIT => {
            let (count, bytes) = raw.split_first_chunk()?;
            Value::Bits(Bits { count: u32::from_be_bytes(*count), bytes: bytes.to_vec() })
        }
        UUID => Value::Uuid(raw.try_into().ok()?),
        _ => return None,
    })
}

fn long(raw: &[u8]) -> Option<i64> {
    raw.try_into().ok().map(i64::from_be_bytes)
}

fn date(days: i32) -> Option<Value> {
    match days {
        i32::MAX => Some(infinite(false)),
        i32::MIN => Some(infinite(true)),
        days => i32::try_from(i64::from(days) + DAYS_TO_2000).ok().map(|days| Value::Date(Date::of_days(days))),
    }
}

/// An instant by its microseconds after 2000; else whether it is infinite on the side before.
fn moment(microseconds: i64) -> Result<Moment, bool> {
    match microseconds {
        i64::MAX => Err(false),
        i64::MIN => Err(true),
        _ => {
            let moment = Moment::of(microseconds, 1_000_000);
            Ok(Moment { seconds: moment.seconds + SECONDS_TO_2000, ..moment })
        }
    }
}

fn infinite(negative: bool) -> Value {
    Value::Infinite { negative }
}

/// Microseconds, days, months; all of them the greatest or the least: infinite.
fn interval(raw: &[u8]) -> Option<Value> {
    let (microseconds, rest) = raw.split_first_chunk()?;
    let (days, months) = rest.split_first_chunk()?;
    let microseconds = i64::from_be_bytes(*microseconds);
    let (days, months) = (i32::from_be_bytes(*days), i32::from_be_bytes(months.try_into().ok()?));
    match (microseconds, days, months) {
        (i64::MAX, i32::MAX, i32::MAX) => return Some(infinite(false)),
        (i64::MIN, i32::MIN, i32::MIN) => return Some(infinite(true)),
        _ => {}
    }
    Some(match microseconds.checked_mul(1000) {
        Some(nanoseconds) => Value::Interval(Interval { months, days, nanoseconds }),
        None => Value::foreign(
            format!("{months} mons {days} days {microseconds} microseconds"),
            "an interval beyond 64 bits of nanoseconds",
        ),
    })
}

/// Bytes of an array that are still to be read.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Option<i32> {
        let (number, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(i32::from_be_bytes(*number))
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn dimension(&mut self, dimensions: &[(i32, i32)], oid: u32, element: &Column) -> Option<Value> {
        let Some(((count, lower), deeper)) = dimensions.split_first() else {
            return Some(match usize::try_from(self.number()?) {
                Ok(length) => value(oid, self.bytes(length)?, element),
                Err(_) => Value::Null,
            });
        };
        let elements = (0..*count).map(|_| self.dimension(deeper, oid, element)).collect::<Option<_>>()?;
        Some(Value::Array(Array { lower: *lower, elements }))
    }
}

/// The number of dimensions, flags, the elements' type, count and lower bound of each dimension, the elements.
fn array(raw: &[u8], column: &Column) -> Option<Value> {
    let mut reader = Reader(raw);
    let (count, _flags, oid) = (reader.number()?, reader.number()?, reader.number()? as u32);
    let dimensions = (0..count).map(|_| Some((reader.number()?, reader.number()?))).collect::<Option<Vec<_>>>()?;
    if dimensions.is_empty() {
        return Some(Value::list(Vec::new()));
    }
    reader.dimension(&dimensions, oid, column.element())
}

/// The server's type of a declared column; 0: it has none of its own.
fn declared(column: &Column) -> u32 {
    match (column.kind, column.bits) {
        (Type::Integer, 16) => INT2,
        (Type::Integer, 32) => INT4,
        (Type::Integer, 64) => INT8,
        (Type::Float32, _) => FLOAT4,
        (Type::Float64, _) => FLOAT8,
        (Type::Boolean, _) => BOOL,
        (Type::Decimal, _) => NUMERIC,
        (Type::Binary, _) => BYTEA,
        (Type::Bits, _) => VARBIT,
        (Type::Date, _) => DATE,
        (Type::Time, _) => TIME,
        (Type::Timetz, _) => TIMETZ,
        (Type::Timestamp, _) => TIMESTAMP,
        (Type::Timestamptz, _) => TIMESTAMPTZ,
        (Type::Interval, _) => INTERVAL,
        (Type::Uuid, _) => UUID,
        _ => 0,
    }
}
