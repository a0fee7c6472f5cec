//! DuckDB's SQL and values as the crate duckdb has them.
mod arrow;
mod batches;
mod bind;
mod describe;
mod values;

pub use batches::Columns;
pub use bind::bind;
pub use describe::described;
pub use values::{Taken, WithoutTypes, delivers};

use crate::core::text_forms::hex_text;
use crate::core::{Facts, Failure, Outcome, Value, fail, unsupported};
use crate::families::sqltext::{self, postgresql_text::array_text};
use duckdb::Error;

const SHOWN: [&str; 6] = ["threads", "fsync_mode", "TimeZone", "memory_limit", "checkpoint_threshold", "access_mode"];

/// A value inside SQL.
pub fn literal(value: &Value) -> Outcome<String> {
    Ok(match value {
        Value::Binary(value) => format!("from_hex('{}')", hex_text(value)),
        Value::Array(value) => array_text(value).replace('{', "[").replace('}', "]"),
        Value::Interval(value) => {
            let microseconds = value.nanoseconds / 1000;
            format!("INTERVAL '{} months {} days {microseconds} microseconds'", value.months, value.days)
        }
        Value::Decimal(value) if !value.is_finite() => {
            return Err(unsupported("DuckDB has no decimal that is no number"));
        }
        Value::Float(value) if !value.is_finite() => sqltext::quoted(&value.to_string()),
        other => sqltext::standard(other),
    })
}

/// Fills in what the engine reports; `ask` gives a query's first value as text.
pub fn tell(facts: &mut Facts, ask: impl Fn(&str) -> Outcome<String>) -> Outcome<()> {
    facts.engine_version = ask("SELECT library_version FROM pragma_version()")?.trim_start_matches('v').into();
    facts.build = ask("SELECT source_id || ' ' || platform FROM pragma_version(), pragma_platform()")?;
    for name in SHOWN {
        facts.settings.insert(name.into(), ask(&format!("SELECT current_setting('{name}')::VARCHAR"))?);
    }
    Ok(())
}

/// DuckDB's own words; the kind of its error is the code.
#[cold]
pub fn failed(error: Error) -> Failure {
    let Error::DuckDBFailure(_, Some(text)) = &error else { return fail("sql", error) };
    let code = text.split_once(" Error:").map_or("", |(word, _)| word);
    Failure::with_code(if code == "FATAL" { "connect" } else { "sql" }, code, text)
}

/// Why a parameter cannot be sent.
#[cold]
fn misfit(error: impl std::fmt::Display) -> Failure {
    unsupported(error)
}
