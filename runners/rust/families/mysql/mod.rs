//! What the drivers of MariaDB and MySQL share: how its SQL has values, what it reports of itself.
mod load_data;

pub use load_data::{load_data, write_row};

use crate::core::text_forms::wall_text;
use crate::core::{Column, Date, Facts, Failure, Options, Outcome, Time, Type, Value, unsupported};
use crate::families::sqltext;

/// What a session begins with: instants are UTC.
pub const SESSION: &str = "SET time_zone = '+00:00'";

const VERSION: &str = "SELECT VERSION()";
const SHOWN: [&str; 6] = [
    "time_zone",
    "sql_mode",
    "default_storage_engine",
    "innodb_flush_log_at_trx_commit",
    "character_set_client",
    "collation_connection",
];

/// A value inside SQL.
pub fn literal(value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::Text(text) => sqltext::quoted(&text.replace('\\', "\\\\")),
        Value::Instant(value) => sqltext::quoted(&wall_text(*value)),
        Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => return Err(no_type()),
        Value::Decimal(value) if !value.is_finite() => return Err(no_type()),
        other => sqltext::standard(other),
    })
}

/// What came as bytes: by the text protocol everything but NULL.
pub fn from_bytes(bytes: &[u8], column: &Column) -> Value {
    if matches!(column.kind, Type::Binary | Type::Bits) { Value::Binary(bytes.to_vec()) } else { Value::of_text(bytes) }
}

/// A DATE, of which a driver has the same value as of a DATETIME, or a DATETIME.
pub fn from_wall(day: Date, time: Time, kind: Type) -> Value {
    if kind == Type::Date && time == Time(0) { Value::of_date(day) } else { Value::of_wall(day, time) }
}

/// Refuses columns of a type that these engines lack.
pub fn has_types(columns: &[Column]) -> Outcome<()> {
    match columns.iter().find(|column| matches!(column.kind, Type::Interval | Type::Array)) {
        Some(column) => Err(unsupported(format!("column {}: there is no type for it here", column.name))),
        None => Ok(()),
    }
}

#[cold]
pub fn no_type() -> Failure {
    unsupported("MariaDB and MySQL have no type for an interval, an array, infinity or a decimal that is no number")
}

/// Fills in what the server reports; `ask` gives the last value of a query's first row as text, or nothing.
pub async fn tell(facts: &mut Facts, mut ask: impl AsyncFnMut(&str) -> Outcome<String>) -> Outcome<()> {
    for name in SHOWN {
        facts.settings.insert(name.into(), ask(&format!("SELECT CAST(@@{name} AS CHAR)")).await?);
    }
    facts.engine_version = ask(VERSION).await?;
    facts.build = ask("SELECT CONCAT(VERSION(), ' ', @@version_comment)").await?;
    facts.settings.insert("autocommit".into(), ask("SELECT IF(@@autocommit, 'on', 'off')").await?);
    let cipher = ask("SHOW SESSION STATUS LIKE 'Ssl_cipher'").await?;
    facts.settings.insert("tls".into(), if cipher.is_empty() { "off" } else { "on" }.into());
    Ok(())
}

/// Whether the server compresses the connection, where that was requested; `ask` as in `tell`.
pub async fn tell_compression(
    facts: &mut Facts,
    options: &Options,
    ask: impl AsyncFnOnce(&str) -> Outcome<String>,
) -> Outcome<()> {
    if options.is("compression", "zlib") {
        let status = ask("SHOW SESSION STATUS LIKE 'Compression'").await?;
        facts.settings.insert("compression".into(), status.to_lowercase());
    }
    Ok(())
}

/// What limits a statement's time, and what ends that limit.
pub async fn limits(after_ms: u64, ask: impl AsyncFnOnce(&str) -> Outcome<String>) -> Outcome<[String; 2]> {
    let is_mariadb = ask(VERSION).await?.contains("MariaDB");
    let (name, limit) = if is_mariadb {
        ("max_statement_time", (after_ms as f64 / 1000.0).to_string())
    } else {
        ("max_execution_time", after_ms.to_string())
    };
    Ok([limit, "DEFAULT".into()].map(|value| format!("SET SESSION {name} = {value}")))
}

/// An error of the server, with its number.
#[cold]
pub fn refused(number: u16, message: &str) -> Failure {
    let is_lost = matches!(number, 1040 | 1044 | 1045 | 1053 | 1927); // no access, or no connection any longer
    Failure::with_code(if is_lost { "connect" } else { "sql" }, number.to_string(), message)
}
