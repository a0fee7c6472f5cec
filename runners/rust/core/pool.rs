//! Pools: what lends the connections that all clients of a path share.
use super::adapter::{Adapter, Delivered, Facts, Operation, Share};
use super::column::Column;
use super::failure::{Outcome, fail, unsupported};
use super::options::Options;
use super::phase::Phase;
use super::runtime::Runtime;
use super::sample_counters::Counters;
use super::values::Rows;
use std::ops::DerefMut;
use std::sync::Arc;
use std::time::Duration;

/// How long a borrower waits.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// A pool; its clones lend the same connections.
pub trait Pool: Clone + Send + 'static {
    type Runtime: Runtime;
    /// What a client keeps of a phase.
    type Work: 'static;
    type Loan<'p>: Loan<Work = Self::Work>;
    /// The coordinate `pool`.
    const NAME: &str;
    const VERSION: &str;

    /// Makes the pool; it need not connect yet.
    async fn open(wanted: &PoolSettings, options: &Options) -> Outcome<Self>;
    /// Waits until a connection is free.
    async fn borrow(&self) -> Outcome<Self::Loan<'_>>;
    /// How many connections are lent at this moment, and how many are open.
    async fn counts(&self) -> (usize, usize);
    /// Closes the connections, as far as clones are gone.
    async fn close(self) -> Outcome<()> {
        drop(self);
        Self::Runtime::pause().await; // a connection that is a task takes leave of the server
        Ok(())
    }
}

/// A borrowed connection, which goes back where it is dropped.
pub trait Loan {
    type Work;

    fn delivers(options: &Options, column: &Column) -> Delivered;
    /// Makes a phase ready on the first connection.
    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, options: &Options) -> Outcome<Self::Work>;
    /// The same on a further one.
    async fn prepare_too(&mut self, work: &Self::Work) -> Outcome<()>;
    async fn work(&mut self, work: &mut Self::Work, row: usize, counters: &mut Counters) -> Outcome<()>;
    async fn run(&mut self, statement: &str) -> Outcome<()>;
    async fn server_pid(&mut self) -> Outcome<Option<i64>>;
    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()>;
}

/// How a path has its pool.
#[derive(Clone, Copy)]
pub struct PoolSettings {
    pub size: u32,
    pub is_shipped: bool,
    /// Of a pool that is not as shipped: whether it validates what it lends.
    pub validates: bool,
}

impl PoolSettings {
    fn of(options: &Options) -> Outcome<PoolSettings> {
        let validation = options.get("validation", "none");
        if !matches!(validation.as_str(), "none" | "borrow") {
            return Err(unsupported(format!("the Rust runner has no validation {validation}")));
        }
        let size = options.number("pool_size").max(1) as u32;
        Ok(PoolSettings { size, is_shipped: options.is("profile", "shipped"), validates: validation == "borrow" })
    }
}

/// A client whose connection is another one in each operation.
pub struct Lending<P> {
    pool: P,
    size: u32,
    options: Options,
}

impl<P: Pool> Lending<P> {
    /// All connections at once.
    async fn all(&self) -> Outcome<Vec<P::Loan<'_>>> {
        let mut all = Vec::new();
        for _ in 0..self.size {
            all.push(self.pool.borrow().await?);
        }
        Ok(all)
    }
}

impl<P: Pool> Adapter for Lending<P> {
    type Runtime = P::Runtime;
    type Operation = Borrowing<P>;

    async fn open(options: &Options) -> Outcome<Self> {
        let wanted = PoolSettings::of(options)?;
        let pool = P::open(&wanted, options).await?;
        let opened = Lending { pool, size: wanted.size, options: options.clone() };
        opened.all().await?; // so each one is connected
        Ok(opened)
    }

    fn share(&self) -> Option<Share<Self>> {
        let (pool, size, options) = (self.pool.clone(), self.size, self.options.clone());
        Some(Box::new(move || Lending { pool, size, options }))
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>) -> Outcome<Borrowing<P>> {
        if !matches!(phase.kind.as_str(), "query" | "execute") {
            let text = format!("only queries and single writes are done on a pool's connection, not {}", phase.kind);
            return Err(unsupported(text));
        }
        let mut all = self.all().await?.into_iter();
        let mut first = all.next().ok_or_else(|| fail("internal", "the pool has no connection"))?;
        let work = first.prepare(phase, rows, &self.options).await?;
        for mut loan in all {
            loan.prepare_too(&work).await?;
        }
        Ok(Borrowing(work))
    }

    fn delivers(&self, column: &Column) -> Delivered {
        P::Loan::delivers(&self.options, column)
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.pool.borrow().await?.run(statement).await
    }

    async fn load(&mut self, _: &Arc<Phase>, _: &Arc<Rows>, _first: usize, _count: usize) -> Outcome<()> {
        Err(unsupported("nothing is loaded through a pool"))
    }

    async fn server_pid(&mut self) -> Outcome<Option<i64>> {
        self.pool.borrow().await?.server_pid().await
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        let (in_use, open) = self.pool.counts().await; // before one is lent for the facts
        self.pool.borrow().await?.facts(facts).await?;
        facts.libraries.insert(P::NAME.into(), P::VERSION.into());
        facts.settings.insert("pool_in_use".into(), in_use.to_string());
        facts.settings.insert("pool_open".into(), open.to_string());
        Ok(())
    }

    async fn close(self) -> Outcome<()> {
        self.pool.close().await
    }
}

/// Borrows a connection, does a phase's work on it, and returns it.
pub struct Borrowing<P: Pool>(P::Work);

impl<P: Pool> Operation for Borrowing<P> {
    type Adapter = Lending<P>;
    const BORROWS: bool = true;

    #[inline]
    async fn run(&mut self, on: &mut Lending<P>, row: usize, counters: &mut Counters) -> Outcome<()> {
        let mut loan = on.pool.borrow().await?;
        counters.borrowed();
        let done = loan.work(&mut self.0, row, counters).await;
        counters.worked();
        drop(loan);
        done
    }
}

/// An adapter whose connections go into pools that take anything. Their managers of its driver have the same checks.
pub trait Lendable: Adapter<Operation: Send> + Send {
    /// `open`, on any thread.
    fn connect(options: &Options) -> impl Future<Output = Outcome<Self>> + Send;
    /// What a pool asks the server to validate a connection.
    fn validate(&mut self) -> impl Future<Output = Outcome<()>> + Send;
    /// Whether a connection that comes back is of no use any longer.
    fn is_lost(&mut self) -> bool;
    /// `delivers`, by any connection.
    fn delivered(options: &Options, column: &Column) -> Delivered;
}

/// A connection with what is prepared on it: what such pools lend. Boxed, for pools move it.
pub struct Seat<A: Adapter> {
    pub adapter: A,
    prepared: Vec<(Arc<Phase>, A::Operation)>,
}

impl<A: Lendable> Seat<A> {
    pub async fn connect(options: &Options) -> Outcome<Box<Seat<A>>> {
        let adapter = A::connect(options).await?;
        Ok(Box::new(Seat { adapter, prepared: Vec::new() }))
    }

    fn place_of(&self, phase: &Arc<Phase>) -> Option<usize> {
        self.prepared.iter().position(|(known, _)| Arc::ptr_eq(known, phase))
    }

    /// Makes a phase ready instead of the one that had its name.
    #[cold]
    async fn prepare(&mut self, (phase, rows): &SeatWork) -> Outcome<usize> {
        if let Some(former) = self.prepared.iter().position(|(known, _)| known.name == phase.name) {
            self.prepared.swap_remove(former).1.close(&mut self.adapter).await?;
        }
        self.prepared.push((phase.clone(), self.adapter.prepare(phase, rows).await?));
        Ok(self.prepared.len() - 1)
    }
}

type SeatWork = (Arc<Phase>, Arc<Rows>);

impl<A: Lendable, L: DerefMut<Target = Box<Seat<A>>>> Loan for L {
    type Work = SeatWork;

    fn delivers(options: &Options, column: &Column) -> Delivered {
        A::delivered(options, column)
    }

    async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, _: &Options) -> Outcome<SeatWork> {
        let work = (phase.clone(), rows.clone());
        self.prepare_too(&work).await?;
        Ok(work)
    }

    async fn prepare_too(&mut self, work: &SeatWork) -> Outcome<()> {
        if self.place_of(&work.0).is_none() {
            Seat::prepare(self, work).await?;
        }
        Ok(())
    }

    #[inline]
    async fn work(&mut self, work: &mut SeatWork, row: usize, counters: &mut Counters) -> Outcome<()> {
        let seat = &mut ***self;
        let at = match seat.place_of(&work.0) {
            Some(at) => at,
            None => seat.prepare(work).await?, // the pool has replaced a connection
        };
        seat.prepared[at].1.run(&mut seat.adapter, row, counters).await
    }

    async fn run(&mut self, statement: &str) -> Outcome<()> {
        self.adapter.run(statement).await
    }

    async fn server_pid(&mut self) -> Outcome<Option<i64>> {
        self.adapter.server_pid().await
    }

    async fn facts(&mut self, facts: &mut Facts) -> Outcome<()> {
        self.adapter.facts(facts).await
    }
}
