//! What requests say. They are read here, once for all programs: what is generic is compiled again for each adapter.
use super::client_groups::GroupsRequest;
use super::failure::{Outcome, fail, unsupported};
use super::interruption::Interruption;
use super::options::Options;
use super::phase::Phase;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// A line's request, of a type that may be unknown.
pub struct Asked {
    pub kind: String,
    pub id: Value,
    pub request: Value,
}

/// What a line asks for; none where it is no request, which stderr gets.
pub fn asked(line: &[u8]) -> Option<Asked> {
    let request: Value = serde_json::from_slice(line).map_err(|error| eprintln!("not a request: {error}")).ok()?;
    let kind = request["type"].as_str().unwrap_or("").to_string();
    Some(Asked { kind, id: request["id"].clone(), request })
}

pub enum Request {
    Hello(HelloRequest),
    Open(OpenRequest),
    Prepare(PrepareRequest),
    Sample(SampleRequest),
    Verify(VerifyRequest),
    ClientGroups(GroupsRequest),
    ClientGroupsEnd,
    Run(RunRequest),
    Load(LoadRequest),
    Interrupt(Interruption),
    Describe(DescribeRequest),
    Facts,
    Close,
    Bye,
}

impl Request {
    /// The request of that type.
    pub fn read(kind: &str, request: Value) -> Outcome<Request> {
        Ok(match kind {
            "hello" => Request::Hello(given(request)?),
            "open" => Request::Open(given(request)?),
            "prepare" => Request::Prepare(given(request)?),
            "sample" => Request::Sample(given(request)?),
            "verify" => Request::Verify(given(request)?),
            "client-groups" => Request::ClientGroups(given(request)?),
            "client-groups-end" => Request::ClientGroupsEnd,
            "run" => Request::Run(given(request)?),
            "load" => Request::Load(given(request)?),
            "interrupt" => Request::Interrupt(given(request)?),
            "describe" => Request::Describe(given(request)?),
            "facts" => Request::Facts,
            "close" => Request::Close,
            "bye" => Request::Bye,
            _ => {
                let text = format!("the Rust runner does not know requests of type {}", shortened(kind));
                return Err(unsupported(text));
            }
        })
    }
}

#[derive(Deserialize)]
pub struct HelloRequest {
    pub protocol: Vec<i64>,
    pub codec: Option<i64>,
    #[serde(default)]
    pub requires: Vec<String>,
    pub adapter: String,
}

#[derive(Deserialize)]
pub struct OpenRequest {
    pub options: Options,
}

#[derive(Deserialize)]
pub struct PrepareRequest {
    pub phase: Phase,
    pub parameters: Option<Parameters>,
}

#[derive(Deserialize)]
pub struct Parameters {
    pub file: String,
    pub first: usize,
    pub count: usize,
}

#[derive(Deserialize)]
pub struct SampleRequest {
    pub phase: String,
    #[serde(default)]
    pub lead_in_ns: i64,
    #[serde(default)]
    pub duration_ns: i64,
    #[serde(default)]
    pub operations: i64,
    #[serde(default = "go_on")]
    pub first: i64,
}

fn go_on() -> i64 {
    -1
}

#[derive(Deserialize)]
pub struct VerifyRequest {
    pub phase: String,
    pub first: i64,
    #[serde(default = "one")]
    pub count: i64,
    #[serde(default = "usual_rows")]
    pub max_rows: u64,
    #[serde(default)]
    pub keep: String,
}

fn one() -> i64 {
    1
}

fn usual_rows() -> u64 {
    200_000
}

#[derive(Deserialize)]
pub struct RunRequest {
    pub statements: Vec<String>,
    #[serde(default)]
    pub ignore_errors: bool,
}

#[derive(Deserialize)]
pub struct LoadRequest {
    pub phase: String,
    pub first: usize,
    pub count: usize,
}

#[derive(Deserialize)]
pub struct DescribeRequest {
    pub sql: String,
}

fn given<T: DeserializeOwned>(request: Value) -> Outcome<T> {
    serde_json::from_value(request).map_err(|error| {
        let text = error.to_string();
        let kind = if text.contains("unknown variant") { "unsupported" } else { "internal" }; // a type we lack
        fail(kind, format!("a request that does not fit: {text}"))
    })
}

pub fn shortened(text: &str) -> String {
    text.chars().take(100).collect()
}
