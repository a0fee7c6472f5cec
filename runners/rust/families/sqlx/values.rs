//! Values as sqlx has them, with chrono's and bigdecimal's types, and texts of whatever a database tells.
use super::{Conn, Engine, failed};
use crate::core::{Column, Decimal, Outcome, Sink, Type, Value, unusual};
use crate::families::chrono::{date, instant, time};
use crate::families::sqltext;
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use sqlx::types::BigDecimal;
use sqlx::{AssertSqlSafe, ColumnIndex, Decode, Executor, Row, ValueRef};
use std::hint::black_box;

/// The functions that take a value of the driver's type: whether it is compared with the column's.
macro_rules! takes {
    ($($(#[$about:meta])* $name:ident: $get:ident $(+ $bound:path)?;)+) => {$(
        $(#[$about])*
        #[inline]
        pub fn $name<'r, R: Row, T: Decode<'r, R::Database> $(+ $bound)?, S: Sink>(
            row: &'r R,
            at: usize,
            sink: &mut S,
            take: impl FnOnce(T, &mut S) -> Outcome<()>,
        ) -> Outcome<()>
        where
            usize: ColumnIndex<R>,
        {
            match row.$get::<Option<T>, _>(at).map_err(|_| unusual())? {
                Some(value) => take(value, sink),
                None => sink.null(),
            }
        }
    )+};
}

takes! {
    given: try_get + sqlx::Type<R::Database>;
    unchecked: try_get_unchecked;
}

/// Takes a value of which only that it is there counts.
pub fn opaque<R: Row>(row: &R, at: usize, sink: &mut impl Sink) -> Outcome<()>
where
    usize: ColumnIndex<R>,
{
    let value = row.try_get_raw(at).map_err(|_| unusual())?;
    black_box(&value);
    if value.is_null() { sink.null() } else { sink.opaque() }
}

/// The name of sqlx's type for a column where that is one of Rust's own, of chrono's or of bigdecimal's.
pub fn type_name(column: &Column) -> Option<&'static str> {
    Some(match column.kind {
        Type::Decimal => "BigDecimal",
        Type::Date => "NaiveDate",
        Type::Time => "NaiveTime",
        Type::Timestamp => "NaiveDateTime",
        Type::Timestamptz => "DateTime<Utc>",
        _ => return column.rust_type(),
    })
}

/// A parameter that is neither NULL nor of a type that engines have in ways of their own; others as text.
pub fn bound<B>(value: &Value, column: &Column) -> Outcome<B>
where
    B: From<f32> + From<f64> + From<bool> + From<BigDecimal> + From<Vec<u8>> + From<String>,
    B: From<NaiveDate> + From<NaiveTime> + From<NaiveDateTime> + From<DateTime<Utc>>,
{
    Ok(match value {
        Value::Float(value) if column.kind == Type::Float32 => (*value as f32).into(),
        Value::Float(value) => (*value).into(),
        Value::Boolean(value) => (*value).into(),
        Value::Decimal(value) => big_decimal(value)?.into(),
        Value::Binary(value) => value.clone().into(),
        Value::Date(value) => date(*value)?.into(),
        Value::Time(value) => time(*value)?.into(),
        Value::Timestamp(value) => instant(*value)?.naive_utc().into(),
        Value::Instant(value) => instant(*value)?.into(),
        other => sqltext::text(other).into(),
    })
}

fn big_decimal(value: &Decimal) -> Outcome<BigDecimal> {
    value.text().parse().map_err(super::misfit)
}

/// Takes a decimal; one that 64 bits do not hold goes by its digits.
pub fn take_decimal(value: &BigDecimal, sink: &mut impl Sink) -> Outcome<()> {
    let (unscaled, scale) = value.as_bigint_and_scale();
    match (i64::try_from(unscaled.as_ref()), u8::try_from(scale)) {
        (Ok(unscaled), Ok(scale)) if scale <= 18 => sink.decimal(&Decimal::Small { unscaled, scale }),
        _ => sink.decimal(&Decimal::parse(&value.to_plain_string())?),
    }
}

/// The last value of a query's first row; nothing where it is NULL.
pub async fn text_of<E: Engine>(conn: &mut Conn<E>, sql: &str) -> Outcome<String>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
    Option<String>: for<'r> Decode<'r, E::Db>,
    usize: ColumnIndex<super::Row<E>>,
{
    let row = conn.fetch_one(sqlx::raw_sql(AssertSqlSafe(sql))).await.map_err(failed::<E>)?;
    let value = row.try_get_unchecked::<Option<String>, _>(row.len() - 1).map_err(failed::<E>)?;
    Ok(value.unwrap_or_default())
}
