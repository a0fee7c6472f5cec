use serde::{Deserialize, Serialize};

/// A column's declared logical type (docs/codec.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Type {
    Integer,
    Decimal,
    Float32,
    Float64,
    Boolean,
    Char,
    Varchar,
    Text,
    Json,
    Binary,
    Date,
    Time,
    Timestamp,
    Timestamptz,
    Interval,
    Uuid,
    Array,
    Opaque,
}

/// One column by its declared logical type; `bits` is an integer's width (16, 32, 64).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Type,
    #[serde(default)]
    pub length: i64,
    #[serde(default)]
    pub precision: i64,
    #[serde(default)]
    pub scale: i64,
    #[serde(default = "usual_bits")]
    pub bits: u8,
    #[serde(default)]
    pub nullable: bool,
}

impl Column {
    /// What Rust has of its own for a number, a flag or an array.
    pub fn rust_type(&self) -> Option<&'static str> {
        Some(match (self.kind, self.bits) {
            (Type::Integer, 16) => "i16",
            (Type::Integer, 32) => "i32",
            (Type::Integer, _) => "i64",
            (Type::Float32, _) => "f32",
            (Type::Float64, _) => "f64",
            (Type::Boolean, _) => "bool",
            (Type::Array, 16) => "Vec<Option<i16>>",
            (Type::Array, 32) => "Vec<Option<i32>>",
            (Type::Array, _) => "Vec<Option<i64>>",
            _ => return None,
        })
    }
}

fn usual_bits() -> u8 {
    32
}

/// A column that no workload declares, with the engine's own name of its type.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedColumn {
    #[serde(flatten)]
    pub column: Column,
    pub engine_type: String,
}
