//! SQL texts: values inside them, and placeholders of a driver's own.
mod mode;
pub mod postgresql_text;

pub use mode::Mode;

use crate::core::text_forms::{date_text, hex_text, micro_time_text, natural_text, uuid_text, wall_text};
use crate::core::{Outcome, Phase, Rows, Value, fail};
use postgresql_text::{array_text, interval_text};

/// One SQL text for each row, each placeholder outside of quotes replaced by the literal of its value.
pub fn texts(phase: &Phase, rows: &Rows, literal: impl Fn(&Value) -> Outcome<String>) -> Outcome<Vec<String>> {
    if phase.parameter_columns.is_empty() {
        return Ok(vec![phase.sql.clone()]); // a question mark is no placeholder then
    }
    let pieces = split(&phase.sql);
    if pieces.len() != phase.parameter_columns.len() + 1 {
        let text = format!("{} placeholders for {} columns", pieces.len() - 1, phase.parameter_columns.len());
        return Err(fail("internal", text));
    }
    let text = |row: &Vec<Value>| {
        let mut text = String::new();
        for (piece, value) in pieces.iter().zip(row) {
            text += piece;
            text += &literal(value)?;
        }
        Ok(text + pieces[pieces.len() - 1])
    };
    rows.iter().map(text).collect()
}

/// The SQL with `$1`, `$2`, … instead of question marks, where there are parameters.
pub fn numbered(phase: &Phase) -> String {
    if phase.parameter_columns.is_empty() {
        return phase.sql.clone();
    }
    let pieces = split(&phase.sql);
    let mut text = pieces[0].to_string();
    for (at, piece) in pieces[1..].iter().enumerate() {
        text += &format!("${}{piece}", at + 1);
    }
    text
}

/// The SQL between its placeholders; a question mark within quotes is none.
fn split(sql: &str) -> Vec<&str> {
    let (mut pieces, mut quote, mut from) = (Vec::new(), None, 0);
    for (at, character) in sql.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '?') => {
                pieces.push(&sql[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    pieces.push(&sql[from..]);
    pieces
}

/// An INSERT of one row as one of so many rows; none where it ends in no list of values.
pub fn many_rows(sql: &str, rows: usize) -> Option<String> {
    let (head, values) = sql.split_at(sql.rfind('(')?);
    Some(head.to_string() + &vec![values; rows].join(", "))
}

/// Appends a row with tabs between its values and `\N` for NULL, as COPY and LOAD DATA read it.
pub fn tab_separated(row: &[Value], to: &mut Vec<u8>, text: impl Fn(&Value) -> Outcome<String>) -> Outcome<()> {
    for (at, value) in row.iter().enumerate() {
        if at > 0 {
            to.push(b'\t');
        }
        match value {
            Value::Null => to.extend_from_slice(b"\\N"),
            Value::Text(text) => escape(text, to),
            other => escape(&text(other)?, to),
        }
    }
    to.push(b'\n');
    Ok(())
}

fn escape(text: &str, to: &mut Vec<u8>) {
    for byte in text.bytes() {
        if matches!(byte, b'\\' | b'\t' | b'\n' | b'\r') {
            to.push(b'\\');
        }
        to.push(byte);
    }
}

/// The literal of standard SQL.
pub fn standard(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Boolean(value) => value.to_string(),
        Value::Integer(value) => value.to_string(),
        Value::Float(value) => float_text(*value),
        Value::Decimal(value) => value.text(),
        Value::Binary(value) => format!("x'{}'", hex_text(value)),
        other => quoted(&text(other)),
    }
}

/// A float in shortest round-trip form, marked as one.
pub fn float_text(value: f64) -> String {
    format!("{value:e}")
}

pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// A value as text, as SQL's literals have it between their quotes.
pub fn text(value: &Value) -> String {
    match value {
        Value::Null => "NULL".into(),
        Value::Integer(value) => value.to_string(),
        Value::Decimal(value) => value.text(),
        Value::Float(value) => float_text(*value),
        Value::Boolean(value) => value.to_string(),
        Value::Text(value) => value.clone(),
        Value::Binary(value) => hex_text(value),
        Value::Date(value) => date_text(*value),
        Value::Time(value) => micro_time_text(*value),
        Value::Timestamp(value) => wall_text(*value),
        Value::Instant(value) => wall_text(*value) + "+00:00",
        Value::Interval(value) => interval_text(value),
        Value::Uuid(value) => uuid_text(value),
        Value::Array(value) => array_text(value),
        other => natural_text(other),
    }
}
