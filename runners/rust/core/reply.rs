//! What replies say. They are written here, once for all programs: what is generic is compiled again for each adapter.
use super::adapter::Facts;
use super::client_groups::GroupReply;
use super::column::DescribedColumn;
use super::encoder::Digests;
use super::failure::{Outcome, fail};
use super::interruption::Stopped;
use super::sample_reply::SampleReply;
use serde::Serialize;
use serde_json::{Value, json};

#[derive(Serialize)]
#[serde(untagged)]
pub enum Reply {
    Hello {
        protocol: [i64; 2],
        codec: i64,
        language: &'static str,
        runner: &'static str,
        adapter: &'static str,
        pid: u32,
        loop_tid: u32,
        clock_read_ns: f64,
    },
    Open {
        connect_ns: i64,
        server_pid: Option<i64>,
    },
    Prepare {
        prepare_ns: i64,
        parameters: usize,
    },
    Sample(Box<SampleReply>),
    Verify {
        #[serde(flatten)]
        digests: Digests,
        rows: i64,
        touch: String,
        operations: i64,
        delivered: Vec<&'static str>,
        converted: Vec<String>,
    },
    ClientGroups {
        clients: usize,
    },
    ClientGroupsEnd {
        client_groups: Vec<GroupReply>,
    },
    Run {
        ns: Vec<i64>,
    },
    Load {
        rows: usize,
        ns: i64,
    },
    Interrupt(Stopped),
    Describe {
        columns: Vec<DescribedColumn>,
    },
    Facts(Box<Facts>),
    Close {
        close_ns: i64,
    },
    Bye {},
}

/// The line that answers the request of that number.
pub fn line(id: Value, outcome: Outcome<Reply>) -> String {
    let written = outcome.and_then(|reply| serde_json::to_value(reply).map_err(|error| fail("internal", error)));
    let mut reply = written.unwrap_or_else(|failure| json!({ "error": failure }));
    reply["id"] = id;
    format!("{reply}\n")
}
