//! sqlx on MariaDB and MySQL: asynchronous; all on one thread.
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use rowpath::core::iso::digits;
use rowpath::core::{
    Column, Date, Decimal, Delivered, Facts, Interruption, Options, Outcome, Phase, SECOND_NS, Sink, Time, Type, Value,
    lending, serve_with_pools, text_forms, unsupported, unusual,
};
use rowpath::families::sqltext::Mode;
use rowpath::families::sqlx::{
    Address, Conn, Connection, Engine, Row, bound, execute_elsewhere, failed, opaque, run, take_decimal, text_of,
    type_name, unchecked as given, without_settings,
};
use rowpath::families::{mysql as family, sqltext};
use rowpath::pools::sqlx::Sqlx;
use sqlx::error::DatabaseError;
use sqlx::mysql::{MySqlConnectOptions, MySqlDatabaseError, MySqlSslMode};
use sqlx::types::BigDecimal;
use sqlx::{Decode, MySql, Row as _, TypeInfo, ValueRef};

fn main() {
    serve_with_pools::<Connection<MySqlOrMariaDb>>("sqlx-mysql", &[lending::<Sqlx<MySqlOrMariaDb>>]);
}

struct MySqlOrMariaDb;

impl Engine for MySqlOrMariaDb {
    type Db = MySql;
    type Bound = Bound;

    /// By itself sqlx sets the time zone UTC, `NAMES utf8mb4` and `PIPES_AS_CONCAT`.
    fn address(options: &Options) -> Outcome<MySqlConnectOptions> {
        without_settings(options)?;
        let tls = match options.get("tls", "off").as_str() {
            "on" => MySqlSslMode::Required,
            "verify-ca" => MySqlSslMode::VerifyCa,
            "verify-full" => MySqlSslMode::VerifyIdentity,
            _ => MySqlSslMode::Disabled,
        };
        let mut address = MySqlConnectOptions::new().ssl_mode(tls);
        if let Ok(file) = options.need("tls_ca") {
            address = address.ssl_ca(file);
        }
        if let Ok(file) = options.need("tls_cert") {
            address = address.ssl_client_cert(file).ssl_client_key(options.need("tls_key")?);
        }
        address = address.username(&options.get("user", "")).password(&options.get("password", ""));
        address = address.database(&options.get("database", ""));
        Ok(if options.is("transport", "unix") {
            address.socket(options.need("socket")?)
        } else {
            address.host(&options.get("host", "127.0.0.1")).port(options.port()?)
        })
    }

    fn literal(value: &Value) -> Outcome<String> {
        family::literal(value)
    }

    fn has_types(columns: &[Column]) -> Outcome<()> {
        family::has_types(columns)
    }

    fn bind(value: &Value, column: &Column) -> Outcome<Bound> {
        Ok(match value {
            Value::Null => Bound::Null(None),
            Value::Integer(value) => Bound::Integer(*value),
            Value::Interval(_) | Value::Array(_) | Value::Infinite { .. } => return Err(family::no_type()),
            other => bound(other, column)?,
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
                Err(_) => unsigned(row, at, sink),
            },
            (Type::Date, _) => given(row, at, sink, |value: NaiveDate, sink| sink.date(&value)),
            (Type::Time, _) => given(row, at, sink, |value: NaiveTime, sink| sink.time(&value)),
            (Type::Timestamp, _) => given(row, at, sink, |value: NaiveDateTime, sink| sink.timestamp(&value)),
            (Type::Timestamptz, _) => given(row, at, sink, |value: DateTime<Utc>, sink| sink.instant(&value)),
            (Type::Uuid, _) => given(row, at, sink, |value: &str, sink| sink.uuid(&text_forms::uuid(value)?)),
            (Type::Opaque, _) => opaque(row, at, sink),
            _ => sink.other(Self::natural(row, at, column)?, column),
        }
    }

    fn natural(row: &Row<Self>, at: usize, column: &Column) -> Outcome<Value> {
        let value = row.try_get_raw(at).map_err(failed::<Self>)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        let kind = value.type_info().name().to_string();
        let read = match kind.trim_end_matches(" UNSIGNED") {
            "BOOLEAN" | "TINYINT" | "SMALLINT" | "MEDIUMINT" | "INT" | "BIGINT" | "YEAR" => {
                match row.try_get_unchecked(at) {
                    Ok(value) => Some(Value::Integer(value)),
                    Err(_) => row.try_get_unchecked(at).ok().map(Value::of_u64),
                }
            }
            "FLOAT" => row.try_get_unchecked::<f32, _>(at).ok().map(|value| Value::Float(value.into())),
            "DOUBLE" => row.try_get_unchecked(at).ok().map(Value::Float),
            _ => None,
        };
        let bytes = || row.try_get_unchecked::<&[u8], _>(at).map_err(failed::<Self>);
        match (read, kind.as_str()) {
            (Some(value), _) => Ok(value),
            (None, "DATE" | "DATETIME" | "TIMESTAMP") => bytes().map(|bytes| wall(bytes, column.kind)),
            (None, "TIME") => bytes().map(duration),
            (None, _) => bytes().map(|bytes| family::from_bytes(bytes, column)),
        }
    }

    fn delivers(column: &Column, _: Mode) -> Delivered {
        Delivered::natural(match column.kind {
            Type::Binary | Type::Bits => "&[u8]",
            Type::Any | Type::Opaque => "MySqlValueRef",
            Type::Uuid => return Delivered::from_text("&str"),
            _ => type_name(column).unwrap_or("&str"),
        })
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
        execute_elsewhere::<Self>(to, asked.after(), format!("KILL QUERY {id}"));
        Ok("DO 0".into())
    }

    async fn facts(conn: &mut Conn<Self>, facts: &mut Facts) -> Outcome<()> {
        family::tell(facts, async |query| text_of::<Self>(conn, query).await).await
    }
}

type Own = <MySql as sqlx::Database>::Row;

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
        Err(_) => unsigned(row, at, sink),
    }
}

fn unsigned(row: &Own, at: usize, sink: &mut impl Sink) -> Outcome<()> {
    match row.try_get::<u64, _>(at) {
        Ok(value) => sink.decimal(&Decimal::of_i128(value.into(), 0)),
        Err(_) => Err(unusual()),
    }
}

/// What stands behind its length where it is no text (MariaDB's documentation, "Binary row").
fn parts_of(bytes: &[u8]) -> Option<impl Fn(usize) -> u8> {
    let [length, parts @ ..] = bytes else { return None };
    let is_text = *length == b'-' || digits(&[*length]).is_some();
    (!is_text).then_some(|at: usize| parts.get(at).copied().unwrap_or(0))
}

/// Hours, minutes, seconds and microseconds from some part on.
fn clock(part: &impl Fn(usize) -> u8, from: usize) -> i64 {
    let whole = i64::from(part(from)) * 3600 + i64::from(part(from + 1)) * 60 + i64::from(part(from + 2));
    let microseconds = u32::from_le_bytes([3, 4, 5, 6].map(|at| part(from + at)));
    whole * SECOND_NS + i64::from(microseconds) * 1000
}

/// A TIME that chrono has not: its sign, days and time of a day.
fn duration(bytes: &[u8]) -> Value {
    let Some(part) = parts_of(bytes) else { return Value::of_text(bytes) };
    let days = u32::from_le_bytes([1, 2, 3, 4].map(&part));
    let ns = i64::from(days) * 86_400 * SECOND_NS + clock(&part, 5);
    Value::Time(Time(if part(0) == 1 { -ns } else { ns }))
}

/// A date or a timestamp that chrono has not.
fn wall(bytes: &[u8], kind: Type) -> Value {
    let Some(part) = parts_of(bytes) else { return Value::of_text(bytes) };
    let day = Date { year: u16::from_le_bytes([part(0), part(1)]).into(), month: part(2), day: part(3) };
    family::from_wall(day, Time(clock(&part, 4)), kind)
}

rowpath::sqlx_bound! {
    MySql, <str as sqlx::Type<MySql>>::type_info(),
    Integer(i64), Float32(f32), Float64(f64), Boolean(bool), Text(String), Binary(Vec<u8>), Decimal(BigDecimal),
    Date(NaiveDate), Time(NaiveTime), Timestamp(NaiveDateTime), Instant(DateTime<Utc>),
}
