//! rusqlite: SQLite's C code, compiled into the program; blocking.
use rowpath::core::{
    Adapter, Column, Counters, Decimal, Delivered, Facts, Failure, Interruption, Operation, Options, Outcome, Phase,
    Rows, Sink, Source, Stopped, Threads, Type, Value, after, iso, now_ns, take, unsupported, unusual,
};
use rowpath::families::{sqlite, sqltext};
use rusqlite::types::{ToSqlOutput, Value as Bound, ValueRef};
use rusqlite::{Connection, OpenFlags, Row, Statement};
use std::sync::Arc;

fn main() {
    rowpath::core::serve::<Sqlite>("rusqlite");
}

struct Sqlite {
    connection: &'static Connection, // statements borrow it; `close` takes it back
    options: Options,
}

impl Adapter for Sqlite {
    type Runtime = Threads;
    type Operation = Statements;

    async fn open(options: &Options) -> Outcome<Sqlite> {
        let connection: &Connection = Box::leak(Box::new(connect(options)?));
        Ok(Sqlite { connection, options: options.clone() })
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Statements> {
        if phase.kind == "null" || phase.is_bulk() {
            return Err(unsupported("rusqlite has no such operation"));
        }
        sqlite::has_types(&phase.columns)?;
        let mode = self.options.get("statement", "prepared");
        let (sql, bound) = if mode == "text" {
            (sqltext::texts(phase, rows, sqlite::literal)?, Vec::new())
        } else {
            (vec![phase.sql.clone()], rows.iter().map(|row| bind(row)).collect::<Outcome<_>>()?)
        };
        let statement = (mode == "prepared" && phase.kind != "connect").then(|| self.connection.prepare(&sql[0]));
        Ok(Statements { phase: phase.clone(), sql, bound, statement: statement.transpose().map_err(failed)? })
    }

    fn delivers(&self, column: &Column) -> Delivered {
        match column.kind {
            Type::Integer => Delivered::natural("i64"),
            Type::Boolean => Delivered::natural("bool"),
            Type::Float32 | Type::Float64 => Delivered::natural("f64"),
            Type::Binary => Delivered::natural("&[u8]"),
            Type::Any | Type::Opaque => Delivered::natural("ValueRef"),
            kind if sqlite::is_kept_as_text(kind) => Delivered::from_text("&str"),
            _ => Delivered::natural("&str"),
        }
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.connection.execute_batch(statement).map_err(failed)
    }

    async fn load(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, first: usize, count: usize) -> Outcome<()> {
        in_transaction(self.connection, || {
            let mut statement = self.connection.prepare(&phase.sql).map_err(failed)?;
            for row in &rows[first..first + count] {
                statement.execute(rusqlite::params_from_iter(bind(row)?)).map_err(failed)?;
            }
            Ok(())
        })
    }

    async fn interrupt(&mut self, asked: &Interruption) -> Outcome<Stopped> {
        asked.expect(&["cancel"], "rusqlite has no timeout of a statement")?;
        let handle = self.connection.get_interrupt_handle();
        after(asked.after(), move || handle.interrupt());
        let start = now_ns();
        let result = drain(self.connection, &asked.sql);
        let stopped = Stopped::of(result, start);
        Ok(stopped.with_usable(drain(self.connection, "SELECT 1").is_ok()))
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        facts.driver_version = env!("ROWPATH_VERSION_RUSQLITE").into();
        let text = |row: &Row| row.get_ref(0).map(text_of);
        sqlite::tell(facts, async |sql| self.connection.query_row(sql, [], text).map_err(failed)).await?;
        let autocommit = if self.connection.is_autocommit() { "on" } else { "off" };
        facts.settings.insert("autocommit".into(), autocommit.into());
        Ok(())
    }

    async fn close(self) -> Outcome<()> {
        // SAFETY: `open` leaked this box, and every statement that borrowed it has been dropped with its phase.
        let connection = unsafe { Box::from_raw(std::ptr::from_ref(self.connection).cast_mut()) };
        connection.close().map_err(|(_, error)| failed(error))
    }
}

fn connect(options: &Options) -> Outcome<Connection> {
    let mut flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    if options.is("read_only", "yes") {
        flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    }
    let connection = Connection::open_with_flags(options.need("path")?, flags).map_err(failed)?;
    let settings: &[(&str, &str)] = if options.is("durability", "full") {
        &[("busy_timeout", "60000"), ("journal_mode", "WAL"), ("synchronous", "FULL")]
    } else {
        &[("busy_timeout", "60000"), ("synchronous", "OFF")]
    };
    for (name, value) in settings {
        connection.pragma_update(None, name, value).map_err(failed)?;
    }
    Ok(connection)
}

/// A phase's SQL: one text with parameters, or a text for each row.
struct Statements {
    phase: Arc<Phase>,
    sql: Vec<String>,
    bound: Vec<Vec<Bound>>,
    statement: Option<Statement<'static>>,
}

impl Operation for Statements {
    type Adapter = Sqlite;

    async fn run(&mut self, on: &mut Sqlite, row: usize, counters: &mut Counters) -> Outcome<()> {
        if self.phase.kind == "connect" {
            let start = now_ns();
            let fresh = connect(&on.options)?;
            counters.connect_ns += now_ns() - start;
            self.once(&fresh, 0, counters)?;
            return fresh.close().map_err(|(_, error)| failed(error));
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
    #[inline]
    fn once(&mut self, on: &Connection, row: usize, counters: &mut Counters) -> Outcome<()> {
        let bound = self.bound.get(row).map_or(&[][..], Vec::as_slice);
        match &mut self.statement {
            Some(statement) => execute(statement, &self.phase, bound, counters),
            None => {
                let sql = if self.sql.len() > 1 { &self.sql[row] } else { &self.sql[0] };
                execute(&mut on.prepare(sql).map_err(failed)?, &self.phase, bound, counters)
            }
        }
    }
}

#[inline]
fn execute(statement: &mut Statement, phase: &Phase, bound: &[Bound], counters: &mut Counters) -> Outcome<()> {
    for (at, value) in bound.iter().enumerate() {
        statement.raw_bind_parameter(at + 1, as_sql(value)).map_err(failed)?;
    }
    if !phase.queries() {
        let done = statement.raw_execute().map_err(failed);
        counters.executed();
        return done.map(|_| ());
    }
    counters.expect(statement.column_count())?;
    let mut rows = statement.raw_query();
    counters.executed();
    while let Some(row) = rows.next().map_err(failed)? {
        take(&Taken(row), &phase.columns, counters)?;
    }
    Ok(())
}

struct Taken<'a, 'b>(&'a Row<'b>);

impl Source for Taken<'_, '_> {
    #[inline]
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        let value = self.0.get_ref(at).map_err(failed)?;
        if value == ValueRef::Null {
            return sink.null();
        }
        match (column.kind, value) {
            (Type::Integer, ValueRef::Integer(whole)) => sink.integer(whole),
            (Type::Boolean, ValueRef::Integer(whole @ (0 | 1))) => sink.boolean(whole != 0),
            (Type::Float32 | Type::Float64, ValueRef::Real(real)) => sink.float(real),
            (Type::Float32 | Type::Float64, ValueRef::Integer(whole)) => sink.float(whole as f64), // an affinity's
            (Type::Binary, ValueRef::Blob(bytes)) => sink.binary(bytes),
            (Type::Opaque, value) => {
                std::hint::black_box(value);
                sink.opaque()
            }
            (kind, ValueRef::Text(_)) => {
                let text = value.as_str().map_err(|_| unusual())?;
                match kind {
                    Type::Char | Type::Varchar | Type::Text | Type::Json => sink.text(text),
                    Type::Decimal => sink.decimal(&Decimal::parse(text)?),
                    Type::Date => sink.date(&iso::date(text)?),
                    Type::Time => sink.time(&iso::time(text)?),
                    Type::Timestamp => sink.timestamp(&iso::timestamp(text)?),
                    Type::Timestamptz => sink.instant(&iso::instant(text)?),
                    _ => sink.other(natural(value), column),
                }
            }
            (_, value) => sink.other(natural(value), column),
        }
    }

    fn natural(&self, at: usize, _: &Column) -> Outcome<Value> {
        self.0.get_ref(at).map(natural).map_err(failed)
    }
}

fn natural(value: ValueRef) -> Value {
    match value {
        ValueRef::Null => Value::Null,
        ValueRef::Integer(whole) => Value::Integer(whole),
        ValueRef::Real(real) => Value::Float(real),
        ValueRef::Text(text) => Value::of_text(text),
        ValueRef::Blob(bytes) => Value::Binary(bytes.to_vec()),
    }
}

fn bind(row: &[Value]) -> Outcome<Vec<Bound>> {
    row.iter()
        .map(|value| {
            Ok(match value {
                Value::Null => Bound::Null,
                Value::Integer(value) => Bound::Integer(*value),
                Value::Boolean(value) => Bound::Integer(i64::from(*value)),
                Value::Float(value) => Bound::Real(*value),
                Value::Binary(value) => Bound::Blob(value.clone()),
                Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => return Err(sqlite::no_type()),
                other => Bound::Text(sqltext::text(other)),
            })
        })
        .collect()
}

fn as_sql(value: &Bound) -> ToSqlOutput<'_> {
    ToSqlOutput::Borrowed(value.into())
}

fn text_of(value: ValueRef) -> String {
    match value {
        ValueRef::Integer(whole) => whole.to_string(),
        ValueRef::Real(real) => real.to_string(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
        ValueRef::Null | ValueRef::Blob(_) => String::new(),
    }
}

fn drain(connection: &Connection, sql: &str) -> Outcome<()> {
    let mut statement = connection.prepare(sql).map_err(failed)?;
    let mut rows = statement.raw_query();
    while rows.next().map_err(failed)?.is_some() {}
    Ok(())
}

fn in_transaction(connection: &Connection, work: impl FnOnce() -> Outcome<()>) -> Outcome<()> {
    let begun = connection.unchecked_transaction().map_err(failed)?; // the borrow checker's one takes `&mut`
    work()?; // dropped on an error, it rolls back
    begun.commit().map_err(failed)
}

#[cold]
fn failed(error: rusqlite::Error) -> Failure {
    let own = match &error {
        rusqlite::Error::SqlInputError { error, .. } => Some(error),
        other => other.sqlite_error(),
    };
    let code = own.map_or(String::new(), |own| (own.extended_code & 0xFF).to_string());
    Failure::with_code("sql", code, error)
}
