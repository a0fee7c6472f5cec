//! Pools, each behind its feature.
#[cfg(feature = "bb8")]
pub mod bb8;
#[cfg(feature = "deadpool")]
pub mod deadpool;
#[cfg(feature = "r2d2")]
pub mod r2d2;
#[cfg(feature = "sqlx")]
pub mod sqlx;
