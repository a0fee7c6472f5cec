//! What tokio-postgres has alone and below the crate `postgres`: how it connects, its values, its errors.
mod bind;
mod describe;
mod numeric;
mod row;
pub mod statements;
mod text_row;

pub use bind::{Bound, bound, declared, fits_copy};
pub use describe::{OF_TYPES, column};
pub use row::{Width, delivers};
pub use text_row::delivers_text;

use crate::core::{Failure, Options, Outcome, fail};
use crate::families::postgresql;
use std::error::Error as _;
use tokio_postgres::Config;
use tokio_postgres::config::SslMode;

/// How to connect; without TLS, which the driver leaves to a crate of its own.
pub fn config(options: &Options) -> Outcome<Config> {
    let mut config = Config::new();
    config.port(options.port()?).application_name("rowpath").ssl_mode(SslMode::Disable);
    if options.is("transport", "unix") {
        config.host_path(options.need("socket_dir")?);
    } else {
        config.host(options.get("host", "127.0.0.1"));
    }
    for (name, value) in ["user", "password", "database"].map(|name| (name, options.get(name, ""))) {
        match (name, value) {
            (_, empty) if empty.is_empty() => continue,
            ("user", value) => config.user(value),
            ("password", value) => config.password(value),
            (_, value) => config.dbname(value),
        };
    }
    Ok(config)
}

/// The server's own words and SQLSTATE, else the driver's with what caused it.
#[cold]
pub fn failed(error: tokio_postgres::Error) -> Failure {
    if let Some(own) = error.as_db_error() {
        let state = own.code().code();
        return Failure::with_code(postgresql::kind(state), state, own.message());
    }
    let text = error.source().map_or(error.to_string(), |cause| format!("{error}: {cause}"));
    let is_lost = error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>());
    fail(if is_lost { "connect" } else { "sql" }, text)
}
