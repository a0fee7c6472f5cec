//! How long the event loop was blocked at most while clients of groups are at work on it.
use crate::core::Slot;
use std::cell::RefCell;
use std::time::Duration;
use tokio::task::spawn_local;
use tokio::time::{Instant, sleep_until};

/// How late a look is shows how long the loop was blocked: a block that begins between two looks is seen from the later
/// one on.
const LOOK: Duration = Duration::from_millis(10);

thread_local! {
    static WATCHED: RefCell<Watched> = RefCell::default();
}

/// The clients of a thread's loop.
#[derive(Default)]
struct Watched {
    slots: Vec<Slot>,
    due: Option<Instant>, // of the next look, while there is someone who looks
}

/// Watches for a client until it is dropped, which is a last look.
pub struct LoopWatch(Slot);

impl LoopWatch {
    pub fn begin(slot: Slot) -> LoopWatch {
        WATCHED.with_borrow_mut(|watched| {
            watched.slots.push(slot);
            if watched.due.is_none() {
                watched.due = Some(Instant::now() + LOOK);
                spawn_local(look());
            }
        });
        LoopWatch(slot)
    }
}

impl Drop for LoopWatch {
    fn drop(&mut self) {
        WATCHED.with_borrow_mut(|watched| {
            let late = watched.late();
            self.0.blocked(late);
            watched.slots.retain(|slot| !slot.is(&self.0));
        });
    }
}

impl Watched {
    fn late(&self) -> Duration {
        self.due.map_or(Duration::ZERO, |due| due.elapsed())
    }

    /// Notes how late a look is; when the next is due, if there is anyone to look for.
    fn note(&mut self) -> Option<Instant> {
        let late = self.late();
        for slot in &self.slots {
            slot.blocked(late);
        }
        self.due = (!self.slots.is_empty()).then(|| Instant::now() + LOOK);
        self.due
    }
}

async fn look() {
    let mut due = WATCHED.with_borrow(|watched| watched.due);
    while let Some(instant) = due {
        sleep_until(instant).await;
        due = WATCHED.with_borrow_mut(Watched::note);
    }
}
