//! PostgreSQL through tokio-postgres, on a runtime of one thread: a prepared statement, the result whole. Conversation
//! as in common.h.
mod conversation;
use chrono::{NaiveDateTime, Timelike};
use conversation::{Conversation, Outcome};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

async fn keyed(client: &Client, query: &Statement, keys: &[String], operations: usize) -> Result<u64, Error> {
    let mut touch = 0;
    for i in 0..operations {
        for row in client.query(query, &[&keys[i % keys.len()]]).await? {
            touch += row.try_get::<_, &str>(0)?.len() + row.try_get::<_, &str>(1)?.len();
        }
    }
    Ok(touch as u64)
}

async fn scan(client: &Client, query: &Statement, operations: usize) -> Result<u64, Error> {
    let mut touch = 0;
    for _ in 0..operations {
        for row in client.query(query, &[]).await? {
            for column in 0..3 {
                touch += row.try_get::<_, &str>(column)?.len() as i64;
            }
            touch += i64::from(row.try_get::<_, NaiveDateTime>(3)?.second());
            touch += i64::from(row.try_get::<_, i32>(4)?);
            touch += i64::from(row.try_get::<_, Option<i32>>(5)?.unwrap_or(1));
            touch += i64::from(row.try_get::<_, i16>(6)?);
        }
    }
    Ok(touch as u64)
}

fn main() -> Outcome<()> {
    let conversation = Conversation::begin()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut config = Config::new();
    config.host(conversation.get("host")).port(conversation.get("port").parse()?).user(conversation.get("user"));
    config.password(conversation.get("password")).dbname(conversation.get("database")).ssl_mode(SslMode::Disable);
    let (client, connection) = runtime.block_on(config.connect(NoTls))?;
    runtime.spawn(connection);
    let query = runtime.block_on(client.prepare(conversation.get("sql")))?;
    conversation.serve(|operations| {
        let touch = runtime.block_on(async {
            match conversation.keys.as_slice() {
                [] => scan(&client, &query, operations).await,
                keys => keyed(&client, &query, keys, operations).await,
            }
        })?;
        Ok((touch, None))
    })
}
