//! What every Rust runner is made of: the core, and what several adapters share (runners/PROTOCOL.md).
pub mod core;
pub mod families;
pub mod pools;
