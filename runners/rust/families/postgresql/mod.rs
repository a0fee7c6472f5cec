//! What the drivers of PostgreSQL share: how its SQL has values, what it reports of itself.
pub mod binary;
pub mod numeric;

use crate::core::text_forms::hex_text;
use crate::core::{Facts, Outcome, Phase, Value};
use crate::families::sqltext;

pub const PID: &str = "SELECT pg_backend_pid()::text";

const SHOWN: [&str; 5] = ["server_version", "TimeZone", "fsync", "synchronous_commit", "default_transaction_isolation"];
// A role that the session has set may not see its own row there.
const TLS: &str = "SELECT coalesce(max(CASE WHEN ssl THEN 'on' ELSE 'off' END), 'unknown') \
                   FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

/// A value inside SQL.
pub fn literal(value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::Float(value) => sqltext::quoted(&sqltext::float_text(*value)),
        Value::Binary(value) => format!("'\\x{}'", hex_text(value)),
        Value::Decimal(value) if !value.is_finite() => sqltext::quoted(&value.text()),
        other => sqltext::standard(other),
    })
}

/// The elements of an array in 64 bits.
pub fn widened<T: Copy + Into<i64>>(values: &[Option<T>]) -> Vec<Option<i64>> {
    values.iter().map(|value| value.map(Into::into)).collect()
}

/// Fills in what the server reports of itself and of this connection.
pub async fn tell(facts: &mut Facts, mut ask: impl AsyncFnMut(&str) -> Outcome<String>) -> Outcome<()> {
    for name in SHOWN {
        facts.settings.insert(name.into(), ask(&format!("SELECT current_setting('{name}')")).await?);
    }
    facts.engine_version = facts.settings["server_version"].clone();
    facts.build = ask("SELECT version()").await?;
    facts.settings.insert("tls".into(), ask(TLS).await?);
    facts.settings.insert("autocommit".into(), "on".into()); // outside of transactions the server has no other
    Ok(())
}

/// The protocol's kind of an error with this SQLSTATE.
pub fn kind(state: &str) -> &'static str {
    if ["08", "57P", "28"].iter().any(|class| state.starts_with(class)) { "connect" } else { "sql" }
}

/// COPY in binary of a phase's rows.
pub fn copy_in(phase: &Phase) -> String {
    copy_from(phase, "binary")
}

/// COPY in text of a phase's rows, their values as `copy_value` has them.
pub fn copy_text(phase: &Phase) -> String {
    copy_from(phase, "text")
}

/// COPY of a phase's rows, its names quoted as the server knows them.
fn copy_from(phase: &Phase, format: &str) -> String {
    let quoted = |name: &str| format!("\"{}\"", name.to_lowercase().replace('"', "\"\""));
    let columns: Vec<_> = phase.parameter_columns.iter().map(|column| quoted(&column.name)).collect();
    format!("COPY {} ({}) FROM STDIN (FORMAT {format})", quoted(&phase.table), columns.join(", "))
}

/// A value as COPY in text reads it.
pub fn copy_value(value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::Binary(value) => format!("\\x{}", hex_text(value)),
        other => sqltext::text(other),
    })
}
