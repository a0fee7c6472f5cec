//! sqlx on MariaDB and MySQL: asynchronous; all on one thread.
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Utc};
use rowpath::core::{
    Column, Decimal, Delivered, Facts, Interruption, Options, Outcome, Phase, Sink, Type, Value, fail, text_forms,
    unsupported,
};
use rowpath::families::sqltext::Mode;
use rowpath::families::sqlx::{
    Address, Conn, Connection, Engine, Row, bound, execute_elsewhere, misfit, opaque, run, take_decimal, text_of,
    type_name, unchecked as given, unchecked_or_held as temporal,
};
use rowpath::families::{mysql as family, sqltext};
use sqlx::error::DatabaseError;
use sqlx::mysql::{MySqlConnectOptions, MySqlDatabaseError, MySqlSslMode};
use sqlx::types::BigDecimal;
use sqlx::{Decode, MySql, Row as _};

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
                Err(error) => unsigned(row, at, error, |value| sink.decimal(&Decimal::parse(&value.to_string())?)),
            },
            (Type::Date, _) => temporal(row, at, sink, |value: NaiveDate, sink| sink.date(&value)),
            (Type::Time, _) => temporal(row, at, sink, |value: NaiveTime, sink| sink.time(&value)),
            (Type::Timestamp, _) => temporal(row, at, sink, |value: NaiveDateTime, sink| sink.timestamp(&value)),
            (Type::Timestamptz, _) => temporal(row, at, sink, |value: DateTime<Utc>, sink| sink.instant(&value)),
            (Type::Uuid, _) => given(row, at, sink, |value: &str, sink| sink.uuid(&text_forms::uuid(value)?)),
            (Type::Opaque, _) => opaque(row, at, sink),
            (other, _) => Err(fail("internal", format!("no way to take {other:?}"))),
        }
    }

    fn delivers(column: &Column, _: Mode) -> Delivered {
        Delivered::natural(match column.kind {
            Type::Binary => "&[u8]",
            Type::Opaque => "MySqlValueRef",
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
        Err(error) => unsigned(row, at, error, |value| sink.integer(i64::try_from(value).map_err(misfit)?)),
    }
}

fn unsigned(row: &Own, at: usize, before: sqlx::Error, take: impl FnOnce(u64) -> Outcome<()>) -> Outcome<()> {
    match row.try_get::<u64, _>(at) {
        Ok(value) => take(value),
        Err(_) => Err(misfit(before)),
    }
}

rowpath::sqlx_bound! {
    MySql, <str as sqlx::Type<MySql>>::type_info(),
    Integer(i64), Float32(f32), Float64(f64), Boolean(bool), Text(String), Binary(Vec<u8>), Decimal(BigDecimal),
    Date(NaiveDate), Time(NaiveTime), Timestamp(NaiveDateTime), Instant(DateTime<Utc>),
}
