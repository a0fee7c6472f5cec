//! A phase's SQL with its parameters, ready to be sent.
use super::{Bound, Element, Width, bound, declared, failed, fits_binary};
use crate::core::{Counters, DescribedColumn, Options, Outcome, Phase, Rows, Source, take, unsupported};
use crate::families::sqltext::Mode;
use crate::families::{postgresql, sqltext};
use std::sync::Arc;
use tokio_postgres::types::{Kind, ToSql, Type};
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
    pub unnests: bool,
}

impl Statements {
    /// Makes a phase ready; `prepare` prepares a statement on the connection.
    pub async fn of(
        phase: &Arc<Phase>,
        rows: &Arc<Rows>,
        options: &Options,
        mut prepare: impl AsyncFnMut(&str) -> Outcome<Statement>,
    ) -> Outcome<Statements> {
        if phase.kind == "null" {
            return Err(unsupported("this path has no operation of kind null"));
        }
        let unnests = options.is("bulk", "unnest");
        if phase.is_bulk() && !unnests && !options.is("bulk", "copy") {
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
            fits_binary(phase, &made.types)?;
            made.sql = vec![if unnests { unnest(phase, &made.types)? } else { postgresql::copy_in(phase) }];
        }
        if phase.is_bulk() && unnests {
            let statement = prepare(&made.sql[0]).await?;
            made.types = statement.params().to_vec();
            made.statement = (mode == Mode::Prepared).then_some(statement);
            made.unnests = true;
        }
        Ok(made)
    }

    fn new(phase: &Arc<Phase>, options: &Options, sql: Vec<String>) -> Statements {
        let is_whole = options.get("result", "whole") == "whole";
        let (types, bound) = (Vec::new(), Vec::new());
        let (mode, statement) = (Mode::of(options), None);
        Statements { phase: phase.clone(), mode, is_whole, sql, types, bound, statement, unnests: false }
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

    /// Parameters, each with its type.
    pub fn with_types<'a>(&self, given: Vec<&'a (dyn ToSql + Sync)>) -> Vec<(&'a (dyn ToSql + Sync), Type)> {
        given.into_iter().zip(self.types.iter().cloned()).collect()
    }

    /// An operation's parameter rows as an array for each column.
    pub fn arrays(&self, operation: usize) -> Vec<Vec<Element<'_>>> {
        let rows = &self.bound[self.rows_of(operation)];
        (0..self.types.len()).map(|at| rows.iter().map(|row| Element(row[at].as_ref())).collect()).collect()
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

/// INSERT … SELECT * FROM unnest($1::int4[], …) of a phase's rows, whose columns have these types.
fn unnest(phase: &Phase, types: &[Type]) -> Outcome<String> {
    let (mut names, mut arrays) = (Vec::new(), Vec::new());
    for (column, element) in phase.parameter_columns.iter().zip(types) {
        if matches!(element.kind(), Kind::Array(_)) {
            // unnest takes arrays of arrays apart
            return Err(unsupported(format!("column {}: bulk=unnest has no array of it", column.name)));
        }
        names.push(column.name.as_str());
        arrays.push(format!("${}::{}[]", names.len(), element.name()));
    }
    Ok(format!("INSERT INTO {} ({}) SELECT * FROM unnest({})", phase.table, names.join(", "), arrays.join(", ")))
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
