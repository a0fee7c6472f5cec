//! What several adapters share; a family that rests on a driver is behind its feature.
#[cfg(feature = "chrono")]
pub mod chrono;
#[cfg(feature = "duckdb")]
pub mod duckdb;
pub mod mysql;
pub mod postgresql;
#[cfg(feature = "rust_mysql")]
pub mod rust_mysql;
#[cfg(feature = "rust_postgres")]
pub mod rust_postgres;
pub mod sqlite;
pub mod sqltext;
#[cfg(feature = "sqlx")]
pub mod sqlx;
#[cfg(feature = "tokio")]
pub mod tokio;
