//! A phase's SQL with its parameters, ready to be sent.
use super::values::bind;
use crate::core::{Counters, Options, Outcome, Phase, Rows, fail, take, unsupported};
use crate::families::sqltext::Mode;
use crate::families::{mysql, sqltext};
use mysql_common::row::Row;
use mysql_common::value::Value as Own;
use std::ops::Range;
use std::sync::Arc;

/// How many rows are stored at once.
#[derive(Clone, Copy, PartialEq)]
pub enum Bulk {
    None,
    /// `exec_batch`: on MariaDB one message with all rows, on MySQL an execution each.
    Batch,
    /// LOAD DATA LOCAL INFILE.
    LoadData,
}

/// A phase's SQL: a driver's statement or one text with parameters, or a text for each row.
pub struct Statements<S> {
    pub phase: Arc<Phase>,
    pub rows: Arc<Rows>,
    pub mode: Mode,
    pub bulk: Bulk,
    pub is_whole: bool,
    sql: Vec<String>,
    bound: Vec<Vec<Own>>,
    pub statement: Option<S>,
}

impl<S> Statements<S> {
    /// Makes a phase ready; `prepare` prepares a statement on the connection.
    pub async fn of(
        phase: &Arc<Phase>,
        rows: &Arc<Rows>,
        options: &Options,
        prepare: impl AsyncFnOnce(&str) -> Outcome<S>,
    ) -> Outcome<Statements<S>> {
        if phase.kind == "null" {
            return Err(unsupported("this path has no operation of kind null"));
        }
        mysql::has_types(&phase.columns)?;
        let (mode, bulk) = (Mode::of(options), bulk(phase, options)?);
        if mode == Mode::Text && bulk == Bulk::Batch {
            return Err(unsupported("bulk=batch binds its values"));
        }
        let (sql, bound) = match (bulk, mode) {
            (Bulk::LoadData, _) => (vec![mysql::load_data(phase)], Vec::new()),
            (Bulk::None, Mode::Text) => (sqltext::texts(phase, rows, mysql::literal)?, Vec::new()),
            _ => (vec![phase.sql.clone()], rows.iter().map(|row| bind(row)).collect::<Outcome<_>>()?),
        };
        let is_prepared = mode == Mode::Prepared && phase.kind != "connect" && bulk != Bulk::LoadData;
        let statement = if is_prepared { Some(prepare(&sql[0]).await?) } else { None };
        let is_whole = options.get("result", "whole") == "whole";
        let (phase, rows) = (phase.clone(), rows.clone());
        Ok(Statements { phase, rows, mode, bulk, is_whole, sql, bound, statement })
    }

    /// The text of a row's statement.
    #[inline]
    pub fn sql(&self, row: usize) -> &str {
        if self.sql.len() > 1 { &self.sql[row] } else { &self.sql[0] }
    }

    /// A row's parameters, which the driver takes over.
    #[inline]
    pub fn given(&self, row: usize) -> Vec<Own> {
        self.bound.get(row).cloned().unwrap_or_default()
    }

    /// The parameter rows of one operation.
    pub fn rows_of(&self, operation: usize) -> Range<usize> {
        let times = self.phase.times();
        operation * times..(operation + 1) * times
    }

    /// Takes every value of a row.
    #[inline]
    pub fn take(&self, row: &Row, counters: &mut Counters) -> Outcome<()> {
        counters.expect(row.len())?;
        take(row, &self.phase.columns, counters)
    }

    /// Fails where LOAD DATA has left out rows, or changed values.
    pub fn expect_loaded(&self, affected: u64, warnings: u16) -> Outcome<()> {
        if warnings == 0 && affected == self.phase.times() as u64 {
            return Ok(());
        }
        Err(fail("sql", format!("LOAD DATA stored {affected} rows, with {warnings} warnings")))
    }
}

fn bulk(phase: &Phase, options: &Options) -> Outcome<Bulk> {
    match options.get("bulk", "none").as_str() {
        _ if !phase.is_bulk() => Ok(Bulk::None),
        "batch" => Ok(Bulk::Batch),
        "load-data" => Ok(Bulk::LoadData),
        other => Err(unsupported(format!("this driver has no bulk way {other}"))),
    }
}
