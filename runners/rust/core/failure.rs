use serde::Serialize;
use std::fmt;

/// An error with the protocol's kind and the driver's own code; an empty code means none.
#[derive(Clone, Debug, Serialize)]
#[serde(transparent)]
pub struct Failure(Box<Parts>);

#[derive(Clone, Debug, Serialize)]
struct Parts {
    kind: &'static str,
    code: String,
    text: String,
}

/// What may fail.
pub type Outcome<T> = Result<T, Failure>;

/// A failure of that kind without a code.
pub fn fail(kind: &'static str, text: impl fmt::Display) -> Failure {
    Failure::with_code(kind, "", text)
}

/// The failure that is a result: what the path lacks, for people.
pub fn unsupported(text: impl fmt::Display) -> Failure {
    fail("unsupported", text)
}

/// Why a row's usual way leaves a value to its `natural`, which delivers whatever there is: nobody reads it.
#[cold]
pub fn unusual() -> Failure {
    Failure(Box::new(Parts { kind: "verify", code: String::new(), text: String::new() }))
}

impl Failure {
    /// A failure with the driver's own code.
    pub fn with_code(kind: &'static str, code: impl Into<String>, text: impl fmt::Display) -> Failure {
        let text = printable(&text.to_string());
        Failure(Box::new(Parts { kind, code: code.into(), text }))
    }

    /// The same with the name of the column under way.
    #[cold]
    pub fn in_column(self, name: &str) -> Failure {
        let text = format!("column {name}: {}", self.text());
        Failure::with_code(self.0.kind, self.0.code, text)
    }

    /// The same, of kind `connect` where it only is one of the statement.
    pub fn on_connecting(mut self) -> Failure {
        if self.0.kind == "sql" {
            self.0.kind = "connect";
        }
        self
    }

    pub fn kind(&self) -> &'static str {
        self.0.kind
    }

    pub fn code(&self) -> &str {
        &self.0.code
    }

    pub fn text(&self) -> &str {
        &self.0.text
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, to: &mut fmt::Formatter) -> fmt::Result {
        to.write_str(self.text())
    }
}

impl std::error::Error for Failure {}

fn printable(text: &str) -> String {
    let words: Vec<&str> = text.split(char::is_control).filter(|word| !word.is_empty()).collect();
    words.join(" ").trim().to_string()
}
