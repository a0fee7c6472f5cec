//! sqlx on SQLite: each connection has a thread of its own, to which the program's task sends its statements.
use rowpath::core::{Column, Decimal, Delivered, Facts, Options, Outcome, Sink, Type, Value, iso, unusual};
use rowpath::families::sqltext::Mode;
use rowpath::families::sqlx::{Conn, Connection, Engine, Row, failed, given, opaque, text_of};
use rowpath::families::{sqlite, sqltext};
use sqlx::error::DatabaseError;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{Row as _, Sqlite, TypeInfo, ValueRef};
use std::time::Duration;

fn main() {
    rowpath::core::serve::<Connection<OfSqlite>>("sqlx-sqlite");
}

struct OfSqlite;

impl Engine for OfSqlite {
    type Db = Sqlite;
    type Bound = Bound;

    fn address(options: &Options) -> Outcome<SqliteConnectOptions> {
        let is_read_only = options.is("read_only", "yes");
        let address = SqliteConnectOptions::new().filename(options.need("path")?).read_only(is_read_only);
        let address = address.create_if_missing(!is_read_only).busy_timeout(Duration::from_secs(60));
        Ok(if options.is("durability", "full") {
            address.journal_mode(SqliteJournalMode::Wal).synchronous(SqliteSynchronous::Full)
        } else {
            address.synchronous(SqliteSynchronous::Off)
        })
    }

    fn literal(value: &Value) -> Outcome<String> {
        sqlite::literal(value)
    }

    fn has_types(columns: &[Column]) -> Outcome<()> {
        sqlite::has_types(columns)
    }

    fn bind(value: &Value, _: &Column) -> Outcome<Bound> {
        Ok(match value {
            Value::Null => Bound::Null(None),
            Value::Integer(value) => Bound::Integer(*value),
            Value::Boolean(value) => Bound::Boolean(*value),
            Value::Float(value) => Bound::Float(*value),
            Value::Binary(value) => Bound::Binary(value.clone()),
            Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => return Err(sqlite::no_type()),
            other => Bound::Text(sqltext::text(other)),
        })
    }

    #[inline]
    fn value(row: &Row<Self>, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        match column.kind {
            Type::Integer => given(row, at, sink, |value: i64, sink| sink.integer(value)),
            Type::Boolean => given(row, at, sink, |value: bool, sink| sink.boolean(value)),
            Type::Float32 | Type::Float64 => given(row, at, sink, |value: f64, sink| sink.float(value)),
            Type::Binary => given(row, at, sink, |value: &[u8], sink| sink.binary(value)),
            Type::Decimal => decimal(row, at, sink),
            Type::Date => given(row, at, sink, |value: &str, sink| sink.date(&iso::date(value)?)),
            Type::Time => given(row, at, sink, |value: &str, sink| sink.time(&iso::time(value)?)),
            Type::Timestamp => given(row, at, sink, |value: &str, sink| sink.timestamp(&iso::timestamp(value)?)),
            Type::Timestamptz => given(row, at, sink, |value: &str, sink| sink.instant(&iso::instant(value)?)),
            Type::Opaque => opaque(row, at, sink),
            Type::Char | Type::Varchar | Type::Text | Type::Json => {
                given(row, at, sink, |value: &str, sink| sink.text(value))
            }
            _ => sink.other(Self::natural(row, at, column)?, column),
        }
    }

    fn natural(row: &Row<Self>, at: usize, _: &Column) -> Outcome<Value> {
        let kind = row.try_get_raw(at).map_err(failed::<Self>)?.type_info().into_owned();
        Ok(match kind.name() {
            _ if row.try_get_raw(at).map_err(failed::<Self>)?.is_null() => Value::Null,
            "INTEGER" => Value::Integer(row.try_get(at).map_err(failed::<Self>)?),
            "REAL" => Value::Float(row.try_get(at).map_err(failed::<Self>)?),
            "TEXT" => Value::of_text(row.try_get_unchecked(at).map_err(failed::<Self>)?),
            _ => Value::Binary(row.try_get_unchecked(at).map_err(failed::<Self>)?),
        })
    }

    fn delivers(column: &Column, _: Mode) -> Delivered {
        match column.kind {
            Type::Integer => Delivered::natural("i64"),
            Type::Boolean => Delivered::natural("bool"),
            Type::Float32 | Type::Float64 => Delivered::natural("f64"),
            Type::Binary => Delivered::natural("&[u8]"),
            Type::Any | Type::Opaque => Delivered::natural("SqliteValueRef"),
            kind if sqlite::is_kept_as_text(kind) => Delivered::from_text("&str"),
            _ => Delivered::natural("&str"),
        }
    }

    fn code(error: &(dyn DatabaseError + 'static)) -> (&'static str, String) {
        let number: u32 = error.code().and_then(|code| code.parse().ok()).unwrap_or(0);
        ("sql", (number & 0xFF).to_string()) // without what extends it
    }

    async fn facts(conn: &mut Conn<Self>, facts: &mut Facts) -> Outcome<()> {
        sqlite::tell(facts, async |query| text_of::<Self>(conn, query).await).await?;
        facts.settings.insert("autocommit".into(), "on".into()); // outside of transactions it has no other
        Ok(())
    }
}

/// Takes a decimal, which is text unless an affinity has made a number of it.
fn decimal(row: &Row<OfSqlite>, at: usize, sink: &mut impl Sink) -> Outcome<()> {
    let value = row.try_get_raw(at).map_err(|_| unusual())?;
    match value.type_info().name() {
        "INTEGER" => given(row, at, sink, |value: i64, sink| sink.decimal(&Decimal::of_i128(value.into(), 0))),
        "REAL" => given(row, at, sink, |value: f64, sink| sink.decimal(&Decimal::of_float(value))),
        _ => given(row, at, sink, |value: &str, sink| sink.decimal(&Decimal::parse(value)?)),
    }
}

rowpath::sqlx_bound! {
    Sqlite, <str as sqlx::Type<Sqlite>>::type_info(),
    Integer(i64), Boolean(bool), Float(f64), Text(String), Binary(Vec<u8>),
}
