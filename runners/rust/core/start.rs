//! Start, requests and the end.
//!
//! The process has one thread, which answers requests and runs the loop: with a second one every lock of the C library
//! would cost more. A signal says that stdin has ended in the middle of a sample. Where `hello` requires client groups,
//! a second thread answers, because they are at work between requests.
use super::adapter::Adapter;
use super::client::work;
use super::clients::{Clients, Inboxes, Place};
use super::failure::{Outcome, fail};
use super::mailbox::{Mailbox, Sender};
use super::options::Options;
use super::pool::{Lending, Pool};
use super::request::asked;
use super::runtime::{MakesWork, Runtime, block_on};
use super::session::{Next, Serves, Session};
use std::cell::RefCell;
use std::fs::File;
use std::io::{BufRead, Write, stdin};
use std::os::fd::FromRawFd;
use std::process::exit;
use std::rc::Rc;
use std::sync::Arc;

// Linux's, which the crate libc lacks for glibc: who gets the signal of a descriptor.
const F_SETOWN_EX: libc::c_int = 15;
const F_OWNER_TID: libc::c_int = 0;

#[repr(C)]
struct Owner {
    kind: libc::c_int,
    pid: libc::pid_t,
}

type RuntimeFacts = Vec<(&'static str, String)>;

/// Which thread runs the loop.
pub enum LoopPlace {
    /// The one that answers requests.
    Here,
    /// The main thread, while another one answers.
    Main(Sender<Opening>),
}

/// Runs the clients that were opened.
type Opening = Box<dyn FnOnce() + Send>;
/// Makes what serves requests on a driver.
type Service = fn(&'static str, &Rc<LoopPlace>) -> Box<dyn Serves>;

fn owning<A: Adapter>(driver: &'static str, place: &Rc<LoopPlace>) -> Box<dyn Serves> {
    Box::new(Session::<A>::new(driver, "none", place.clone()))
}

/// What serves requests on connections that this pool lends.
pub fn lending<P: Pool>(driver: &'static str, place: &Rc<LoopPlace>) -> Box<dyn Serves> {
    Box::new(Session::<Lending<P>>::new(driver, P::NAME, place.clone()))
}

/// Serves requests until `bye` or the end of stdin, which ends the process at once.
pub fn serve<A: Adapter>(driver: &'static str) {
    serve_with_pools::<A>(driver, &[]);
}

/// The same, above which there are pools.
pub fn serve_with_pools<A: Adapter>(driver: &'static str, pools: &'static [Service]) {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments != ["--adapter", driver] {
        eprintln!("usage: RUNNER --adapter {driver}");
        exit(2);
    }
    // SAFETY: it takes numbers only.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
    let services = move |place: LoopPlace| {
        let place = Rc::new(place);
        [owning::<A> as Service].iter().chain(pools).map(|make| make(driver, &place)).collect()
    };
    let mut replies = private_stdout();
    answer(services(LoopPlace::Here), &mut replies);
    let opened = Arc::new(Mailbox::<Opening>::new());
    let openings = Sender::to(&opened);
    std::thread::spawn(move || answer(services(LoopPlace::Main(openings)), &mut replies));
    while let Some(run) = block_on(opened.next()) {
        run();
    }
}

/// Answers requests, until client groups need the main thread. What is opened decides who serves.
fn answer(mut services: Vec<Box<dyn Serves>>, replies: &mut File) {
    let mut at = 0;
    if let Err(problem) = watch_stdin() {
        eprintln!("stdin cannot be watched: {problem}");
        exit(1);
    }
    loop {
        let Some(asked) = asked(&read_line()) else { continue };
        if asked.kind == "open" && !services[at].is_open() {
            let pool = asked.request["options"]["pool"].as_str().unwrap_or("none");
            at = services.iter().position(|service| service.pool() == pool).unwrap_or(0);
        }
        let (reply, next) = services[at].answer(asked);
        if let Err(error) = replies.write_all(reply.as_bytes()) {
            eprintln!("the replies cannot be written: {error}");
            exit(1);
        }
        match next {
            Next::Request => {}
            Next::ClientGroups => return,
            Next::Bye => exit(0),
        }
    }
}

/// The next request; the end of stdin ends the process.
fn read_line() -> Vec<u8> {
    let mut line = Vec::new();
    match stdin().lock().read_until(b'\n', &mut line) {
        Ok(0) | Err(_) => exit(0),
        Ok(_) => line,
    }
}

extern "C" fn end_with_stdin(_: libc::c_int) {
    // SAFETY: a signal's handler may call each of these; `errno` is the thread's own, and left as it was.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let mut input = libc::pollfd { fd: 0, events: 0, revents: 0 };
        if libc::poll(&mut input, 1, 0) > 0 && input.revents & libc::POLLHUP != 0 {
            libc::_exit(0);
        }
        *errno = kept;
    }
}

/// Has a signal end the process with stdin, in the middle of a sample too. Only the calling thread gets it: clients'
/// and drivers' own threads are not interrupted.
fn watch_stdin() -> std::io::Result<()> {
    // SAFETY: `action` and `owner` are whole, and the kernel only reads them; the other calls take numbers.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = end_with_stdin;
        (action.sa_sigaction, action.sa_flags) = (handler as usize, libc::SA_RESTART);
        let owner = Owner { kind: F_OWNER_TID, pid: libc::gettid() };
        if libc::sigaction(libc::SIGIO, &action, std::ptr::null_mut()) < 0
            || libc::fcntl(0, F_SETOWN_EX, &owner) < 0
            || libc::fcntl(0, libc::F_SETFL, libc::fcntl(0, libc::F_GETFL) | libc::O_ASYNC) < 0
        {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(())
}

/// Runs the clients of one opening.
fn run<A: Adapter>(options: &Options, inboxes: Inboxes<A>, started: &Sender<Outcome<RuntimeFacts>>) {
    match A::Runtime::new(options) {
        Ok(mut runtime) => {
            started.send(Ok(runtime.facts()));
            runtime.start(clients_work(inboxes));
            runtime.finish();
        }
        Err(failure) => started.send(Err(failure)),
    }
}

impl LoopPlace {
    /// Clients that wait for work, and what decides about their runtime.
    pub fn open<A: Adapter>(&self, options: &Options) -> Outcome<(Clients<A>, RuntimeFacts)> {
        let count = Clients::<A>::wanted(options)?;
        let inboxes: Inboxes<A> = (0..count).map(|_| Arc::new(Mailbox::new())).collect();
        match self {
            LoopPlace::Here => {
                let mut runtime = A::Runtime::new(options)?;
                let facts = runtime.facts();
                runtime.start(clients_work(inboxes.clone()));
                Ok((Clients::new(inboxes, Place::Here(RefCell::new(runtime))), facts))
            }
            LoopPlace::Main(openings) => {
                let facts = Arc::new(Mailbox::new());
                let started = Sender::to(&facts);
                let (options, taken) = (options.clone(), inboxes.clone());
                openings.send(Box::new(move || run(&options, taken, &started)));
                let facts = block_on(facts.next());
                let facts = facts.unwrap_or_else(|| Err(fail("internal", "the loop's thread has ended")))?;
                Ok((Clients::new(inboxes, Place::Elsewhere), facts))
            }
        }
    }
}

fn clients_work<A: Adapter>(inboxes: Inboxes<A>) -> Vec<MakesWork> {
    inboxes.into_iter().map(|inbox| -> MakesWork { Box::new(move || Box::pin(work::<A>(inbox))) }).collect()
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
