use std::slice::from_raw_parts;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

pub const WAITS: i64 = 1;
pub const WORKS: i64 = 2;
pub const DONE: i64 = 3;
pub const GAVE_UP: i64 = 4;

const HISTOGRAM_WORDS: usize = 7296;
const SERVICE_AT: usize = 16;
const LATENCY_AT: usize = SERVICE_AT + HISTOGRAM_WORDS;
const LATENESS_AT: usize = LATENCY_AT + HISTOGRAM_WORDS;
const WORDS: usize = LATENESS_AT + HISTOGRAM_WORDS;
pub const SLOT_BYTES_LEAST: usize = 8 * WORDS;

/// One client's slot in the shared counters, and its group's control words.
///
/// Every store releases those before it: so it is read once this process was killed.
#[derive(Clone, Copy)]
pub struct Slot {
    control: &'static [AtomicU64],
    words: &'static [AtomicU64],
    acknowledged: &'static [AtomicU32], // empty: none are kept
    doubted: &'static [AtomicU32],
}

impl Slot {
    /// # Safety
    /// Two control words, the slot's words and, for each row, two counts must lie there for ever.
    pub unsafe fn new(
        control: *const AtomicU64,
        words: *const AtomicU64,
        counts: Option<*const AtomicU32>,
        rows: usize,
    ) -> Slot {
        // SAFETY: what the caller owes.
        let (control, words, counts) = unsafe {
            let counts: &[AtomicU32] = counts.map_or(&[], |counts| from_raw_parts(counts, 2 * rows));
            (from_raw_parts(control, 2), from_raw_parts(words, WORDS), counts)
        };
        let (acknowledged, doubted) = counts.split_at(counts.len() / 2);
        Slot { control, words, acknowledged, doubted }
    }

    /// When the group begins; 0: not known yet.
    pub fn begins(&self) -> i64 {
        self.control[0].load(Ordering::Acquire) as i64
    }

    /// Whether no operation begins at this instant any longer.
    pub fn has_ended(&self, now: i64) -> bool {
        let end = self.control[1].load(Ordering::Acquire) as i64;
        end != 0 && now >= end
    }

    fn put(&self, word: usize, value: i64) {
        self.words[word].store(value as u64, Ordering::Release);
    }

    pub fn state(&self, state: i64) {
        self.put(0, state);
    }

    pub fn next_row(&self, row: usize) {
        self.put(3, row as i64);
    }

    pub fn begin(&self, begun_ns: i64) {
        self.put(4, begun_ns);
    }

    pub fn due(&self, due_ns: i64) {
        self.put(5, due_ns);
    }

    pub fn arrivals(&self, arrivals: i64) {
        self.put(10, arrivals);
    }

    /// The operation under way succeeded.
    pub fn acknowledge(&self, row: usize) {
        count(self.acknowledged, row);
    }

    /// The operation under way failed; it may or may not have been done.
    pub fn doubt(&self, row: usize) {
        count(self.doubted, row);
    }

    pub fn service(&self, ns: i64, sum_ns: i64) {
        self.record(SERVICE_AT, ns);
        self.put(6, sum_ns);
    }

    pub fn latency(&self, ns: i64, sum_ns: i64) {
        self.record(LATENCY_AT, ns);
        self.put(7, sum_ns);
    }

    pub fn lateness(&self, ns: i64) {
        self.record(LATENESS_AT, ns);
    }

    /// The sums over the successful operations' borrowing and returning.
    pub fn loans(&self, borrow_ns: i64, return_ns: i64) {
        self.put(12, borrow_ns);
        self.put(13, return_ns);
    }

    /// How long the loop that runs the client was blocked, which counts while it works.
    pub fn blocked(&self, late: Duration) {
        let late_ns = late.as_nanos() as u64;
        if self.words[0].load(Ordering::Relaxed) == WORKS as u64 && late_ns > self.words[14].load(Ordering::Relaxed) {
            self.put(14, late_ns as i64);
        }
    }

    /// Whether it is the slot of the same client.
    pub fn is(&self, other: &Slot) -> bool {
        self.words.as_ptr() == other.words.as_ptr()
    }

    /// The last thing written of a successful operation but `rest`.
    pub fn succeeded(&self, operations: i64, rows: i64) {
        self.put(9, rows);
        self.put(1, operations);
    }

    /// The last thing written of a failed operation but `rest`.
    pub fn failed(&self, failed: i64, sum_ns: i64) {
        self.put(8, sum_ns);
        self.put(2, failed);
    }

    /// No operation is under way.
    pub fn rest(&self, next_row: usize, ended_ns: i64) {
        self.put(11, ended_ns);
        self.next_row(next_row);
        self.begin(0);
    }

    fn record(&self, histogram: usize, ns: i64) {
        let ns = ns.max(0) as u64;
        let bucket = (u64::BITS - ns.leading_zeros()).saturating_sub(8);
        let at = &self.words[histogram + bucket as usize * 128 + (ns >> bucket) as usize];
        at.store(at.load(Ordering::Relaxed) + 1, Ordering::Release); // no one else writes it
    }
}

fn count(counts: &[AtomicU32], row: usize) {
    if let Some(at) = counts.get(row) {
        at.store(at.load(Ordering::Relaxed).wrapping_add(1), Ordering::Release);
    }
}
