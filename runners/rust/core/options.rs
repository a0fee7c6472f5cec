use super::failure::{Outcome, fail};
use serde::Deserialize;
use serde_json::{Map, Value};

/// The path's coordinates and what the engine's instance adds, as `open` sends them.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub struct Options(Map<String, Value>);

impl Options {
    /// An option as text; `otherwise` where it is absent.
    pub fn get(&self, name: &str, otherwise: &str) -> String {
        match self.0.get(name) {
            None | Some(Value::Null) => otherwise.to_string(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        }
    }

    pub fn is(&self, name: &str, value: &str) -> bool {
        self.get(name, "") == value
    }

    /// Whether the connection is encrypted at least.
    pub fn encrypts(&self) -> bool {
        ["on", "verify-ca", "verify-full"].iter().any(|mode| self.is("tls", mode))
    }

    /// An option that must be there.
    pub fn need(&self, name: &str) -> Outcome<String> {
        match self.get(name, "") {
            empty if empty.is_empty() => Err(fail("connect", format!("the option {name} is missing"))),
            value => Ok(value),
        }
    }

    /// An option as a number; 0 where it is absent.
    pub fn number(&self, name: &str) -> u64 {
        self.get(name, "0").parse().unwrap_or(0)
    }

    /// The lines of `driver_settings`, each a name and its value.
    pub fn driver_settings(&self) -> Vec<(String, String)> {
        let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.to_string(), value.to_string()));
        self.get("driver_settings", "")
            .lines()
            .map(|line| pair(line).unwrap_or((line.to_string(), "".into())))
            .collect()
    }

    /// The port that must be there.
    pub fn port(&self) -> Outcome<u16> {
        self.need("port")?.parse().map_err(|_| fail("connect", "the port is no number"))
    }
}
