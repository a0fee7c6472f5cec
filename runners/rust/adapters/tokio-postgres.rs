//! tokio-postgres: asynchronous; each connection is a task beside its client's, all on one thread.
use futures_util::future::join_all;
use futures_util::{Stream, TryStreamExt};
use rowpath::core::{
    Adapter, Column, Counters, Delivered, DescribedColumn, Endings, Facts, Interruption, Lendable, Operation, Options,
    Outcome, Phase, Rows, Source, Stopped, fail, lending, now_ns, serve_with_pools,
};
use rowpath::families::rust_postgres::asynchronous::{ask, begin, commit, copy, drain};
use rowpath::families::rust_postgres::statements::{Statements, described};
use rowpath::families::rust_postgres::{self as family, Address, Width, failed};
use rowpath::families::sqltext::Mode;
use rowpath::families::tokio::Tasks;
use rowpath::families::{postgresql, sqltext};
use rowpath::pools::bb8::Bb8;
use rowpath::pools::deadpool::Deadpool;
use std::pin::pin;
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Config, NoTls, Row, SimpleQueryMessage, SimpleQueryRow};

fn main() {
    serve_with_pools::<Connection>("tokio-postgres", &[lending::<Deadpool<Connection>>, lending::<Bb8<Connection>>]);
}

struct Connection {
    client: Client,
    task: JoinHandle<()>,
    address: Address<Config>,
    options: Options,
}

impl Adapter for Connection {
    type Runtime = Tasks;
    type Operation = Work;

    async fn open(options: &Options) -> Outcome<Connection> {
        let address = Address::of(options)?;
        let (client, task) = connect(&address).await?;
        Ok(Connection { client, task, address, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Work> {
        let prepare = async |sql: &str| self.client.prepare(sql).await.map_err(failed);
        Ok(Work(Statements::of(phase, rows, &self.options, prepare).await?))
    }

    fn delivers(&self, column: &Column) -> Delivered {
        Self::delivered(&self.options, column)
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
            let (token, after, tls) = (self.client.cancel_token(), asked.after(), self.address.tls.clone());
            tokio::spawn(async move {
                sleep(after).await;
                // The query's end says what came of it.
                let _ = match tls {
                    Some(tls) => token.cancel_query(tls).await,
                    None => token.cancel_query(NoTls).await,
                };
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
        let ask =
            async |sql: &str, given: &[&(dyn ToSql + Sync)]| self.client.query_one(sql, given).await.map_err(failed);
        described(&statement, ask).await
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

impl Lendable for Connection {
    async fn connect(options: &Options) -> Outcome<Connection> {
        Self::open(options).await
    }

    async fn validate(&mut self) -> Outcome<()> {
        self.client.simple_query("").await.map(|_| ()).map_err(failed)
    }

    fn is_lost(&mut self) -> bool {
        self.client.is_closed()
    }

    fn delivered(options: &Options, column: &Column) -> Delivered {
        family::delivers(options, column)
    }
}

async fn connect(to: &Address<Config>) -> Outcome<(Client, JoinHandle<()>)> {
    match &to.tls {
        Some(tls) => to.config.connect(tls.clone()).await.map(begun),
        None => to.config.connect(NoTls).await.map(begun),
    }
    .map_err(failed)
}

/// A connection and the task that reads and writes for it: on the same thread, for tokio's runtime here has one only.
fn begun(
    (client, connection): (Client, impl Future<Output = Result<(), tokio_postgres::Error>> + Send + 'static),
) -> (Client, JoinHandle<()>) {
    let task = tokio::spawn(async move {
        let _ = connection.await; // the operation under way reports what broke
    });
    (client, task)
}

async fn closed(client: Client, task: JoinHandle<()>) -> Outcome<()> {
    drop(client); // then the connection's task says farewell to the server and ends
    task.await.map_err(|error| fail("internal", error))
}

struct Work(Statements);

impl Operation for Work {
    type Adapter = Connection;

    fn pipelines(&self) -> bool {
        self.0.is_whole
    }

    /// The driver sends what futures that are polled together ask for, each statement with a Sync of its own.
    async fn pipeline(&mut self, on: &mut Connection, rows: &[usize], counters: &mut Counters, endings: &mut Endings) {
        if self.0.mode == Mode::Text {
            let answers = join_all(rows.iter().map(|row| self.simple_rows(&on.client, *row))).await;
            self.all_taken(answers, counters, endings);
        } else {
            let answers = join_all(rows.iter().map(|row| self.rows(&on.client, *row))).await;
            self.all_taken(answers, counters, endings);
        }
    }

    async fn run(&mut self, on: &mut Connection, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.0.phase.kind == "connect" {
            return self.connect(&on.address, counters).await;
        }
        if !self.0.phase.in_transaction() {
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

impl Work {
    async fn connect(&mut self, to: &Address<Config>, counters: &mut Counters) -> Outcome<()> {
        let start = now_ns();
        let (client, task) = connect(to).await?;
        counters.connect_ns += now_ns() - start;
        if self.0.mode == Mode::Prepared {
            self.0.statement = Some(client.prepare(self.0.sql(0)).await.map_err(failed)?);
        }
        let done = self.once(&client, 0, counters).await;
        self.0.statement = None;
        done.and(closed(client, task).await)
    }

    /// What stands between BEGIN and COMMIT.
    async fn all(&self, client: &Client, operation: usize, counters: &mut Counters) -> Outcome<()> {
        if self.0.unnests {
            let arrays = self.0.arrays(operation);
            let given: Vec<_> = arrays.iter().map(|array| array as &(dyn ToSql + Sync)).collect();
            return match &self.0.statement {
                Some(statement) => executed(client.execute(statement, &given).await, counters),
                None => executed(client.execute_typed(self.0.sql(0), &self.0.with_types(given)).await, counters),
            };
        }
        if self.0.phase.is_bulk() {
            copy(client, &self.0, operation).await?;
            counters.executed();
            return Ok(());
        }
        for row in self.0.rows_of(operation) {
            self.once(client, row, counters).await?;
        }
        Ok(())
    }

    #[inline]
    async fn once(&self, client: &Client, row: usize, counters: &mut Counters) -> Outcome<()> {
        let (own, sql) = (&self.0, self.0.sql(row));
        match &own.statement {
            _ if own.mode == Mode::Text => self.simple(client, sql, counters).await,
            Some(statement) if own.phase.queries() => {
                self.taken(client.query_raw(statement, own.given(row)).await.map_err(failed)?, counters).await
            }
            None if own.phase.queries() => {
                self.taken(client.query_typed_raw(sql, own.typed(row)).await.map_err(failed)?, counters).await
            }
            Some(statement) => executed(client.execute_raw(statement, own.given(row)).await, counters),
            None => executed(client.execute_typed(sql, &own.typed(row).collect::<Vec<_>>()).await, counters),
        }
    }

    /// All rows of one operation; none of one that only executes.
    async fn rows(&self, client: &Client, row: usize) -> Outcome<Vec<Row>> {
        let (own, sql) = (&self.0, self.0.sql(row));
        match &own.statement {
            Some(statement) if own.phase.queries() => {
                client.query_raw(statement, own.given(row)).await.map_err(failed)?.try_collect().await.map_err(failed)
            }
            None if own.phase.queries() => {
                client.query_typed_raw(sql, own.typed(row)).await.map_err(failed)?.try_collect().await.map_err(failed)
            }
            Some(statement) => client.execute_raw(statement, own.given(row)).await.map(|_| Vec::new()).map_err(failed),
            None => {
                let typed: Vec<_> = own.typed(row).collect();
                client.execute_typed(sql, &typed).await.map(|_| Vec::new()).map_err(failed)
            }
        }
    }

    async fn simple_rows(&self, client: &Client, row: usize) -> Outcome<Vec<SimpleQueryRow>> {
        let messages = client.simple_query(self.0.sql(row)).await.map_err(failed)?;
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
            let taken = answer.and_then(|rows| rows.iter().try_for_each(|row| self.0.take(row, counters)));
            endings.note(taken, counters);
        }
    }

    async fn simple(&self, client: &Client, sql: &str, counters: &mut Counters) -> Outcome<()> {
        if !self.0.phase.queries() {
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
        if self.0.is_whole {
            let all: Vec<R> = rows.try_collect().await.map_err(failed)?;
            counters.executed();
            return all.iter().try_for_each(|row| self.0.take(row, counters));
        }
        counters.executed();
        while let Some(row) = rows.try_next().await.map_err(failed)? {
            self.0.take(&row, counters)?;
        }
        Ok(())
    }
}

fn executed(done: Result<impl Sized, tokio_postgres::Error>, counters: &mut Counters) -> Outcome<()> {
    counters.executed();
    done.map(|_| ()).map_err(failed)
}
