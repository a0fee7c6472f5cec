//! PostgreSQL through sqlx on a connection that its pool lends unchecked; borrowing and returning are timed.
mod conversation;
use conversation::{Conversation, Outcome};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgSslMode};
use sqlx::{AssertSqlSafe, Row};
use std::time::{Duration, Instant};

async fn read(connection: &mut PgConnection, sql: &str, key: &String) -> Outcome<usize> {
    let mut touch = 0;
    for row in sqlx::query(AssertSqlSafe(sql)).bind(key).fetch_all(connection).await? {
        touch += row.try_get::<&str, _>(0)?.len() + row.try_get::<&str, _>(1)?.len();
    }
    Ok(touch)
}

async fn keyed(
    pool: &PgPool,
    holds: bool,
    sql: &str,
    keys: &[String],
    operations: usize,
) -> Outcome<(u64, Option<Duration>)> {
    let (mut touch, mut own) = (0, Duration::ZERO);
    if holds {
        let mut held = pool.acquire().await?;
        for i in 0..operations {
            own += Instant::now().elapsed();
            touch += read(&mut held, sql, &keys[i % keys.len()]).await?;
            own += Instant::now().elapsed();
        }
        return Ok((touch as u64, Some(own)));
    }
    for i in 0..operations {
        let begin = Instant::now();
        let mut lent = pool.acquire().await?;
        own += begin.elapsed();
        touch += read(&mut lent, sql, &keys[i % keys.len()]).await?;
        let begin = Instant::now();
        drop(lent);
        own += begin.elapsed();
    }
    Ok((touch as u64, Some(own)))
}

fn main() -> Outcome<()> {
    let conversation = Conversation::begin()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let address = PgConnectOptions::new_without_pgpass().host(conversation.get("host"));
    let address = address.port(conversation.get("port").parse()?).username(conversation.get("user"));
    let address = address.password(conversation.get("password")).database(conversation.get("database"));
    let pool = PgPoolOptions::new().max_connections(1).acquire_timeout(Duration::from_secs(30));
    let pool = pool.test_before_acquire(false).max_lifetime(None).idle_timeout(None);
    let pool = runtime.block_on(pool.connect_with(address.ssl_mode(PgSslMode::Disable)))?;
    let (sql, holds) = (conversation.get("sql"), conversation.get("hold") == "on");
    conversation.serve(|operations| runtime.block_on(keyed(&pool, holds, sql, &conversation.keys, operations)))
}
