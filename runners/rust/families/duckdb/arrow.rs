//! A value of an Arrow array of any type, nested ones too.
use crate::core::{Bits, Column, Decimal, Interval, Moment, Time, Type, Value};
use duckdb::arrow::array::{Array, AsArray};
use duckdb::arrow::datatypes as types;
use duckdb::arrow::datatypes::{DataType, IntervalUnit, TimeUnit};

/// The value of a row of an array, which the column declares.
pub fn value(array: &dyn Array, row: usize, column: &Column) -> Value {
    macro_rules! at {
        ($kind:ident) => {
            array.as_primitive::<types::$kind>().value(row)
        };
    }
    if array.is_null(row) {
        return Value::Null;
    }
    match array.data_type() {
        DataType::Null => Value::Null,
        DataType::Boolean => Value::Boolean(array.as_boolean().value(row)),
        DataType::Int8 => Value::Integer(at!(Int8Type).into()),
        DataType::Int16 => Value::Integer(at!(Int16Type).into()),
        DataType::Int32 => Value::Integer(at!(Int32Type).into()),
        DataType::Int64 => Value::Integer(at!(Int64Type)),
        DataType::UInt8 => Value::Integer(at!(UInt8Type).into()),
        DataType::UInt16 => Value::Integer(at!(UInt16Type).into()),
        DataType::UInt32 => Value::Integer(at!(UInt32Type).into()),
        DataType::UInt64 => Value::of_u64(at!(UInt64Type)),
        DataType::Float32 => Value::Float(at!(Float32Type).into()),
        DataType::Float64 => Value::Float(at!(Float64Type)),
        DataType::Decimal32(_, scale) => decimal(at!(Decimal32Type).into(), *scale),
        DataType::Decimal64(_, scale) => decimal(at!(Decimal64Type).into(), *scale),
        DataType::Decimal128(_, scale) => decimal(at!(Decimal128Type), *scale),
        DataType::Utf8 => Value::of_text(array.as_string::<i32>().value(row).as_bytes()),
        DataType::LargeUtf8 => Value::of_text(array.as_string::<i64>().value(row).as_bytes()),
        DataType::Binary => binary(array.as_binary::<i32>().value(row), column),
        DataType::LargeBinary => binary(array.as_binary::<i64>().value(row), column),
        DataType::FixedSizeBinary(_) => Value::Binary(array.as_fixed_size_binary().value(row).to_vec()),
        DataType::Date32 => super::values::day(at!(Date32Type)),
        DataType::Time64(TimeUnit::Microsecond) => time(at!(Time64MicrosecondType), 1000),
        DataType::Time64(TimeUnit::Nanosecond) => time(at!(Time64NanosecondType), 1),
        DataType::Timestamp(unit, zone) => {
            let (count, a_second) = match unit {
                TimeUnit::Second => (at!(TimestampSecondType), 1),
                TimeUnit::Millisecond => (at!(TimestampMillisecondType), 1000),
                TimeUnit::Microsecond => (at!(TimestampMicrosecondType), 1_000_000),
                TimeUnit::Nanosecond => (at!(TimestampNanosecondType), 1_000_000_000),
            };
            moment(count, a_second, zone.is_some())
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = at!(IntervalMonthDayNanoType);
            Value::Interval(Interval { months: value.months, days: value.days, nanoseconds: value.nanoseconds })
        }
        DataType::Dictionary(..) => {
            let codes = array.as_any_dictionary();
            self::value(codes.values().as_ref(), codes.normalized_keys()[row], column)
        }
        DataType::List(_) => list(array.as_list::<i32>().value(row).as_ref(), column),
        DataType::LargeList(_) => list(array.as_list::<i64>().value(row).as_ref(), column),
        DataType::FixedSizeList(..) => list(array.as_fixed_size_list().value(row).as_ref(), column),
        DataType::Struct(_) => {
            let members = array.as_struct().columns().iter().enumerate();
            Value::Struct(members.map(|(at, one)| self::value(one, row, field(column, at))).collect())
        }
        DataType::Map(..) => {
            let entries = array.as_map().value(row);
            let part = |at: usize, row: usize| self::value(entries.column(at), row, field(column, at));
            Value::Map((0..entries.len()).map(|row| (part(0, row), part(1, row))).collect())
        }
        DataType::Union(..) => {
            let union = array.as_union();
            self::value(union.child(union.type_id(row)), union.value_offset(row), column)
        }
        other => Value::foreign(format!("{:?}", array.slice(row, 1)), format!("Arrow's type {other}")),
    }
}

fn list(elements: &dyn Array, column: &Column) -> Value {
    Value::list((0..elements.len()).map(|at| value(elements, at, column.element())).collect())
}

fn field(column: &Column, at: usize) -> &Column {
    column.fields.get(at).unwrap_or(column)
}

/// Bytes, or bits as DuckDB keeps them: how many the first byte lacks, then the bytes, filled up at the front.
pub fn binary(bytes: &[u8], column: &Column) -> Value {
    match bytes {
        [lacking, bits @ ..] if column.kind == Type::Bits => {
            Value::Bits(Bits::of_low(bits, (bits.len() * 8).saturating_sub((*lacking).into())))
        }
        _ => Value::Binary(bytes.to_vec()),
    }
}

fn decimal(unscaled: i128, scale: i8) -> Value {
    if scale == 0 { Value::of_i128(unscaled) } else { Value::Decimal(Decimal::of_i128(unscaled, scale as u8)) }
}

pub fn time(count: i64, unit_ns: i64) -> Value {
    Time::of(count, unit_ns).map_or_else(|| Value::foreign(count.to_string(), "no time of a day"), Value::Time)
}

/// A timestamp or an instant; the greatest number and its negative are infinite.
pub fn moment(count: i64, a_second: i64, has_zone: bool) -> Value {
    match count {
        i64::MAX => Value::Infinite { negative: false },
        count if count == -i64::MAX => Value::Infinite { negative: true },
        _ if has_zone => Value::Instant(Moment::of(count, a_second)),
        _ => Value::Timestamp(Moment::of(count, a_second)),
    }
}
