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
