//! Parameters in the types of their columns, as the crate has them.
use super::misfit;
use crate::core::{Column, Moment, Outcome, Type, Value};
use crate::families::sqltext;
use duckdb::types::{Decimal, TimeUnit, Value as Own};

/// A row's parameters.
pub fn bind(row: &[Value], columns: &[Column]) -> Outcome<Vec<Own>> {
    row.iter().zip(columns).map(|(value, column)| bound(value, column)).collect()
}

fn bound(value: &Value, column: &Column) -> Outcome<Own> {
    Ok(match value {
        Value::Null => Own::Null,
        Value::Integer(value) => integer(*value, column.bits),
        Value::Float(value) if column.kind == Type::Float32 => Own::Float(*value as f32),
        Value::Float(value) => Own::Double(*value),
        Value::Boolean(value) => Own::Boolean(*value),
        Value::Decimal(value) if column.kind == Type::Integer => Own::HugeInt(value.text().parse().map_err(misfit)?),
        Value::Decimal(value) => Own::Decimal(decimal(&value.text(), column)?),
        Value::Binary(value) => Own::Blob(value.clone()),
        Value::Date(value) => Own::Date32(value.days()),
        Value::Time(value) => Own::Time64(TimeUnit::Microsecond, value.0 / 1000),
        Value::Timestamp(value) | Value::Instant(value) => Own::Timestamp(TimeUnit::Microsecond, microseconds(*value)),
        Value::Infinite { negative } if column.kind == Type::Date => {
            Own::Date32(if *negative { -i32::MAX } else { i32::MAX })
        }
        Value::Infinite { negative } => {
            Own::Timestamp(TimeUnit::Microsecond, if *negative { -i64::MAX } else { i64::MAX })
        }
        Value::Interval(value) => Own::Interval { months: value.months, days: value.days, nanos: value.nanoseconds },
        Value::Array(value) => {
            let element = column.element();
            Own::List(value.elements.iter().map(|one| bound(one, element)).collect::<Outcome<_>>()?)
        }
        other => Own::Text(sqltext::text(other)),
    })
}

fn integer(value: i64, bits: u8) -> Own {
    match bits {
        16 => Own::SmallInt(value as i16),
        32 => Own::Int(value as i32),
        128 => Own::HugeInt(value.into()),
        _ => Own::BigInt(value),
    }
}

fn microseconds(value: Moment) -> i64 {
    value.seconds * 1_000_000 + i64::from(value.nanoseconds / 1000)
}

/// A decimal with as many digits after the point as its column has.
fn decimal(text: &str, column: &Column) -> Outcome<Decimal> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let scale = column.scale as usize;
    let unscaled = format!("{whole}{fraction:0<scale$}").parse().map_err(misfit)?;
    Decimal::new(column.precision as u8, column.scale as u8, unscaled).map_err(misfit)
}
