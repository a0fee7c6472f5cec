use super::clock::now_ns;
use super::encoder::Encoder;
use super::failure::Outcome;

/// What the operations of a sample delivered.
#[derive(Default)]
pub struct Counters {
    pub rows: i64,
    pub touch: i64,
    /// Kind `connect`: time to connect and log in.
    pub connect_ns: i64,
    pub(super) encoder: Option<Encoder>, // of verify only
    pub(super) stamps: bool,
    pub(super) execute_ns: i64,
    pub(super) first_row_ns: i64,
    pub(super) borrow_ns: i64,
    pub(super) return_ns: i64,
    borrowed_ns: i64, // of the operation under way: when its connection came
    worked_ns: i64,   // when the work on it had ended
    start_ns: i64,
    before: [i64; 5],
}

impl Counters {
    /// To be called as soon as the driver's execute has returned.
    #[inline]
    pub fn executed(&mut self) {
        if self.stamps {
            self.execute_ns += now_ns() - self.start_ns;
        }
    }

    #[inline]
    pub(super) fn took(&mut self, first: bool, rows: i64, touch: i64) {
        self.rows += rows;
        self.touch = self.touch.wrapping_add(touch);
        if first && self.stamps {
            self.first_row_ns += now_ns() - self.start_ns;
        }
    }

    #[inline]
    pub(super) fn begin(&mut self, start_ns: i64) {
        self.start_ns = start_ns;
        self.before = [self.rows, self.touch, self.connect_ns, self.execute_ns, self.first_row_ns];
    }

    /// A pool has lent a connection to the operation under way.
    #[inline]
    pub(super) fn borrowed(&mut self) {
        self.borrowed_ns = now_ns();
    }

    /// The connection is about to be returned.
    #[inline]
    pub(super) fn worked(&mut self) {
        self.worked_ns = now_ns();
    }

    /// An operation that borrowed has succeeded, and returned its connection.
    #[inline]
    pub(super) fn returned(&mut self, now_ns: i64) {
        self.borrow_ns += self.borrowed_ns - self.start_ns;
        self.return_ns += now_ns - self.worked_ns;
    }

    /// Whether no row of the operation under way was taken yet.
    #[inline]
    pub(super) fn at_first_row(&self) -> bool {
        self.rows == self.before[0]
    }

    /// Forgets the operation under way: a failed one is never part of a result.
    pub(super) fn undo(&mut self) {
        [self.rows, self.touch, self.connect_ns, self.execute_ns, self.first_row_ns] = self.before;
    }

    pub(super) fn reset(&mut self) {
        self.before = [0; 5];
        (self.borrow_ns, self.return_ns) = (0, 0);
        self.undo();
    }

    /// Refuses a result with more or fewer columns than declared.
    pub fn expect(&self, came: usize) -> Outcome<()> {
        self.encoder.as_ref().map_or(Ok(()), |encoder| encoder.expect(came))
    }
}
