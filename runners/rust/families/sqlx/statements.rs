//! A phase's SQL with its parameters, and how it is sent.
use super::{Address, Conn, Connection, Engine, Row, connect, failed, misfit};
use crate::core::{
    Column, Counters, Operation, Options, Outcome, Phase, Rows, Sink, Source, Value, now_ns, take, unsupported,
};
use crate::families::sqltext::{self, Mode};
use futures_util::TryStreamExt;
use futures_util::stream::BoxStream;
use sqlx::{
    Arguments, AssertSqlSafe, Connection as _, Database, Executor, IntoArguments, Row as _, SqlSafeStr, SqlStr,
};
use std::ops::Range;
use std::sync::Arc;

/// A phase's work: its SQL, one text with parameters or a text for each row.
pub struct Work<E: Engine> {
    phase: Arc<Phase>,
    rows: Arc<Rows>,
    mode: Mode,
    is_whole: bool,
    sql: Vec<SqlStr>,
    bound: Vec<Vec<E::Bound>>,
    bulk: Vec<(SqlStr, Range<usize>)>, // of one operation: an INSERT of several rows, and of which
}

impl<E: Engine> Work<E>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
    <E::Db as Database>::Arguments: IntoArguments<E::Db>,
{
    /// Makes a phase ready.
    pub async fn of(conn: &mut Conn<E>, phase: &Arc<Phase>, rows: &Arc<Rows>, options: &Options) -> Outcome<Work<E>> {
        if phase.kind == "null" {
            return Err(unsupported("this path has no operation of kind null"));
        }
        E::has_types(&phase.columns)?;
        let (mode, way) = (Mode::of(options), options.get("bulk", "none"));
        let bulk = match way.as_str() {
            "multi-row" if phase.is_bulk() && mode == Mode::Text => {
                return Err(unsupported("bulk=multi-row binds its values"));
            }
            "multi-row" if phase.is_bulk() => multi_row::<E>(phase)?,
            "copy" => Vec::new(),
            _ if phase.is_bulk() => return Err(unsupported(format!("sqlx has no bulk way {way}"))),
            _ => Vec::new(),
        };
        let bind = |row: &Vec<Value>| -> Outcome<Vec<E::Bound>> {
            row.iter().zip(phase.parameter_columns.iter()).map(|(value, column)| E::bind(value, column)).collect()
        };
        let (sql, bound) = match mode {
            _ if phase.is_bulk() && bulk.is_empty() => (Vec::new(), Vec::new()),
            Mode::Text => (sqltext::texts(phase, rows, E::literal)?, Vec::new()),
            _ => (vec![E::sql(phase)], rows.iter().map(bind).collect::<Outcome<_>>()?),
        };
        let sql: Vec<_> = sql.into_iter().map(shared).collect();
        let is_whole = options.get("result", "whole") == "whole";
        let (phase, rows) = (phase.clone(), rows.clone());
        let work = Work { phase, rows, mode, is_whole, sql, bound, bulk };
        work.prepare(conn).await?;
        Ok(work)
    }

    /// Prepares the statement, if it is one, for the types of its first parameters: the connection keeps it.
    pub async fn prepare(&self, conn: &mut Conn<E>) -> Outcome<()> {
        if self.mode != Mode::Prepared || self.phase.kind == "connect" || self.phase.is_bulk() {
            return Ok(());
        }
        let bound = self.bound.first().into_iter().flatten();
        let types: Vec<_> = bound.filter_map(<E::Bound as sqlx::Encode<E::Db>>::produces).collect();
        conn.prepare_with(self.sql[0].clone(), &types).await.map(|_| ()).map_err(failed::<E>)
    }

    async fn connect(&self, to: &Address<E>, counters: &mut Counters) -> Outcome<()> {
        let start = now_ns();
        let mut fresh = connect::<E>(to).await?;
        counters.connect_ns += now_ns() - start;
        let done = self.once(&mut fresh, 0, counters).await;
        done.and(fresh.close().await.map_err(failed::<E>))
    }

    /// Does one operation on this connection.
    #[inline]
    pub async fn on(&self, conn: &mut Conn<E>, row: usize, counters: &mut Counters) -> Outcome<()> {
        if !self.phase.in_transaction() {
            return self.once(conn, row, counters).await;
        }
        let mut begun = conn.begin().await.map_err(failed::<E>)?;
        match self.all(&mut begun, row, counters).await {
            Ok(()) => begun.commit().await.map_err(failed::<E>),
            Err(failure) => {
                let _ = begun.rollback().await; // what failed first is reported
                Err(failure)
            }
        }
    }

    /// What stands between BEGIN and COMMIT.
    async fn all(&self, conn: &mut Conn<E>, operation: usize, counters: &mut Counters) -> Outcome<()> {
        let times = self.phase.times();
        let rows = operation * times..(operation + 1) * times;
        if !self.phase.is_bulk() {
            for row in rows {
                self.once(conn, row, counters).await?;
            }
            return Ok(());
        }
        for (sql, these) in &self.bulk {
            let these = rows.start + these.start..rows.start + these.end;
            self.execute(conn, sql, self.bound[these].iter().flatten()).await?;
        }
        if self.bulk.is_empty() && !E::copy(conn, &self.phase, &self.rows, rows).await? {
            return Err(unsupported("sqlx has no bulk way copy here"));
        }
        counters.executed();
        Ok(())
    }

    #[inline]
    async fn once(&self, conn: &mut Conn<E>, row: usize, counters: &mut Counters) -> Outcome<()> {
        let sql = if self.sql.len() > 1 { &self.sql[row] } else { &self.sql[0] };
        let bound = self.bound.get(row).into_iter().flatten();
        if !self.phase.queries() {
            let done = match self.mode {
                Mode::Text => conn.execute(sqlx::raw_sql(sql.clone())).await.map(|_| ()).map_err(failed::<E>),
                _ => self.execute(conn, sql, bound).await,
            };
            counters.executed();
            return done;
        }
        let rows = match self.mode {
            Mode::Text => conn.fetch(sqlx::raw_sql(sql.clone())),
            mode => conn.fetch(
                sqlx::query_with::<E::Db, _>(sql.clone(), arguments::<E>(bound)?).persistent(mode == Mode::Prepared),
            ),
        };
        self.taken(rows, counters).await
    }

    async fn execute<'b>(
        &'b self,
        conn: &mut Conn<E>,
        sql: &SqlStr,
        bound: impl Iterator<Item = &'b E::Bound>,
    ) -> Outcome<()> {
        let query = sqlx::query_with::<E::Db, _>(sql.clone(), arguments::<E>(bound)?);
        let query = query.persistent(self.mode == Mode::Prepared);
        query.execute(conn).await.map(|_| ()).map_err(failed::<E>)
    }

    /// Takes each row as it comes, or, as `fetch_all` has it, once all are there.
    #[inline]
    async fn taken(
        &self,
        mut rows: BoxStream<'_, Result<Row<E>, sqlx::Error>>,
        counters: &mut Counters,
    ) -> Outcome<()> {
        if self.is_whole {
            let all: Vec<_> = rows.try_collect().await.map_err(failed::<E>)?;
            counters.executed();
            return all.iter().try_for_each(|row| self.take(row, counters));
        }
        counters.executed();
        while let Some(row) = rows.try_next().await.map_err(failed::<E>)? {
            self.take(&row, counters)?;
        }
        Ok(())
    }

    #[inline]
    fn take(&self, row: &Row<E>, counters: &mut Counters) -> Outcome<()> {
        counters.expect(row.len())?;
        take(&Taken::<E>(row), &self.phase.columns, counters)
    }
}

impl<E: Engine> Operation for Work<E>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
    <E::Db as Database>::Arguments: IntoArguments<E::Db>,
{
    type Adapter = Connection<E>;

    async fn run(&mut self, on: &mut Connection<E>, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.phase.kind == "connect" {
            return self.connect(&on.address, counters).await;
        }
        self.on(&mut on.conn, row, counters).await
    }
}

fn shared(text: String) -> SqlStr {
    AssertSqlSafe(Arc::<str>::from(text)).into_sql_str()
}

#[inline]
fn arguments<'b, E: Engine>(bound: impl Iterator<Item = &'b E::Bound>) -> Outcome<<E::Db as Database>::Arguments> {
    let mut arguments = <E::Db as Database>::Arguments::default();
    for value in bound {
        arguments.add(value).map_err(misfit)?;
    }
    Ok(arguments)
}

/// An operation's INSERTs, each of as many rows as a statement has parameters for.
fn multi_row<E: Engine>(phase: &Phase) -> Outcome<Vec<(SqlStr, Range<usize>)>> {
    let (all, most) = (phase.times(), E::MOST_PARAMETERS / phase.parameter_columns.len().max(1));
    let parts = (0..all).step_by(most.max(1)).map(|first| first..all.min(first + most));
    parts.map(|rows| Ok((shared(E::multi_row(phase, rows.len())?), rows))).collect()
}

struct Taken<'r, E: Engine>(&'r Row<E>);

impl<E: Engine> Source for Taken<'_, E> {
    #[inline]
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        E::value(self.0, at, column, sink)
    }

    fn natural(&self, at: usize, column: &Column) -> Outcome<Value> {
        E::natural(self.0, at, column)
    }
}
