//! Values of a row, and what its forms and those of record batches share.
use super::{failed, misfit};
use crate::core::{
    Column, Date, Decimal, Delivered, Interval, Moment, Outcome, Sink, Source, Time, Type, fail, text_forms,
    unsupported,
};
use duckdb::Row;
use duckdb::arrow::array::{Array, AsArray, UnionArray};
use duckdb::arrow::datatypes::{DataType, Int16Type, Int32Type, Int64Type};
use duckdb::types::{ListType, TimeUnit, ValueRef};
use std::hint::black_box;

const DAY_US: i64 = 86_400_000_000;
const MOST_SCALE: u8 = 18; // of a decimal in 64 bits

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
            (Type::Integer, value) => sink.integer(i64::try_from(whole(&value)?).map_err(misfit)?),
            (Type::Decimal, ValueRef::Decimal(value)) => sink.decimal(&decimal(value.value(), value.scale())),
            (Type::Decimal, ValueRef::UHugeInt(value)) => sink.decimal(&Decimal::parse(&value.to_string())?),
            (Type::Decimal, value) => sink.decimal(&decimal(whole(&value)?, 0)),
            (Type::Float32 | Type::Float64, ValueRef::Float(value)) => sink.float(value.into()),
            (Type::Float32 | Type::Float64, ValueRef::Double(value)) => sink.float(value),
            (Type::Boolean, ValueRef::Boolean(value)) => sink.boolean(value),
            (Type::Binary, ValueRef::Blob(value)) => sink.binary(value),
            (Type::Date, ValueRef::Date32(value)) => date(value, sink),
            (Type::Time, ValueRef::Time64(unit, value)) => time(unit.to_micros(value), sink),
            (Type::Timestamp | Type::Timestamptz, ValueRef::Timestamp(unit, value)) => {
                moment(value, unit, column.kind, sink)
            }
            (Type::Interval, ValueRef::Interval { months, days, nanos }) => {
                sink.interval(&Interval { months, days, nanoseconds: nanos })
            }
            (Type::Array, ValueRef::List(ListType::Regular(list), row)) => sink.array(&integers(&list.value(row))?),
            (Type::Uuid, value) => sink.uuid(&text_forms::uuid(value.as_str().map_err(misfit)?)?),
            (Type::Char | Type::Varchar | Type::Text | Type::Json, value) => sink.text(value.as_str().map_err(misfit)?),
            (Type::Opaque, ValueRef::Union(array, row)) if is_null_in(array.as_union(), row) => sink.null(),
            (Type::Opaque, value) => {
                black_box(value);
                sink.opaque()
            }
            (kind, other) => Err(fail("verify", format!("{:?} came where {kind:?} is declared", other.data_type()))),
        }
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
        ref other => return Err(fail("verify", format!("no whole number: {:?}", other.data_type()))),
    })
}

pub(super) fn decimal(unscaled: i128, scale: u8) -> Decimal {
    match i64::try_from(unscaled) {
        Ok(unscaled) if scale <= MOST_SCALE => Decimal::Small { unscaled, scale },
        _ => {
            let digits = unscaled.unsigned_abs().to_string();
            Decimal::of_digits(unscaled < 0, &digits, digits.len() as i32 - i32::from(scale))
        }
    }
}

/// Takes a date; the greatest number of days and its negative are infinite.
pub(super) fn date(days: i32, sink: &mut impl Sink) -> Outcome<()> {
    if days.abs() == i32::MAX { sink.infinite(days < 0) } else { sink.date(&Date::of_days(days)) }
}

pub(super) fn time(microseconds: i64, sink: &mut impl Sink) -> Outcome<()> {
    if microseconds >= DAY_US {
        return Err(unsupported("a time of day ends before 24:00"));
    }
    sink.time(&Time(microseconds as u64 * 1000))
}

/// Takes a timestamp or an instant; the greatest number and its negative are infinite.
pub(super) fn moment(value: i64, unit: TimeUnit, kind: Type, sink: &mut impl Sink) -> Outcome<()> {
    if value.abs() == i64::MAX {
        return sink.infinite(value < 0);
    }
    let a_second = match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    };
    let nanoseconds = (value.rem_euclid(a_second) * (1_000_000_000 / a_second)) as u32;
    let moment = Moment { seconds: value.div_euclid(a_second), nanoseconds };
    if kind == Type::Timestamp { sink.timestamp(&moment) } else { sink.instant(&moment) }
}

/// The elements of a list.
pub(super) fn integers(list: &dyn Array) -> Outcome<Vec<Option<i64>>> {
    Ok(match list.data_type() {
        DataType::Int16 => list.as_primitive::<Int16Type>().iter().map(|one| one.map(Into::into)).collect(),
        DataType::Int32 => list.as_primitive::<Int32Type>().iter().map(|one| one.map(Into::into)).collect(),
        DataType::Int64 => list.as_primitive::<Int64Type>().iter().collect(),
        other => return Err(fail("verify", format!("no list of integers: {other}"))),
    })
}

/// The type that a row, or a record batch, hands over for a column.
pub fn delivers(column: &Column, is_columnar: bool) -> Delivered {
    let (row, batch) = match (column.kind, column.bits) {
        (Type::Integer, 16) => ("ValueRef::SmallInt", "Int16Array"),
        (Type::Integer, 32) => ("ValueRef::Int", "Int32Array"),
        (Type::Integer, _) => ("ValueRef::BigInt", "Int64Array"),
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
        (Type::Opaque, _) => ("ValueRef", "dyn Array"),
        _ => ("ValueRef::Text", "StringArray"),
    };
    let name = if is_columnar { batch } else { row };
    if column.kind == Type::Uuid { Delivered::from_text(name) } else { Delivered::natural(name) }
}
