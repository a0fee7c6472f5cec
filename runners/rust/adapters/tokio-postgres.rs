//! tokio-postgres: asynchronous; each connection is a task beside its client's, all on one thread.
use futures_util::future::join_all;
use futures_util::{Stream, TryStreamExt};
use rowpath::core::{
    Adapter, Column, Counters, Delivered, DescribedColumn, Endings, Facts, Interruption, Operation, Options, Outcome,
    Phase, Rows, Source, Stopped, fail, now_ns, take, unsupported,
};
use rowpath::families::rust_postgres::statements::{ask, begin, commit, copy, drain};
use rowpath::families::rust_postgres::{self as family, Bound, Width, failed};
use rowpath::families::tokio::Tasks;
use rowpath::families::{postgresql, sqltext};
use std::pin::pin;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Config, NoTls, Row, SimpleQueryMessage, SimpleQueryRow, Statement};

fn main() {
    rowpath::core::serve::<Connection>("tokio-postgres");
}

struct Connection {
    client: Client,
    task: JoinHandle<()>,
    config: Config,
    options: Options,
}

impl Adapter for Connection {
    type Runtime = Tasks;
    type Operation = Statements;

    async fn open(options: &Options) -> Outcome<Connection> {
        let config = family::config(options)?;
        let (client, task) = connect(&config).await?;
        Ok(Connection { client, task, config, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Statements> {
        if phase.kind == "null" {
            return Err(unsupported("this path has no operation of kind null"));
        }
        if phase.is_bulk() && !self.options.is("bulk", "copy") {
            return Err(unsupported(format!("tokio-postgres has no bulk way {}", self.options.get("bulk", "none"))));
        }
        let mode = self.options.get("statement", "prepared");
        if mode == "text" && !phase.is_bulk() {
            let made = Statements::new(phase, sqltext::texts(phase, rows, postgresql::literal)?, &self.options);
            return Ok(made);
        }
        let mut made = Statements::new(phase, vec![sqltext::numbered(phase)], &self.options);
        made.types = phase.parameter_columns.iter().map(family::declared).collect();
        if phase.is_bulk() || (mode == "prepared" && phase.kind != "connect") {
            let statement = self.client.prepare(&made.sql[0]).await.map_err(failed)?;
            made.types = statement.params().to_vec();
            made.statement = Some(statement);
        }
        made.bound = rows.iter().map(|row| family::bound(row, &made.types)).collect::<Outcome<_>>()?;
        if phase.is_bulk() {
            family::fits_copy(phase, &made.types)?;
            made.sql = vec![postgresql::copy_in(phase)];
        }
        Ok(made)
    }

    fn delivers(&self, column: &Column) -> Delivered {
        if self.options.is("statement", "text") { family::delivers_text(column) } else { family::delivers(column) }
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.client.batch_execute(statement).await.map_err(failed)
    }

    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()> {
        let statement = self.client.prepare(&sqltext::numbered(phase)).await.map_err(failed)?;
        begin(&self.client).await?;
        for row in &rows[first..first + count] {
            let row = family::bound(row, statement.params())?;
            self.client.execute_raw(&statement, row).await.map_err(failed)?;
        }
        commit(&self.client).await
    }

    /// The driver has a request to cancel; a timeout it has only as the server's setting.
    async fn interrupt(&mut self, asked: &Interruption) -> Outcome<Stopped> {
        if asked.kind == "timeout" {
            self.run(&format!("SET statement_timeout = {}", asked.after_ms)).await?;
        } else {
            asked.expect(&["cancel"], "tokio-postgres can cancel a statement and set its timeout")?;
            let (token, after) = (self.client.cancel_token(), asked.after());
            tokio::spawn(async move {
                sleep(after).await;
                let _ = token.cancel_query(NoTls).await; // the query's end says what came of it
            });
        }
        let start = now_ns();
        let Ok(result) = timeout(asked.most(), drain(&self.client, &asked.sql)).await else {
            return Ok(Stopped::gave_up(start));
        };
        let stopped = Stopped::of(result, start);
        let usable = drain(&self.client, "SELECT 1").await.is_ok() && self.run("RESET statement_timeout").await.is_ok();
        Ok(stopped.with_usable(usable))
    }

    async fn describe(&mut self, sql: &str) -> Outcome<Vec<DescribedColumn>> {
        let statement = self.client.prepare(sql).await.map_err(failed)?;
        let mut columns = Vec::new();
        for field in statement.columns() {
            let given: [&(dyn ToSql + Sync); 2] = [&field.type_().oid(), &field.type_modifier()];
            let row = self.client.query_one(family::OF_TYPES, &given).await.map_err(failed)?;
            columns.push(family::column(field, row.try_get(0).map_err(failed)?));
        }
        Ok(columns)
    }

    async fn server_pid(&mut self) -> Outcome<Option<i64>> {
        Ok(ask(&self.client, postgresql::PID).await?.parse().ok())
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        facts.driver_version = env!("ROWPATH_VERSION_TOKIO_POSTGRES").into();
        postgresql::tell(facts, async |query| ask(&self.client, query).await).await
    }

    async fn close(self) -> Outcome<()> {
        closed(self.client, self.task).await
    }
}

/// A connection and the task that reads and writes for it: on the same thread, for tokio's runtime here has one only.
async fn connect(config: &Config) -> Outcome<(Client, JoinHandle<()>)> {
    let (client, connection) = config.connect(NoTls).await.map_err(failed)?;
    let task = tokio::spawn(async move {
        let _ = connection.await; // the operation under way reports what broke
    });
    Ok((client, task))
}

async fn closed(client: Client, task: JoinHandle<()>) -> Outcome<()> {
    drop(client); // then the connection's task says farewell to the server and ends
    task.await.map_err(|error| fail("internal", error))
}

/// A phase's SQL: a statement or one text with parameters, or a text for each row.
struct Statements {
    phase: Arc<Phase>,
    mode: Mode,
    is_whole: bool,
    sql: Vec<String>,
    types: Vec<Type>,
    bound: Vec<Vec<Bound>>,
    statement: Option<Statement>,
}

/// How a statement is sent.
#[derive(Clone, Copy, PartialEq)]
enum Mode {
    /// Bind, Execute and Sync of a statement with a name.
    Prepared,
    /// `query_typed`: Parse of the unnamed statement, Bind, Describe, Execute and Sync in one round trip.
    Bound,
    /// A simple query.
    Text,
}

impl Operation for Statements {
    type Adapter = Connection;

    fn pipelines(&self) -> bool {
        self.is_whole
    }

    /// The driver sends what futures that are polled together ask for, each statement with a Sync of its own.
    async fn pipeline(&mut self, on: &mut Connection, rows: &[usize], counters: &mut Counters, endings: &mut Endings) {
        if self.mode == Mode::Text {
            let answers = join_all(rows.iter().map(|row| self.simple_rows(&on.client, *row))).await;
            self.all_taken(answers, counters, endings);
        } else {
            let answers = join_all(rows.iter().map(|row| self.rows(&on.client, *row))).await;
            self.all_taken(answers, counters, endings);
        }
    }

    async fn run(&mut self, on: &mut Connection, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.phase.kind == "connect" {
            return self.connect(&on.config, counters).await;
        }
        if !self.phase.in_transaction() {
            return self.once(&on.client, row, counters).await;
        }
        begin(&on.client).await?;
        match self.all(&on.client, row, counters).await {
            Ok(()) => commit(&on.client).await,
            Err(failure) => {
                let _ = on.client.batch_execute("ROLLBACK").await; // what failed first is reported
                Err(failure)
            }
        }
    }
}

impl Statements {
    fn new(phase: &Arc<Phase>, sql: Vec<String>, options: &Options) -> Statements {
        let mode = match options.get("statement", "prepared").as_str() {
            "text" => Mode::Text,
            "bound" => Mode::Bound,
            _ => Mode::Prepared,
        };
        let is_whole = options.get("result", "whole") == "whole";
        let (types, bound) = (Vec::new(), Vec::new());
        Statements { phase: phase.clone(), mode, is_whole, sql, types, bound, statement: None }
    }

    async fn connect(&mut self, config: &Config, counters: &mut Counters) -> Outcome<()> {
        let start = now_ns();
        let (client, task) = connect(config).await?;
        counters.connect_ns += now_ns() - start;
        if self.mode == Mode::Prepared {
            self.statement = Some(client.prepare(&self.sql[0]).await.map_err(failed)?);
        }
        let done = self.once(&client, 0, counters).await;
        self.statement = None;
        done.and(closed(client, task).await)
    }

    /// What stands between BEGIN and COMMIT.
    async fn all(&self, client: &Client, row: usize, counters: &mut Counters) -> Outcome<()> {
        let times = self.phase.times();
        let rows = row * times..(row + 1) * times;
        if self.phase.is_bulk() {
            copy(client, &self.sql[0], &self.types, &self.bound[rows]).await?;
            counters.executed();
            return Ok(());
        }
        for at in rows {
            self.once(client, at, counters).await?;
        }
        Ok(())
    }

    #[inline]
    async fn once(&self, client: &Client, row: usize, counters: &mut Counters) -> Outcome<()> {
        let sql = if self.sql.len() > 1 { &self.sql[row] } else { &self.sql[0] };
        let bound = self.bound.get(row).map_or(&[][..], Vec::as_slice);
        let typed = bound.iter().zip(&self.types).map(|(value, type_)| (value.as_ref(), type_.clone()));
        match &self.statement {
            _ if self.mode == Mode::Text => self.simple(client, sql, counters).await,
            Some(statement) if self.phase.queries() => {
                let given = bound.iter().map(AsRef::as_ref);
                self.taken(client.query_raw(statement, given).await.map_err(failed)?, counters).await
            }
            None if self.phase.queries() => {
                self.taken(client.query_typed_raw(sql, typed).await.map_err(failed)?, counters).await
            }
            Some(statement) => executed(client.execute_raw(statement, bound.iter().map(AsRef::as_ref)).await, counters),
            None => executed(client.execute_typed(sql, &typed.collect::<Vec<_>>()).await, counters),
        }
    }

    /// All rows of one operation; none of one that only executes.
    async fn rows(&self, client: &Client, row: usize) -> Outcome<Vec<Row>> {
        let bound = self.bound.get(row).map_or(&[][..], Vec::as_slice);
        let typed = bound.iter().zip(&self.types).map(|(value, type_)| (value.as_ref(), type_.clone()));
        let given = bound.iter().map(AsRef::as_ref);
        match &self.statement {
            Some(statement) if self.phase.queries() => {
                client.query_raw(statement, given).await.map_err(failed)?.try_collect().await.map_err(failed)
            }
            None if self.phase.queries() => {
                client.query_typed_raw(&self.sql[0], typed).await.map_err(failed)?.try_collect().await.map_err(failed)
            }
            Some(statement) => client.execute_raw(statement, given).await.map(|_| Vec::new()).map_err(failed),
            None => {
                let typed: Vec<_> = typed.collect();
                client.execute_typed(&self.sql[0], &typed).await.map(|_| Vec::new()).map_err(failed)
            }
        }
    }

    async fn simple_rows(&self, client: &Client, row: usize) -> Outcome<Vec<SimpleQueryRow>> {
        let messages = client.simple_query(&self.sql[row]).await.map_err(failed)?;
        let row_of = |message| if let SimpleQueryMessage::Row(row) = message { Some(row) } else { None };
        Ok(messages.into_iter().filter_map(row_of).collect())
    }

    fn all_taken<R: Source + Width>(
        &self,
        answers: Vec<Outcome<Vec<R>>>,
        counters: &mut Counters,
        endings: &mut Endings,
    ) {
        for answer in answers {
            let taken = answer.and_then(|rows| rows.iter().try_for_each(|row| self.row(row, counters)));
            endings.note(taken, counters);
        }
    }

    async fn simple(&self, client: &Client, sql: &str, counters: &mut Counters) -> Outcome<()> {
        if !self.phase.queries() {
            return executed(client.batch_execute(sql).await, counters);
        }
        let messages = client.simple_query_raw(sql).await.map_err(failed)?;
        let rows = messages.try_filter_map(async |message| match message {
            SimpleQueryMessage::Row(row) => Ok(Some(row)),
            _ => Ok(None), // what comes before and after rows
        });
        self.taken(rows, counters).await
    }

    /// Takes each row as it comes, or, as `Client::query` has it, once all are there.
    #[inline]
    async fn taken<R: Source + Width>(
        &self,
        rows: impl Stream<Item = Result<R, tokio_postgres::Error>>,
        counters: &mut Counters,
    ) -> Outcome<()> {
        let mut rows = pin!(rows);
        if self.is_whole {
            let all: Vec<R> = rows.try_collect().await.map_err(failed)?;
            counters.executed();
            return all.iter().try_for_each(|row| self.row(row, counters));
        }
        counters.executed();
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            self.row(&row, counters)?;
        }
        Ok(())
    }

    #[inline]
    fn row(&self, row: &(impl Source + Width), counters: &mut Counters) -> Outcome<()> {
        counters.expect(row.width())?;
        take(row, &self.phase.columns, counters)
    }
}

fn executed(done: Result<impl Sized, tokio_postgres::Error>, counters: &mut Counters) -> Outcome<()> {
    counters.executed();
    done.map(|_| ()).map_err(failed)
}
