use super::clock::{now_ns, process_cpu_ns};
use std::sync::{Mutex, PoisonError};
use std::task::{Poll, Waker};

/// Holds the clients of a sample between their lead-ins and their blocks.
pub struct StartBarrier(Mutex<Waiting>);

struct Waiting {
    missing: usize,
    opened: Option<Opened>,
    wakers: Vec<Waker>,
}

/// When the blocks began, for all the same.
#[derive(Clone, Copy, Default)]
pub struct Opened {
    pub at_ns: i64,
    pub process_cpu_ns: i64,
}

impl StartBarrier {
    pub fn new(clients: usize) -> StartBarrier {
        StartBarrier(Mutex::new(Waiting { missing: clients, opened: None, wakers: Vec::with_capacity(clients) }))
    }

    /// Waits, as a client, until all have come.
    pub async fn join(&self) -> Opened {
        let mut has_come = false;
        std::future::poll_fn(|context| {
            let mut waiting = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if !has_come {
                has_come = true;
                waiting.missing -= 1;
                if waiting.missing == 0 {
                    waiting.opened = Some(Opened { process_cpu_ns: process_cpu_ns(), at_ns: now_ns() });
                    waiting.wakers.drain(..).for_each(Waker::wake);
                }
            }
            match waiting.opened {
                Some(opened) => Poll::Ready(opened),
                None => {
                    waiting.wakers.push(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// When it opened.
    pub fn opened(&self) -> Opened {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).opened.unwrap_or_default()
    }
}
