use super::adapter::{Adapter, Operation, Share};
use super::clock::now_ns;
use super::failure::{Failure, Outcome, fail, unsupported};
use super::mailbox::Mailbox;
use super::options::Options;
use super::phase::Phase;
use super::sampler::Sampler;
use super::values::Rows;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;

pub type Job<A> = Box<dyn for<'a> FnOnce(&'a mut Client<A>) -> Pin<Box<dyn Future<Output = ()> + 'a>> + Send>;

/// One client: its connection and its phases, never touched from another thread.
pub struct Client<A: Adapter> {
    adapter: Option<A>,
    phases: HashMap<String, Sampler<A>>,
}

/// Does a client's jobs one after the other, until none can come any longer.
pub async fn work<A: Adapter>(inbox: Arc<Mailbox<Job<A>>>) {
    let mut client = Client { adapter: None, phases: HashMap::new() };
    while let Some(job) = inbox.next().await {
        job(&mut client).await;
    }
}

impl<A: Adapter> Client<A> {
    /// Connects, or takes what the first client shares; what it took.
    pub async fn open(&mut self, options: &Options, shared: Option<Share<A>>) -> Outcome<i64> {
        let start = now_ns();
        self.adapter = Some(match shared {
            Some(make) => make(),
            None => A::open(options).await.map_err(Failure::on_connecting)?,
        });
        Ok(now_ns() - start)
    }

    pub fn adapter(&mut self) -> Outcome<&mut A> {
        self.adapter.as_mut().ok_or_else(|| fail("internal", "no connection is open"))
    }

    /// Makes a phase ready; what it took.
    pub async fn prepare(&mut self, phase: &Arc<Phase>, rows: &Arc<Rows>, wrap: i64, at: i64) -> Outcome<i64> {
        let start = now_ns();
        let operation = self.adapter()?.prepare(phase, rows).await?;
        let took_ns = now_ns() - start;
        if phase.pipeline > 0 && !operation.pipelines() {
            return Err(unsupported("this driver has no pipeline for that"));
        }
        let mut sampler = Sampler::new(phase.clone(), operation, wrap);
        sampler.seek(at);
        self.phases.insert(phase.name.clone(), sampler);
        Ok(took_ns)
    }

    /// Frees a phase that was prepared before.
    pub async fn forget(&mut self, phase: &str) -> Outcome<()> {
        match (self.phases.remove(phase), &mut self.adapter) {
            (Some(sampler), Some(adapter)) => sampler.operation.close(adapter).await,
            _ => Ok(()),
        }
    }

    /// What a job on a prepared phase needs.
    pub fn ready(&mut self, phase: &str) -> Outcome<(&mut A, &mut Sampler<A>)> {
        match (&mut self.adapter, self.phases.get_mut(phase)) {
            (Some(adapter), Some(sampler)) => Ok((adapter, sampler)),
            _ => Err(fail("internal", format!("the phase {phase} is not prepared"))),
        }
    }

    pub async fn close(&mut self) -> Outcome<()> {
        let Some(mut adapter) = self.adapter.take() else { return Ok(()) };
        let mut outcome = Ok(());
        for (_, sampler) in self.phases.drain() {
            outcome = outcome.and(sampler.operation.close(&mut adapter).await);
        }
        outcome.and(adapter.close().await)
    }
}

/// A future of which a panic, ours or a driver's, is an error.
pub async fn guarded<T>(future: impl Future<Output = Outcome<T>>) -> Outcome<T> {
    let mut future = pin!(future);
    std::future::poll_fn(|context| {
        catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))).unwrap_or_else(|broken| {
            let text = broken.downcast_ref::<String>().map(String::as_str);
            let text = text.or_else(|| broken.downcast_ref::<&str>().copied()).unwrap_or("a panic");
            Poll::Ready(Err(fail("internal", text)))
        })
    })
    .await
}
