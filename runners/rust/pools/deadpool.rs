//! deadpool: asynchronous, on tokio.
use crate::core::{Failure, Lendable, Loan, Options, Outcome, PATIENCE, Pool, PoolSettings, Seat, fail};
use crate::families::tokio::Tasks;
use ::deadpool::Runtime;
use ::deadpool::managed::{Manager, Metrics, Object, PoolError, RecycleError, RecycleResult};
use std::marker::PhantomData;

pub struct Deadpool<A: Lendable>(::deadpool::managed::Pool<Seats<A>>);

impl<A: Lendable> Clone for Deadpool<A> {
    fn clone(&self) -> Self {
        Deadpool(self.0.clone())
    }
}

impl<A: Lendable> Pool for Deadpool<A> {
    type Runtime = Tasks;
    type Work = <Object<Seats<A>> as Loan>::Work;
    type Loan<'p> = Object<Seats<A>>;
    const NAME: &str = "deadpool";
    const VERSION: &str = env!("ROWPATH_VERSION_DEADPOOL");

    async fn open(wanted: &PoolSettings, options: &Options) -> Outcome<Self> {
        // As shipped it recycles a connection by what the driver knows of it: `RecyclingMethod::Fast`.
        let seats =
            Seats { options: options.clone(), validates: wanted.validates && !wanted.is_shipped, of: PhantomData };
        let builder = ::deadpool::managed::Pool::builder(seats).max_size(wanted.size as usize);
        let builder = builder.wait_timeout(Some(PATIENCE)).runtime(Runtime::Tokio1);
        builder.build().map(Deadpool).map_err(|error| fail("internal", error))
    }

    #[inline]
    async fn borrow(&self) -> Outcome<Object<Seats<A>>> {
        self.0.get().await.map_err(|error| match error {
            PoolError::Backend(failure) => failure,
            other => fail("connect", other),
        })
    }

    async fn counts(&self) -> (usize, usize) {
        let status = self.0.status();
        (status.size - status.available, status.size)
    }
}

/// Makes and checks connections.
pub struct Seats<A> {
    options: Options,
    validates: bool,
    of: PhantomData<fn() -> A>,
}

impl<A: Lendable> Manager for Seats<A> {
    type Type = Box<Seat<A>>;
    type Error = Failure;

    fn create(&self) -> impl Future<Output = Outcome<Box<Seat<A>>>> + Send {
        Seat::connect(&self.options)
    }

    async fn recycle(&self, seat: &mut Box<Seat<A>>, _: &Metrics) -> RecycleResult<Failure> {
        if seat.adapter.is_lost() {
            return Err(RecycleError::message("the connection is closed"));
        }
        if self.validates {
            seat.adapter.validate().await?;
        }
        Ok(())
    }
}
