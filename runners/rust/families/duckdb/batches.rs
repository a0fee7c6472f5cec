//! Arrow record batches: the type of a column is looked at once, then its values are taken one after the other.
use super::arrow::value;
use super::values::{date, integers, moment, time};
use crate::core::{Batch, Column, Decimal, Interval, Outcome, Sink, Type, text_forms};
use duckdb::arrow::array::{Array, ArrowPrimitiveType, AsArray};
use duckdb::arrow::datatypes as arrow;
use duckdb::arrow::datatypes::{DataType, TimeUnit};
use duckdb::arrow::record_batch::RecordBatch;
use duckdb::types::TimeUnit as Unit;
use std::hint::black_box;
use std::ops::Range;

/// A record batch.
pub struct Columns<'a>(pub &'a RecordBatch);

impl Batch for Columns<'_> {
    fn rows(&self) -> usize {
        self.0.num_rows()
    }

    fn values(&self, rows: Range<usize>, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        let values = Values { array: self.0.column(at).as_ref(), rows };
        match (column.kind, values.array.data_type()) {
            (_, DataType::Null) => values.each(sink, |sink, _| sink.null()),
            (Type::Integer, DataType::Int16) => values.integers::<arrow::Int16Type, _>(sink),
            (Type::Integer, DataType::Int32) => values.integers::<arrow::Int32Type, _>(sink),
            (Type::Integer, DataType::Int64) => values.integers::<arrow::Int64Type, _>(sink),
            (Type::Integer, DataType::Decimal128(_, 0)) => values.decimals::<arrow::Decimal128Type, _>(0, sink),
            (Type::Decimal, DataType::Decimal32(_, scale)) => values.decimals::<arrow::Decimal32Type, _>(*scale, sink),
            (Type::Decimal, DataType::Decimal64(_, scale)) => values.decimals::<arrow::Decimal64Type, _>(*scale, sink),
            (Type::Decimal, DataType::Decimal128(_, scale)) => {
                values.decimals::<arrow::Decimal128Type, _>(*scale, sink)
            }
            (Type::Float32 | Type::Float64, DataType::Float32) => {
                values.primitive::<arrow::Float32Type, _>(sink, |sink, value| sink.float(value.into()))
            }
            (Type::Float32 | Type::Float64, DataType::Float64) => {
                values.primitive::<arrow::Float64Type, _>(sink, |sink, value| sink.float(value))
            }
            (Type::Boolean, DataType::Boolean) => {
                let flags = values.array.as_boolean();
                values.each(sink, |sink, row| sink.boolean(flags.value(row)))
            }
            (Type::Binary, DataType::Binary) => {
                let bytes = values.array.as_binary::<i32>();
                values.each(sink, |sink, row| sink.binary(bytes.value(row)))
            }
            (Type::Date, DataType::Date32) => {
                values.primitive::<arrow::Date32Type, _>(sink, |sink, days| date(days, sink))
            }
            (Type::Time, DataType::Time64(TimeUnit::Microsecond)) => {
                values.primitive::<arrow::Time64MicrosecondType, _>(sink, |sink, value| time(value, sink))
            }
            (Type::Timestamp | Type::Timestamptz, DataType::Timestamp(unit, _)) => {
                values.moments(*unit, column.kind, sink)
            }
            (Type::Interval, DataType::Interval(_)) => {
                values.primitive::<arrow::IntervalMonthDayNanoType, _>(sink, |sink, value| {
                    sink.interval(&Interval { months: value.months, days: value.days, nanoseconds: value.nanoseconds })
                })
            }
            (Type::Array, DataType::List(_)) => {
                let lists = values.array.as_list::<i32>();
                values.each(sink, |sink, row| match integers(&lists.value(row)) {
                    Ok(integers) => sink.array(&integers),
                    Err(_) => sink.other(value(lists, row, column), column),
                })
            }
            (Type::Uuid, DataType::Utf8) => {
                let texts = values.array.as_string::<i32>();
                values.each(sink, |sink, row| match text_forms::uuid(texts.value(row)) {
                    Ok(uuid) => sink.uuid(&uuid),
                    Err(_) => sink.other(value(texts, row, column), column),
                })
            }
            (Type::Char | Type::Varchar | Type::Text | Type::Json, DataType::Utf8) => {
                let texts = values.array.as_string::<i32>();
                values.each(sink, |sink, row| sink.text(texts.value(row)))
            }
            (Type::Char | Type::Varchar | Type::Text | Type::Json, DataType::Dictionary(_, texts))
                if texts.is_string() =>
            {
                let codes = values.array.as_any_dictionary();
                let (keys, texts) = (codes.normalized_keys(), codes.values().as_string::<i32>());
                values.each(sink, |sink, row| sink.text(texts.value(keys[row])))
            }
            (Type::Opaque, _) => {
                black_box(values.array);
                values.each(sink, |sink, _| sink.opaque())
            }
            _ => values.rows.clone().try_for_each(|row| sink.other(value(values.array, row, column), column)),
        }
    }
}

/// Rows of one column.
struct Values<'a> {
    array: &'a dyn Array,
    rows: Range<usize>,
}

impl Values<'_> {
    /// Takes what `take` has for each row that is not NULL.
    #[inline]
    fn each<S: Sink>(&self, sink: &mut S, take: impl Fn(&mut S, usize) -> Outcome<()>) -> Outcome<()> {
        if self.array.logical_null_count() == 0 {
            return self.rows.clone().try_for_each(|row| take(sink, row));
        }
        let nulls = self.array.logical_nulls();
        let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        self.rows.clone().try_for_each(|row| if is_null(row) { sink.null() } else { take(sink, row) })
    }

    #[inline]
    fn primitive<T: ArrowPrimitiveType, S: Sink>(
        &self,
        sink: &mut S,
        take: impl Fn(&mut S, T::Native) -> Outcome<()>,
    ) -> Outcome<()> {
        let values = self.array.as_primitive::<T>().values();
        self.each(sink, |sink, row| take(sink, values[row]))
    }

    fn decimals<T: ArrowPrimitiveType<Native: Into<i128>>, S: Sink>(&self, scale: i8, sink: &mut S) -> Outcome<()> {
        self.primitive::<T, S>(sink, |sink, value| sink.decimal(&Decimal::of_i128(value.into(), scale as u8)))
    }

    fn integers<T: ArrowPrimitiveType<Native: Into<i64>>, S: Sink>(&self, sink: &mut S) -> Outcome<()> {
        self.primitive::<T, S>(sink, |sink, value| sink.integer(value.into()))
    }

    fn moments(&self, unit: TimeUnit, kind: Type, sink: &mut impl Sink) -> Outcome<()> {
        match unit {
            TimeUnit::Second => self.moments_of::<arrow::TimestampSecondType>(Unit::Second, kind, sink),
            TimeUnit::Millisecond => self.moments_of::<arrow::TimestampMillisecondType>(Unit::Millisecond, kind, sink),
            TimeUnit::Microsecond => self.moments_of::<arrow::TimestampMicrosecondType>(Unit::Microsecond, kind, sink),
            TimeUnit::Nanosecond => self.moments_of::<arrow::TimestampNanosecondType>(Unit::Nanosecond, kind, sink),
        }
    }

    fn moments_of<T: ArrowPrimitiveType<Native = i64>>(
        &self,
        unit: Unit,
        kind: Type,
        sink: &mut impl Sink,
    ) -> Outcome<()> {
        self.primitive::<T, _>(sink, |sink, value| moment(value, unit, kind, sink))
    }
}
