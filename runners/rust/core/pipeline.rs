use super::adapter::{Adapter, Operation};
use super::clock::now_ns;
use super::failure::{Failure, Outcome};
use super::sample_counters::Counters;
use super::sampler::Sampler;

/// What the operations of one pipeline came to.
#[derive(Default)]
pub struct Endings {
    pub(super) operations: i64,
    pub(super) failed: i64,
    pub(super) failure: Option<Failure>,
}

impl Endings {
    /// Notes how the next operation ended, once its rows were taken.
    #[inline]
    pub fn note(&mut self, ended: Outcome<()>, counters: &mut Counters) {
        match ended {
            Ok(()) => self.operations += 1,
            Err(failure) => {
                counters.undo();
                self.failed += 1;
                self.failure.get_or_insert(failure);
            }
        }
        counters.begin(0);
    }
}

impl<A: Adapter> Sampler<A> {
    /// The operations of one pipeline: their clock began where the last one's ended, before a future is made.
    pub(super) async fn step_pipeline(&mut self, adapter: &mut A, start_ns: i64, wanted: Option<i64>) -> i64 {
        let most = self.phase.pipeline as i64;
        let count = wanted.map_or(most, |wanted| most.min(wanted - self.operations - self.failed));
        let endings = self.send(adapter, count).await;
        (self.operations, self.failed) = (self.operations + endings.operations, self.failed + endings.failed);
        self.failure = self.failure.take().or(endings.failure);
        let end_ns = now_ns();
        self.min_ns = self.min_ns.min((end_ns - start_ns) / count);
        self.max_ns = self.max_ns.max((end_ns - start_ns) / count);
        end_ns
    }

    pub(super) async fn proven_in_pipelines(&mut self, adapter: &mut A, count: i64) -> Outcome<()> {
        let mut left = count;
        while left > 0 {
            let sent = left.min(self.phase.pipeline as i64);
            if let Some(failure) = self.send(adapter, sent).await.failure {
                return Err(failure);
            }
            left -= sent;
        }
        Ok(())
    }

    async fn send(&mut self, adapter: &mut A, count: i64) -> Endings {
        self.sent.clear();
        for _ in 0..count {
            self.sent.push(self.row);
            self.advance();
        }
        let mut endings = Endings::default();
        self.counters.begin(0);
        self.operation.pipeline(adapter, &self.sent, &mut self.counters, &mut endings).await;
        endings
    }
}
