use super::clock::{process_cpu_ns, thread_cpu_ns};
use super::failure::Outcome;
use super::options::Options;
use super::slot::Slot;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{JoinHandle, Thread};
use std::time::Duration;

/// A client's work, which never leaves the thread that it was made on.
pub type Work = Pin<Box<dyn Future<Output = ()>>>;
pub type MakesWork = Box<dyn FnOnce() -> Work + Send>;

/// What runs the clients of an adapter.
pub trait Runtime: Sized {
    /// The coordinate `concurrency`.
    const CONCURRENCY: &str;
    /// Whether the work of one client is on its thread alone: else CPU time is the process's.
    const OWN_THREADS: bool;

    fn new(options: &Options) -> Outcome<Self>;
    /// Takes up the work of all clients. That of the first goes on in `until` and `finish`, on the calling thread.
    fn start(&mut self, work: Vec<MakesWork>);
    /// Goes on with the work until a future is ready.
    fn until<T>(&mut self, ready: impl Future<Output = T>) -> T;
    /// Goes on with the work until each client has done it.
    fn finish(self);
    async fn sleep(wait: Duration);
    /// Lets others work meanwhile, before a short wait is over.
    async fn pause();
    /// Notes in a client's slot how long the loop that runs it is blocked, until this is dropped.
    fn watched(_: Slot) -> impl Sized {}
    /// What decides about it.
    fn facts(&self) -> Vec<(&'static str, String)>;

    fn cpu_ns() -> i64 {
        if Self::OWN_THREADS { thread_cpu_ns() } else { process_cpu_ns() }
    }
}

/// One thread for each client, for drivers that block; `OWN`: no thread of the driver works beside them.
///
/// The first client has the calling thread: a path with one client has one thread, as most programs have, because with
/// a second one every lock of the C library would cost more.
pub struct Threads<const OWN: bool = true> {
    first: Option<Work>,
    others: Vec<JoinHandle<()>>,
}

impl<const OWN: bool> Runtime for Threads<OWN> {
    const CONCURRENCY: &str = "threads";
    const OWN_THREADS: bool = OWN;

    fn new(_: &Options) -> Outcome<Self> {
        Ok(Threads { first: None, others: Vec::new() })
    }

    fn start(&mut self, work: Vec<MakesWork>) {
        let mut work = work.into_iter();
        self.first = work.next().map(|make| make());
        self.others = work.map(|make| std::thread::spawn(|| block_on(make()))).collect();
    }

    fn until<T>(&mut self, ready: impl Future<Output = T>) -> T {
        block_on(beside(&mut self.first, ready))
    }

    fn finish(self) {
        if let Some(first) = self.first {
            block_on(first);
        }
        for thread in self.others {
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

/// Wakes whoever polls `beside`, for what is awaited there.
struct Awaited {
    is_due: AtomicBool,
    outer: Waker,
}

impl Wake for Awaited {
    fn wake(self: Arc<Self>) {
        self.is_due.store(true, Ordering::Release);
        self.outer.wake_by_ref();
    }
}

/// Goes on with work until `ready` is, which is polled only when it is due: it costs the work's own wake-ups nothing.
pub async fn beside<T>(work: &mut Option<Work>, ready: impl Future<Output = T>) -> T {
    let mut ready = pin!(ready);
    let mut awaited = None;
    std::future::poll_fn(|context| {
        if work.as_mut().is_some_and(|going| going.as_mut().poll(context).is_ready()) {
            *work = None;
        }
        let first = || Arc::new(Awaited { is_due: AtomicBool::new(true), outer: context.waker().clone() });
        let awaited = awaited.get_or_insert_with(first);
        if !awaited.is_due.load(Ordering::Acquire) {
            return Poll::Pending;
        }
        awaited.is_due.store(false, Ordering::Relaxed);
        ready.as_mut().poll(&mut Context::from_waker(&Waker::from(awaited.clone())))
    })
    .await
}

/// Polls a future on this thread, which sleeps while there is nothing to do.
pub fn block_on<F: Future>(future: F) -> F::Output {
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
