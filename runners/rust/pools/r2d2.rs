//! r2d2: for drivers that block.
use crate::core::{Failure, Lendable, Options, Outcome, PATIENCE, Pool, PoolSettings, Seat, Threads, block_on, fail};
use ::r2d2::{ManageConnection, PooledConnection};
use std::marker::PhantomData;
use std::sync::mpsc::{Sender, channel};

pub struct R2d2<A: Lendable>(::r2d2::Pool<Seats<A>>);

impl<A: Lendable> Clone for R2d2<A> {
    fn clone(&self) -> Self {
        R2d2(self.0.clone())
    }
}

impl<A: Lendable> Pool for R2d2<A> {
    type Runtime = Threads;
    type Work = <PooledConnection<Seats<A>> as crate::core::Loan>::Work;
    type Loan<'p> = PooledConnection<Seats<A>>;
    const NAME: &str = "r2d2";
    const VERSION: &str = env!("ROWPATH_VERSION_R2D2");

    async fn open(wanted: &PoolSettings, options: &Options) -> Outcome<Self> {
        let mut builder = ::r2d2::Pool::builder().max_size(wanted.size).connection_timeout(PATIENCE);
        if !wanted.is_shipped {
            builder = builder.test_on_check_out(wanted.validates).max_lifetime(None).idle_timeout(None);
        }
        let (connected, came) = channel();
        let pool = builder.build_unchecked(Seats { options: options.clone(), connected, of: PhantomData });
        // By itself it tries to connect for 30 s, whatever the server says.
        for _ in 0..wanted.size {
            came.recv_timeout(PATIENCE).map_err(|error| fail("connect", error))??;
        }
        Ok(R2d2(pool))
    }

    #[inline]
    async fn borrow(&self) -> Outcome<PooledConnection<Seats<A>>> {
        self.0.get().map_err(|error| fail("connect", error))
    }

    async fn counts(&self) -> (usize, usize) {
        let state = self.0.state();
        ((state.connections - state.idle_connections) as usize, state.connections as usize)
    }
}

/// Makes and checks connections.
pub struct Seats<A> {
    options: Options,
    connected: Sender<Outcome<()>>,
    of: PhantomData<fn() -> A>,
}

impl<A: Lendable> ManageConnection for Seats<A> {
    type Connection = Box<Seat<A>>;
    type Error = Failure;

    fn connect(&self) -> Outcome<Box<Seat<A>>> {
        let made = block_on(Seat::connect(&self.options));
        let _ = self.connected.send(made.as_ref().map(|_| ()).map_err(Clone::clone)); // later on no one listens
        made
    }

    fn is_valid(&self, seat: &mut Box<Seat<A>>) -> Outcome<()> {
        block_on(seat.adapter.validate())
    }

    fn has_broken(&self, seat: &mut Box<Seat<A>>) -> bool {
        seat.adapter.is_lost()
    }
}
