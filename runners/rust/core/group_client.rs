use super::adapter::{Adapter, Operation};
use super::client::{Client, guarded};
use super::client_groups::{CountedFailure, GroupRequest, counted};
use super::clock::now_ns;
use super::failure::{Failure, Outcome};
use super::pacing::Pacing;
use super::runtime::Runtime;
use super::sample_counters::Counters;
use super::sampler::MOST_FAILURES;
use super::slot::{DONE, GAVE_UP, Slot, WAITS, WORKS};
use std::time::Duration;

const AFTER_FAILURE_NS: i64 = 10_000_000;
const LOOK_NS: i64 = 10_000_000;
const LOOK_FOR_BEGIN: Duration = Duration::from_millis(1);

/// One client of a group, from waiting for the begin to the last operation.
#[repr(align(128))] // no two clients write into one cache line
pub struct GroupClient {
    phase: String,
    slot: Slot,
    pacing: Pacing,
    wanted: i64, // 0: until the end
    pub counters: Counters,
    row: usize,
    due_ns: i64,
    failures_in_a_row: i64,
    is_over: bool,
    service_ns: i64,
    latency_ns: i64,
    failed_ns: i64,
    pub failures: Vec<CountedFailure>,
    pub first: usize,
    pub rows_of_its_own: usize,
    pub operations: i64,
    pub failed: i64,
    pub begun_ns: i64, // 0: never
    pub ended_ns: i64,
    pub cpu_ns: i64,
}

impl GroupClient {
    pub fn new(asked: &GroupRequest, client: usize, rows: usize, slot: Slot) -> Outcome<GroupClient> {
        let (mut first, mut rows_of_its_own) = (client % rows, 1);
        if rows >= asked.clients {
            first = client * rows / asked.clients;
            rows_of_its_own = (client + 1) * rows / asked.clients - first;
        }
        Ok(GroupClient {
            phase: asked.phase.clone(),
            slot,
            pacing: Pacing::new(asked, client)?,
            wanted: asked.operations,
            counters: Counters::default(),
            row: first,
            due_ns: 0,
            failures_in_a_row: 0,
            is_over: false,
            service_ns: 0,
            latency_ns: 0,
            failed_ns: 0,
            failures: Vec::new(),
            first,
            rows_of_its_own,
            operations: 0,
            failed: 0,
            begun_ns: 0,
            ended_ns: 0,
            cpu_ns: 0,
        })
    }

    /// Says that it waits.
    pub fn comes(&self) {
        self.slot.next_row(self.row);
        self.slot.state(WAITS);
    }

    /// Does its operations until it is done; whatever fails, the other clients go on.
    pub async fn run<A: Adapter>(mut self, client: &mut Client<A>) -> Outcome<GroupClient> {
        let cpu_ns = A::Runtime::cpu_ns();
        let watched = A::Runtime::watched(self.slot);
        if let Err(broken) = guarded(self.work(client)).await {
            self.fail(broken);
            self.slot.failed(self.failed, self.failed_ns);
            self.failures_in_a_row = MOST_FAILURES;
        }
        drop(watched);
        self.cpu_ns = A::Runtime::cpu_ns() - cpu_ns;
        self.slot.state(if self.failures_in_a_row < MOST_FAILURES { DONE } else { GAVE_UP });
        Ok(self)
    }

    async fn work<A: Adapter>(&mut self, client: &mut Client<A>) -> Outcome<()> {
        let (adapter, sampler) = client.ready(&self.phase)?;
        let operation = &mut sampler.operation;
        let mut zero = self.slot.begins();
        while zero == 0 && !self.slot.has_ended(now_ns()) {
            A::Runtime::sleep(LOOK_FOR_BEGIN).await;
            zero = self.slot.begins();
        }
        let mut now = if zero == 0 { now_ns() } else { self.until::<A>(zero, self.pacing.spin_ns).await };
        if self.slot.has_ended(now) {
            return Ok(());
        }
        self.begun_ns = now;
        self.plan(zero);
        self.slot.state(WORKS);
        while !self.is_over {
            now = self.turn(adapter, operation, now, zero).await;
        }
        Ok(())
    }

    /// Draws when the next operation is due.
    fn plan(&mut self, zero: i64) {
        if self.pacing.is_open {
            self.due_ns = zero + self.pacing.next();
            self.slot.due(self.due_ns);
        }
    }

    /// One operation with the wait before it; when it ended.
    async fn turn<A: Adapter>(&mut self, adapter: &mut A, operation: &mut A::Operation, now: i64, zero: i64) -> i64 {
        let is_idle = self.pacing.is_open && now < self.due_ns;
        let begun = if is_idle { self.until::<A>(self.due_ns, self.pacing.spin_ns).await } else { now };
        if self.slot.has_ended(begun) || (self.pacing.is_open && self.slot.has_ended(self.due_ns)) {
            self.is_over = true;
            return begun;
        }
        if self.pacing.is_open {
            self.slot.arrivals(self.operations + self.failed + 1);
        }
        self.slot.begin(begun);
        self.counters.begin(begun);
        let done = operation.run(adapter, self.row, &mut self.counters).await;
        let ended = now_ns();
        let has_failed = done.is_err();
        match done {
            Ok(()) => {
                if A::Operation::BORROWS {
                    self.counters.returned(ended);
                    self.slot.loans(self.counters.borrow_ns, self.counters.return_ns);
                }
                self.succeed(begun, ended, is_idle);
            }
            Err(failure) => {
                self.slot.doubt(self.row);
                self.fail(failure);
                self.failed_ns += ended - begun;
                self.slot.failed(self.failed, self.failed_ns);
            }
        }
        self.ended_ns = ended;
        self.go_on::<A>(has_failed, ended, zero).await
    }

    /// Rests after an operation: when the next may begin.
    async fn go_on<A: Adapter>(&mut self, has_failed: bool, ended: i64, zero: i64) -> i64 {
        self.row += 1;
        if self.row == self.first + self.rows_of_its_own {
            self.row = self.first;
        }
        self.plan(zero);
        self.slot.rest(self.row, ended);
        self.is_over = self.operations + self.failed == self.wanted || self.failures_in_a_row == MOST_FAILURES;
        let pause_ns = self.pacing.pause_ns.max(if has_failed { AFTER_FAILURE_NS } else { 0 });
        if self.is_over || pause_ns == 0 {
            return ended;
        }
        self.until::<A>(ended + pause_ns, 0).await
    }

    fn succeed(&mut self, begun: i64, ended: i64, is_idle: bool) {
        self.slot.acknowledge(self.row);
        self.service_ns += ended - begun;
        self.slot.service(ended - begun, self.service_ns);
        if self.pacing.is_open {
            self.latency_ns += ended - self.due_ns;
            self.slot.latency(ended - self.due_ns, self.latency_ns);
            if is_idle {
                self.slot.lateness(begun - self.due_ns);
            }
        }
        self.failures_in_a_row = 0;
        self.operations += 1;
        self.slot.succeeded(self.operations, self.counters.rows);
    }

    fn fail(&mut self, failure: Failure) {
        self.counters.undo();
        self.failed += 1;
        self.failures_in_a_row += 1;
        counted(&mut self.failures, failure, 1);
    }

    /// Sleeps until so long before an instant, then spins; the instant it is, or the end.
    async fn until<A: Adapter>(&self, instant: i64, spin_ns: i64) -> i64 {
        let mut now = now_ns();
        while now < instant && !self.slot.has_ended(now) {
            let left_ns = instant - now - spin_ns;
            if left_ns > 0 {
                A::Runtime::sleep(Duration::from_nanos(left_ns.min(LOOK_NS) as u64)).await;
            } else {
                A::Runtime::pause().await;
            }
            now = now_ns();
        }
        now
    }
}
