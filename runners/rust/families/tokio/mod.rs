//! Clients as tasks of tokio, for drivers that are asynchronous.
mod loop_watch;
use crate::core::{MakesWork, Options, Outcome, Runtime, Slot, Work, beside, fail};
use loop_watch::LoopWatch;
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::{JoinHandle, LocalSet, yield_now};

/// All clients as tasks on the loop's thread, and with them whatever their drivers spawn.
///
/// One thread, as asynchronous drivers of other languages have it: the usual runtime of several threads would hand
/// every operation over to another thread and back, and its CPU time would be no client's.
pub struct Tasks {
    first: Option<Work>, // as the program's own future, which one client alone has too
    others: Vec<JoinHandle<()>>,
    tasks: LocalSet,
    runtime: tokio::runtime::Runtime,
}

impl Runtime for Tasks {
    const CONCURRENCY: &str = "tasks";
    const OWN_THREADS: bool = false;

    fn new(_: &Options) -> Outcome<Tasks> {
        let runtime = Builder::new_current_thread().enable_all().build().map_err(|error| fail("internal", error))?;
        Ok(Tasks { first: None, others: Vec::new(), tasks: LocalSet::new(), runtime })
    }

    fn start(&mut self, work: Vec<MakesWork>) {
        let mut work = work.into_iter();
        self.first = work.next().map(|make| make());
        self.others = work.map(|make| self.tasks.spawn_local(make())).collect();
    }

    fn until<T>(&mut self, ready: impl Future<Output = T>) -> T {
        self.tasks.block_on(&self.runtime, beside(&mut self.first, ready))
    }

    fn finish(self) {
        let Tasks { first, others, tasks, runtime } = self;
        tasks.block_on(&runtime, async {
            if let Some(first) = first {
                first.await;
            }
            for task in others {
                let _ = task.await;
            }
        });
    }

    /// Sleeps as tokio's timer has it, in whole milliseconds rounded up: a group's lateness shows it.
    async fn sleep(wait: Duration) {
        tokio::time::sleep(wait).await;
    }

    async fn pause() {
        yield_now().await;
    }

    fn watched(slot: Slot) -> impl Sized {
        LoopWatch::begin(slot)
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("tokio_runtime", "current_thread".into())]
    }
}
