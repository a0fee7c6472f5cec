//! PostgreSQL through tokio-postgres, on a runtime of one thread: a prepared statement, the result whole. Conversation
//! as in common.h.
use chrono::{NaiveDateTime, Timelike};
use std::collections::HashMap;
use std::io::{BufRead, stdin};
use std::time::Instant;
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut lines = stdin().lock().lines();
    let mut settings = HashMap::new();
    while let Some(line) = lines.next().transpose()?.filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once('=').ok_or("a setting is name=value")?;
        settings.insert(name.to_string(), value.to_string());
    }
    let keys: Option<Vec<String>> = match settings.get("keys") {
        Some(file) => Some(std::fs::read_to_string(file)?.lines().map(String::from).collect()),
        None => None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut config = Config::new();
    config.host(&settings["host"]).port(settings["port"].parse()?).user(&settings["user"]);
    config.password(&settings["password"]).dbname(&settings["database"]).ssl_mode(SslMode::Disable);
    let (client, connection) = runtime.block_on(config.connect(NoTls))?;
    runtime.spawn(connection);
    let query = runtime.block_on(client.prepare(&settings["sql"]))?;
    println!("ready");
    for line in lines {
        let operations = line?.parse()?;
        let begin = Instant::now();
        let touch = runtime.block_on(async {
            match &keys {
                Some(keys) => keyed(&client, &query, keys, operations).await,
                None => scan(&client, &query, operations).await,
            }
        })?;
        println!("{} {touch}", begin.elapsed().as_nanos());
    }
    Ok(())
}
