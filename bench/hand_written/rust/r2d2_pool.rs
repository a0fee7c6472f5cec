//! PostgreSQL through the crate postgres on a connection that r2d2 lends unchecked; borrowing and returning are timed.
mod conversation;
use conversation::{Conversation, Outcome};
use postgres::config::SslMode;
use postgres::{Client, Config, Error, NoTls, Statement};
use r2d2::{ManageConnection, Pool};
use std::time::{Duration, Instant};

/// Makes connections with the statement prepared on each.
struct Address {
    config: Config,
    sql: String,
}

impl ManageConnection for Address {
    type Connection = (Client, Statement);
    type Error = Error;

    fn connect(&self) -> Result<(Client, Statement), Error> {
        let mut client = self.config.connect(NoTls)?;
        let query = client.prepare(&self.sql)?;
        Ok((client, query))
    }

    fn is_valid(&self, (client, _): &mut (Client, Statement)) -> Result<(), Error> {
        client.simple_query("").map(|_| ())
    }

    fn has_broken(&self, (client, _): &mut (Client, Statement)) -> bool {
        client.is_closed()
    }
}

fn read((client, query): &mut (Client, Statement), key: &String) -> Outcome<usize> {
    let mut touch = 0;
    for row in client.query(&*query, &[key])? {
        touch += row.try_get::<_, &str>(0)?.len() + row.try_get::<_, &str>(1)?.len();
    }
    Ok(touch)
}

fn keyed(pool: &Pool<Address>, holds: bool, keys: &[String], operations: usize) -> Outcome<(u64, Option<Duration>)> {
    let (mut touch, mut own) = (0, Duration::ZERO);
    if holds {
        let mut held = pool.get()?;
        for i in 0..operations {
            own += Instant::now().elapsed();
            touch += read(&mut held, &keys[i % keys.len()])?;
            own += Instant::now().elapsed();
        }
        return Ok((touch as u64, Some(own)));
    }
    for i in 0..operations {
        let begin = Instant::now();
        let mut lent = pool.get()?;
        own += begin.elapsed();
        touch += read(&mut lent, &keys[i % keys.len()])?;
        let begin = Instant::now();
        drop(lent);
        own += begin.elapsed();
    }
    Ok((touch as u64, Some(own)))
}

fn main() -> Outcome<()> {
    let conversation = Conversation::begin()?;
    let mut config = Config::new();
    config.host(conversation.get("host")).port(conversation.get("port").parse()?).user(conversation.get("user"));
    config.password(conversation.get("password")).dbname(conversation.get("database")).ssl_mode(SslMode::Disable);
    let address = Address { config, sql: conversation.get("sql").into() };
    let pool = Pool::builder().max_size(1).test_on_check_out(false).max_lifetime(None).idle_timeout(None);
    let pool = pool.build(address)?;
    let holds = conversation.get("hold") == "on";
    conversation.serve(|operations| keyed(&pool, holds, &conversation.keys, operations))
}
