//! Values of a simple query's row: the driver hands over text, which a program parses by itself.
use super::row::Width;
use crate::core::{Column, Decimal, Delivered, Outcome, Sink, Source, Type, Value, iso, text_forms, unusual};
use crate::families::sqltext::postgresql_text;
use std::hint::black_box;
use std::str::FromStr;
use tokio_postgres::SimpleQueryRow;

impl Width for SimpleQueryRow {
    fn width(&self) -> usize {
        self.len()
    }
}

impl Source for SimpleQueryRow {
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        let Some(text) = self.try_get(at).map_err(super::failed)? else { return sink.null() };
        if let (true, Some(negative)) = (is_temporal(column.kind), infinity(text)) {
            return sink.infinite(negative);
        }
        match column.kind {
            Type::Integer => sink.integer(parsed(text)?),
            Type::Float32 => sink.float(parsed::<f32>(text)?.into()),
            Type::Float64 => sink.float(parsed(text)?),
            Type::Boolean => sink.boolean(text == "t"),
            Type::Decimal => sink.decimal(&Decimal::parse(text)?),
            Type::Char | Type::Varchar | Type::Text | Type::Json => sink.text(text),
            Type::Binary => sink.binary(&postgresql_text::bytea(text.as_bytes()).ok_or_else(unusual)?),
            Type::Date => sink.date(&iso::date(text)?),
            Type::Time => sink.time(&iso::time(text)?),
            Type::Timestamp => sink.timestamp(&iso::timestamp(text)?),
            Type::Timestamptz => sink.instant(&iso::instant(text)?),
            Type::Interval => sink.interval(&postgresql_text::interval(text).ok_or_else(unusual)?),
            Type::Uuid => sink.uuid(&text_forms::uuid(text)?),
            Type::Opaque => {
                black_box(text);
                sink.opaque()
            }
            _ => sink.other(postgresql_text::value(text.as_bytes(), column), column),
        }
    }

    fn natural(&self, at: usize, column: &Column) -> Outcome<Value> {
        let text = self.try_get(at).map_err(super::failed)?;
        Ok(text.map_or(Value::Null, |text| postgresql_text::value(text.as_bytes(), column)))
    }
}

/// The type that a simple query's row hands over for a column.
pub fn delivers(column: &Column) -> Delivered {
    match column.kind {
        Type::Char | Type::Varchar | Type::Text | Type::Json | Type::Opaque => Delivered::natural("&str"),
        _ => Delivered::from_text("&str"),
    }
}

fn is_temporal(kind: Type) -> bool {
    matches!(kind, Type::Date | Type::Timestamp | Type::Timestamptz)
}

fn infinity(text: &str) -> Option<bool> {
    matches!(text, "infinity" | "-infinity").then(|| text.starts_with('-'))
}

fn parsed<T: FromStr>(text: &str) -> Outcome<T> {
    text.parse().map_err(|_| unusual())
}
