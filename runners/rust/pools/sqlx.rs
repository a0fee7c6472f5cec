//! sqlx's own pool. Its connections keep prepared statements by themselves, by their text.
//!
//! By itself it pings a connection that comes back, in a task beside the clients'; no setting changes that.
use crate::core::{
    Column, Counters, Delivered, Facts, Loan, Options, Outcome, PATIENCE, Phase, Pool, PoolSettings, Rows,
};
use crate::families::sqltext::Mode;
use crate::families::sqlx::{Conn, Engine, Work, failed, run, tell};
use crate::families::tokio::Tasks;
use ::sqlx::pool::{PoolConnection, PoolOptions};
use ::sqlx::{Database, Executor, IntoArguments};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::sleep;

pub struct Sqlx<E: Engine>(::sqlx::Pool<E::Db>);

impl<E: Engine> Clone for Sqlx<E> {
    fn clone(&self) -> Self {
        Sqlx(self.0.clone())
    }
}

impl<E: Engine> Pool for Sqlx<E>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
    <E::Db as Database>::Arguments: IntoArguments<E::Db>,
{
    type Runtime = Tasks;
    type Work = Work<E>;
    type Loan<'p> = Lent<E>;
    const NAME: &str = "sqlx";
    const VERSION: &str = env!("ROWPATH_VERSION_SQLX");

    async fn open(wanted: &PoolSettings, options: &Options) -> Outcome<Self> {
        let mut how = PoolOptions::new().max_connections(wanted.size).acquire_timeout(PATIENCE);
        if !wanted.is_shipped {
            how = how.test_before_acquire(wanted.validates).max_lifetime(None).idle_timeout(None);
        }
        Ok(Sqlx(how.connect_lazy_with(E::address(options)?)))
    }

    #[inline]
    async fn borrow(&self) -> Outcome<Lent<E>> {
        self.0.acquire().await.map(Lent).map_err(|error| failed::<E>(error).on_connecting())
    }

    /// Waits a moment for connections that are on their way back.
    async fn counts(&self) -> (usize, usize) {
        let lent = || (self.0.size() as usize).saturating_sub(self.0.num_idle());
        for _ in 0..100 {
            if lent() == 0 {
                break;
            }
            sleep(Duration::from_millis(1)).await;
        }
        (lent(), self.0.size() as usize)
    }

    async fn close(self) -> Outcome<()> {
        self.0.close().await;
        Ok(())
    }
}

pub struct Lent<E: Engine>(PoolConnection<E::Db>);

impl<E: Engine> Loan for Lent<E>
where
    for<'c> &'c mut Conn<E>: Executor<'c, Database = E::Db>,
    <E::Db as Database>::Arguments: IntoArguments<E::Db>,
{
    type Work = Work<E>;

    fn delivers(options: &Options, column: &Column) -> Delivered {
        E::delivers(column, Mode::of(options))
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, options: &Options) -> Outcome<Work<E>> {
        Work::of(&mut *self.0, phase, rows, options).await
    }

    async fn prepare_too(&mut self, work: &Work<E>) -> Outcome<()> {
        work.prepare(&mut *self.0).await
    }

    #[inline]
    async fn work(&mut self, work: &mut Work<E>, row: usize, counters: &mut Counters) -> Outcome<()> {
        work.on(&mut *self.0, row, counters).await
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        run::<E>(&mut *self.0, statement).await
    }

    async fn server_pid(&mut self) -> Outcome<Option<i64>> {
        E::server_pid(&mut *self.0).await
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        tell::<E>(&mut *self.0, facts).await
    }
}
