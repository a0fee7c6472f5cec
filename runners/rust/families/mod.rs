//! What several adapters share; a family that rests on a driver is behind its feature.
pub mod postgresql;
#[cfg(feature = "tokio-postgres")]
pub mod rust_postgres;
pub mod sqltext;
#[cfg(feature = "tokio")]
pub mod tokio;
