use super::column::Column;
use super::failure::{Outcome, fail, unsupported};
use serde::Deserialize;
use std::sync::Arc;

/// A phase as `prepare` sends it.
#[derive(Clone, Debug, Deserialize)]
pub struct Phase {
    pub name: String,
    pub kind: String,
    #[serde(default)]
    pub sql: String,
    #[serde(default)]
    pub table: String,
    #[serde(default = "none")]
    pub columns: Arc<[Column]>,
    #[serde(default = "none")]
    pub parameter_columns: Arc<[Column]>,
    #[serde(default)]
    transaction: String,
    #[serde(default)]
    pub stamps: bool,
    #[serde(default)]
    pub rows_per_operation: usize,
    #[serde(default)]
    pub way: String,
    /// So many operations are sent before the first answer is taken; 0: one by one.
    #[serde(skip)]
    pub pipeline: usize,
}

fn none() -> Arc<[Column]> {
    Arc::new([])
}

impl Phase {
    /// Whether BEGIN and COMMIT belong to each operation.
    pub fn in_transaction(&self) -> bool {
        self.transaction == "transaction" || self.kind == "load"
    }

    /// Has its operations sent in pipelines of this size, if it has any that can be; 0: of none.
    pub fn pipelined(&mut self, size: usize, parameters: usize) -> Outcome<()> {
        let is_single = matches!(self.kind.as_str(), "query" | "execute") && !self.in_transaction() && !self.stamps;
        if size == 0 || (is_single && parameters == 0) {
            return Ok(()); // one statement has nothing to be sent beside it
        }
        if !is_single {
            return Err(unsupported("a pipeline has single statements in autocommit, without stamps"));
        }
        self.pipeline = size;
        Ok(())
    }

    pub fn is_bulk(&self) -> bool {
        self.kind == "load" && self.way == "bulk"
    }

    /// Whether an operation delivers rows.
    pub fn queries(&self) -> bool {
        self.kind == "query" || self.kind == "connect"
    }

    /// How many statements one operation executes: the rows of a load, else one.
    pub fn times(&self) -> usize {
        if self.kind == "load" { self.rows_per_operation } else { 1 }
    }

    /// How many operations so many parameter rows make before positions wrap; at least one.
    pub fn operations(&self, parameters: usize) -> Outcome<i64> {
        if self.kind != "load" {
            return Ok(parameters.max(1) as i64);
        }
        if self.rows_per_operation < 1 || parameters < self.rows_per_operation {
            let text = format!("{} stores {} rows, has {parameters}", self.name, self.rows_per_operation);
            return Err(fail("internal", text));
        }
        Ok((parameters / self.rows_per_operation) as i64)
    }
}
