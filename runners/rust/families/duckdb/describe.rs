//! Columns by their types as DuckDB spells them (DuckDB's documentation, "Data Types").
use crate::core::{Column, DescribedColumn, Type};

/// A column that `DESCRIBE` names.
pub fn described(name: String, spelt: String) -> DescribedColumn {
    DescribedColumn { column: of_type(&name, &spelt), engine_type: spelt }
}

fn of_type(name: &str, spelt: &str) -> Column {
    let integer = |bits| Column::new(name, Type::Integer).of_bits(bits);
    let kind = match spelt {
        "BOOLEAN" => Type::Boolean,
        "TINYINT" | "UTINYINT" | "SMALLINT" => return integer(16),
        "USMALLINT" | "INTEGER" => return integer(32),
        "UINTEGER" | "BIGINT" => return integer(64),
        "UBIGINT" | "HUGEINT" | "UHUGEINT" => return integer(128), // beyond 63 bits
        "FLOAT" => Type::Float32,
        "DOUBLE" => Type::Float64,
        "VARCHAR" | "\"NULL\"" => Type::Text,
        "JSON" => Type::Json,
        "BLOB" => Type::Binary,
        "BIT" => Type::Bits,
        "DATE" => Type::Date,
        "TIME" | "TIME_NS" => Type::Time,
        "TIME WITH TIME ZONE" => Type::Timetz,
        "TIMESTAMP" | "TIMESTAMP_S" | "TIMESTAMP_MS" | "TIMESTAMP_NS" => Type::Timestamp,
        "TIMESTAMP WITH TIME ZONE" => Type::Timestamptz,
        "INTERVAL" => Type::Interval,
        "UUID" => Type::Uuid,
        _ => return composed(name, spelt),
    };
    Column::new(name, kind)
}

/// A list of a type, or a type with parameters.
fn composed(name: &str, spelt: &str) -> Column {
    if let Some((element, _)) = spelt.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        return Column::array_of(name, of_type("", element));
    }
    let parts = spelt.strip_suffix(')').and_then(|rest| rest.split_once('('));
    let (kind, parts) = parts.map_or((spelt, Vec::new()), |(kind, parts)| (kind, split(parts)));
    match (kind, parts.as_slice()) {
        ("DECIMAL", [precision, scale]) => Column {
            precision: precision.parse().unwrap_or(0),
            scale: scale.parse().unwrap_or(0),
            ..Column::new(name, Type::Decimal)
        },
        ("ENUM", _) => Column::new(name, Type::Text),
        ("UNION", _) => Column::new(name, Type::Any),
        ("MAP", [key, value]) => {
            let key = Column { nullable: false, ..of_type("key", key) };
            Column { fields: vec![key, of_type("value", value)], ..Column::new(name, Type::Map) }
        }
        ("STRUCT", members) => {
            let fields = members.iter().map(|member| member_of(member)).collect();
            Column { fields, ..Column::new(name, Type::Struct) }
        }
        _ => Column::new(name, Type::Opaque),
    }
}

/// A member's name, perhaps in double quotes, and its type.
fn member_of(spelt: &str) -> Column {
    let end = match spelt.strip_prefix('"') {
        Some(rest) => {
            let mut from = 0;
            while rest[from..].starts_with("\"\"") || !rest[from..].starts_with('"') && from < rest.len() {
                from += if rest[from..].starts_with('"') {
                    2
                } else {
                    rest[from..].chars().next().map_or(1, char::len_utf8)
                };
            }
            from + 2
        }
        None => spelt.find(' ').unwrap_or(spelt.len()),
    };
    let (name, kind) = spelt.split_at(end.min(spelt.len()));
    let name = name.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(name);
    of_type(&name.replace("\"\"", "\""), kind.trim())
}

/// What stands between commas outside of parentheses and quotes.
fn split(text: &str) -> Vec<&str> {
    let (mut parts, mut from, mut depth, mut quote) = (Vec::new(), 0, 0, None);
    for (at, character) in text.char_indices() {
        match (quote, character) {
            (Some(open), _) if open == character => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(character),
            (None, '(') => depth += 1,
            (None, ')') => depth -= 1,
            (None, ',') if depth == 0 => {
                parts.push(text[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(text[from..].trim());
    parts
}
