//! A phase's SQL with its parameters, ready to be sent.
use super::{Bound, Width, bound, declared, failed, fits_copy};
use crate::core::{Counters, DescribedColumn, Options, Outcome, Phase, Rows, Source, take, unsupported};
use crate::families::sqltext::Mode;
use crate::families::{postgresql, sqltext};
use std::sync::Arc;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, Statement};

/// A phase's SQL: a statement or one text with parameters, or a text for each row.
pub struct Statements {
    pub phase: Arc<Phase>,
    pub mode: Mode,
    pub is_whole: bool,
    sql: Vec<String>,
    pub types: Vec<Type>,
    bound: Vec<Vec<Bound>>,
    pub statement: Option<Statement>,
}

impl Statements {
    /// Makes a phase ready; `prepare` prepares a statement on the connection.
    pub async fn of(
        phase: &Arc<Phase>,
        rows: &Arc<Rows>,
        options: &Options,
        prepare: impl AsyncFnOnce(&str) -> Outcome<Statement>,
    ) -> Outcome<Statements> {
        if phase.kind == "null" {
            return Err(unsupported("this path has no operation of kind null"));
        }
        if phase.is_bulk() && !options.is("bulk", "copy") {
            return Err(unsupported(format!("this driver has no bulk way {}", options.get("bulk", "none"))));
        }
        let mode = Mode::of(options);
        if mode == Mode::Text && !phase.is_bulk() {
            return Ok(Statements::new(phase, options, sqltext::texts(phase, rows, postgresql::literal)?));
        }
        let mut made = Statements::new(phase, options, vec![sqltext::numbered(phase)]);
        made.types = phase.parameter_columns.iter().map(declared).collect();
        if phase.is_bulk() || (mode == Mode::Prepared && phase.kind != "connect") {
            let statement = prepare(&made.sql[0]).await?;
            made.types = statement.params().to_vec();
            made.statement = Some(statement);
        }
        made.bound = rows.iter().map(|row| bound(row, &made.types)).collect::<Outcome<_>>()?;
        if phase.is_bulk() {
            fits_copy(phase, &made.types)?;
            made.sql = vec![postgresql::copy_in(phase)];
        }
        Ok(made)
    }

    fn new(phase: &Arc<Phase>, options: &Options, sql: Vec<String>) -> Statements {
        let is_whole = options.get("result", "whole") == "whole";
        let (types, bound) = (Vec::new(), Vec::new());
        Statements { phase: phase.clone(), mode: Mode::of(options), is_whole, sql, types, bound, statement: None }
    }

    /// The text of a row's statement.
    #[inline]
    pub fn sql(&self, row: usize) -> &str {
        if self.sql.len() > 1 { &self.sql[row] } else { &self.sql[0] }
    }

    /// A row's parameters.
    #[inline]
    pub fn given(&self, row: usize) -> impl ExactSizeIterator<Item = &(dyn ToSql + Sync)> {
        self.bound.get(row).map_or(&[][..], Vec::as_slice).iter().map(|value| value.as_ref() as _)
    }

    /// A row's parameters, each with its type.
    #[inline]
    pub fn typed(&self, row: usize) -> impl ExactSizeIterator<Item = (&(dyn ToSql + Sync), Type)> {
        self.given(row).zip(self.types.iter().cloned())
    }

    /// Takes every value of a row.
    #[inline]
    pub fn take(&self, row: &(impl Source + Width), counters: &mut Counters) -> Outcome<()> {
        counters.expect(row.width())?;
        take(row, &self.phase.columns, counters)
    }

    /// The parameter rows of one operation.
    pub fn rows_of(&self, operation: usize) -> std::ops::Range<usize> {
        let times = self.phase.times();
        operation * times..(operation + 1) * times
    }
}

/// The columns of a prepared query; `ask` executes a query that delivers one row.
pub async fn described(
    statement: &Statement,
    mut ask: impl AsyncFnMut(&str, &[&(dyn ToSql + Sync)]) -> Outcome<Row>,
) -> Outcome<Vec<DescribedColumn>> {
    let mut columns = Vec::new();
    for field in statement.columns() {
        let row = ask(super::OF_TYPES, &[&field.type_().oid(), &field.type_modifier()]).await?;
        columns.push(super::column(field, row.try_get(0).map_err(failed)?));
    }
    Ok(columns)
}
