//! bb8: asynchronous, on tokio.
use crate::core::{Failure, Lendable, Loan, Options, Outcome, PATIENCE, Pool, PoolSettings, Seat, fail};
use crate::families::tokio::Tasks;
use ::bb8::{ManageConnection, PooledConnection, RunError};
use std::marker::PhantomData;

pub struct Bb8<A: Lendable>(::bb8::Pool<Seats<A>>);

impl<A: Lendable> Clone for Bb8<A> {
    fn clone(&self) -> Self {
        Bb8(self.0.clone())
    }
}

impl<A: Lendable> Pool for Bb8<A> {
    type Runtime = Tasks;
    type Work = <PooledConnection<'static, Seats<A>> as Loan>::Work;
    type Loan<'p> = PooledConnection<'p, Seats<A>>;
    const NAME: &str = "bb8";
    const VERSION: &str = env!("ROWPATH_VERSION_BB8");

    async fn open(wanted: &PoolSettings, options: &Options) -> Outcome<Self> {
        let builder = ::bb8::Pool::builder().max_size(wanted.size).connection_timeout(PATIENCE);
        // With `min_idle` `build` connects and says what failed; by itself it would try again for 30 s.
        let mut builder = builder.min_idle(wanted.size).retry_connection(false);
        if !wanted.is_shipped {
            builder = builder.test_on_check_out(wanted.validates).max_lifetime(None).idle_timeout(None);
        }
        Ok(Bb8(builder.build(Seats { options: options.clone(), of: PhantomData }).await?))
    }

    #[inline]
    async fn borrow(&self) -> Outcome<PooledConnection<'_, Seats<A>>> {
        self.0.get().await.map_err(|error| match error {
            RunError::User(failure) => failure,
            RunError::TimedOut => fail("connect", "no connection within 30 s"),
        })
    }

    async fn counts(&self) -> (usize, usize) {
        let state = self.0.state();
        ((state.connections - state.idle_connections) as usize, state.connections as usize)
    }
}

/// Makes and checks connections.
pub struct Seats<A> {
    options: Options,
    of: PhantomData<fn() -> A>,
}

impl<A: Lendable> ManageConnection for Seats<A> {
    type Connection = Box<Seat<A>>;
    type Error = Failure;

    fn connect(&self) -> impl Future<Output = Outcome<Box<Seat<A>>>> + Send {
        Seat::connect(&self.options)
    }

    fn is_valid(&self, seat: &mut Box<Seat<A>>) -> impl Future<Output = Outcome<()>> + Send {
        seat.adapter.validate()
    }

    fn has_broken(&self, seat: &mut Box<Seat<A>>) -> bool {
        seat.adapter.is_lost()
    }
}
