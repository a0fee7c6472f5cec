//! PostgreSQL through sqlx on a connection that its pool lends unchecked; borrowing and returning are timed.
mod conversation;
use conversation::{Conversation, Outcome};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions, PgSslMode};
use sqlx::{AssertSqlSafe, Row};
use std::time::{Duration, Instant};

async fn keyed(pool: &PgPool, sql: &str, keys: &[String], operations: usize) -> Outcome<(u64, Option<Duration>)> {
    let (mut touch, mut own) = (0, Duration::ZERO);
    for i in 0..operations {
        let begin = Instant::now();
        let mut lent = pool.acquire().await?;
        own += begin.elapsed();
        let query = sqlx::query(AssertSqlSafe(sql)).bind(&keys[i % keys.len()]);
        for row in query.fetch_all(&mut *lent).await? {
            touch += row.try_get::<&str, _>(0)?.len() + row.try_get::<&str, _>(1)?.len();
        }
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
    let sql = conversation.get("sql");
    conversation.serve(|operations| runtime.block_on(keyed(&pool, sql, &conversation.keys, operations)))
}
