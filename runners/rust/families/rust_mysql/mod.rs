//! What the crates `mysql` and `mysql_async` share: both rest on mysql_common.
mod builder;
mod describe;
mod statements;
mod values;

pub use describe::described;
pub use statements::{Bulk, Statements};
pub use values::{bind, delivers, text_of};
