use super::clock::now_ns;
use super::failure::{Outcome, unsupported};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A request to have a long statement stopped.
#[derive(Clone, Debug, Deserialize)]
pub struct Interruption {
    /// `cancel` or `timeout`.
    pub kind: String,
    pub sql: String,
    pub after_ms: u64,
    pub most_ms: u64,
}

/// Whether the statement ended early with an error, when, and what is left of the connection.
#[derive(Debug, Serialize)]
pub struct Stopped {
    pub honoured: bool,
    pub took_ns: i64,
    pub usable: bool,
    pub text: String,
}

impl Interruption {
    /// Refuses behaviours other than these.
    pub fn expect(&self, kinds: &[&str], lacks: &str) -> Outcome<()> {
        if kinds.contains(&self.kind.as_str()) { Ok(()) } else { Err(unsupported(lacks)) }
    }

    pub fn after(&self) -> Duration {
        Duration::from_millis(self.after_ms)
    }

    pub fn most(&self) -> Duration {
        Duration::from_millis(self.most_ms)
    }
}

impl Stopped {
    /// What came of a statement that began at `start_ns`; `usable` is to be found out.
    pub fn of(result: Outcome<()>, start_ns: i64) -> Stopped {
        let took_ns = now_ns() - start_ns;
        let (honoured, text) = match result {
            Ok(()) => (false, "the statement came to its own end".to_string()),
            Err(failure) => (failure.kind() != "unsupported", failure.text().to_string()),
        };
        Stopped { honoured, took_ns, usable: false, text }
    }

    pub fn gave_up(start_ns: i64) -> Stopped {
        let text = "the statement went on".to_string();
        Stopped { honoured: false, took_ns: now_ns() - start_ns, usable: false, text }
    }

    pub fn with_usable(self, usable: bool) -> Stopped {
        Stopped { usable, ..self }
    }
}

/// Does it on another thread after a while.
pub fn after(wait: Duration, act: impl FnOnce() + Send + 'static) {
    std::thread::spawn(move || {
        std::thread::sleep(wait);
        act();
    });
}
