//! Values of a row, and what its forms and those of record batches share.
use super::{arrow, failed};
use crate::core::{
    Column, Date, Decimal, Delivered, Interval, Moment, Outcome, Sink, Source, Time, Type, Value, text_forms, unusual,
};
use duckdb::Row;
use duckdb::arrow::array::{Array, AsArray, UnionArray};
use duckdb::arrow::datatypes::{DataType, Int16Type, Int32Type, Int64Type, Schema};
use duckdb::types::{ListType, TimeUnit, ValueRef};
use std::hint::black_box;

/// A row of the crate's own.
pub struct Taken<'a, 'b>(pub &'a Row<'b>);

impl Source for Taken<'_, '_> {
    #[inline]
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        let value = self.0.get_ref(at).map_err(failed)?;
        match (column.kind, value) {
            (_, ValueRef::Null) => sink.null(),
            (Type::Integer, ValueRef::Int(value)) => sink.integer(value.into()),
            (Type::Integer, ValueRef::BigInt(value)) => sink.integer(value),
            (Type::Decimal, ValueRef::Decimal(value)) => sink.decimal(&Decimal::of_i128(value.value(), value.scale())),
            (Type::Integer | Type::Decimal, ValueRef::UHugeInt(value)) => {
                sink.decimal(&Decimal::parse(&value.to_string())?)
            }
            (Type::Integer, value) => {
                let whole = whole(&value)?;
                match i64::try_from(whole) {
                    Ok(value) => sink.integer(value),
                    Err(_) => sink.decimal(&Decimal::of_i128(whole, 0)),
                }
            }
            (Type::Decimal, value) => sink.decimal(&Decimal::of_i128(whole(&value)?, 0)),
            (Type::Float32 | Type::Float64, ValueRef::Float(value)) => sink.float(value.into()),
            (Type::Float32 | Type::Float64, ValueRef::Double(value)) => sink.float(value),
            (Type::Boolean, ValueRef::Boolean(value)) => sink.boolean(value),
            (Type::Binary, ValueRef::Blob(value)) => sink.binary(value),
            (Type::Date, ValueRef::Date32(value)) => date(value, sink),
            (Type::Time, ValueRef::Time64(TimeUnit::Microsecond, value)) => time(value, sink),
            (Type::Timestamp | Type::Timestamptz, ValueRef::Timestamp(unit, value)) => {
                moment(value, unit, column.kind, sink)
            }
            (Type::Interval, ValueRef::Interval { months, days, nanos }) => {
                sink.interval(&Interval { months, days, nanoseconds: nanos })
            }
            (Type::Array, ValueRef::List(ListType::Regular(list), row)) => sink.array(&integers(&list.value(row))?),
            (Type::Uuid, value) => sink.uuid(&text_forms::uuid(value.as_str().map_err(|_| unusual())?)?),
            (Type::Char | Type::Varchar | Type::Text | Type::Json, value) => {
                sink.text(value.as_str().map_err(|_| unusual())?)
            }
            (Type::Opaque, ValueRef::Union(array, row)) if is_null_in(array.as_union(), row) => sink.null(),
            (Type::Opaque, value) => {
                black_box(value);
                sink.opaque()
            }
            (_, value) => sink.other(natural(value, column), column),
        }
    }

    fn natural(&self, at: usize, column: &Column) -> Outcome<Value> {
        self.0.get_ref(at).map(|value| natural(value, column)).map_err(failed)
    }
}

/// A row with columns of no type, such as NULL alone, of which the crate would panic.
pub struct WithoutTypes<'a, 'b>(pub &'a Row<'b>, pub &'a Schema);

impl Source for WithoutTypes<'_, '_> {
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        match self.1.fields().get(at) {
            Some(field) if field.data_type().is_null() => sink.null(),
            _ => Taken(self.0).value(at, column, sink),
        }
    }

    fn natural(&self, at: usize, column: &Column) -> Outcome<Value> {
        Taken(self.0).natural(at, column)
    }
}

fn natural(value: ValueRef, column: &Column) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Boolean(value) => Value::Boolean(value),
        ValueRef::UHugeInt(value) => match i128::try_from(value) {
            Ok(value) => Value::of_i128(value),
            Err(_) => Decimal::parse(&value.to_string()).map_or(Value::Null, Value::Decimal),
        },
        ValueRef::Float(value) => Value::Float(value.into()),
        ValueRef::Double(value) => Value::Float(value),
        ValueRef::Decimal(value) => Value::Decimal(Decimal::of_i128(value.value(), value.scale())),
        ValueRef::Timestamp(unit, value) => arrow::moment(value, per_second(unit), false),
        ValueRef::Text(text) => Value::of_text(text),
        ValueRef::Blob(bytes) | ValueRef::Geometry(bytes) => arrow::binary(bytes, column),
        ValueRef::Date32(days) => day(days),
        ValueRef::Time64(unit, value) => arrow::time(value, 1_000_000_000 / per_second(unit)),
        ValueRef::Interval { months, days, nanos } => Value::Interval(Interval { months, days, nanoseconds: nanos }),
        ValueRef::List(ListType::Regular(array), row) => arrow::value(array, row, column),
        ValueRef::List(ListType::Large(array), row) => arrow::value(array, row, column),
        ValueRef::Array(array, row) => arrow::value(array, row, column),
        ValueRef::Struct(array, row) => arrow::value(array, row, column),
        ValueRef::Map(array, row) => arrow::value(array, row, column),
        ValueRef::Union(array, row) => arrow::value(array, row, column),
        ref other => match (whole(other), other.as_str()) {
            (Ok(value), _) => Value::of_i128(value),
            (_, Ok(text)) => Value::Text(text.to_string()),
            _ => Value::foreign(format!("{other:?}"), format!("DuckDB's type {:?}", other.data_type())),
        },
    }
}

/// Whether a union's value is NULL, which Arrow knows only of the member that holds it.
fn is_null_in(union: &UnionArray, row: usize) -> bool {
    union.child(union.type_id(row)).is_null(union.value_offset(row))
}

/// A whole number of any width.
fn whole(value: &ValueRef) -> Outcome<i128> {
    Ok(match *value {
        ValueRef::TinyInt(value) => value.into(),
        ValueRef::SmallInt(value) => value.into(),
        ValueRef::Int(value) => value.into(),
        ValueRef::BigInt(value) => value.into(),
        ValueRef::HugeInt(value) => value,
        ValueRef::UTinyInt(value) => value.into(),
        ValueRef::USmallInt(value) => value.into(),
        ValueRef::UInt(value) => value.into(),
        ValueRef::UBigInt(value) => value.into(),
        _ => return Err(unusual()),
    })
}

/// A date; the greatest number of days and its negative are infinite.
pub(super) fn day(days: i32) -> Value {
    match days {
        i32::MAX => Value::Infinite { negative: false },
        days if days == -i32::MAX => Value::Infinite { negative: true },
        days => Value::Date(Date::of_days(days)),
    }
}

/// Takes a date; the greatest number of days and its negative are infinite.
pub(super) fn date(days: i32, sink: &mut impl Sink) -> Outcome<()> {
    if days.wrapping_abs() == i32::MAX { sink.infinite(days < 0) } else { sink.date(&Date::of_days(days)) }
}

pub(super) fn time(microseconds: i64, sink: &mut impl Sink) -> Outcome<()> {
    sink.time(&Time(microseconds * 1000))
}

/// Takes a timestamp or an instant; the greatest number and its negative are infinite.
pub(super) fn moment(value: i64, unit: TimeUnit, kind: Type, sink: &mut impl Sink) -> Outcome<()> {
    if value.wrapping_abs() == i64::MAX {
        return sink.infinite(value < 0);
    }
    let moment = Moment::of(value, per_second(unit));
    if kind == Type::Timestamp { sink.timestamp(&moment) } else { sink.instant(&moment) }
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// The elements of a list.
pub(super) fn integers(list: &dyn Array) -> Outcome<Vec<Option<i64>>> {
    Ok(match list.data_type() {
        DataType::Int16 => list.as_primitive::<Int16Type>().iter().map(|one| one.map(Into::into)).collect(),
        DataType::Int32 => list.as_primitive::<Int32Type>().iter().map(|one| one.map(Into::into)).collect(),
        DataType::Int64 => list.as_primitive::<Int64Type>().iter().collect(),
        _ => return Err(unusual()),
    })
}

/// The type that a row, or a record batch, hands over for a column.
pub fn delivers(column: &Column, is_columnar: bool) -> Delivered {
    let (row, batch) = match (column.kind, column.bits) {
        (Type::Integer, 16) => ("ValueRef::SmallInt", "Int16Array"),
        (Type::Integer, 32) => ("ValueRef::Int", "Int32Array"),
        (Type::Integer, 64) => ("ValueRef::BigInt", "Int64Array"),
        (Type::Integer, _) => ("ValueRef::HugeInt", "Decimal128Array"),
        (Type::Decimal, _) => ("ValueRef::Decimal", "Decimal128Array"),
        (Type::Float32, _) => ("ValueRef::Float", "Float32Array"),
        (Type::Float64, _) => ("ValueRef::Double", "Float64Array"),
        (Type::Boolean, _) => ("ValueRef::Boolean", "BooleanArray"),
        (Type::Binary, _) => ("ValueRef::Blob", "BinaryArray"),
        (Type::Date, _) => ("ValueRef::Date32", "Date32Array"),
        (Type::Time, _) => ("ValueRef::Time64", "Time64MicrosecondArray"),
        (Type::Timestamp | Type::Timestamptz, _) => ("ValueRef::Timestamp", "TimestampMicrosecondArray"),
        (Type::Interval, _) => ("ValueRef::Interval", "IntervalMonthDayNanoArray"),
        (Type::Array, _) => ("ValueRef::List", "ListArray"),
        (Type::Struct, _) => ("ValueRef::Struct", "StructArray"),
        (Type::Map, _) => ("ValueRef::Map", "MapArray"),
        (Type::Any, _) => ("ValueRef::Union", "UnionArray"),
        (Type::Timetz, _) => ("ValueRef::Time64", "Time64MicrosecondArray"),
        (Type::Opaque, _) => ("ValueRef", "dyn Array"),
        _ => ("ValueRef::Text", "StringArray"),
    };
    let name = if is_columnar { batch } else { row };
    if column.kind == Type::Uuid { Delivered::from_text(name) } else { Delivered::natural(name) }
}
