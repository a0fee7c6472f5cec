use super::column::{Column, Type};
use super::decimal::Decimal;
use super::iso;
use super::text_forms::{natural_text, uuid};

pub const SECOND_NS: i64 = 1_000_000_000;
const DAY_S: i64 = 86_400;
const EXACT: f64 = 9_007_199_254_740_992.0; // 2⁵³
const DAY_NS: i64 = DAY_S * SECOND_NS;

/// A value by its own kind, whatever its column is declared as: parameters, and what a row's usual way cannot take.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Null,
    Integer(i64),
    /// Integers beyond 64 bits too.
    Decimal(Decimal),
    Float(f64),
    Boolean(bool),
    Text(String),
    /// Text that is no UTF-8.
    Raw(Vec<u8>),
    Binary(Vec<u8>),
    Bits(Bits),
    Date(Date),
    Time(Time),
    /// A time and seconds east of UTC.
    Timetz(Time, i32),
    Timestamp(Moment),
    Instant(Moment),
    /// A date, or a timestamp, that no calendar has: 0000-00-00, 2024-02-30.
    NoDay(Date, Time),
    Interval(Interval),
    Uuid([u8; 16]),
    Array(Array),
    Struct(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Rows(Vec<Vec<Value>>),
    Infinite {
        negative: bool,
    },
    /// Of which only that it is there is in the digest.
    Opaque,
    Foreign(Box<Foreign>),
}

/// Parameter rows.
pub type Rows = Vec<Vec<Value>>;

/// A value without bytes in the codec: its own text, and what is wrong with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreign {
    pub text: String,
    pub reason: String,
}

/// An array's elements, of which a further dimension is an array again, and its first index.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    pub lower: i32,
    pub elements: Vec<Value>,
}

/// A string of bits: the first one is the highest of the first byte, the last byte is filled with 0.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    pub count: u32,
    pub bytes: Vec<u8>,
}

/// A day of the proleptic Gregorian calendar; the year 0 is 1 BC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Date {
    pub year: i32,
    pub month: u8,
    pub day: u8,
}

/// Nanoseconds since midnight, or how long something took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time(pub i64);

/// Seconds since 1970-01-01 00:00, floored, and nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moment {
    pub seconds: i64,
    pub nanoseconds: u32,
}

/// Months, days and nanoseconds, none of which can be turned into another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    pub months: i32,
    pub days: i32,
    pub nanoseconds: i64,
}

const MARCH: i64 = 3;
const DAYS_OF_400_YEARS: i64 = 146_097;
const DAYS_TO_1970: i64 = 719_468; // from 0000-03-01

impl Value {
    pub fn foreign(text: impl Into<String>, reason: impl Into<String>) -> Value {
        Value::Foreign(Box::new(Foreign { text: text.into(), reason: reason.into() }))
    }

    /// Text as it came.
    pub fn of_text(bytes: &[u8]) -> Value {
        match str::from_utf8(bytes) {
            Ok(text) => Value::Text(text.to_string()),
            Err(_) => Value::Raw(bytes.to_vec()),
        }
    }

    /// A whole number of any width.
    pub fn of_i128(value: i128) -> Value {
        match i64::try_from(value) {
            Ok(value) => Value::Integer(value),
            Err(_) => Value::Decimal(Decimal::of_i128(value, 0)),
        }
    }

    pub fn of_u64(value: u64) -> Value {
        Value::of_i128(value.into())
    }

    /// A date whether a calendar has it or not.
    pub fn of_date(day: Date) -> Value {
        if day.is_real() { Value::Date(day) } else { Value::NoDay(day, Time(0)) }
    }

    /// A timestamp whether a calendar has its date or not.
    pub fn of_wall(day: Date, time: Time) -> Value {
        if day.is_real() { Value::Timestamp(day.at(time)) } else { Value::NoDay(day, time) }
    }

    /// An array of one dimension that begins at 1.
    pub fn list(elements: Vec<Value>) -> Value {
        Value::Array(Array { lower: 1, elements })
    }
}

impl Array {
    /// Its integers, where it has nothing else in it.
    pub fn integers(&self) -> Option<Vec<Option<i64>>> {
        let integer = |value: &Value| match value {
            Value::Null => Some(None),
            Value::Integer(value) => Some(Some(*value)),
            _ => None,
        };
        self.elements.iter().map(integer).collect()
    }
}

impl Bits {
    /// Of zeros and ones; none where there is something else.
    pub fn of_text(text: &str) -> Option<Bits> {
        let mut bytes = vec![0; text.len().div_ceil(8)];
        for (at, digit) in text.bytes().enumerate() {
            match digit {
                b'0' => {}
                b'1' => bytes[at / 8] |= 0x80 >> (at % 8),
                _ => return None,
            }
        }
        Some(Bits { count: text.len() as u32, bytes })
    }

    /// The low bits of a number in big-endian bytes.
    pub fn of_low(number: &[u8], count: usize) -> Bits {
        let bit = |from_end: usize| {
            let byte = number.len().checked_sub(1 + from_end / 8).map_or(0, |at| number[at]);
            byte >> (from_end % 8) & 1
        };
        let mut bytes = vec![0; count.div_ceil(8)];
        for at in 0..count {
            bytes[at / 8] |= bit(count - 1 - at) << (7 - at % 8);
        }
        Bits { count: count as u32, bytes }
    }
}

impl Date {
    /// Whether a calendar has it.
    #[inline]
    pub fn is_real(self) -> bool {
        (1..=12).contains(&self.month) && (1..=28).contains(&self.day) || self.is_end_of_month()
    }

    fn is_end_of_month(self) -> bool {
        let leap = self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0);
        let days = match self.month {
            2 => 28 + u8::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        (29..=days).contains(&self.day)
    }

    /// Days since 1970-01-01; years are counted from March, so that a leap day ends one.
    pub fn days(self) -> i32 {
        let months = i64::from(self.year) * 12 + i64::from(self.month) - MARCH;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12));
        let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
        let in_year = (153 * month + 2) / 5 + i64::from(self.day) - 1;
        (365 * year + leaps + in_year - DAYS_TO_1970) as i32
    }

    /// The day so many days after 1970-01-01.
    pub fn of_days(days: i32) -> Date {
        let days = i64::from(days) + DAYS_TO_1970;
        let (era, in_era) = (days.div_euclid(DAYS_OF_400_YEARS), days.rem_euclid(DAYS_OF_400_YEARS));
        let year = (in_era - in_era / 1460 + in_era / 36_524 - in_era / 146_096) / 365;
        let in_year = in_era - (365 * year + year / 4 - year / 100);
        let month = (5 * in_year + 2) / 153;
        let day = in_year - (153 * month + 2) / 5 + 1;
        let months = (400 * era + year) * 12 + month + MARCH - 1;
        let (year, month) = (months.div_euclid(12), months.rem_euclid(12) + 1);
        Date { year: year as i32, month: month as u8, day: day as u8 }
    }

    /// The instant of the day so many nanoseconds after its midnight.
    pub fn at(self, time: Time) -> Moment {
        let seconds = i64::from(self.days()) * DAY_S + time.0.div_euclid(SECOND_NS);
        Moment { seconds, nanoseconds: time.0.rem_euclid(SECOND_NS) as u32 }
    }
}

impl Time {
    /// So many units of so many nanoseconds; none beyond 64 bits.
    pub fn of(count: i64, unit_ns: i64) -> Option<Time> {
        count.checked_mul(unit_ns).map(Time)
    }
}

impl Moment {
    /// So many units after 1970-01-01 00:00, so many of them a second.
    pub fn of(count: i64, a_second: i64) -> Moment {
        let nanoseconds = (count.rem_euclid(a_second) * (SECOND_NS / a_second)) as u32;
        Moment { seconds: count.div_euclid(a_second), nanoseconds }
    }

    pub fn date(self) -> Date {
        Date::of_days(self.seconds.div_euclid(DAY_S) as i32)
    }

    pub fn time(self) -> Time {
        Time(self.seconds.rem_euclid(DAY_S) * SECOND_NS + i64::from(self.nanoseconds))
    }
}

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
        (Type::Interval, Value::Time(time)) => Value::Interval(Interval { months: 0, days: 0, nanoseconds: time.0 }),
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
        Type::Interval => time
            .filter(|_| date.is_none())
            .map(|time| Value::Interval(Interval { months: 0, days: 0, nanoseconds: time.0 })),
        _ => None,
    }
}

fn foreign(kind: Type, value: &Value) -> Value {
    let text = natural_text(value);
    let reason = format!("no {}: '{}'", format!("{kind:?}").to_lowercase(), text.chars().take(40).collect::<String>());
    Value::foreign(text, reason)
}
