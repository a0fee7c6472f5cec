//! PostgreSQL through tokio-postgres on a connection that a pool lends, on a runtime of one thread. The pool is deadpool
//! or bb8, which checks nothing that it lends; borrowing and returning are timed.
mod conversation;
use bb8::ManageConnection;
use conversation::{Conversation, Outcome};
use deadpool::Runtime;
use deadpool::managed::{Manager, Metrics, RecycleError, RecycleResult};
use std::ops::Deref;
use std::time::{Duration, Instant};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Config, Error, NoTls, Statement};

const PATIENCE: Duration = Duration::from_secs(30);

/// Makes connections with the statement prepared on each.
struct Address {
    config: Config,
    sql: String,
}

impl Address {
    async fn connect(&self) -> Result<(Client, Statement), Error> {
        let (client, connection) = self.config.connect(NoTls).await?;
        tokio::spawn(connection);
        let query = client.prepare(&self.sql).await?;
        Ok((client, query))
    }
}

impl Manager for Address {
    type Type = (Client, Statement);
    type Error = Error;

    fn create(&self) -> impl Future<Output = Result<(Client, Statement), Error>> + Send {
        self.connect()
    }

    async fn recycle(&self, (client, _): &mut (Client, Statement), _: &Metrics) -> RecycleResult<Error> {
        if client.is_closed() { Err(RecycleError::message("the connection is closed")) } else { Ok(()) }
    }
}

impl ManageConnection for Address {
    type Connection = (Client, Statement);
    type Error = Error;

    fn connect(&self) -> impl Future<Output = Result<(Client, Statement), Error>> + Send {
        self.connect()
    }

    async fn is_valid(&self, (client, _): &mut (Client, Statement)) -> Result<(), Error> {
        client.simple_query("").await.map(|_| ())
    }

    fn has_broken(&self, (client, _): &mut (Client, Statement)) -> bool {
        client.is_closed()
    }
}

async fn keyed<L: Deref<Target = (Client, Statement)>>(
    borrow: impl AsyncFn() -> Outcome<L>,
    keys: &[String],
    operations: usize,
) -> Outcome<(u64, Option<Duration>)> {
    let (mut touch, mut own) = (0, Duration::ZERO);
    for i in 0..operations {
        let begin = Instant::now();
        let lent = borrow().await?;
        own += begin.elapsed();
        let (client, query) = &*lent;
        for row in client.query(query, &[&keys[i % keys.len()]]).await? {
            touch += row.try_get::<_, &str>(0)?.len() + row.try_get::<_, &str>(1)?.len();
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
    let mut config = Config::new();
    config.host(conversation.get("host")).port(conversation.get("port").parse()?).user(conversation.get("user"));
    config.password(conversation.get("password")).dbname(conversation.get("database")).ssl_mode(SslMode::Disable);
    let (address, keys) = (Address { config, sql: conversation.get("sql").into() }, &conversation.keys);
    if conversation.get("pool") == "deadpool" {
        let pool = deadpool::managed::Pool::<Address>::builder(address).max_size(1);
        let pool = pool.wait_timeout(Some(PATIENCE)).runtime(Runtime::Tokio1).build()?;
        if conversation.get("hold") == "on" {
            let held = runtime.block_on(pool.get())?;
            return conversation.serve(|operations| runtime.block_on(keyed(async || Ok(&*held), keys, operations)));
        }
        let borrow = async || Ok(pool.get().await?);
        return conversation.serve(|operations| runtime.block_on(keyed(borrow, keys, operations)));
    }
    let pool = bb8::Pool::builder().max_size(1).connection_timeout(PATIENCE).test_on_check_out(false);
    let pool = runtime.block_on(pool.max_lifetime(None).idle_timeout(None).build(address))?;
    if conversation.get("hold") == "on" {
        let held = runtime.block_on(pool.get())?;
        return conversation.serve(|operations| runtime.block_on(keyed(async || Ok(&*held), keys, operations)));
    }
    let borrow = async || Ok(pool.get().await?);
    conversation.serve(|operations| runtime.block_on(keyed(borrow, keys, operations)))
}
