//! mysql: MariaDB and MySQL, blocking.
use mysql::prelude::{Protocol, Queryable};
use mysql::{Conn, Error, LocalInfileHandler, Opts, OptsBuilder, QueryResult, Row, SslOpts, Statement};
use rowpath::core::{
    Adapter, Column, Counters, Delivered, DescribedColumn, Facts, Failure, Interruption, Lendable, Operation, Options,
    Outcome, Phase, Rows, Stopped, Threads, after, fail, lending, now_ns, serve_with_pools, unsupported,
};
use rowpath::families::mysql as family;
use rowpath::families::rust_mysql::{Bulk, Statements, bind, delivers, described, text_of};
use rowpath::families::sqltext::Mode;
use rowpath::pools::r2d2::R2d2;
use std::io::{Error as IoError, Write};
use std::path::PathBuf;
use std::sync::Arc;

fn main() {
    serve_with_pools::<Connection>("mysql", &[lending::<R2d2<Connection>>]);
}

struct Connection {
    conn: Conn,
    address: Opts,
    options: Options,
}

impl Adapter for Connection {
    type Runtime = Threads;
    type Operation = Work;

    async fn open(options: &Options) -> Outcome<Connection> {
        let address = address(options)?;
        let conn = Conn::new(address.clone()).map_err(failed)?;
        Ok(Connection { conn, address, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Work> {
        let prepare = async |sql: &str| self.conn.prep(sql).map_err(failed);
        Ok(Work(Statements::of(phase, rows, &self.options, prepare).await?))
    }

    fn delivers(&self, column: &Column) -> Delivered {
        Self::delivered(&self.options, column)
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.conn.query_drop(statement).map_err(failed)
    }

    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()> {
        let rows = rows[first..first + count].iter().map(|row| bind(row)).collect::<Outcome<Vec<_>>>()?;
        in_transaction(&mut self.conn, |conn| conn.exec_batch(&phase.sql, rows).map_err(failed))
    }

    async fn interrupt(&mut self, asked: &Interruption) -> Outcome<Stopped> {
        let mut unlimited = None;
        if asked.kind == "timeout" {
            let [limit, no_limit] = family::limits(asked.after_ms, async |sql| ask(&mut self.conn, sql)).await?;
            self.run(&limit).await?;
            unlimited = Some(no_limit);
        } else {
            asked.expect(&["cancel"], "mysql can kill a statement and set its timeout")?;
            let (address, kill) = (self.address.clone(), format!("KILL QUERY {}", self.conn.connection_id()));
            after(asked.after(), move || {
                let _ = Conn::new(address).and_then(|mut other| other.query_drop(kill)); // the query's end tells
            });
        }
        let start = now_ns();
        let stopped = Stopped::of(self.run(&asked.sql).await, start);
        if let Some(no_limit) = unlimited {
            let _ = self.run(&no_limit).await;
        }
        Ok(stopped.with_usable(self.run("SELECT 1").await.is_ok()))
    }

    async fn describe(&mut self, sql: &str) -> Outcome<Vec<DescribedColumn>> {
        let statement = self.conn.prep(sql).map_err(failed)?;
        let columns = described(&statement.columns());
        self.conn.close(statement).map_err(failed)?;
        Ok(columns)
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        facts.driver_version = env!("ROWPATH_VERSION_MYSQL").into();
        family::tell(facts, async |query| ask(&mut self.conn, query)).await?;
        family::tell_compression(facts, &self.options, async |query| ask(&mut self.conn, query)).await
    }

    async fn close(self) -> Outcome<()> {
        drop(self.conn); // it takes leave of the server
        Ok(())
    }
}

impl Lendable for Connection {
    async fn connect(options: &Options) -> Outcome<Connection> {
        Self::open(options).await
    }

    async fn validate(&mut self) -> Outcome<()> {
        self.conn.ping().map_err(failed)
    }

    /// The manager of the crate r2d2_mysql asks the server whenever a connection comes back.
    fn is_lost(&mut self) -> bool {
        self.conn.ping().is_err()
    }

    fn delivered(options: &Options, column: &Column) -> Delivered {
        delivers(column, Mode::of(options) == Mode::Text)
    }
}

fn address(options: &Options) -> Outcome<Opts> {
    let host = Some(options.get("host", "127.0.0.1"));
    let tls = SslOpts::default().with_root_cert_path(options.need("tls_ca").ok().map(PathBuf::from));
    let compressed = options.is("compression", "zlib").then(|| ("compress".into(), "true".into()));
    let settings = options.driver_settings().into_iter().chain(compressed).collect();
    let builder = OptsBuilder::new().from_hash_map(&settings).map_err(unsupported)?;
    Ok(rowpath::rust_mysql_builder!(options, builder, host, tls).into())
}

/// A phase's work.
struct Work(Statements<Statement>);

impl Operation for Work {
    type Adapter = Connection;

    async fn run(&mut self, on: &mut Connection, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.0.phase.kind == "connect" {
            let start = now_ns();
            let mut fresh = Conn::new(on.address.clone()).map_err(failed)?;
            counters.connect_ns += now_ns() - start;
            return self.once(&mut fresh, 0, counters);
        }
        if !self.0.phase.in_transaction() {
            return self.once(&mut on.conn, row, counters);
        }
        in_transaction(&mut on.conn, |conn| self.all(conn, row, counters))
    }

    async fn close(self, on: &mut Connection) -> Outcome<()> {
        self.0.statement.map_or(Ok(()), |statement| on.conn.close(statement).map_err(failed))
    }
}

impl Work {
    /// What stands between BEGIN and COMMIT.
    fn all(&self, conn: &mut Conn, operation: usize, counters: &mut Counters) -> Outcome<()> {
        let mut rows = self.0.rows_of(operation);
        match self.0.bulk {
            Bulk::None => return rows.try_for_each(|row| self.once(conn, row, counters)),
            Bulk::LoadData => self.load_data(conn, operation)?,
            Bulk::Batch => {
                let given = rows.map(|row| self.0.given(row));
                self.with_statement(conn, 0, |conn, statement| conn.exec_batch(statement, given).map_err(failed))?;
            }
        }
        counters.executed();
        Ok(())
    }

    /// LOAD DATA without a file: the driver asks for the text of the rows.
    fn load_data(&self, conn: &mut Conn, operation: usize) -> Outcome<()> {
        let (rows, range) = (self.0.rows.clone(), self.0.rows_of(operation));
        conn.set_local_infile_handler(Some(LocalInfileHandler::new(move |_, to| {
            let mut text = Vec::new();
            for row in &rows[range.clone()] {
                text.clear();
                family::write_row(row, &mut text).map_err(|failure| IoError::other(failure.text()))?;
                to.write_all(&text)?;
            }
            Ok(())
        })));
        let done = conn.query_drop(self.0.sql(0)).map_err(failed);
        conn.set_local_infile_handler(None);
        done.and_then(|()| self.0.expect_loaded(conn.affected_rows(), conn.warnings()))
    }

    #[inline]
    fn once(&self, conn: &mut Conn, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.0.mode == Mode::Text {
            return self.taken(conn.query_iter(self.0.sql(row)).map_err(failed)?, counters);
        }
        self.with_statement(conn, row, |conn, statement| {
            self.taken(conn.exec_iter(statement, self.0.given(row)).map_err(failed)?, counters)
        })
    }

    /// With the statement that is prepared, or prepared now and closed afterwards.
    #[inline]
    fn with_statement(
        &self,
        conn: &mut Conn,
        row: usize,
        work: impl FnOnce(&mut Conn, &Statement) -> Outcome<()>,
    ) -> Outcome<()> {
        if let Some(statement) = &self.0.statement {
            return work(conn, statement);
        }
        let statement = conn.prep(self.0.sql(row)).map_err(failed)?;
        let done = work(conn, &statement);
        done.and(conn.close(statement).map_err(failed))
    }

    /// Takes each row as it comes, or, as `exec` and `query` have it, once all are there.
    #[inline]
    fn taken<P: Protocol>(&self, mut result: QueryResult<P>, counters: &mut Counters) -> Outcome<()> {
        if self.0.is_whole && self.0.phase.queries() {
            let all: Vec<Row> = result.by_ref().collect::<Result<_, _>>().map_err(failed)?;
            counters.executed();
            return all.iter().try_for_each(|row| self.0.take(row, counters));
        }
        counters.executed();
        result.by_ref().try_for_each(|row| self.0.take(&row.map_err(failed)?, counters))
    }
}

fn in_transaction(conn: &mut Conn, work: impl FnOnce(&mut Conn) -> Outcome<()>) -> Outcome<()> {
    // In the words of `start_transaction`, whose transaction would borrow the connection.
    conn.query_drop("START TRANSACTION").map_err(failed)?;
    match work(conn) {
        Ok(()) => conn.query_drop("COMMIT").map_err(failed),
        Err(failure) => {
            let _ = conn.query_drop("ROLLBACK"); // what failed first is reported
            Err(failure)
        }
    }
}

fn ask(conn: &mut Conn, sql: &str) -> Outcome<String> {
    Ok(text_of(conn.query_first(sql).map_err(failed)?))
}

#[cold]
fn failed(error: Error) -> Failure {
    match error {
        Error::MySqlError(own) => family::refused(own.code, &own.message),
        other => fail(if other.is_connectivity_error() { "connect" } else { "sql" }, other),
    }
}
