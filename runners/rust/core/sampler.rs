use super::adapter::{Adapter, Operation};
use super::clock::now_ns;
use super::encoder::{Digests, Encoder};
use super::failure::{Failure, Outcome, fail};
use super::phase::Phase;
use super::runtime::Runtime;
use super::sample_counters::Counters;
use super::sample_reply::Part;
use super::start_barrier::StartBarrier;
use std::sync::Arc;

pub const MOST_FAILURES: i64 = 100;

/// How much one client does in a sample; without operations, as many as the time allows.
#[derive(Clone, Copy)]
pub struct Wanted {
    pub lead_in_ns: i64,
    pub duration_ns: i64,
    pub operations: Option<i64>,
}

/// The loop of one client in one phase, with its clock and its position.
#[repr(align(128))] // no two clients write into one cache line
pub struct Sampler<A: Adapter> {
    pub(super) phase: Arc<Phase>,
    pub operation: A::Operation,
    pub wrap: i64, // operations before positions wrap
    position: i64,
    pub(super) row: usize,
    pub(super) counters: Counters,
    pub(super) operations: i64,
    pub(super) failed: i64,
    pub(super) min_ns: i64,
    pub(super) max_ns: i64,
    pub(super) failure: Option<Failure>,
    pub(super) sent: Vec<usize>, // the parameter rows of the pipeline under way
}

impl<A: Adapter> Sampler<A> {
    pub fn new(phase: Arc<Phase>, operation: A::Operation, wrap: i64) -> Sampler<A> {
        let counters = Counters::default();
        Sampler {
            phase,
            operation,
            wrap,
            position: 0,
            row: 0,
            counters,
            operations: 0,
            failed: 0,
            min_ns: 0,
            max_ns: 0,
            failure: None,
            sent: Vec::new(),
        }
    }

    /// Does lead-in and block. With a barrier all clients' blocks begin when it opens and last as long: waiting for a
    /// core after that is a client's own time.
    pub async fn sample(&mut self, adapter: &mut A, barrier: Option<&StartBarrier>, wanted: Wanted) -> Part {
        self.counters.stamps = self.phase.stamps && self.phase.kind != "load"; // a load has many executes
        let (window_cpu_ns, window_ns) = (A::Runtime::cpu_ns(), now_ns());
        self.reset();
        if wanted.lead_in_ns > 0 {
            self.block(adapter, window_ns, wanted.lead_in_ns, None).await;
        }
        let mut part = Part { lead_in_operations: self.operations, first: self.position, ..Part::default() };
        self.reset();
        let opened = match barrier {
            Some(barrier) => Some(barrier.join().await),
            None => None,
        };
        let (cpu_ns, start_ns) = (A::Runtime::cpu_ns(), now_ns());
        let begun_ns = opened.map_or(start_ns, |opened| opened.at_ns);
        let mut end_ns = start_ns;
        if wanted.operations != Some(0) {
            let left_ns = wanted.duration_ns - (start_ns - begun_ns);
            end_ns = self.block(adapter, start_ns, left_ns, wanted.operations).await;
        }
        let cpu_after_ns = A::Runtime::cpu_ns();
        self.fill(&mut part);
        (part.ns, part.cpu_ns) = (end_ns - begun_ns, cpu_after_ns - cpu_ns);
        (part.window_ns, part.window_cpu_ns) = (end_ns - window_ns, cpu_after_ns - window_cpu_ns);
        part
    }

    fn fill(&mut self, part: &mut Part) {
        (part.operations, part.failed, part.failure) = (self.operations, self.failed, self.failure.take());
        (part.rows, part.touch) = (self.counters.rows, self.counters.touch);
        (part.execute_ns, part.first_row_ns) = (self.counters.execute_ns, self.counters.first_row_ns);
        (part.borrow_ns, part.return_ns) = (self.counters.borrow_ns, self.counters.return_ns);
        part.connect_ns = self.counters.connect_ns;
        part.max_ns = self.max_ns;
        part.min_ns = if self.max_ns > 0 { self.min_ns } else { 0 };
    }

    /// Does the operations [first, first + count) with a digest; rows and touch that they delivered.
    pub async fn verify(&mut self, adapter: &mut A, first: i64, count: i64, encoder: Encoder) -> Outcome<Proven> {
        let resume = self.position;
        self.seek(first);
        self.reset();
        self.counters.stamps = false;
        self.counters.encoder = Some(encoder);
        let done = self.proven(adapter, count).await;
        self.seek(resume);
        let mut encoder = self.counters.encoder.take();
        done?;
        let digests = match &mut encoder {
            Some(encoder) => encoder.finish().map(|()| encoder.digests())?,
            None => return Err(fail("internal", "the digests are lost")),
        };
        Ok(Proven { digests, rows: self.counters.rows, touch: self.counters.touch })
    }

    async fn proven(&mut self, adapter: &mut A, count: i64) -> Outcome<()> {
        if self.phase.pipeline > 0 {
            return self.proven_in_pipelines(adapter, count).await;
        }
        for _ in 0..count {
            self.counters.begin(0);
            self.operation.run(adapter, self.row, &mut self.counters).await?;
            self.seek(self.position + 1);
        }
        Ok(())
    }

    /// Goes to a position, not wrapped.
    pub fn seek(&mut self, to: i64) {
        (self.position, self.row) = (to, (to % self.wrap) as usize);
    }

    fn reset(&mut self) {
        (self.operations, self.failed, self.failure) = (0, 0, None);
        (self.min_ns, self.max_ns) = (i64::MAX, 0);
        self.counters.reset();
    }

    /// Runs until the duration has passed, or the wanted number of operations; the last stamp.
    async fn block(&mut self, adapter: &mut A, start_ns: i64, duration_ns: i64, operations: Option<i64>) -> i64 {
        let mut now = start_ns;
        loop {
            now = if self.phase.pipeline > 0 {
                self.step_pipeline(adapter, now, operations).await
            } else {
                self.step(adapter, now).await
            };
            let is_over = match operations {
                Some(wanted) => self.operations + self.failed >= wanted,
                None => now - start_ns >= duration_ns,
            };
            if is_over || self.failed >= MOST_FAILURES {
                return now;
            }
        }
    }

    /// One operation: its clock began where the last one's ended, before its future is made.
    #[inline]
    async fn step(&mut self, adapter: &mut A, start_ns: i64) -> i64 {
        self.counters.begin(start_ns);
        let done = self.operation.run(adapter, self.row, &mut self.counters).await;
        let succeeded = done.is_ok();
        match done {
            Ok(()) => self.operations += 1,
            Err(failure) => self.fail(failure),
        }
        self.advance();
        let end_ns = now_ns();
        if A::Operation::BORROWS && succeeded {
            self.counters.returned(end_ns);
        }
        self.min_ns = self.min_ns.min(end_ns - start_ns);
        self.max_ns = self.max_ns.max(end_ns - start_ns);
        end_ns
    }

    /// Goes to the next operation.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.position += 1;
        self.row += 1;
        if self.row as i64 == self.wrap {
            self.row = 0;
        }
    }

    #[cold]
    fn fail(&mut self, failure: Failure) {
        self.counters.undo();
        self.failed += 1;
        self.failure.get_or_insert(failure);
    }
}

/// What `verify` found.
pub struct Proven {
    pub digests: Digests,
    pub rows: i64,
    pub touch: i64,
}
