//! sqlx on any of its engines: how its statements are sent and its rows taken. What differs is an `Engine`.
#![allow(async_fn_in_trait)] // futures stay on the thread that made them
mod bound;
mod statements;
mod values;

pub use statements::Work;
pub use values::{bound, given, opaque, take_decimal, text_of, type_name, unchecked};

use crate::core::{
    Adapter, Column, Delivered, Facts, Failure, Interruption, Options, Outcome, Phase, Rows, Sink, Stopped, Value,
    fail, now_ns, unsupported,
};
use crate::families::sqltext::Mode;
use crate::families::tokio::Tasks;
use futures_util::TryStreamExt;
use sqlx::database::HasStatementCache;
use sqlx::error::DatabaseError;
use sqlx::{Arguments, AssertSqlSafe, Connection as _, Database, Encode, Executor, IntoArguments, Type};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::spawn_local;
use tokio::time::{sleep, timeout};

pub type Conn<E> = <<E as Engine>::Db as Database>::Connection;
pub type Row<E> = <<E as Engine>::Db as Database>::Row;
pub type Address<E> = <Conn<E> as sqlx::Connection>::Options;
type ArgumentsOf<E> = <<E as Engine>::Db as Database>::Arguments;

/// What sqlx has of its own for one engine.
pub trait Engine: Sized + 'static {
    type Db: Database + HasStatementCache;
    /// A parameter, as one of the types that sqlx takes; it is encoded inside the clock.
    type Bound: for<'q> Encode<'q, Self::Db> + Type<Self::Db>;

    fn address(options: &Options) -> Outcome<Address<Self>>;
    /// The SQL with the engine's placeholders.
    fn sql(phase: &Phase) -> String {
        phase.sql.clone()
    }
    fn literal(value: &Value) -> Outcome<String>;
    /// Refuses columns of types that the engine lacks.
    fn has_types(_columns: &[Column]) -> Outcome<()> {
        Ok(())
    }
    fn bind(value: &Value, column: &Column) -> Outcome<Self::Bound>;
    /// Takes one value of a row.
    fn value(row: &Row<Self>, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()>;
    /// A value that sqlx's type for its column cannot take, by its own kind.
    fn natural(row: &Row<Self>, at: usize, column: &Column) -> Outcome<Value>;
    fn delivers(column: &Column, mode: Mode) -> Delivered;
    /// The protocol's kind of a database's error, and its code.
    fn code(error: &(dyn DatabaseError + 'static)) -> (&'static str, String);
    /// The statement that stores so many rows at once, where this engine's way is one INSERT of many rows.
    fn multi_row(_phase: &Phase, _rows: usize) -> Outcome<String> {
        Err(unsupported("sqlx has no bulk way here"))
    }
    /// The most parameters of a statement.
    const MOST_PARAMETERS: usize = 65_535;
    /// Stores rows in a way of the driver's own; false: there is none.
    async fn copy(_conn: &mut Conn<Self>, _phase: &Phase, _rows: &Rows, _these: Range<usize>) -> Outcome<bool> {
        Ok(false)
    }
    /// Has the statement under way stopped: what limits its time, and what ends that limit; or another connection does.
    async fn limit(_conn: &mut Conn<Self>, _asked: &Interruption, _to: &Address<Self>) -> Outcome<String> {
        Err(unsupported("sqlx cannot stop a statement here"))
    }
    async fn server_pid(_conn: &mut Conn<Self>) -> Outcome<Option<i64>> {
        Ok(None)
    }
    async fn facts(conn: &mut Conn<Self>, facts: &mut Facts) -> Outcome<()>;
}

/// A connection and what it was opened with.
pub struct Connection<E: Engine> {
    conn: Conn<E>,
    address: Address<E>,
    options: Options,
}

impl<E: Engine> Adapter for Connection<E>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
    ArgumentsOf<E>: IntoArguments<E::Db>,
{
    type Runtime = Tasks;
    type Operation = Work<E>;

    async fn open(options: &Options) -> Outcome<Self> {
        let address = E::address(options)?;
        let conn = connect::<E>(&address).await?;
        Ok(Connection { conn, address, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Work<E>> {
        Work::of(&mut self.conn, phase, rows, &self.options).await
    }

    fn delivers(&self, column: &Column) -> Delivered {
        E::delivers(column, Mode::of(&self.options))
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        run::<E>(&mut self.conn, statement).await
    }

    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()> {
        let sql = E::sql(phase);
        let mut begun = self.conn.begin().await.map_err(failed::<E>)?;
        for row in &rows[first..first + count] {
            let mut arguments = ArgumentsOf::<E>::default();
            for (value, column) in row.iter().zip(phase.parameter_columns.iter()) {
                arguments.add(E::bind(value, column)?).map_err(misfit)?;
            }
            let query = sqlx::query_with::<E::Db, _>(AssertSqlSafe(sql.as_str()), arguments);
            query.execute(&mut *begun).await.map_err(failed::<E>)?;
        }
        begun.commit().await.map_err(failed::<E>)
    }

    async fn interrupt(&mut self, asked: &Interruption) -> Outcome<Stopped> {
        let unlimited = E::limit(&mut self.conn, asked, &self.address).await?;
        let start = now_ns();
        let Ok(result) = timeout(asked.most(), drain::<E>(&mut self.conn, &asked.sql)).await else {
            return Ok(Stopped::gave_up(start));
        };
        let stopped = Stopped::of(result, start);
        let usable = drain::<E>(&mut self.conn, "SELECT 1").await.is_ok();
        Ok(stopped.with_usable(usable && run::<E>(&mut self.conn, &unlimited).await.is_ok()))
    }

    async fn server_pid(&mut self) -> Outcome<Option<i64>> {
        E::server_pid(&mut self.conn).await
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        tell::<E>(&mut self.conn, facts).await
    }

    async fn close(self) -> Outcome<()> {
        self.conn.close().await.map_err(failed::<E>)
    }
}

/// sqlx has no setting of TCP's and no timeout; names that it does not know it ignores.
pub fn without_settings(options: &Options) -> Outcome<()> {
    match options.driver_settings().first() {
        Some((name, _)) => Err(unsupported(format!("unknown setting '{name}'"))),
        None => Ok(()),
    }
}

async fn connect<E: Engine>(to: &Address<E>) -> Outcome<Conn<E>> {
    Conn::<E>::connect_with(to).await.map_err(failed::<E>)
}

/// Fills in what the live connection tells.
pub async fn tell<E: Engine>(conn: &mut Conn<E>, facts: &mut Facts) -> Outcome<()> {
    facts.driver_version = env!("ROWPATH_VERSION_SQLX").into();
    E::facts(conn, facts).await
}

/// Executes a statement as it is.
pub async fn run<E: Engine>(conn: &mut Conn<E>, sql: &str) -> Outcome<()>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
{
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(conn).await.map(|_| ()).map_err(failed::<E>)
}

/// Has another connection execute a statement after a while; the end of what it stops says what came of it.
pub fn execute_elsewhere<E: Engine>(to: &Address<E>, after: Duration, sql: String)
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
{
    let to = to.clone();
    spawn_local(async move {
        sleep(after).await;
        if let Ok(mut other) = Conn::<E>::connect_with(&to).await {
            let _ = run::<E>(&mut other, &sql).await;
            let _ = other.close().await;
        }
    });
}

/// Executes a query and throws its rows away.
async fn drain<E: Engine>(conn: &mut Conn<E>, sql: &str) -> Outcome<()>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
{
    let mut rows = sqlx::raw_sql(AssertSqlSafe(sql)).fetch(conn);
    while rows.try_next().await.map_err(failed::<E>)?.is_some() {}
    Ok(())
}

#[cold]
pub fn failed<E: Engine>(error: sqlx::Error) -> Failure {
    if let sqlx::Error::Database(own) = &error {
        let (kind, code) = E::code(own.as_ref());
        return Failure::with_code(kind, code, own.message());
    }
    let is_lost = matches!(error, sqlx::Error::Io(_) | sqlx::Error::Tls(_) | sqlx::Error::Protocol(_));
    fail(if is_lost { "connect" } else { "sql" }, error)
}

/// Why a parameter cannot be sent.
#[cold]
pub fn misfit(error: impl std::fmt::Display) -> Failure {
    unsupported(error)
}
