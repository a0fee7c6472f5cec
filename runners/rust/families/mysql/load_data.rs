//! LOAD DATA LOCAL INFILE of rows in memory: tabs between values, `\N` for NULL, bytes in hexadecimal digits.
use super::no_type;
use crate::core::text_forms::wall_text;
use crate::core::{Outcome, Phase, Type, Value};
use crate::families::sqltext;

/// The statement that stores rows as `write_row` writes them.
pub fn load_data(phase: &Phase) -> String {
    let columns = phase.parameter_columns.iter();
    let is_binary = |kind: Type| kind == Type::Binary;
    let name = |mark: &str, name: &str| format!("{mark}`{name}`");
    let places: Vec<_> =
        columns.clone().map(|column| name(if is_binary(column.kind) { "@" } else { "" }, &column.name)).collect();
    let set: Vec<_> = columns
        .filter(|column| is_binary(column.kind))
        .map(|column| format!("`{0}` = UNHEX(@`{0}`)", column.name))
        .collect();
    let set = if set.is_empty() { String::new() } else { format!(" SET {}", set.join(", ")) };
    format!(
        "LOAD DATA LOCAL INFILE 'rows' INTO TABLE `{}` CHARACTER SET utf8mb4 FIELDS TERMINATED BY '\\t' \
         ESCAPED BY X'5C' LINES TERMINATED BY '\\n' ({}){set}",
        phase.table,
        places.join(", ")
    )
}

/// A value as LOAD DATA reads it.
fn written(value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::Boolean(value) => u8::from(*value).to_string(),
        Value::Instant(value) => wall_text(*value),
        Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => return Err(no_type()),
        Value::Decimal(value) if !value.is_finite() => return Err(no_type()),
        other => sqltext::text(other),
    })
}

/// Appends one row as text.
pub fn write_row(row: &[Value], to: &mut Vec<u8>) -> Outcome<()> {
    sqltext::tab_separated(row, to, written)
}
