//! mysql_async: MariaDB and MySQL, asynchronous; all on one thread.
use futures_util::StreamExt;
use futures_util::stream;
use mysql_async::prelude::{Protocol, Queryable};
use mysql_async::{Conn, Error, Opts, OptsBuilder, QueryResult, Row, SslOpts, Statement};
use rowpath::core::{
    Adapter, Column, Counters, Delivered, DescribedColumn, Facts, Failure, Interruption, Operation, Options, Outcome,
    Phase, Rows, Stopped, fail, now_ns, unsupported,
};
use rowpath::families::mysql as family;
use rowpath::families::rust_mysql::{Bulk, Statements, bind, delivers, described, text_of};
use rowpath::families::sqltext::Mode;
use rowpath::families::tokio::Tasks;
use std::io::Error as IoError;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::time::{sleep, timeout};

fn main() {
    rowpath::core::serve::<Connection>("mysql_async");
}

const ROWS_AT_ONCE: usize = 100; // of LOAD DATA, in one piece of text

struct Connection {
    conn: Conn,
    address: Opts,
    options: Options,
}

impl Adapter for Connection {
    type Runtime = Tasks;
    type Operation = Work;

    async fn open(options: &Options) -> Outcome<Connection> {
        let address = address(options)?;
        let conn = Conn::new(address.clone()).await.map_err(failed)?;
        Ok(Connection { conn, address, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Work> {
        let prepare = async |sql: &str| self.conn.prep(sql).await.map_err(failed);
        Ok(Work(Statements::of(phase, rows, &self.options, prepare).await?))
    }

    fn delivers(&self, column: &Column) -> Delivered {
        delivers(column, Mode::of(&self.options) == Mode::Text)
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.conn.query_drop(statement).await.map_err(failed)
    }

    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()> {
        let rows = rows[first..first + count].iter().map(|row| bind(row)).collect::<Outcome<Vec<_>>>()?;
        begin(&mut self.conn).await?;
        let done = self.conn.exec_batch(phase.sql.as_str(), rows).await.map_err(failed);
        end(&mut self.conn, done).await
    }

    async fn interrupt(&mut self, asked: &Interruption) -> Outcome<Stopped> {
        let mut unlimited = None;
        if asked.kind == "timeout" {
            let [limit, no_limit] = family::limits(asked.after_ms, async |sql| ask(&mut self.conn, sql).await).await?;
            self.run(&limit).await?;
            unlimited = Some(no_limit);
        } else {
            asked.expect(&["cancel"], "mysql_async can kill a statement and set its timeout")?;
            let (address, after) = (self.address.clone(), asked.after());
            let kill = format!("KILL QUERY {}", self.conn.id());
            tokio::spawn(async move {
                sleep(after).await;
                if let Ok(mut other) = Conn::new(address).await {
                    let _ = other.query_drop(kill).await; // the query's end says what came of it
                    let _ = other.disconnect().await;
                }
            });
        }
        let start = now_ns();
        let Ok(result) = timeout(asked.most(), self.run(&asked.sql)).await else {
            return Ok(Stopped::gave_up(start));
        };
        let stopped = Stopped::of(result, start);
        if let Some(no_limit) = unlimited {
            let _ = self.run(&no_limit).await;
        }
        Ok(stopped.with_usable(self.run("SELECT 1").await.is_ok()))
    }

    async fn describe(&mut self, sql: &str) -> Outcome<Vec<DescribedColumn>> {
        let statement = self.conn.prep(sql).await.map_err(failed)?;
        let columns = described(&statement.columns());
        self.conn.close(statement).await.map_err(failed)?;
        Ok(columns)
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        facts.driver_version = env!("ROWPATH_VERSION_MYSQL_ASYNC").into();
        family::tell(facts, async |query| ask(&mut self.conn, query).await).await?;
        family::tell_compression(facts, &self.options, async |query| ask(&mut self.conn, query).await).await
    }

    async fn close(self) -> Outcome<()> {
        self.conn.disconnect().await.map_err(failed)
    }
}

fn address(options: &Options) -> Outcome<Opts> {
    let host = options.get("host", "127.0.0.1");
    let authorities = options.need("tls_ca").ok().map(|file| PathBuf::from(file).into());
    let tls = SslOpts::default().with_disable_built_in_roots(authorities.is_some());
    let tls = tls.with_root_certs(authorities.into_iter().collect());
    let compressed = options.is("compression", "zlib").then(|| ("compression".into(), "true".into()));
    let settings = options.driver_settings().into_iter().chain(compressed);
    let settings = settings.map(|(name, value)| format!("{name}={value}"));
    let url = format!("mysql://localhost?{}", settings.collect::<Vec<_>>().join("&"));
    let builder = OptsBuilder::from_opts(Opts::from_url(&url).map_err(unsupported)?);
    Ok(rowpath::rust_mysql_builder!(options, builder, host, tls).into())
}

/// A phase's work.
struct Work(Statements<Statement>);

impl Operation for Work {
    type Adapter = Connection;

    async fn run(&mut self, on: &mut Connection, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.0.phase.kind == "connect" {
            return self.connect(&on.address, counters).await;
        }
        if !self.0.phase.in_transaction() {
            return self.once(&mut on.conn, row, counters).await;
        }
        begin(&mut on.conn).await?;
        let done = self.all(&mut on.conn, row, counters).await;
        end(&mut on.conn, done).await
    }

    async fn close(self, on: &mut Connection) -> Outcome<()> {
        match self.0.statement {
            Some(statement) => on.conn.close(statement).await.map_err(failed),
            None => Ok(()),
        }
    }
}

impl Work {
    async fn connect(&self, to: &Opts, counters: &mut Counters) -> Outcome<()> {
        let start = now_ns();
        let mut fresh = Conn::new(to.clone()).await.map_err(failed)?;
        counters.connect_ns += now_ns() - start;
        let done = self.once(&mut fresh, 0, counters).await;
        done.and(fresh.disconnect().await.map_err(failed))
    }

    /// What stands between BEGIN and COMMIT.
    async fn all(&self, conn: &mut Conn, operation: usize, counters: &mut Counters) -> Outcome<()> {
        match self.0.bulk {
            Bulk::None => {
                for row in self.0.rows_of(operation) {
                    self.once(conn, row, counters).await?;
                }
                return Ok(());
            }
            Bulk::LoadData => self.load_data(conn, operation).await?,
            Bulk::Batch => {
                let given: Vec<_> = self.0.rows_of(operation).map(|row| self.0.given(row)).collect();
                let (statement, is_ours) = self.statement(conn, 0).await?;
                let done = conn.exec_batch(&statement, given).await.map_err(failed);
                done.and(release(conn, statement, is_ours).await)?;
            }
        }
        counters.executed();
        Ok(())
    }

    /// LOAD DATA without a file: the driver asks for the text of the rows, piece by piece.
    async fn load_data(&self, conn: &mut Conn, operation: usize) -> Outcome<()> {
        let (rows, range) = (self.0.rows.clone(), self.0.rows_of(operation));
        let pieces = range.clone().step_by(ROWS_AT_ONCE).map(move |first| {
            let mut text = Vec::new();
            let last = range.end.min(first + ROWS_AT_ONCE);
            let written = rows[first..last].iter().try_for_each(|row| family::write_row(row, &mut text));
            written.map(|()| text.into()).map_err(|failure| IoError::other(failure.text()))
        });
        conn.set_infile_handler(async move { Ok(stream::iter(pieces).boxed()) });
        conn.query_drop(self.0.sql(0)).await.map_err(failed)?;
        self.0.expect_loaded(conn.affected_rows(), conn.get_warnings())
    }

    #[inline]
    async fn once(&self, conn: &mut Conn, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.0.mode == Mode::Text {
            return self.taken(conn.query_iter(self.0.sql(row)).await.map_err(failed)?, counters).await;
        }
        let given = self.0.given(row);
        if let Some(statement) = &self.0.statement {
            return self.taken(conn.exec_iter(statement, given).await.map_err(failed)?, counters).await;
        }
        let (statement, is_ours) = self.statement(conn, row).await?;
        let done = match conn.exec_iter(&statement, given).await {
            Ok(result) => self.taken(result, counters).await,
            Err(error) => Err(failed(error)),
        };
        done.and(release(conn, statement, is_ours).await)
    }

    /// The statement that is prepared, or one prepared now, to be closed after its use.
    async fn statement(&self, conn: &mut Conn, row: usize) -> Outcome<(Statement, bool)> {
        match &self.0.statement {
            Some(statement) => Ok((statement.clone(), false)),
            None => Ok((conn.prep(self.0.sql(row)).await.map_err(failed)?, true)),
        }
    }

    /// Takes each row as it comes, or, as `exec` and `query` have it, once all are there.
    #[inline]
    async fn taken<P: Protocol>(&self, mut result: QueryResult<'_, '_, P>, counters: &mut Counters) -> Outcome<()> {
        if !self.0.phase.queries() {
            counters.executed();
            return result.drop_result().await.map_err(failed);
        }
        if self.0.is_whole {
            let all: Vec<Row> = result.collect_and_drop().await.map_err(failed)?;
            counters.executed();
            return all.iter().try_for_each(|row| self.0.take(row, counters));
        }
        counters.executed();
        while let Some(row) = result.next().await.map_err(failed)? {
            self.0.take(&row, counters)?;
        }
        result.drop_result().await.map_err(failed)
    }
}

async fn release(conn: &mut Conn, statement: Statement, is_ours: bool) -> Outcome<()> {
    if is_ours { conn.close(statement).await.map_err(failed) } else { Ok(()) }
}

/// Begins a transaction, in the words of `start_transaction`, whose transaction would borrow the connection.
async fn begin(conn: &mut Conn) -> Outcome<()> {
    conn.query_drop("START TRANSACTION").await.map_err(failed)
}

async fn end(conn: &mut Conn, done: Outcome<()>) -> Outcome<()> {
    match done {
        Ok(()) => conn.query_drop("COMMIT").await.map_err(failed),
        Err(failure) => {
            let _ = conn.query_drop("ROLLBACK").await; // what failed first is reported
            Err(failure)
        }
    }
}

async fn ask(conn: &mut Conn, sql: &str) -> Outcome<String> {
    Ok(text_of(conn.query_first(sql).await.map_err(failed)?))
}

#[cold]
fn failed(error: Error) -> Failure {
    match error {
        Error::Server(own) => family::refused(own.code, &own.message),
        other => fail(if other.is_fatal() { "connect" } else { "sql" }, other),
    }
}
