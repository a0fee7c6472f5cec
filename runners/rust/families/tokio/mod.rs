//! Clients as tasks of tokio, for drivers that are asynchronous.
use crate::core::{MakesWork, Options, Outcome, Runtime, fail};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::task::{LocalSet, spawn_local, yield_now};

/// All clients as tasks on the loop's thread, and with them whatever their drivers spawn.
///
/// One thread, as asynchronous drivers of other languages have it: the usual runtime of several threads would hand
/// every operation over to another thread and back, and its CPU time would be no client's.
pub struct Tasks(tokio::runtime::Runtime);

impl Runtime for Tasks {
    const CONCURRENCY: &str = "tasks";
    const OWN_THREADS: bool = false;

    fn new(_: &Options) -> Outcome<Tasks> {
        Builder::new_current_thread().enable_all().build().map(Tasks).map_err(|error| fail("internal", error))
    }

    fn run(&self, work: Vec<MakesWork>) {
        let mut work = work.into_iter();
        let Some(first) = work.next() else { return };
        LocalSet::new().block_on(&self.0, async {
            let others: Vec<_> = work.map(|make| spawn_local(make())).collect();
            first().await; // as the program's own future, which one client alone has too
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

    fn facts(&self) -> Vec<(&'static str, String)> {
        vec![("tokio_runtime", "current_thread".into())]
    }
}
