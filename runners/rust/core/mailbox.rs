use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

/// What one thread sends to a future on another.
pub struct Mailbox<T>(Mutex<Content<T>>);

struct Content<T> {
    letters: VecDeque<T>,
    is_closed: bool,
    reader: Option<Waker>,
}

impl<T> Mailbox<T> {
    pub fn new() -> Mailbox<T> {
        Mailbox(Mutex::new(Content { letters: VecDeque::new(), is_closed: false, reader: None }))
    }

    pub fn send(&self, letter: T) {
        self.change(|content| content.letters.push_back(letter));
    }

    /// Nothing comes any longer.
    pub fn close(&self) {
        self.change(|content| content.is_closed = true);
    }

    fn change(&self, change: impl FnOnce(&mut Content<T>)) {
        let mut content = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut content);
        if let Some(reader) = content.reader.take() {
            reader.wake();
        }
    }

    /// The next letter; none once it is closed.
    pub async fn next(&self) -> Option<T> {
        std::future::poll_fn(|context| {
            let mut content = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            match content.letters.pop_front() {
                Some(letter) => Poll::Ready(Some(letter)),
                None if content.is_closed => Poll::Ready(None),
                None => {
                    content.reader = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// The sending side of a mailbox; without it nothing comes any longer.
pub struct Sender<T>(Arc<Mailbox<T>>);

impl<T> Sender<T> {
    pub fn to(mailbox: &Arc<Mailbox<T>>) -> Sender<T> {
        Sender(mailbox.clone())
    }

    pub fn send(&self, letter: T) {
        self.0.send(letter);
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.close();
    }
}
