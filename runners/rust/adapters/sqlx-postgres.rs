//! sqlx on PostgreSQL: asynchronous; all on one thread.
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use rowpath::core::{
    Column, Delivered, Facts, Interruption, Options, Outcome, Phase, Rows, Sink, Type, Value, lending,
    serve_with_pools, unsupported, unusual,
};
use rowpath::families::postgresql::{self, binary, widened};
use rowpath::families::sqltext::{self, Mode, postgresql_text};
use rowpath::families::sqlx::{
    Address, Conn, Connection, Engine, Row, bound, execute_elsewhere, failed, given, run, take_decimal, text_of,
    type_name, without_settings,
};
use rowpath::pools::sqlx::Sqlx;
use sqlx::encode::IsNull;
use sqlx::error::{BoxDynError, DatabaseError};
use sqlx::postgres::types::{Oid, PgInterval};
use sqlx::postgres::{PgArgumentBuffer, PgConnectOptions, PgSslMode, PgTypeInfo, PgValueFormat};
use sqlx::types::{BigDecimal, Uuid};
use sqlx::{Decode, Encode, Postgres, Row as _, ValueRef};
use std::hint::black_box;
use std::ops::Range;

const PIECE_BYTES: usize = 64 << 10; // of COPY
const JSON: Oid = Oid(114);
const MOST_DAYS: i64 = 90_000_000; // before and after 2000: chrono has 262,142 years
const MOST_MICROSECONDS: u64 = MOST_DAYS as u64 * 86_400_000_000;

fn main() {
    serve_with_pools::<Connection<PostgreSql>>("sqlx-postgres", &[lending::<Sqlx<PostgreSql>>]);
}

struct PostgreSql;

impl Engine for PostgreSql {
    type Db = Postgres;
    type Bound = Bound;

    fn address(options: &Options) -> Outcome<PgConnectOptions> {
        without_settings(options)?;
        let tls = match options.get("tls", "off").as_str() {
            "on" => PgSslMode::Require,
            "verify-ca" => PgSslMode::VerifyCa,
            "verify-full" => PgSslMode::VerifyFull,
            _ => PgSslMode::Disable,
        };
        let mut address = PgConnectOptions::new_without_pgpass().ssl_mode(tls).application_name("rowpath");
        if let Ok(file) = options.need("tls_ca") {
            address = address.ssl_root_cert(file);
        }
        if let Ok(file) = options.need("tls_cert") {
            address = address.ssl_client_cert(file).ssl_client_key(options.need("tls_key")?);
        }
        address = address.port(options.port()?).username(&options.get("user", ""));
        address = address.password(&options.get("password", "")).database(&options.get("database", ""));
        if !options.is("startup", "plain") {
            address = address.options([("IntervalStyle", "postgres")]); // the driver itself asks for ISO dates
        }
        Ok(if options.is("transport", "unix") {
            address.socket(options.need("socket_dir")?)
        } else {
            address.host(&options.get("host", "127.0.0.1"))
        })
    }

    fn sql(phase: &Phase) -> String {
        sqltext::numbered(phase)
    }

    fn literal(value: &Value) -> Outcome<String> {
        postgresql::literal(value)
    }

    fn bind(value: &Value, column: &Column) -> Outcome<Bound> {
        Ok(match (value, column.kind, column.bits) {
            (Value::Null, ..) => Bound::Null(Some(declared(column))),
            (Value::Integer(value), _, 16) => Bound::Integer16(*value as i16),
            (Value::Integer(value), _, 32) => Bound::Integer32(*value as i32),
            (Value::Integer(value), ..) => Bound::Integer64(*value),
            (Value::Interval(value), ..) => {
                let microseconds = value.nanoseconds / 1000;
                Bound::Interval(PgInterval { months: value.months, days: value.days, microseconds })
            }
            (Value::Uuid(value), ..) => Bound::Uuid(Uuid::from_bytes(*value)),
            (Value::Array(value), ..) => {
                let value = value.integers().ok_or_else(|| unsupported("sqlx has arrays of one dimension only"))?;
                let narrowed = |one: &Option<i64>| one.map(|one| one as i32);
                match column.integer_bits() {
                    Some(16) => Bound::Array16(value.iter().map(|one| one.map(|one| one as i16)).collect()),
                    Some(32) => Bound::Array32(value.iter().map(narrowed).collect()),
                    _ => Bound::Array64(value),
                }
            }
            (Value::Infinite { .. }, ..) => return Err(unsupported("chrono has no infinite date or time")),
            (Value::Text(value), Type::Json | Type::Opaque, _) => Bound::Json(JsonText(value.clone())),
            (other, ..) => bound(other, column)?,
        })
    }

    #[inline]
    fn value(row: &Row<Self>, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
        match (column.kind, column.bits) {
            (Type::Integer, 16) => given(row, at, sink, |value: i16, sink| sink.integer(value.into())),
            (Type::Integer, 32) => given(row, at, sink, |value: i32, sink| sink.integer(value.into())),
            (Type::Integer, _) => given(row, at, sink, |value: i64, sink| sink.integer(value)),
            (Type::Float32, _) => given(row, at, sink, |value: f32, sink| sink.float(value.into())),
            (Type::Float64, _) => given(row, at, sink, |value: f64, sink| sink.float(value)),
            (Type::Boolean, _) => given(row, at, sink, |value: bool, sink| sink.boolean(value)),
            (Type::Char | Type::Varchar | Type::Text, _) => raw(row, at, sink, |value: &str, sink| sink.text(value)),
            (Type::Binary, _) => given(row, at, sink, |value: Vec<u8>, sink| sink.binary(&value)),
            (Type::Decimal, _) => given(row, at, sink, |value: BigDecimal, sink| take_decimal(&value, sink)),
            (Type::Uuid, _) => given(row, at, sink, |value: Uuid, sink| sink.uuid(value.as_bytes())),
            (Type::Array, _) => match column.integer_bits() {
                Some(16) => given(row, at, sink, |value: Vec<Option<i16>>, sink| sink.array(&widened(&value))),
                Some(32) => given(row, at, sink, |value: Vec<Option<i32>>, sink| sink.array(&widened(&value))),
                Some(64) => given(row, at, sink, |value: Vec<Option<i64>>, sink| sink.array(&value)),
                _ => sink.other(Self::natural(row, at, column)?, column),
            },
            _ => special(row, at, column, sink),
        }
    }

    fn natural(row: &Row<Self>, at: usize, column: &Column) -> Outcome<Value> {
        let value = row.try_get_raw(at).map_err(failed::<Self>)?;
        if value.is_null() {
            return Ok(Value::Null);
        }
        let bytes = value.as_bytes().map_err(|error| failed::<Self>(sqlx::Error::Decode(error)))?;
        let oid = value.type_info().oid().map_or(0, |oid| oid.0);
        Ok(match value.format() {
            PgValueFormat::Text => postgresql_text::value(bytes, column),
            PgValueFormat::Binary => binary::value(oid, bytes, column),
        })
    }

    fn delivers(column: &Column, mode: Mode) -> Delivered {
        Delivered::natural(match column.kind {
            Type::Binary => "Vec<u8>",
            Type::Interval if mode == Mode::Text => return Delivered::from_text("&str"),
            Type::Interval => "PgInterval",
            Type::Uuid => "Uuid",
            kind if kind.is_text() => "&str",
            _ => type_name(column).unwrap_or("PgValueRef"),
        })
    }

    fn code(error: &(dyn DatabaseError + 'static)) -> (&'static str, String) {
        let state = error.code().unwrap_or_default().into_owned();
        (postgresql::kind(&state), state)
    }

    /// COPY in text, which sqlx sends as it is: the text is made here.
    async fn copy(conn: &mut Conn<Self>, phase: &Phase, rows: &Rows, these: Range<usize>) -> Outcome<bool> {
        let mut copy = conn.copy_in_raw(&postgresql::copy_text(phase)).await.map_err(failed::<Self>)?;
        let mut text = Vec::new();
        for row in &rows[these] {
            sqltext::tab_separated(row, &mut text, postgresql::copy_value)?;
            if text.len() > PIECE_BYTES {
                copy.send(text.as_slice()).await.map_err(failed::<Self>)?;
                text.clear();
            }
        }
        copy.send(text.as_slice()).await.map_err(failed::<Self>)?;
        copy.finish().await.map_err(failed::<Self>)?;
        Ok(true)
    }

    /// sqlx has no request to cancel: another connection has the server cancel the statement.
    async fn limit(conn: &mut Conn<Self>, asked: &Interruption, to: &Address<Self>) -> Outcome<String> {
        if asked.kind == "timeout" {
            run::<Self>(conn, &format!("SET statement_timeout = {}", asked.after_ms)).await?;
        } else {
            asked.expect(&["cancel"], "a program of sqlx can have a statement cancelled and set its timeout")?;
            let cancel = format!("SELECT pg_cancel_backend({})", text_of::<Self>(conn, postgresql::PID).await?);
            execute_elsewhere::<Self>(to, asked.after(), cancel);
        }
        Ok("RESET statement_timeout".into())
    }

    async fn server_pid(conn: &mut Conn<Self>) -> Outcome<Option<i64>> {
        Ok(text_of::<Self>(conn, postgresql::PID).await?.parse().ok())
    }

    async fn facts(conn: &mut Conn<Self>, facts: &mut Facts) -> Outcome<()> {
        postgresql::tell(facts, async |query| text_of::<Self>(conn, query).await).await
    }
}

type Own = <Postgres as sqlx::Database>::Row;

/// Takes a value of a type that holds it without sqlx's knowing it: enumerations, for one.
#[inline]
fn raw<'r, T: Decode<'r, Postgres>, S: Sink>(
    row: &'r Own,
    at: usize,
    sink: &mut S,
    take: impl FnOnce(T, &mut S) -> Outcome<()>,
) -> Outcome<()> {
    let value = row.try_get_raw(at).map_err(|_| unusual())?;
    if value.is_null() { sink.null() } else { take(T::decode(value).map_err(|_| unusual())?, sink) }
}

/// Takes values that sqlx decodes wrongly, not in text, or not at all.
fn special(row: &Own, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
    let value = row.try_get_raw(at).map_err(|_| unusual())?;
    if value.is_null() {
        return sink.null();
    }
    let (bytes, is_text) = (value.as_bytes().map_err(|_| unusual())?, value.format() == PgValueFormat::Text);
    match column.kind {
        Type::Opaque => {
            black_box(bytes);
            sink.opaque()
        }
        Type::Json => {
            let has_version = !is_text && bytes.first() == Some(&1); // of jsonb
            sink.text(str::from_utf8(&bytes[usize::from(has_version)..]).map_err(|_| unusual())?)
        }
        Type::Interval if !is_text => given(row, at, sink, |value: PgInterval, sink| interval(value, sink)),
        Type::Time if !is_end_of_day(bytes, is_text) => {
            given(row, at, sink, |value: NaiveTime, sink| sink.time(&value))
        }
        Type::Date | Type::Timestamp | Type::Timestamptz if let Some(negative) = infinity(bytes, is_text) => {
            sink.infinite(negative)
        }
        Type::Date if has_chrono(bytes, is_text) => given(row, at, sink, |value: NaiveDate, sink| sink.date(&value)),
        Type::Timestamp if has_chrono(bytes, is_text) => {
            given(row, at, sink, |value: NaiveDateTime, sink| sink.timestamp(&value))
        }
        Type::Timestamptz if has_chrono(bytes, is_text) => {
            given(row, at, sink, |value: DateTime<Utc>, sink| sink.instant(&value))
        }
        _ => sink.other(PostgreSql::natural(row, at, column)?, column),
    }
}

fn interval(value: PgInterval, sink: &mut impl Sink) -> Outcome<()> {
    let nanoseconds = value.microseconds.checked_mul(1000).ok_or_else(unusual)?;
    sink.interval(&rowpath::core::Interval { months: value.months, days: value.days, nanoseconds })
}

/// Whether chrono reaches as far: beyond, sqlx would panic.
fn has_chrono(bytes: &[u8], is_text: bool) -> bool {
    match *bytes {
        _ if is_text => true,
        [a, b, c, d] => i64::from(i32::from_be_bytes([a, b, c, d])).abs() < MOST_DAYS,
        _ => bytes.try_into().is_ok_and(|bytes| i64::from_be_bytes(bytes).unsigned_abs() < MOST_MICROSECONDS),
    }
}

/// Whether a time is 24:00, of which chrono has no time.
fn is_end_of_day(bytes: &[u8], is_text: bool) -> bool {
    if is_text { bytes.starts_with(b"24:") } else { bytes == 86_400_000_000_i64.to_be_bytes() }
}

/// Whether a date or a time is infinite, which chrono has not, and on which side.
fn infinity(bytes: &[u8], is_text: bool) -> Option<bool> {
    match bytes {
        b"infinity" if is_text => Some(false),
        b"-infinity" if is_text => Some(true),
        _ if is_text => None,
        [0x7F, rest @ ..] if rest.iter().all(|byte| *byte == 0xFF) => Some(false),
        [0x80, rest @ ..] if rest.iter().all(|byte| *byte == 0) => Some(true),
        _ => None,
    }
}

rowpath::sqlx_bound! {
    Postgres, PgTypeInfo::with_name("unknown"),
    Integer16(i16), Integer32(i32), Integer64(i64), Float32(f32), Float64(f64), Boolean(bool), Text(String),
    Json(JsonText), Binary(Vec<u8>), Decimal(BigDecimal), Date(NaiveDate), Time(NaiveTime), Timestamp(NaiveDateTime),
    Instant(DateTime<Utc>), Interval(PgInterval), Uuid(Uuid), Array16(Vec<Option<i16>>), Array32(Vec<Option<i32>>),
    Array64(Vec<Option<i64>>),
}

/// Text that is sent as JSON.
#[derive(Debug)]
struct JsonText(String);

impl Encode<'_, Postgres> for JsonText {
    fn encode_by_ref(&self, to: &mut PgArgumentBuffer) -> Result<IsNull, BoxDynError> {
        Encode::<Postgres>::encode_by_ref(&self.0, to)
    }
}

impl sqlx::Type<Postgres> for JsonText {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(JSON)
    }
}

/// The server's type of a declared column.
fn declared(column: &Column) -> PgTypeInfo {
    fn of<T: sqlx::Type<Postgres>>() -> PgTypeInfo {
        T::type_info()
    }
    match (column.kind, column.bits) {
        (Type::Integer, 16) => of::<i16>(),
        (Type::Integer, 32) => of::<i32>(),
        (Type::Integer, _) => of::<i64>(),
        (Type::Decimal, _) => of::<BigDecimal>(),
        (Type::Float32, _) => of::<f32>(),
        (Type::Float64, _) => of::<f64>(),
        (Type::Boolean, _) => of::<bool>(),
        (Type::Char | Type::Varchar | Type::Text, _) => of::<String>(),
        (Type::Json | Type::Opaque, _) => PgTypeInfo::with_oid(JSON),
        (Type::Binary, _) => of::<Vec<u8>>(),
        (Type::Date, _) => of::<NaiveDate>(),
        (Type::Time, _) => of::<NaiveTime>(),
        (Type::Timestamp, _) => of::<NaiveDateTime>(),
        (Type::Timestamptz, _) => of::<DateTime<Utc>>(),
        (Type::Interval, _) => of::<PgInterval>(),
        (Type::Uuid, _) => of::<Uuid>(),
        (Type::Array, _) => match column.integer_bits() {
            Some(16) => of::<Vec<i16>>(),
            Some(32) => of::<Vec<i32>>(),
            _ => of::<Vec<i64>>(),
        },
        _ => PgTypeInfo::with_name("unknown"),
    }
}
