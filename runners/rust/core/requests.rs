use super::adapter::{Adapter, Facts};
use super::client_groups::{ClientGroups, GroupsRequest};
use super::clock::now_ns;
use super::decoder::read_rows;
use super::encoder::Encoder;
use super::failure::{Outcome, fail, unsupported};
use super::interruption::Interruption;
use super::reply::Reply;
use super::request::{DescribeRequest, LoadRequest, PrepareRequest, RunRequest, SampleRequest, VerifyRequest};
use super::runtime::Runtime;
use super::sample_reply::hex;
use super::session::{Session, not_prepared};
use super::start::LoopPlace;
use std::sync::Arc;

impl<A: Adapter> Session<A> {
    pub fn prepare(&mut self, asked: PrepareRequest) -> Outcome<Reply> {
        let mut phase = asked.phase;
        let rows = match asked.parameters {
            Some(slice) => read_rows(&slice.file, &phase.parameter_columns, slice.first, slice.count)?,
            None => Vec::new(),
        };
        let (name, parameters) = (phase.name.clone(), rows.len());
        phase.pipelined(self.clients()?.pipeline, parameters)?;
        if self.phases.remove(&name).is_some() {
            self.clients()?.forget(&name)?;
        }
        let prepared = self.clients()?.prepare(Arc::new(phase), Arc::new(rows))?;
        let prepare_ns = prepared.prepare_ns;
        self.phases.insert(name, prepared);
        Ok(Reply::Prepare { prepare_ns, parameters })
    }

    pub fn sample(&mut self, asked: SampleRequest) -> Outcome<Reply> {
        let prepared = self.phases.get_mut(&asked.phase).ok_or_else(|| not_prepared(&asked.phase))?;
        let clients = self.clients.as_ref().ok_or_else(|| fail("internal", "no connection is open"))?;
        clients.sample(prepared, &asked).map(|reply| Reply::Sample(Box::new(reply)))
    }

    pub fn verify(&mut self, asked: VerifyRequest) -> Outcome<Reply> {
        let columns = self.prepared(&asked.phase)?.phase.columns.clone();
        let encoder = Encoder::new(columns.clone(), asked.max_rows, &asked.keep)?;
        let (phase, first, count) = (asked.phase, asked.first, asked.count);
        let (proven, delivered) = self.clients()?.first(async move |client| {
            let (adapter, sampler) = client.ready(&phase)?;
            let proven = sampler.verify(adapter, first, count, encoder).await?;
            let delivered: Vec<_> =
                columns.iter().map(|column| (column.name.clone(), adapter.delivers(column))).collect();
            Ok((proven, delivered))
        })?;
        let names = delivered.iter().map(|(_, type_)| type_.name).collect();
        let converted = delivered.into_iter().filter(|(_, type_)| type_.converted).map(|(name, _)| name).collect();
        Ok(Reply::Verify {
            digests: proven.digests,
            rows: proven.rows,
            touch: hex(proven.touch),
            operations: asked.count,
            delivered: names,
            converted,
        })
    }

    pub fn begin_groups(&mut self, asked: GroupsRequest) -> Outcome<Reply> {
        if matches!(*self.place, LoopPlace::Here) {
            return Err(unsupported("the Rust runner has client groups only where hello requires client-groups"));
        }
        let groups = ClientGroups::begin(asked, self.clients()?, |name| self.prepared(name))?;
        let clients = groups.clients();
        self.groups = Some(groups);
        Ok(Reply::ClientGroups { clients })
    }

    pub fn end_groups(&mut self) -> Outcome<Reply> {
        let groups = self.groups.take().ok_or_else(|| fail("internal", "no groups of clients are at work"))?;
        Ok(Reply::ClientGroupsEnd { client_groups: groups.end(self.clients()?)? })
    }

    pub fn run(&mut self, asked: RunRequest) -> Outcome<Reply> {
        let ns = self.clients()?.first(async move |client| {
            let adapter = client.adapter()?;
            let mut ns = Vec::new();
            for statement in &asked.statements {
                let start = now_ns();
                let done = adapter.run(statement).await;
                if !asked.ignore_errors {
                    done?;
                }
                ns.push(now_ns() - start);
            }
            Ok(ns)
        })?;
        Ok(Reply::Run { ns })
    }

    pub fn load(&mut self, asked: LoadRequest) -> Outcome<Reply> {
        let prepared = self.prepared(&asked.phase)?;
        let (phase, rows) = (prepared.phase.clone(), prepared.rows.clone());
        if asked.first + asked.count > rows.len() {
            return Err(fail("internal", format!("{} rows are prepared", rows.len())));
        }
        let ns = self.clients()?.first(async move |client| {
            let start = now_ns();
            client.adapter()?.load(&phase, &rows, asked.first, asked.count).await?;
            Ok(now_ns() - start)
        })?;
        Ok(Reply::Load { rows: asked.count, ns })
    }

    pub fn interrupt(&mut self, asked: Interruption) -> Outcome<Reply> {
        self.clients()?.first(async move |client| client.adapter()?.interrupt(&asked).await).map(Reply::Interrupt)
    }

    pub fn describe(&mut self, asked: DescribeRequest) -> Outcome<Reply> {
        let columns = self.clients()?.first(async move |client| client.adapter()?.describe(&asked.sql).await)?;
        Ok(Reply::Describe { columns })
    }

    pub fn facts(&mut self) -> Outcome<Reply> {
        let clients = self.clients()?;
        let mut facts = Facts::default();
        let mut set = |name: &str, value: &str| facts.settings.insert(name.into(), value.into());
        set("clients", &clients.count().to_string());
        set("allocator", "system");
        set("profile", "release");
        if clients.count() > 1 {
            set("concurrency", A::Runtime::CONCURRENCY);
            if !A::Runtime::OWN_THREADS {
                set("cpu_of_clients", "all threads of the process, together: a task has none of its own");
            }
        }
        for (name, value) in &self.runtime_facts {
            set(name, value);
        }
        let mut facts = clients.first(async move |client| {
            client.adapter()?.facts(&mut facts).await?;
            Ok(facts)
        })?;
        facts.runtime = env!("ROWPATH_RUSTC").to_string();
        Ok(Reply::Facts(Box::new(facts)))
    }
}
