use serde::{Deserialize, Serialize};
use std::sync::LazyLock;

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
    Bits,
    Date,
    Time,
    Timetz,
    Timestamp,
    Timestamptz,
    Interval,
    Uuid,
    Array,
    Struct,
    Map,
    Rows,
    Any,
    Opaque,
}

/// One column by its declared logical type; `bits` is an integer's width (16, 32, 64, 128).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    #[serde(rename = "type")]
    pub kind: Type,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub length: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub precision: i64,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scale: i64,
    #[serde(default = "usual_bits", skip_serializing_if = "is_usual_bits")]
    pub bits: u8,
    #[serde(default)]
    pub nullable: bool,
    /// The element of an array, the members of a structure, key and value of a map, the columns of nested rows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Column>,
    #[serde(flatten)]
    pub cut: Cut,
}

/// To what a column's times and arrays are cut, so that they compare with those of other paths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cut {
    #[serde(default = "one", skip_serializing_if = "is_one")]
    pub unit_ns: i64,
    #[serde(default, skip_serializing_if = "is_false")]
    pub rounded: bool,
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    pub bounds: bool,
}

impl Column {
    /// A column that may be NULL, of which no more is known.
    pub fn new(name: impl Into<String>, kind: Type) -> Column {
        let cut = Cut { unit_ns: 1, rounded: false, bounds: true };
        let (length, precision, scale, fields) = (0, 0, 0, Vec::new());
        Column { name: name.into(), kind, length, precision, scale, bits: usual_bits(), nullable: true, fields, cut }
    }

    /// The same with an integer's width.
    pub fn of_bits(self, bits: u8) -> Column {
        Column { bits, ..self }
    }

    /// An array of such elements; of elements that are not compared, not compared itself.
    pub fn array_of(name: impl Into<String>, element: Column) -> Column {
        let kind = if element.kind == Type::Opaque { Type::Opaque } else { Type::Array };
        let mut column = Column::new(name, kind);
        if kind == Type::Array {
            column.fields = vec![Column { name: String::new(), ..element }];
        }
        column
    }

    /// What an array's elements are declared as; in a column of any type each is of its own.
    pub fn element(&self) -> &Column {
        if self.kind == Type::Any {
            return self;
        }
        static OF_BITS: LazyLock<[(u8, Column); 4]> =
            LazyLock::new(|| [16, 32, 64, 128].map(|bits| (bits, Column::new("", Type::Integer).of_bits(bits))));
        let integers = || OF_BITS.iter().find(|(bits, _)| *bits == self.bits).map_or(&OF_BITS[1].1, |(_, one)| one);
        self.fields.first().unwrap_or_else(integers)
    }

    /// What Rust has of its own for a number, a flag or an array of integers.
    pub fn rust_type(&self) -> Option<&'static str> {
        Some(match (self.kind, self.bits) {
            (Type::Integer, 16) => "i16",
            (Type::Integer, 32) => "i32",
            (Type::Integer, _) => "i64",
            (Type::Float32, _) => "f32",
            (Type::Float64, _) => "f64",
            (Type::Boolean, _) => "bool",
            (Type::Array, _) => match self.integer_bits()? {
                16 => "Vec<Option<i16>>",
                32 => "Vec<Option<i32>>",
                _ => "Vec<Option<i64>>",
            },
            _ => return None,
        })
    }

    /// The width of an array's integers; none where its elements are something else.
    pub fn integer_bits(&self) -> Option<u8> {
        match self.fields.first() {
            None => Some(self.bits),
            Some(element) => (element.kind == Type::Integer).then_some(element.bits),
        }
    }
}

impl Type {
    /// Whether it is text of some kind.
    pub fn is_text(self) -> bool {
        matches!(self, Type::Char | Type::Varchar | Type::Text | Type::Json)
    }

    /// Whether its values hold others.
    pub fn is_nested(self) -> bool {
        matches!(self, Type::Array | Type::Struct | Type::Map | Type::Rows)
    }
}

fn usual_bits() -> u8 {
    32
}

fn is_usual_bits(bits: &u8) -> bool {
    *bits == usual_bits()
}

fn one() -> i64 {
    1
}

fn is_one(value: &i64) -> bool {
    *value == 1
}

fn is_zero(value: &i64) -> bool {
    *value == 0
}

fn yes() -> bool {
    true
}

fn is_true(value: &bool) -> bool {
    *value
}

fn is_false(value: &bool) -> bool {
    !*value
}

/// A column that no workload declares, with the engine's own name of its type.
#[derive(Clone, Debug, Serialize)]
pub struct DescribedColumn {
    #[serde(flatten)]
    pub column: Column,
    pub engine_type: String,
}
