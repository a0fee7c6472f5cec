//! postgres: blocking, over tokio-postgres on a runtime of each connection's own.
use postgres::binary_copy::BinaryCopyInWriter;
use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use postgres::{Client, Config, NoTls, SimpleQueryMessage};
use rowpath::core::{
    Adapter, Column, Counters, Delivered, DescribedColumn, Facts, Interruption, Lendable, Operation, Options, Outcome,
    Phase, Rows, Stopped, Threads, after, lending, now_ns, serve_with_pools,
};
use rowpath::families::rust_postgres::statements::{Statements, described};
use rowpath::families::rust_postgres::{self as family, Address, failed};
use rowpath::families::sqltext::Mode;
use rowpath::families::{postgresql, sqltext};
use rowpath::pools::r2d2::R2d2;
use std::sync::Arc;

fn main() {
    serve_with_pools::<Connection>("postgres", &[lending::<R2d2<Connection>>]);
}

struct Connection {
    client: Client,
    address: Address<Config>,
    options: Options,
}

impl Adapter for Connection {
    type Runtime = Threads;
    type Operation = Work;

    async fn open(options: &Options) -> Outcome<Connection> {
        let address = Address::of(options)?;
        Ok(Connection { client: connect(&address)?, address, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Work> {
        let prepare = async |sql: &str| self.client.prepare(sql).map_err(failed);
        Ok(Work(Statements::of(phase, rows, &self.options, prepare).await?))
    }

    fn delivers(&self, column: &Column) -> Delivered {
        Self::delivered(&self.options, column)
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.client.batch_execute(statement).map_err(failed)
    }

    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()> {
        let mut begun = self.client.transaction().map_err(failed)?;
        let statement = begun.prepare(&sqltext::numbered(phase)).map_err(failed)?;
        for row in &rows[first..first + count] {
            let row = family::bound(row, statement.params())?;
            let given: Vec<&(dyn ToSql + Sync)> = row.iter().map(|value| value.as_ref() as _).collect();
            begun.execute(&statement, &given).map_err(failed)?;
        }
        begun.commit().map_err(failed)
    }

    /// The driver has a request to cancel; a timeout it has only as the server's setting.
    async fn interrupt(&mut self, asked: &Interruption) -> Outcome<Stopped> {
        if asked.kind == "timeout" {
            self.run(&format!("SET statement_timeout = {}", asked.after_ms)).await?;
        } else {
            asked.expect(&["cancel"], "postgres can cancel a statement and set its timeout")?;
            let (token, tls) = (self.client.cancel_token(), self.address.tls.clone());
            after(asked.after(), move || {
                // The query's end says what came of it.
                let _ = match tls {
                    Some(tls) => token.cancel_query(tls),
                    None => token.cancel_query(NoTls),
                };
            });
        }
        let start = now_ns();
        let stopped = Stopped::of(drain(&mut self.client, &asked.sql), start);
        let usable = drain(&mut self.client, "SELECT 1").is_ok() && self.run("RESET statement_timeout").await.is_ok();
        Ok(stopped.with_usable(usable))
    }

    async fn describe(&mut self, sql: &str) -> Outcome<Vec<DescribedColumn>> {
        let statement = self.client.prepare(sql).map_err(failed)?;
        let ask = async |sql: &str, given: &[&(dyn ToSql + Sync)]| self.client.query_one(sql, given).map_err(failed);
        described(&statement, ask).await
    }

    async fn server_pid(&mut self) -> Outcome<Option<i64>> {
        Ok(ask(&mut self.client, postgresql::PID)?.parse().ok())
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        facts.driver_version = env!("ROWPATH_VERSION_POSTGRES").into();
        postgresql::tell(facts, async |query| ask(&mut self.client, query)).await
    }

    async fn close(self) -> Outcome<()> {
        self.client.close().map_err(failed)
    }
}

impl Lendable for Connection {
    async fn connect(options: &Options) -> Outcome<Connection> {
        Self::open(options).await
    }

    async fn validate(&mut self) -> Outcome<()> {
        self.client.simple_query("").map(|_| ()).map_err(failed)
    }

    fn is_lost(&mut self) -> bool {
        self.client.is_closed()
    }

    fn delivered(options: &Options, column: &Column) -> Delivered {
        family::delivers(options, column)
    }
}

fn connect(to: &Address<Config>) -> Outcome<Client> {
    match &to.tls {
        Some(tls) => to.config.connect(tls.clone()),
        None => to.config.connect(NoTls),
    }
    .map_err(failed)
}

struct Work(Statements);

impl Operation for Work {
    type Adapter = Connection;

    async fn run(&mut self, on: &mut Connection, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.0.phase.kind == "connect" {
            return self.connect(&on.address, counters);
        }
        if !self.0.phase.in_transaction() {
            return self.once(&mut on.client, row, counters);
        }
        // In the words of `Client::transaction`, whose statements would borrow the client.
        on.client.batch_execute("START TRANSACTION").map_err(failed)?;
        match self.all(&mut on.client, row, counters) {
            Ok(()) => on.client.batch_execute("COMMIT").map_err(failed),
            Err(failure) => {
                let _ = on.client.batch_execute("ROLLBACK"); // what failed first is reported
                Err(failure)
            }
        }
    }
}

impl Work {
    fn connect(&mut self, to: &Address<Config>, counters: &mut Counters) -> Outcome<()> {
        let start = now_ns();
        let mut client = connect(to)?;
        counters.connect_ns += now_ns() - start;
        if self.0.mode == Mode::Prepared {
            self.0.statement = Some(client.prepare(self.0.sql(0)).map_err(failed)?);
        }
        let done = self.once(&mut client, 0, counters);
        self.0.statement = None;
        done.and(client.close().map_err(failed))
    }

    /// What stands between BEGIN and COMMIT.
    fn all(&self, client: &mut Client, operation: usize, counters: &mut Counters) -> Outcome<()> {
        if !self.0.phase.is_bulk() {
            return self.0.rows_of(operation).try_for_each(|row| self.once(client, row, counters));
        }
        if self.0.unnests {
            let arrays = self.0.arrays(operation);
            let given: Vec<_> = arrays.iter().map(|array| array as &(dyn ToSql + Sync)).collect();
            return match &self.0.statement {
                Some(statement) => executed(client.execute(statement, &given), counters),
                None => executed(client.execute_typed(self.0.sql(0), &self.0.with_types(given)), counters),
            };
        }
        let mut writer = BinaryCopyInWriter::new(client.copy_in(self.0.sql(0)).map_err(failed)?, &self.0.types);
        for row in self.0.rows_of(operation) {
            writer.write_raw(self.0.given(row)).map_err(failed)?;
        }
        writer.finish().map_err(failed)?;
        counters.executed();
        Ok(())
    }

    #[inline]
    fn once(&self, client: &mut Client, row: usize, counters: &mut Counters) -> Outcome<()> {
        let (own, sql) = (&self.0, self.0.sql(row));
        match &own.statement {
            _ if own.mode == Mode::Text => self.simple(client, sql, counters),
            Some(statement) if own.phase.queries() => {
                self.taken(client.query_raw(statement, own.given(row)).map_err(failed)?, counters)
            }
            None if own.phase.queries() => {
                self.taken(client.query_typed_raw(sql, own.typed(row)).map_err(failed)?, counters)
            }
            Some(statement) => executed(client.execute(statement, &own.given(row).collect::<Vec<_>>()), counters),
            None => executed(client.execute_typed(sql, &own.typed(row).collect::<Vec<_>>()), counters),
        }
    }

    /// A simple query, whose result this driver only has whole.
    fn simple(&self, client: &mut Client, sql: &str, counters: &mut Counters) -> Outcome<()> {
        if !self.0.phase.queries() {
            return executed(client.batch_execute(sql), counters);
        }
        let messages = client.simple_query(sql).map_err(failed)?;
        counters.executed();
        messages.iter().try_for_each(|message| match message {
            SimpleQueryMessage::Row(row) => self.0.take(row, counters),
            _ => Ok(()), // what comes before and after rows
        })
    }

    /// Takes each row as it comes, or, as `Client::query` has it, once all are there.
    #[inline]
    fn taken(&self, mut rows: postgres::RowIter, counters: &mut Counters) -> Outcome<()> {
        if self.0.is_whole {
            let all: Vec<_> = rows.collect().map_err(failed)?;
            counters.executed();
            return all.iter().try_for_each(|row| self.0.take(row, counters));
        }
        counters.executed();
        while let Some(row) = rows.next().map_err(failed)? {
            self.0.take(&row, counters)?;
        }
        Ok(())
    }
}

fn executed(done: Result<impl Sized, postgres::Error>, counters: &mut Counters) -> Outcome<()> {
    counters.executed();
    done.map(|_| ()).map_err(failed)
}

fn ask(client: &mut Client, sql: &str) -> Outcome<String> {
    family::first_text(&client.simple_query(sql).map_err(failed)?)
}

/// Executes a query and throws its rows away.
fn drain(client: &mut Client, sql: &str) -> Outcome<()> {
    let nothing: [(&(dyn ToSql + Sync), _); 0] = [];
    let mut rows = client.query_typed_raw(sql, nothing).map_err(failed)?;
    while rows.next().map_err(failed)?.is_some() {}
    Ok(())
}
