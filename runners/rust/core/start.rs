use super::adapter::Adapter;
use super::client::{Job, work};
use super::clients::Clients;
use super::failure::{Outcome, fail};
use super::mailbox::Mailbox;
use super::options::Options;
use super::runtime::{MakesWork, Runtime};
use super::session::Session;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, stdin};
use std::os::fd::FromRawFd;
use std::process::exit;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};

type RuntimeFacts = Vec<(&'static str, String)>;

/// Clients to be run from now on, on the thread that the loop is on.
pub struct Opening<A: Adapter> {
    options: Options,
    inboxes: Vec<Arc<Mailbox<Job<A>>>>,
    started: Sender<Outcome<RuntimeFacts>>,
}

/// Serves requests until `bye` or the end of stdin, which ends the process at once.
pub fn serve<A: Adapter>(driver: &'static str) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["--adapter", driver] {
        eprintln!("usage: RUNNER --adapter {driver}");
        exit(2);
    }
    // SAFETY: it takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let replies = private_stdout();
    let (lines, requests) = channel();
    let (openings, opened) = channel();
    std::thread::spawn(move || read(&lines));
    std::thread::spawn(move || {
        let mut session = Session::<A> {
            driver,
            openings,
            replies,
            phases: HashMap::new(),
            clients: None,
            groups: None,
            runtime_facts: Vec::new(),
        };
        while let Ok(line) = requests.recv() {
            if session.answer(&line) {
                exit(0);
            }
        }
    });
    run(&opened);
}

/// The loop's thread: the process's first. It runs the clients of one opening after the other.
fn run<A: Adapter>(opened: &Receiver<Opening<A>>) {
    while let Ok(opening) = opened.recv() {
        let runtime = match A::Runtime::new(&opening.options) {
            Ok(runtime) => runtime,
            Err(failure) => {
                let _ = opening.started.send(Err(failure));
                continue;
            }
        };
        let _ = opening.started.send(Ok(runtime.facts()));
        let make = |inbox| -> MakesWork { Box::new(move || Box::pin(work::<A>(inbox))) };
        runtime.run(opening.inboxes.into_iter().map(make).collect());
    }
}

impl<A: Adapter> Opening<A> {
    /// Clients that wait for work, and what decides about their runtime.
    pub fn of(openings: &Sender<Opening<A>>, options: &Options) -> Outcome<(Clients<A>, RuntimeFacts)> {
        let count = Clients::<A>::wanted(options)?;
        let inboxes: Vec<_> = (0..count).map(|_| Arc::new(Mailbox::new())).collect();
        let (started, facts) = channel();
        let _ = openings.send(Opening { options: options.clone(), inboxes: inboxes.clone(), started });
        let facts = facts.recv().unwrap_or_else(|_| Err(fail("internal", "the loop's thread has ended")))?;
        Ok((Clients::new(inboxes), facts))
    }
}

/// Hands over line by line; the end of stdin ends the process, in the middle of a sample too.
fn read(lines: &Sender<Vec<u8>>) {
    let mut input = stdin().lock();
    loop {
        let mut line = Vec::new();
        match input.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => exit(0),
            Ok(_) => {
                let _ = lines.send(line);
            }
        }
    }
}

/// Keeps stdout for replies; whatever else writes to descriptor 1 lands on stderr.
fn private_stdout() -> File {
    // SAFETY: it takes numbers only; the descriptor it makes is owned by nothing else.
    unsafe {
        let replies = libc::fcntl(1, libc::F_DUPFD_CLOEXEC, 3);
        if replies < 0 || libc::dup2(2, 1) < 0 {
            eprintln!("no private stdout");
            exit(1);
        }
        File::from_raw_fd(replies)
    }
}
