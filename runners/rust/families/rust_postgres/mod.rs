//! What tokio-postgres has alone and below the crate `postgres`: how it connects, its values, its errors.
#[cfg(feature = "tokio-postgres")]
pub mod asynchronous;
mod bind;
mod describe;
mod row;
pub mod statements;
mod text_row;

pub use bind::{Bound, Element, bound, declared, fits_binary};
pub use describe::{OF_TYPES, column};
pub use row::Width;

use crate::core::{Column, Delivered, Failure, Options, Outcome, fail, unsupported};
use crate::families::postgresql;
use native_tls::{Certificate, Identity, TlsConnector};
use postgres_native_tls::MakeTlsConnector;
use std::error::Error as _;
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, SimpleQueryMessage};

/// Where the server is, and how to get there: with the configuration of either driver.
pub struct Address<C> {
    pub config: C,
    pub tls: Option<MakeTlsConnector>,
}

impl<C: From<Config>> Address<C> {
    pub fn of(options: &Options) -> Outcome<Self> {
        Ok(Address { config: config(options)?.into(), tls: tls(options)? })
    }
}

fn config(options: &Options) -> Outcome<Config> {
    let quoted = |text: &str| text.replace('\\', "\\\\").replace('\'', "\\'");
    let settings = options.driver_settings();
    let words: String = settings.iter().map(|(name, value)| format!("{name}='{}' ", quoted(value))).collect();
    let mut config: Config = words.parse().map_err(|error| unsupported(told(&error)))?;
    let tls = if options.encrypts() { SslMode::Require } else { SslMode::Disable };
    config.port(options.port()?).application_name("rowpath").ssl_mode(tls);
    // Where values travel as text, a role's own styles would be misread.
    if !options.is("startup", "plain") {
        config.options("-c DateStyle=ISO -c IntervalStyle=postgres");
    }
    if options.is("transport", "unix") {
        config.host_path(options.need("socket_dir")?);
    } else {
        for host in options.get("host", "127.0.0.1").split(',') {
            config.host(host);
        }
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

/// What encrypts and checks certificates: another crate's, as the driver leaves it.
fn tls(options: &Options) -> Outcome<Option<MakeTlsConnector>> {
    if !options.encrypts() {
        return Ok(None);
    }
    let mut builder = TlsConnector::builder();
    builder.danger_accept_invalid_certs(options.is("tls", "on"));
    builder.danger_accept_invalid_hostnames(!options.is("tls", "verify-full"));
    if let Ok(file) = options.need("tls_ca") {
        builder.disable_built_in_roots(true);
        for authority in Certificate::stack_from_pem(&read(&file)?).map_err(refused)? {
            builder.add_root_certificate(authority);
        }
    }
    if let Ok(file) = options.need("tls_cert") {
        let own = Identity::from_pkcs8(&read(&file)?, &read(&options.need("tls_key")?)?).map_err(refused)?;
        builder.identity(own);
    }
    Ok(Some(MakeTlsConnector::new(builder.build().map_err(refused)?)))
}

fn read(file: &str) -> Outcome<Vec<u8>> {
    std::fs::read(file).map_err(|error| fail("connect", format!("{file}: {error}")))
}

fn refused(error: native_tls::Error) -> Failure {
    fail("connect", error)
}

/// The type that a row hands over for a column.
pub fn delivers(options: &Options, column: &Column) -> Delivered {
    if options.is("statement", "text") { text_row::delivers(column) } else { row::delivers(column) }
}

/// The text of the first value of a simple query.
pub fn first_text(messages: &[SimpleQueryMessage]) -> Outcome<String> {
    let text = messages.iter().find_map(|message| match message {
        SimpleQueryMessage::Row(row) => row.get(0),
        _ => None,
    });
    text.map(str::to_string).ok_or_else(|| fail("sql", "no row came"))
}

/// The driver's words, with what caused the error.
fn told(error: &tokio_postgres::Error) -> String {
    error.source().map_or(error.to_string(), |cause| format!("{error}: {cause}"))
}

/// The server's own words and SQLSTATE, else the driver's with what caused it.
#[cold]
pub fn failed(error: tokio_postgres::Error) -> Failure {
    if let Some(own) = error.as_db_error() {
        let state = own.code().code();
        return Failure::with_code(postgresql::kind(state), state, own.message());
    }
    let text = told(&error);
    let is_lost = error.is_closed() || error.source().is_some_and(|cause| cause.is::<std::io::Error>());
    fail(if is_lost { "connect" } else { "sql" }, text)
}
