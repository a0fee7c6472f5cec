//! What the drivers of SQLite share: its types, how its SQL has values, what it reports of itself.
use crate::core::{Column, Facts, Failure, Outcome, Type, Value, unsupported};
use crate::families::sqltext;

const SETTINGS: [&str; 5] = ["journal_mode", "synchronous", "cache_size", "mmap_size", "busy_timeout"];

/// Refuses columns of types that SQLite lacks.
pub fn has_types(columns: &[Column]) -> Outcome<()> {
    match columns.iter().find(|column| matches!(column.kind, Type::Interval | Type::Uuid | Type::Array)) {
        Some(column) => {
            Err(unsupported(format!("column {}: SQLite has no type {:?}", column.name, column.kind).to_lowercase()))
        }
        None => Ok(()),
    }
}

/// Types that SQLite keeps as text, for it has none of them.
pub fn is_kept_as_text(kind: Type) -> bool {
    matches!(kind, Type::Decimal | Type::Date | Type::Time | Type::Timestamp | Type::Timestamptz)
}

/// A value inside SQL.
pub fn literal(value: &Value) -> Outcome<String> {
    match value {
        Value::Decimal(value) => Ok(sqltext::quoted(&value.text())), // as a number it would be a float
        Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => Err(no_type()),
        other => Ok(sqltext::standard(other)),
    }
}

#[cold]
pub fn no_type() -> Failure {
    unsupported("SQLite has no type for an interval, an array or infinity")
}

/// Fills in what the library reports of itself and of this connection; it is one that a crate carries.
pub async fn tell(facts: &mut Facts, mut ask: impl AsyncFnMut(&str) -> Outcome<String>) -> Outcome<()> {
    facts.engine_version = ask("SELECT sqlite_version()").await?;
    facts.build = ask("SELECT group_concat(compile_options, ' ') FROM pragma_compile_options").await?;
    let library = format!("{} (bundled in the crate libsqlite3-sys)", facts.engine_version);
    facts.libraries.insert("sqlite".into(), library);
    for name in SETTINGS {
        facts.settings.insert(name.into(), ask(&format!("PRAGMA {name}")).await?);
    }
    Ok(())
}
