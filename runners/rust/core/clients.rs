use super::adapter::Adapter;
use super::client::{Client, Job, guarded};
use super::clock::{now_ns, process_cpu_ns};
use super::failure::{Outcome, fail, unsupported};
use super::mailbox::{Mailbox, Sender};
use super::options::Options;
use super::phase::Phase;
use super::prepared_phase::{PreparedPhase, Share, bound};
use super::request::SampleRequest;
use super::runtime::{Runtime, block_on};
use super::sample_reply::SampleReply;
use super::sampler::Wanted;
use super::start_barrier::StartBarrier;
use super::values::Rows;
use std::cell::RefCell;
use std::sync::Arc;

pub type Inboxes<A> = Vec<Arc<Mailbox<Job<A>>>>;
/// What a client's result comes from.
pub type Result<T> = Arc<Mailbox<Outcome<T>>>;

/// What goes on with the clients' work.
pub enum Place<R> {
    /// The thread that waits for a result.
    Here(RefCell<R>),
    Elsewhere,
}

/// A path's clients: one connection each, or a pool for all; their work runs where the adapter's runtime has it.
pub struct Clients<A: Adapter> {
    inboxes: Inboxes<A>,
    place: Place<A::Runtime>,
    pub connect_ns: i64, // of the first one
    pub pipeline: usize, // operations that are sent before the first answer is taken; 0: one by one
}

impl<A: Adapter> Clients<A> {
    pub fn new(inboxes: Inboxes<A>, place: Place<A::Runtime>) -> Clients<A> {
        Clients { inboxes, place, connect_ns: 0, pipeline: 0 }
    }

    pub fn count(&self) -> usize {
        self.inboxes.len()
    }

    /// How many clients a path has; refuses ways of running them that the runtime has not.
    pub fn wanted(options: &Options) -> Outcome<usize> {
        let (count, way) = (options.number("clients").max(1) as usize, options.get("concurrency", "none"));
        if count > 1 && way != "none" && way != A::Runtime::CONCURRENCY {
            return Err(unsupported(format!("this Rust runner has no concurrency {way}")));
        }
        Ok(count)
    }

    /// Gives a client something to do, and what its result comes from.
    pub fn begin<T: Send + 'static>(
        &self,
        client: usize,
        work: impl AsyncFnOnce(&mut Client<A>) -> Outcome<T> + Send + 'static,
    ) -> Result<T> {
        let result = Arc::new(Mailbox::new());
        let sender = Sender::to(&result);
        self.inboxes[client].send(Box::new(move |client| {
            Box::pin(async move {
                sender.send(guarded(work(client)).await);
            })
        }));
        result
    }

    /// Has the first client do what is not measured.
    pub fn first<T: Send + 'static>(
        &self,
        work: impl AsyncFnOnce(&mut Client<A>) -> Outcome<T> + Send + 'static,
    ) -> Outcome<T> {
        self.came(self.begin(0, work))
    }

    /// A client's result, once it is there.
    pub fn came<T>(&self, result: Result<T>) -> Outcome<T> {
        let came = match &self.place {
            Place::Here(runtime) => runtime.borrow_mut().until(result.next()),
            Place::Elsewhere => block_on(result.next()),
        };
        came.unwrap_or_else(|| Err(fail("internal", "a client ended before its work")))
    }

    pub fn open(&mut self, options: &Options) -> Outcome<()> {
        self.pipeline = options.number("pipeline") as usize;
        for client in 0..self.count() {
            let options = options.clone();
            let shared = if client > 0 { self.first(async |first| Ok(first.adapter()?.share()))? } else { None };
            let took_ns = self.came(self.begin(client, async move |client| client.open(&options, shared).await))?;
            if client == 0 {
                self.connect_ns = took_ns;
            }
        }
        Ok(())
    }

    pub fn prepare(&self, phase: Arc<Phase>, rows: Arc<Rows>) -> Outcome<PreparedPhase> {
        let count = self.count() as i64;
        if count > 1 && matches!(phase.kind.as_str(), "load" | "connect") {
            return Err(unsupported(format!("only one client can do the kind {}", phase.kind)));
        }
        let operations = phase.operations(rows.len())?;
        let mut prepare_ns = 0;
        for client in 0..self.count() {
            let (phase, rows, at) = (phase.clone(), rows.clone(), bound(client as i64, operations, count));
            let result = self.begin(client, async move |client| client.prepare(&phase, &rows, operations, at).await);
            let took_ns = self.came(result)?;
            if client == 0 {
                prepare_ns = took_ns;
            }
        }
        Ok(PreparedPhase { phase, rows, operations, prepare_ns, next: 0 })
    }

    pub fn forget(&self, phase: &str) -> Outcome<()> {
        for client in 0..self.count() {
            let phase = phase.to_string();
            self.came(self.begin(client, async move |client| client.forget(&phase).await))?;
        }
        Ok(())
    }

    pub fn sample(&self, prepared: &mut PreparedPhase, asked: &SampleRequest) -> Outcome<SampleReply> {
        let columns = prepared.phase.columns.len();
        if self.count() > 1 {
            return self.together(prepared, asked, columns);
        }
        let seek = (asked.first >= 0).then_some(asked.first);
        let operations = (asked.operations > 0).then_some(asked.operations);
        let part = self.came(self.begin_sample(0, &prepared.phase, asked, Share { seek, operations }, None))?;
        Ok(SampleReply::of(vec![part], columns))
    }

    fn begin_sample(
        &self,
        client: usize,
        phase: &Phase,
        asked: &SampleRequest,
        share: Share,
        barrier: Option<Arc<StartBarrier>>,
    ) -> Result<super::sample_reply::Part> {
        let name = phase.name.clone();
        let (lead_in_ns, duration_ns) = (asked.lead_in_ns, asked.duration_ns);
        let wanted = Wanted { lead_in_ns, duration_ns, operations: share.operations };
        self.begin(client, async move |client| {
            let (adapter, sampler) = client.ready(&name)?;
            if let Some(position) = share.seek {
                sampler.seek(position);
            }
            Ok(sampler.sample(adapter, barrier.as_deref(), wanted).await)
        })
    }

    /// A sample of several clients; of clients that share threads the CPU time is the process's.
    fn together(&self, prepared: &mut PreparedPhase, asked: &SampleRequest, columns: usize) -> Outcome<SampleReply> {
        let shares = prepared.shares(self.count() as i64, asked.operations, asked.first);
        let barrier = Arc::new(StartBarrier::new(self.count()));
        let (window_cpu_ns, window_ns) = (process_cpu_ns(), now_ns());
        let begin = |(client, share): (usize, &Share)| {
            self.begin_sample(client, &prepared.phase, asked, *share, Some(barrier.clone()))
        };
        let results: Vec<_> = shares.iter().enumerate().map(begin).collect();
        let mut parts = results.into_iter().map(|result| self.came(result)).collect::<Outcome<Vec<_>>>()?;
        let (cpu_after_ns, window_ns) = (process_cpu_ns(), now_ns() - window_ns);
        if !A::Runtime::OWN_THREADS {
            parts.iter_mut().for_each(|part| part.cpu_ns = 0);
        }
        let mut reply = SampleReply::of(parts, columns);
        reply.window_ns = window_ns;
        if !A::Runtime::OWN_THREADS {
            reply.total.cpu_ns = cpu_after_ns - barrier.opened().process_cpu_ns;
            reply.window_cpu_ns = cpu_after_ns - window_cpu_ns;
        }
        Ok(reply)
    }

    /// Closes every connection and ends the clients' work.
    pub fn close(self) -> Outcome<()> {
        let mut outcome = Ok(());
        for (client, inbox) in self.inboxes.iter().enumerate() {
            outcome = outcome.and(self.came(self.begin(client, async |client| client.close().await)));
            inbox.close();
        }
        if let Place::Here(runtime) = self.place {
            runtime.into_inner().finish();
        }
        outcome
    }
}
