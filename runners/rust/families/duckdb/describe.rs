//! Columns by their types as DuckDB spells them (DuckDB's documentation, "Data Types").
use crate::core::{Column, DescribedColumn, Type};

/// A column that `DESCRIBE` names.
pub fn described(name: String, spelt: String) -> DescribedColumn {
    let (kind, bits, precision, scale) = type_of(&spelt);
    let column = Column { name, kind, length: 0, precision, scale, bits, nullable: true };
    DescribedColumn { column, engine_type: spelt }
}

/// The codec's type, an integer's width, and a decimal's digits: all, and those after the point.
fn type_of(spelt: &str) -> (Type, u8, i64, i64) {
    let (kind, bits) = match spelt {
        "BOOLEAN" => (Type::Boolean, 32),
        "TINYINT" | "UTINYINT" | "SMALLINT" => (Type::Integer, 16),
        "USMALLINT" | "INTEGER" => (Type::Integer, 32),
        "UINTEGER" | "BIGINT" => (Type::Integer, 64),
        "UBIGINT" => return (Type::Decimal, 32, 20, 0), // beyond 63 bits
        "HUGEINT" => return (Type::Decimal, 32, 39, 0),
        "FLOAT" => (Type::Float32, 32),
        "DOUBLE" => (Type::Float64, 32),
        "VARCHAR" | "\"NULL\"" => (Type::Text, 32),
        "JSON" => (Type::Json, 32),
        "BLOB" => (Type::Binary, 32),
        "DATE" => (Type::Date, 32),
        "TIME" => (Type::Time, 32),
        "TIMESTAMP" | "TIMESTAMP_S" | "TIMESTAMP_MS" => (Type::Timestamp, 32),
        "TIMESTAMP WITH TIME ZONE" => (Type::Timestamptz, 32),
        "INTERVAL" => (Type::Interval, 32),
        "UUID" => (Type::Uuid, 32),
        "SMALLINT[]" => (Type::Array, 16),
        "INTEGER[]" => (Type::Array, 32),
        "BIGINT[]" => (Type::Array, 64),
        _ => return composed(spelt),
    };
    (kind, bits, 0, 0)
}

/// A type with parameters; a list of it is opaque.
fn composed(spelt: &str) -> (Type, u8, i64, i64) {
    let Some((name, parameters)) = spelt.strip_suffix(')').and_then(|rest| rest.split_once('(')) else {
        return (Type::Opaque, 32, 0, 0);
    };
    let digits = parameters.split_once(',').and_then(|(all, after)| Some((all.parse().ok()?, after.parse().ok()?)));
    match (name, digits) {
        ("DECIMAL", Some((precision, scale))) => (Type::Decimal, 32, precision, scale),
        ("ENUM", _) => (Type::Text, 32, 0, 0),
        _ => (Type::Opaque, 32, 0, 0),
    }
}
