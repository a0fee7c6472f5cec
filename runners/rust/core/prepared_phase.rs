use super::phase::Phase;
use super::values::Rows;
use std::sync::Arc;

/// A phase made ready on every connection, and where its clients go on together.
pub struct PreparedPhase {
    pub phase: Arc<Phase>,
    pub rows: Arc<Rows>,
    pub operations: i64, // before positions wrap
    pub prepare_ns: i64,
    pub next: i64,
}

/// Where a client goes to before a sample, and how many operations it does: none says as the time allows.
#[derive(Clone, Copy, Default)]
pub struct Share {
    pub seek: Option<i64>,
    pub operations: Option<i64>,
}

impl PreparedPhase {
    /// The shares of several clients.
    pub fn shares(&mut self, clients: i64, operations: i64, first: i64) -> Vec<Share> {
        if operations == 0 {
            let seek = |client| (first >= 0).then(|| first + bound(client, self.operations, clients));
            return (0..clients).map(|client| Share { seek: seek(client), operations: None }).collect();
        }
        let first = if first < 0 { self.next } else { first };
        self.next = first + operations;
        let share = |client| {
            let (from, to) = (bound(client, operations, clients), bound(client + 1, operations, clients));
            Share { seek: Some(first + from), operations: Some(to - from) }
        };
        (0..clients).map(share).collect()
    }
}

/// Where client c of N begins.
pub fn bound(client: i64, count: i64, clients: i64) -> i64 {
    client * count / clients
}
