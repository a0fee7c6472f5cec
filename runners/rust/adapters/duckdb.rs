//! duckdb: DuckDB's library, linked into the program; blocking. Rows, or Arrow record batches.
use duckdb::types::Value as Bound;
use duckdb::{AccessMode, Config, Statement, appender_params_from_iter, params_from_iter};
use rowpath::core::{
    Adapter, Column, Counters, Delivered, DescribedColumn, Facts, Interruption, Operation, Options, Outcome, Phase,
    Rows, Stopped, Threads, after, now_ns, take, take_batch, unsupported,
};
use rowpath::families::duckdb::{self as family, Columns, Taken, WithoutTypes, bind, described, failed};
use rowpath::families::sqltext;
use std::sync::{Arc, Mutex, PoisonError};

fn main() {
    rowpath::core::serve::<DuckDb>("duckdb");
}

struct DuckDb {
    connection: &'static duckdb::Connection, // statements borrow it; `close` takes it back
    options: Options,
}

impl Adapter for DuckDb {
    type Runtime = Threads<false>;
    type Operation = Statements;

    async fn open(options: &Options) -> Outcome<DuckDb> {
        let connection: &duckdb::Connection = Box::leak(Box::new(connect(options)?));
        Ok(DuckDb { connection, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Statements> {
        if phase.kind == "null" {
            return Err(unsupported("duckdb has no such operation"));
        }
        let (mode, way) = (self.options.get("statement", "prepared"), self.options.get("bulk", "none"));
        if phase.is_bulk() && way != "appender" {
            return Err(unsupported(format!("duckdb has no bulk way {way}")));
        }
        let (sql, bound) = if mode == "text" && !phase.is_bulk() {
            (sqltext::texts(phase, rows, family::literal)?, Vec::new())
        } else {
            let bound = rows.iter().map(|row| bind(row, &phase.parameter_columns)).collect::<Outcome<_>>()?;
            (vec![phase.sql.clone()], bound)
        };
        let is_prepared = mode == "prepared" && phase.kind != "connect" && !phase.is_bulk();
        let statement = is_prepared.then(|| self.connection.prepare(&sql[0])).transpose().map_err(failed)?;
        Ok(Statements { phase: phase.clone(), fetch: Fetch::of(&self.options), sql, bound, statement })
    }

    fn delivers(&self, column: &Column) -> Delivered {
        family::delivers(column, Fetch::of(&self.options) != Fetch::Rows)
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.connection.execute_batch(statement).map_err(failed)
    }

    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()> {
        in_transaction(self.connection, || {
            let mut statement = self.connection.prepare(&phase.sql).map_err(failed)?;
            for row in &rows[first..first + count] {
                let row = bind(row, &phase.parameter_columns)?;
                statement.execute(params_from_iter(&row)).map_err(failed)?;
            }
            Ok(())
        })
    }

    async fn interrupt(&mut self, asked: &Interruption) -> Outcome<Stopped> {
        asked.expect(&["cancel"], "DuckDB has no statement timeout")?;
        let handle = self.connection.interrupt_handle();
        after(asked.after(), move || handle.interrupt());
        let start = now_ns();
        let stopped = Stopped::of(drain(self.connection, &asked.sql), start);
        Ok(stopped.with_usable(drain(self.connection, "SELECT 1").is_ok()))
    }

    async fn describe(&mut self, sql: &str) -> Outcome<Vec<DescribedColumn>> {
        let mut statement = self.connection.prepare(&format!("DESCRIBE {sql}")).map_err(failed)?;
        let columns = statement.query_map([], |row| Ok(described(row.get(0)?, row.get(1)?))).map_err(failed)?;
        columns.collect::<duckdb::Result<_>>().map_err(failed)
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        facts.driver_version = env!("ROWPATH_VERSION_DUCKDB").into();
        family::tell(facts, |sql| self.connection.query_row(sql, [], |row| row.get(0)).map_err(failed))?;
        let autocommit = if self.connection.is_autocommit() { "on" } else { "off" };
        facts.settings.insert("autocommit".into(), autocommit.into());
        Ok(())
    }

    async fn close(self) -> Outcome<()> {
        // SAFETY: `open` leaked this box, and every statement that borrowed it has been dropped with its phase.
        let connection = unsafe { Box::from_raw(std::ptr::from_ref(self.connection).cast_mut()) };
        disconnect(*connection, &self.options)
    }
}

/// A database that is open: a process opens a file once, its clients connect to it.
struct Opened {
    path: String,
    users: usize,
    first: duckdb::Connection,
}

static OPENED: Mutex<Vec<Opened>> = Mutex::new(Vec::new());

fn connect(options: &Options) -> Outcome<duckdb::Connection> {
    let path = options.need("path")?;
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let at = match opened.iter().position(|one| one.path == path) {
        Some(at) => at,
        None => {
            let first = duckdb::Connection::open_with_flags(&path, config(options).map_err(failed)?).map_err(failed)?;
            opened.push(Opened { path, users: 0, first });
            opened.len() - 1
        }
    };
    let connection = opened[at].first.try_clone().map_err(failed)?;
    connection.execute_batch("SET TimeZone = 'UTC'").map_err(failed)?;
    opened[at].users += 1;
    Ok(connection)
}

/// Closes a connection, and with the last one the database.
fn disconnect(connection: duckdb::Connection, options: &Options) -> Outcome<()> {
    let path = options.need("path")?;
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let closed = connection.close().map_err(|(_, error)| failed(error));
    let Some(at) = opened.iter().position(|one| one.path == path) else { return closed };
    opened[at].users -= 1;
    if opened[at].users == 0 {
        opened.swap_remove(at).first.close().map_err(|(_, error)| failed(error))?;
    }
    closed
}

fn config(options: &Options) -> duckdb::Result<Config> {
    let is_read_only = options.is("read_only", "yes");
    let config = Config::default()
        .access_mode(if is_read_only { AccessMode::ReadOnly } else { AccessMode::Automatic })?
        .threads(options.get("threads", "1").parse().unwrap_or(1))?;
    config.with("fsync_mode", if options.is("durability", "full") { "STANDARD" } else { "NONE" })
}

/// How a result is taken.
#[derive(Clone, Copy, PartialEq)]
enum Fetch {
    Rows,
    /// `query_arrow`: once the result is whole.
    Whole,
    /// `stream_arrow`: as DuckDB makes its chunks.
    Chunks,
}

impl Fetch {
    fn of(options: &Options) -> Fetch {
        match (options.is("fetch", "columnar"), options.get("result", "whole").as_str()) {
            (false, _) => Fetch::Rows,
            (true, "whole") => Fetch::Whole,
            (true, _) => Fetch::Chunks,
        }
    }
}

/// A phase's SQL: one text with parameters, or a text for each row.
struct Statements {
    phase: Arc<Phase>,
    fetch: Fetch,
    sql: Vec<String>,
    bound: Vec<Vec<Bound>>,
    statement: Option<Statement<'static>>,
}

impl Operation for Statements {
    type Adapter = DuckDb;

    async fn run(&mut self, on: &mut DuckDb, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.phase.kind == "connect" {
            let start = now_ns();
            let fresh = connect(&on.options)?;
            counters.connect_ns += now_ns() - start;
            let done = self.once(&fresh, 0, counters);
            return done.and(disconnect(fresh, &on.options));
        }
        if self.phase.is_bulk() {
            return self.append(on.connection, row, counters);
        }
        if !self.phase.in_transaction() {
            return self.once(on.connection, row, counters);
        }
        let times = self.phase.times();
        in_transaction(on.connection, || {
            (row * times..(row + 1) * times).try_for_each(|at| self.once(on.connection, at, counters))
        })
    }
}

impl Statements {
    /// The appender takes values without SQL; it stores them together when it is flushed.
    fn append(&self, on: &duckdb::Connection, operation: usize, counters: &mut Counters) -> Outcome<()> {
        let names: Vec<_> = self.phase.parameter_columns.iter().map(|column| column.name.as_str()).collect();
        let mut appender = on.appender_with_columns(&self.phase.table, &names).map_err(failed)?;
        let times = self.phase.times();
        for row in &self.bound[operation * times..(operation + 1) * times] {
            appender.append_row(appender_params_from_iter(row)).map_err(failed)?;
        }
        let done = appender.flush().map_err(failed);
        counters.executed();
        done
    }

    #[inline]
    fn once(&mut self, on: &duckdb::Connection, row: usize, counters: &mut Counters) -> Outcome<()> {
        let bound = self.bound.get(row).map_or(&[][..], Vec::as_slice);
        match &mut self.statement {
            Some(statement) => execute(statement, &self.phase, self.fetch, bound, counters),
            None => {
                let sql = if self.sql.len() > 1 { &self.sql[row] } else { &self.sql[0] };
                execute(&mut on.prepare(sql).map_err(failed)?, &self.phase, self.fetch, bound, counters)
            }
        }
    }
}

#[inline]
fn execute(
    statement: &mut Statement,
    phase: &Phase,
    fetch: Fetch,
    bound: &[Bound],
    counters: &mut Counters,
) -> Outcome<()> {
    let given = params_from_iter(bound);
    if !phase.queries() {
        let done = statement.execute(given).map_err(failed);
        counters.executed();
        return done.map(|_| ());
    }
    match fetch {
        Fetch::Rows => {
            let mut rows = statement.query(given).map_err(failed)?;
            counters.executed();
            let schema = rows.as_ref().map(|statement| statement.schema());
            if let Some(schema) = &schema {
                counters.expect(schema.fields().len())?;
            }
            if let Some(schema) = schema.filter(|schema| schema.fields().iter().any(|one| one.data_type().is_null())) {
                while let Some(row) = rows.next().map_err(failed)? {
                    take(&WithoutTypes(row, &schema), &phase.columns, counters)?;
                }
                return Ok(());
            }
            while let Some(row) = rows.next().map_err(failed)? {
                take(&Taken(row), &phase.columns, counters)?;
            }
            Ok(())
        }
        Fetch::Whole => {
            let mut batches = statement.query_arrow(given).map_err(failed)?;
            counters.executed();
            counters.expect(batches.get_schema().fields().len())?;
            batches.try_for_each(|batch| take_batch(&Columns(&batch), &phase.columns, counters))
        }
        Fetch::Chunks => {
            let mut batches = statement.stream_arrow(given).map_err(failed)?;
            counters.executed();
            counters.expect(batches.get_schema().fields().len())?;
            batches.try_for_each(|batch| take_batch(&Columns(&batch.map_err(failed)?), &phase.columns, counters))
        }
    }
}

fn drain(connection: &duckdb::Connection, sql: &str) -> Outcome<()> {
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let mut rows = statement.query([]).map_err(failed)?;
    while rows.next().map_err(failed)?.is_some() {}
    Ok(())
}

fn in_transaction(connection: &duckdb::Connection, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    let begun = connection.unchecked_transaction().map_err(failed)?; // the borrow checker's one takes `&mut`
    work()?; // dropped on an error, it rolls back
    begun.commit().map_err(failed)
}
