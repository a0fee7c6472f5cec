//! Decimals as sqlx has them from bigdecimal, and texts of whatever a database tells.
use super::{Conn, Engine, failed};
use crate::core::{Decimal, Outcome, Sink};
use sqlx::types::BigDecimal;
use sqlx::{AssertSqlSafe, ColumnIndex, Decode, Executor, Row};

pub fn big_decimal(value: &Decimal) -> Outcome<BigDecimal> {
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
