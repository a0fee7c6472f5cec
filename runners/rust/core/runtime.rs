use super::clock::{process_cpu_ns, thread_cpu_ns};
use super::failure::Outcome;
use super::options::Options;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

/// A client's work, made where it runs: it never leaves that thread.
pub type MakesWork = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()>>> + Send>;

/// What runs the clients of an adapter.
pub trait Runtime: Sized {
    /// The coordinate `concurrency`.
    const CONCURRENCY: &str;
    /// Whether the work of one client is on its thread alone: else CPU time is the process's.
    const OWN_THREADS: bool;

    fn new(options: &Options) -> Outcome<Self>;
    /// Runs the work of all clients until each is done; the first on the calling thread.
    fn run(&self, work: Vec<MakesWork>);
    async fn sleep(wait: Duration);
    /// Lets others work meanwhile, before a short wait is over.
    async fn pause();
    /// What decides about it.
    fn facts(&self) -> Vec<(&'static str, String)>;

    fn cpu_ns() -> i64 {
        if Self::OWN_THREADS { thread_cpu_ns() } else { process_cpu_ns() }
    }
}

/// One thread for each client, for drivers that block; `OWN`: no thread of the driver works beside them.
pub struct Threads<const OWN: bool = true>;

impl<const OWN: bool> Runtime for Threads<OWN> {
    const CONCURRENCY: &str = "threads";
    const OWN_THREADS: bool = OWN;

    fn new(_: &Options) -> Outcome<Self> {
        Ok(Threads)
    }

    fn run(&self, work: Vec<MakesWork>) {
        let mut work = work.into_iter();
        let first = work.next();
        let others: Vec<_> = work.map(|make| std::thread::spawn(|| block_on(make()))).collect();
        if let Some(make) = first {
            block_on(make());
        }
        for thread in others {
            let _ = thread.join();
        }
    }

    async fn sleep(wait: Duration) {
        std::thread::sleep(wait);
    }

    async fn pause() {
        std::hint::spin_loop();
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }
}

struct Unparking(Thread);

impl Wake for Unparking {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Polls a future on this thread, which sleeps while there is nothing to do.
fn block_on<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unparking(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}
