use super::adapter::Adapter;
use super::client_groups::ClientGroups;
use super::clients::Clients;
use super::clock::{clock_read_ns, now_ns};
use super::failure::{Failure, Outcome, fail, unsupported};
use super::prepared_phase::PreparedPhase;
use super::reply::{self, Reply};
use super::request::{Asked, HelloRequest, OpenRequest, Request, shortened};
use super::start::LoopPlace;
use serde_json::Value;
use std::collections::HashMap;
use std::rc::Rc;

const REQUIREMENTS: [&str; 7] = ["touch", "digest", "load", "clients", "interrupt", "describe", CLIENT_GROUPS];
const NOT_WHILE_GROUPS_RUN: [&str; 5] = ["client-groups", "sample", "verify", "prepare", "close"];
const ON_CONNECTION: [&str; 7] = ["prepare", "client-groups", "run", "interrupt", "describe", "facts", "close"];

const CLIENT_GROUPS: &str = "client-groups";

/// What serves requests one after the other: on connections of the clients' own, or on those that a pool lends.
pub trait Serves {
    /// The coordinate `pool`.
    fn pool(&self) -> &'static str;
    fn is_open(&self) -> bool;
    /// The line that answers a request, and what follows.
    fn answer(&mut self, asked: Asked) -> (String, Next);
}

pub struct Session<A: Adapter> {
    pub driver: &'static str,
    pool: &'static str,
    pub place: Rc<LoopPlace>,
    pub phases: HashMap<String, PreparedPhase>,
    pub clients: Option<Clients<A>>,
    pub groups: Option<ClientGroups>,
    pub runtime_facts: Vec<(&'static str, String)>,
    pub next: Next,
}

/// What follows a request.
#[derive(Clone, Copy, PartialEq)]
pub enum Next {
    Request,
    /// Requests that another thread answers: client groups may be at work meanwhile.
    ClientGroups,
    Bye,
}

impl<A: Adapter> Serves for Session<A> {
    fn pool(&self) -> &'static str {
        self.pool
    }

    fn is_open(&self) -> bool {
        self.clients.is_some()
    }

    fn answer(&mut self, Asked { kind, id, request }: Asked) -> (String, Next) {
        let reply = reply::line(id, self.guarded(&kind, request));
        (reply, if kind == "bye" { Next::Bye } else { self.next })
    }
}

impl<A: Adapter> Session<A> {
    pub fn new(driver: &'static str, pool: &'static str, place: Rc<LoopPlace>) -> Session<A> {
        let (phases, runtime_facts, next) = (HashMap::new(), Vec::new(), Next::Request);
        Session { driver, pool, place, phases, clients: None, groups: None, runtime_facts, next }
    }

    fn guarded(&mut self, kind: &str, request: Value) -> Outcome<Reply> {
        if self.groups.is_some() && NOT_WHILE_GROUPS_RUN.contains(&kind) {
            return Err(fail("internal", format!("groups of clients are at work: no {kind} meanwhile")));
        }
        if self.clients.is_none() && ON_CONNECTION.contains(&kind) {
            return Err(fail("internal", "no connection is open"));
        }
        self.serve(Request::read(kind, request)?)
    }

    fn serve(&mut self, request: Request) -> Outcome<Reply> {
        match request {
            Request::Hello(asked) => self.hello(asked),
            Request::Open(asked) => self.open(asked),
            Request::Prepare(asked) => self.prepare(asked),
            Request::Sample(asked) => self.sample(asked),
            Request::Verify(asked) => self.verify(asked),
            Request::ClientGroups(asked) => self.begin_groups(asked),
            Request::ClientGroupsEnd => self.end_groups(),
            Request::Run(asked) => self.run(asked),
            Request::Load(asked) => self.load(asked),
            Request::Interrupt(asked) => self.interrupt(asked),
            Request::Describe(asked) => self.describe(asked),
            Request::Facts => self.facts(),
            Request::Close => self.close(),
            Request::Bye => self.bye(),
        }
    }

    fn hello(&mut self, asked: HelloRequest) -> Outcome<Reply> {
        if asked.protocol.first() != Some(&3) {
            return Err(unsupported(format!("the Rust runner speaks protocol 3, not {:?}", asked.protocol)));
        }
        if let Some(codec) = asked.codec.filter(|codec| *codec != 2) {
            return Err(unsupported(format!("the Rust runner has codec 2, not {codec}")));
        }
        if let Some(unknown) = asked.requires.iter().find(|name| !REQUIREMENTS.contains(&name.as_str())) {
            let text = format!("the Rust runner does not know the requirement {}", shortened(unknown));
            return Err(unsupported(text));
        }
        if asked.adapter != self.driver {
            let text = format!("this runner hosts {}, not {}", self.driver, shortened(&asked.adapter));
            return Err(unsupported(text));
        }
        let is_here = matches!(*self.place, LoopPlace::Here);
        if is_here && self.clients.is_none() && asked.requires.iter().any(|name| name == CLIENT_GROUPS) {
            self.next = Next::ClientGroups;
        }
        let pid = std::process::id();
        Ok(Reply::Hello {
            protocol: [3, 0],
            codec: 2,
            language: "rust",
            runner: "rowpath-rust 1.0",
            adapter: self.driver,
            pid,
            loop_tid: pid,
            clock_read_ns: clock_read_ns(),
        })
    }

    fn open(&mut self, asked: OpenRequest) -> Outcome<Reply> {
        if self.clients.is_some() {
            return Err(fail("internal", "a connection is open already"));
        }
        let pool = asked.options.get("pool", "none");
        if pool != self.pool {
            return Err(unsupported(format!("{} has no pool {}", self.driver, shortened(&pool))));
        }
        let (mut clients, facts) = self.place.open::<A>(&asked.options)?;
        let pid = clients
            .open(&asked.options)
            .and_then(|()| clients.first(async |client| client.adapter()?.server_pid().await));
        let pid = match pid {
            Ok(pid) => pid,
            Err(failure) => {
                let _ = clients.close(); // what failed first is reported
                return Err(failure);
            }
        };
        let reply = Reply::Open { connect_ns: clients.connect_ns, server_pid: pid };
        (self.clients, self.runtime_facts) = (Some(clients), facts);
        Ok(reply)
    }

    fn close(&mut self) -> Outcome<Reply> {
        let start = now_ns();
        self.phases.clear();
        match self.clients.take() {
            Some(clients) => clients.close()?,
            None => return Err(fail("internal", "no connection is open")),
        }
        Ok(Reply::Close { close_ns: now_ns() - start })
    }

    fn bye(&mut self) -> Outcome<Reply> {
        if self.clients.is_some() && self.groups.is_none() {
            return self.close(); // else their connections are in use: they go with us
        }
        Ok(Reply::Bye {})
    }

    pub fn clients(&self) -> Outcome<&Clients<A>> {
        self.clients.as_ref().ok_or_else(|| fail("internal", "no connection is open"))
    }

    pub fn prepared(&self, name: &str) -> Outcome<&PreparedPhase> {
        self.phases.get(name).ok_or_else(|| not_prepared(name))
    }
}

pub fn not_prepared(name: &str) -> Failure {
    fail("internal", format!("the phase {} is not prepared", shortened(name)))
}
