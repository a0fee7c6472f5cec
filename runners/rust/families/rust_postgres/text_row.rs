//! Values of a simple query's row: the driver hands over text, which a program parses by itself.
use super::row::Width;
use crate::core::{Column, Decimal, Delivered, Outcome, Sink, Source, Type, fail, iso, text_forms};
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
            Type::Binary => sink.binary(&unhexed(text)?),
            Type::Date => sink.date(&iso::date(text)?),
            Type::Time => sink.time(&iso::time(text)?),
            Type::Timestamp => sink.timestamp(&iso::timestamp(text)?),
            Type::Timestamptz => sink.instant(&iso::instant(text)?),
            Type::Interval => sink.interval(&postgresql_text::interval(text)?),
            Type::Uuid => sink.uuid(&text_forms::uuid(text)?),
            Type::Array => sink.array(&postgresql_text::array(text)?),
            Type::Opaque => {
                black_box(text);
                sink.opaque()
            }
        }
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

fn parsed<T: FromStr<Err: std::fmt::Display>>(text: &str) -> Outcome<T> {
    text.parse().map_err(|error| fail("verify", format!("'{text}': {error}")))
}

/// Reads bytea in hexadecimal digits.
fn unhexed(text: &str) -> Outcome<Vec<u8>> {
    let digits = text.strip_prefix("\\x").unwrap_or(text).as_bytes();
    let nibble = |digit: u8| (digit as char).to_digit(16).map(|value| value as u8);
    let byte = |pair: &[u8; 2]| Some(nibble(pair[0])? * 16 + nibble(pair[1])?);
    let (pairs, rest) = digits.as_chunks::<2>();
    let bytes: Option<Vec<u8>> = pairs.iter().map(byte).collect();
    bytes.filter(|_| rest.is_empty()).ok_or_else(|| fail("verify", "a bytea that is not in hexadecimal digits"))
}
