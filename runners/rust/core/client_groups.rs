use super::adapter::Adapter;
use super::clients::{Clients, Result};
use super::failure::{Failure, Outcome, fail, unsupported};
use super::group_client::GroupClient;
use super::prepared_phase::PreparedPhase;
use super::runtime::Runtime;
use super::sample_reply::hex;
use super::shared_counters::SharedCounters;
use serde::{Deserialize, Serialize};

const MOST_FAILURES_TOLD: usize = 16;

#[derive(Deserialize)]
pub struct GroupRequest {
    name: String,
    pub phase: String,
    first_client: usize,
    pub clients: usize,
    pub pacing: String,
    #[serde(default)]
    dispatch: String,
    #[serde(default)]
    pub rate_per_s: f64,
    #[serde(default)]
    pub seed: i64,
    #[serde(default)]
    pub operations: i64,
    #[serde(default)]
    pub pause_ns: i64,
    #[serde(default)]
    pub spin_ns: i64,
    control: usize,
    slots: usize,
    slot_bytes: usize,
    #[serde(default)]
    acknowledged: usize,
}

#[derive(Deserialize)]
pub struct GroupsRequest {
    shared_counters: String,
    client_groups: Vec<GroupRequest>,
}

/// Several groups at work at once.
pub struct ClientGroups(Vec<Group>);

struct Group {
    name: String,
    columns: i64,
    own_threads: bool,
    clients: Vec<Result<GroupClient>>,
}

/// What a group did.
#[derive(Default, Serialize)]
pub struct GroupReply {
    name: String,
    operations: i64,
    failed: i64,
    failures: Vec<CountedFailure>,
    rows: i64,
    values: i64,
    touch: String,
    begun_ns: i64,
    ended_ns: i64,
    cpu_ns: i64,
    clients: Vec<ClientReply>,
}

#[derive(Serialize)]
struct ClientReply {
    first: usize,
    rows_of_its_own: usize,
    operations: i64,
    failed: i64,
}

/// Failures of one kind and code.
#[derive(Serialize)]
pub struct CountedFailure {
    #[serde(flatten)]
    failure: CountedParts,
    count: i64,
}

#[derive(Serialize)]
struct CountedParts {
    kind: &'static str,
    code: String,
    text: String,
}

impl ClientGroups {
    /// Has all clients wait for their groups' begin.
    pub fn begin<'a, A: Adapter>(
        asked: GroupsRequest,
        clients: &Clients<A>,
        phases: impl Fn(&str) -> Outcome<&'a PreparedPhase>,
    ) -> Outcome<ClientGroups> {
        let shared = SharedCounters::map(&asked.shared_counters)?;
        let mut taken = vec![false; clients.count()];
        let mut ready = Vec::new();
        for one in &asked.client_groups {
            take(&mut taken, one)?;
            ready.push(group_clients(one, phases(&one.phase)?, &shared)?);
        }
        let begin = |(one, group): (&GroupRequest, Vec<GroupClient>)| {
            Ok(Group {
                name: one.name.clone(),
                columns: phases(&one.phase)?.phase.columns.len() as i64,
                own_threads: A::Runtime::OWN_THREADS,
                clients: group
                    .into_iter()
                    .enumerate()
                    .map(|(at, client)| {
                        client.comes();
                        clients.begin(one.first_client + at, async move |of| client.run(of).await)
                    })
                    .collect(),
            })
        };
        asked.client_groups.iter().zip(ready).map(begin).collect::<Outcome<_>>().map(ClientGroups)
    }

    /// How many clients are at work.
    pub fn clients(&self) -> usize {
        self.0.iter().map(|group| group.clients.len()).sum()
    }

    /// Waits until every client is done: what each group did.
    pub fn end<A: Adapter>(self, clients: &Clients<A>) -> Outcome<Vec<GroupReply>> {
        self.0.into_iter().map(|group| group.end(clients)).collect()
    }
}

fn take(taken: &mut [bool], asked: &GroupRequest) -> Outcome<()> {
    for client in asked.first_client..asked.first_client + asked.clients {
        match taken.get_mut(client) {
            Some(is_taken) if !*is_taken => *is_taken = true,
            _ => return Err(fail("internal", format!("client {client} is not there, or in two groups at once"))),
        }
    }
    Ok(())
}

fn group_clients(asked: &GroupRequest, prepared: &PreparedPhase, shared: &SharedCounters) -> Outcome<Vec<GroupClient>> {
    let kind = &prepared.phase.kind;
    if !matches!(kind.as_str(), "query" | "execute" | "null") {
        return Err(unsupported(format!("no group does operations of kind {kind}")));
    }
    if prepared.phase.pipeline > 0 {
        return Err(unsupported("a group's clients send no pipelines"));
    }
    if asked.dispatch == "shared" {
        return Err(unsupported("clients have no shared dispatch here"));
    }
    let rows = prepared.operations as usize;
    let one = |client| {
        let at = asked.slots + client * asked.slot_bytes;
        let slot = shared.slot(asked.control, at, asked.slot_bytes, asked.acknowledged, rows)?;
        GroupClient::new(asked, client, rows, slot)
    };
    (0..asked.clients).map(one).collect()
}

impl Group {
    fn end<A: Adapter>(self, clients: &Clients<A>) -> Outcome<GroupReply> {
        let mut reply = GroupReply { name: self.name, ..GroupReply::default() };
        let mut touch = 0_i64;
        for client in self.clients {
            let client = clients.came(client)?;
            touch = touch.wrapping_add(client.counters.touch);
            // Of clients that share threads each has the CPU time of all.
            let cpu_ns = if self.own_threads { reply.cpu_ns + client.cpu_ns } else { reply.cpu_ns.max(client.cpu_ns) };
            reply.cpu_ns = cpu_ns;
            reply.add(client);
        }
        reply.values = reply.rows * self.columns;
        reply.touch = hex(touch);
        reply.failures.sort_by_key(|failure| -failure.count);
        reply.failures.truncate(MOST_FAILURES_TOLD);
        Ok(reply)
    }
}

impl GroupReply {
    fn add(&mut self, client: GroupClient) {
        self.operations += client.operations;
        self.failed += client.failed;
        self.rows += client.counters.rows;
        if client.begun_ns > 0 && (self.begun_ns == 0 || client.begun_ns < self.begun_ns) {
            self.begun_ns = client.begun_ns;
        }
        self.ended_ns = self.ended_ns.max(client.ended_ns);
        let GroupClient { first, rows_of_its_own, operations, failed, .. } = client;
        self.clients.push(ClientReply { first, rows_of_its_own, operations, failed });
        for CountedFailure { failure: CountedParts { kind, code, text }, count } in client.failures {
            counted(&mut self.failures, Failure::with_code(kind, code, text), count);
        }
    }
}

/// Adds failures of one kind and code to those known.
pub fn counted(known: &mut Vec<CountedFailure>, failure: Failure, count: i64) {
    let same = |each: &&mut CountedFailure| each.failure.kind == failure.kind() && each.failure.code == failure.code();
    match known.iter_mut().find(same) {
        Some(each) => each.count += count,
        None => {
            let (kind, code, text) = (failure.kind(), failure.code().to_string(), failure.text().to_string());
            known.push(CountedFailure { failure: CountedParts { kind, code, text }, count });
        }
    }
}
