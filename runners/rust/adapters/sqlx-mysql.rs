//! sqlx on MariaDB and MySQL: asynchronous; all on one thread.
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use rowpath::core::{
    Column, Decimal, Delivered, Facts, Interruption, Options, Outcome, Phase, Sink, Type, Value, fail, text_forms,
    unsupported,
};
use rowpath::families::chrono::{date, instant, time};
use rowpath::families::sqlx::{
    Address, Conn, Connection, Engine, Mode, Row, big_decimal, misfit, run, take_decimal, text_of,
};
use rowpath::families::{mysql as family, sqltext};
use sqlx::encode::IsNull;
use sqlx::error::{BoxDynError, DatabaseError};
use sqlx::mysql::{MySqlConnectOptions, MySqlDatabaseError, MySqlSslMode, MySqlTypeInfo};
use sqlx::types::BigDecimal;
use sqlx::{Connection as _, Decode, Encode, MySql, Row as _, ValueRef};
use std::hint::black_box;
use tokio::time::sleep;

fn main() {
    rowpath::core::serve::<Connection<MySqlOrMariaDb>>("sqlx-mysql");
}

struct MySqlOrMariaDb;

impl Engine for MySqlOrMariaDb {
    type Db = MySql;
    type Bound = Bound;

    /// By itself sqlx sets the time zone UTC, `NAMES utf8mb4` and `PIPES_AS_CONCAT`.
    fn address(options: &Options) -> Outcome<MySqlConnectOptions> {
        let tls = if options.is("tls", "on") { MySqlSslMode::Required } else { MySqlSslMode::Disabled };
        let mut address = MySqlConnectOptions::new().ssl_mode(tls);
        address = address.username(&options.get("user", "")).password(&options.get("password", ""));
        address = address.database(&options.get("database", ""));
        Ok(if options.is("transport", "unix") {
            address.socket(options.need("socket")?)
        } else {
            address.host(&options.get("host", "127.0.0.1")).port(options.port()?)
        })
    }

    fn sql(phase: &Phase) -> String {
        phase.sql.clone()
    }

    fn literal(value: &Value) -> Outcome<String> {
        family::literal(value)
    }

    fn has_types(columns: &[Column]) -> Outcome<()> {
        family::has_types(columns)
    }

    fn bind(value: &Value, column: &Column) -> Outcome<Bound> {
        Ok(match value {
            Value::Null => Bound::Null,
            Value::Integer(value) => Bound::Integer(*value),
            Value::Float(value) if column.kind == Type::Float32 => Bound::Float32(*value as f32),
            Value::Float(value) => Bound::Float64(*value),
            Value::Boolean(value) => Bound::Boolean(*value),
            Value::Decimal(value) => Bound::Decimal(big_decimal(value)?),
            Value::Binary(value) => Bound::Binary(value.clone()),
            Value::Date(value) => Bound::Date(date(*value)?),
            Value::Time(value) => Bound::Time(time(*value)?),
            Value::Timestamp(value) => Bound::Timestamp(instant(*value)?.naive_utc()),
            Value::Instant(value) => Bound::Instant(instant(*value)?),
            Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => return Err(family::no_type()),
            other => Bound::Text(sqltext::text(other)),
        })
    }

    #[inline]
    fn value(row: &Row<Self>, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        match (column.kind, column.bits) {
            (Type::Integer, 16) => integer::<i16>(row, at, sink),
            (Type::Integer, 32) => integer::<i32>(row, at, sink),
            (Type::Integer, _) => integer::<i64>(row, at, sink),
            (Type::Float32, _) => given(row, at, sink, |value: f32, sink| sink.float(value.into())),
            (Type::Float64, _) => given(row, at, sink, |value: f64, sink| sink.float(value)),
            (Type::Boolean, _) => given(row, at, sink, |value: bool, sink| sink.boolean(value)),
            (Type::Char | Type::Varchar | Type::Text | Type::Json, _) => {
                given(row, at, sink, |value: &str, sink| sink.text(value))
            }
            (Type::Binary, _) => given(row, at, sink, |value: &[u8], sink| sink.binary(value)),
            (Type::Decimal, _) => match row.try_get::<Option<BigDecimal>, _>(at) {
                Ok(Some(value)) => take_decimal(&value, sink),
                Ok(None) => sink.null(),
                Err(error) => unsigned(row, at, error, |value| sink.decimal(&Decimal::parse(&value.to_string())?)),
            },
            (Type::Date, _) => temporal(row, at, sink, |value: NaiveDate, sink| sink.date(&value)),
            (Type::Time, _) => temporal(row, at, sink, |value: NaiveTime, sink| sink.time(&value)),
            (Type::Timestamp, _) => temporal(row, at, sink, |value: NaiveDateTime, sink| sink.timestamp(&value)),
            (Type::Timestamptz, _) => temporal(row, at, sink, |value: DateTime<Utc>, sink| sink.instant(&value)),
            (Type::Uuid, _) => given(row, at, sink, |value: &str, sink| sink.uuid(&text_forms::uuid(value)?)),
            (Type::Opaque, _) => {
                let value = row.try_get_raw(at).map_err(misfit)?;
                black_box(&value);
                if value.is_null() { sink.null() } else { sink.opaque() }
            }
            (other, _) => Err(fail("internal", format!("no way to take {other:?}"))),
        }
    }

    fn delivers(column: &Column, _: Mode) -> Delivered {
        let name = match (column.kind, column.bits) {
            (Type::Integer, 16) => "i16",
            (Type::Integer, 32) => "i32",
            (Type::Integer, _) => "i64",
            (Type::Float32, _) => "f32",
            (Type::Float64, _) => "f64",
            (Type::Boolean, _) => "bool",
            (Type::Binary, _) => "&[u8]",
            (Type::Decimal, _) => "BigDecimal",
            (Type::Date, _) => "NaiveDate",
            (Type::Time, _) => "NaiveTime",
            (Type::Timestamp, _) => "NaiveDateTime",
            (Type::Timestamptz, _) => "DateTime<Utc>",
            (Type::Opaque, _) => "MySqlValueRef",
            (Type::Uuid, _) => return Delivered::from_text("&str"),
            _ => "&str",
        };
        Delivered::natural(name)
    }

    fn code(error: &(dyn DatabaseError + 'static)) -> (&'static str, String) {
        let number = error.try_downcast_ref::<MySqlDatabaseError>().map_or(0, MySqlDatabaseError::number);
        let refused = family::refused(number, "");
        (refused.kind(), refused.code().to_string())
    }

    fn multi_row(phase: &Phase, rows: usize) -> Outcome<String> {
        sqltext::many_rows(&phase.sql, rows).ok_or_else(|| unsupported(format!("no INSERT of one row: {}", phase.sql)))
    }

    async fn limit(conn: &mut Conn<Self>, asked: &Interruption, to: &Address<Self>) -> Outcome<String> {
        if asked.kind == "timeout" {
            let [limit, no_limit] =
                family::limits(asked.after_ms, async |sql| text_of::<Self>(conn, sql).await).await?;
            run::<Self>(conn, &limit).await?;
            return Ok(no_limit);
        }
        asked.expect(&["cancel"], "a program of sqlx can have a statement killed and set its timeout")?;
        let id = text_of::<Self>(conn, "SELECT CAST(CONNECTION_ID() AS CHAR)").await?;
        let (after, to, kill) = (asked.after(), to.clone(), format!("KILL QUERY {id}"));
        tokio::task::spawn_local(async move {
            sleep(after).await;
            if let Ok(mut other) = Conn::<Self>::connect_with(&to).await {
                let _ = run::<Self>(&mut other, &kill).await; // the query's end says what came of it
                let _ = other.close().await;
            }
        });
        Ok("DO 0".into())
    }

    async fn facts(conn: &mut Conn<Self>, facts: &mut Facts) -> Outcome<()> {
        family::tell(facts, async |query| text_of::<Self>(conn, query).await).await
    }
}

type Own = <MySql as sqlx::Database>::Row;

/// Takes a value of the driver's type, whatever text or bytes are called on the server.
#[inline]
fn given<'r, T: Decode<'r, MySql>, S: Sink>(
    row: &'r Own,
    at: usize,
    sink: &mut S,
    take: impl FnOnce(T, &mut S) -> Outcome<()>,
) -> Outcome<()> {
    match row.try_get_unchecked::<Option<T>, _>(at).map_err(misfit)? {
        Some(value) => take(value, sink),
        None => sink.null(),
    }
}

/// The same of dates and times: what chrono has none of is no failure of the path.
#[inline]
fn temporal<'r, T: Decode<'r, MySql>, S: Sink>(
    row: &'r Own,
    at: usize,
    sink: &mut S,
    take: impl FnOnce(T, &mut S) -> Outcome<()>,
) -> Outcome<()> {
    match row.try_get_unchecked::<Option<T>, _>(at).map_err(unsupported)? {
        Some(value) => take(value, sink),
        None => sink.null(),
    }
}

/// Takes an integer; sqlx has one without a sign as another type.
#[inline]
fn integer<'r, T: Decode<'r, MySql> + sqlx::Type<MySql> + Into<i64>>(
    row: &'r Own,
    at: usize,
    sink: &mut impl Sink,
) -> Outcome<()> {
    match row.try_get::<Option<T>, _>(at) {
        Ok(Some(value)) => sink.integer(value.into()),
        Ok(None) => sink.null(),
        Err(error) => unsigned(row, at, error, |value| sink.integer(i64::try_from(value).map_err(misfit)?)),
    }
}

fn unsigned(row: &Own, at: usize, before: sqlx::Error, take: impl FnOnce(u64) -> Outcome<()>) -> Outcome<()> {
    match row.try_get::<u64, _>(at) {
        Ok(value) => take(value),
        Err(_) => Err(misfit(before)),
    }
}

/// A parameter.
#[derive(Debug)]
enum Bound {
    Null,
    Integer(i64),
    Float32(f32),
    Float64(f64),
    Boolean(bool),
    Text(String),
    Binary(Vec<u8>),
    Decimal(BigDecimal),
    Date(NaiveDate),
    Time(NaiveTime),
    Timestamp(NaiveDateTime),
    Instant(DateTime<Utc>),
}

/// The types of parameters: one line for each, with what is done with its value.
macro_rules! each {
    ($bound:expr, $value:ident => $encoded:expr, $none:expr) => {
        match $bound {
            Bound::Null => $none,
            Bound::Integer($value) => $encoded,
            Bound::Float32($value) => $encoded,
            Bound::Float64($value) => $encoded,
            Bound::Boolean($value) => $encoded,
            Bound::Text($value) => $encoded,
            Bound::Binary($value) => $encoded,
            Bound::Decimal($value) => $encoded,
            Bound::Date($value) => $encoded,
            Bound::Time($value) => $encoded,
            Bound::Timestamp($value) => $encoded,
            Bound::Instant($value) => $encoded,
        }
    };
}

impl Encode<'_, MySql> for Bound {
    fn encode_by_ref(&self, to: &mut Vec<u8>) -> Result<IsNull, BoxDynError> {
        each!(self, value => Encode::<MySql>::encode_by_ref(value, to), Ok(IsNull::Yes))
    }

    fn produces(&self) -> Option<MySqlTypeInfo> {
        each!(self, value => Some(type_of(value)), None)
    }
}

fn type_of<T: sqlx::Type<MySql>>(_: &T) -> MySqlTypeInfo {
    T::type_info()
}

impl sqlx::Type<MySql> for Bound {
    fn type_info() -> MySqlTypeInfo {
        <str as sqlx::Type<MySql>>::type_info()
    }
}
