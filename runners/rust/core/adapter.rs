use super::column::{Column, DescribedColumn};
use super::failure::{Outcome, unsupported};
use super::interruption::{Interruption, Stopped};
use super::options::Options;
use super::phase::Phase;
use super::pipeline::Endings;
use super::runtime::Runtime;
use super::sample_counters::Counters;
use super::values::Rows;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;

/// One driver. A path with several clients has one for each. A blocking driver's futures are ready at once.
pub trait Adapter: Sized + 'static {
    /// What runs the clients: threads, or an asynchronous runtime.
    type Runtime: Runtime;
    type Operation: Operation<Adapter = Self>;

    /// Connects; what it took is measured by the core.
    async fn open(options: &Options) -> Outcome<Self>;
    /// What makes the adapter of a further client, where clients share what the first one has opened.
    fn share(&self) -> Option<Share<Self>> {
        None
    }
    /// The operation of a phase on the open connection; rows are its parameters.
    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Self::Operation>;
    /// The type that the driver hands over for a column.
    fn delivers(&self, column: &Column) -> Delivered;
    /// Executes one statement, committed.
    async fn run(&mut self, _statement: &str) -> Outcome<()> {
        Err(unsupported("this path has no engine that executes statements"))
    }
    /// Executes the phase's statement with the rows [first, first + count) in one transaction, the quick way.
    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()>;
    /// Has a long statement stopped in the driver's own way.
    async fn interrupt(&mut self, _asked: &Interruption) -> Outcome<Stopped> {
        Err(unsupported("this path has no statements that could be stopped"))
    }
    /// The columns that a query delivers.
    async fn describe(&mut self, _sql: &str) -> Outcome<Vec<DescribedColumn>> {
        Err(unsupported("this path has no queries that could be described"))
    }
    /// The process that serves this connection.
    async fn server_pid(&mut self) -> Outcome<Option<i64>> {
        Ok(None)
    }
    /// What is read from the live connection.
    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()>;
    /// Closes what `open` opened.
    async fn close(self) -> Outcome<()>;
}

/// Makes an adapter on the thread of its client.
pub type Share<A> = Box<dyn FnOnce() -> A + Send>;

/// One phase, ready to be run.
pub trait Operation: 'static {
    type Adapter;
    /// Whether each operation borrows its connection, and notes when.
    const BORROWS: bool = false;
    /// Does one operation and adds what it delivered; row is the parameter row, 0 without parameters.
    async fn run(&mut self, adapter: &mut Self::Adapter, row: usize, counters: &mut Counters) -> Outcome<()>;
    /// Whether it can be sent many times before the first answer is taken.
    fn pipelines(&self) -> bool {
        false
    }
    /// Does one operation for each of these parameter rows, as one pipeline; each end is noted, in their order.
    async fn pipeline(&mut self, _: &mut Self::Adapter, _rows: &[usize], _: &mut Counters, _: &mut Endings) {}
    /// Frees what the phase holds on the connection.
    async fn close(self, _adapter: &mut Self::Adapter) -> Outcome<()>
    where
        Self: Sized,
    {
        Ok(())
    }
}

/// The type that a driver hands over, and whether the adapter converts it from text.
pub struct Delivered {
    pub name: &'static str,
    pub converted: bool,
}

impl Delivered {
    pub fn natural(name: &'static str) -> Delivered {
        Delivered { name, converted: false }
    }

    pub fn from_text(name: &'static str) -> Delivered {
        Delivered { name, converted: true }
    }
}

/// The reply to `facts`.
#[derive(Default, Serialize)]
pub struct Facts {
    pub driver_version: String,
    pub engine_version: String,
    pub build: String,
    pub libraries: BTreeMap<String, String>,
    pub settings: BTreeMap<String, String>,
    pub runtime: String,
}
