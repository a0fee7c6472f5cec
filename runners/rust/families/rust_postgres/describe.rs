//! The columns of a query, which is prepared and not executed (PostgreSQL's manual, RowDescription).
use crate::core::{Column, DescribedColumn, Type};
use tokio_postgres::types::{Kind, Type as Engine};

/// The engine's own name of a type ($1) with its modifier ($2).
pub const OF_TYPES: &str = "SELECT format_type($1, $2)";

const HEADER: i32 = 4; // what a length or a precision is counted from in a type modifier

/// The column of a prepared statement.
pub fn column(field: &tokio_postgres::Column, engine_type: String) -> DescribedColumn {
    let (kind, bits) = kind_of(field.type_());
    let name = field.name().to_string();
    let column = Column { name, kind, length: 0, precision: 0, scale: 0, bits, nullable: true };
    DescribedColumn { column: sized(column, i64::from(field.type_modifier() - HEADER)), engine_type }
}

fn kind_of(engine: &Engine) -> (Type, u8) {
    match *engine {
        Engine::BOOL => (Type::Boolean, 32),
        Engine::INT2 => (Type::Integer, 16),
        Engine::INT4 => (Type::Integer, 32),
        Engine::INT8 => (Type::Integer, 64),
        Engine::FLOAT4 => (Type::Float32, 32),
        Engine::FLOAT8 => (Type::Float64, 32),
        Engine::TEXT | Engine::NAME | Engine::UNKNOWN => (Type::Text, 32),
        Engine::JSON | Engine::JSONB => (Type::Json, 32),
        Engine::BYTEA => (Type::Binary, 32),
        Engine::DATE => (Type::Date, 32),
        Engine::TIME => (Type::Time, 32),
        Engine::TIMESTAMP => (Type::Timestamp, 32),
        Engine::TIMESTAMPTZ => (Type::Timestamptz, 32),
        Engine::INTERVAL => (Type::Interval, 32),
        Engine::UUID => (Type::Uuid, 32),
        Engine::INT2_ARRAY => (Type::Array, 16),
        Engine::INT4_ARRAY => (Type::Array, 32),
        Engine::INT8_ARRAY => (Type::Array, 64),
        Engine::BPCHAR => (Type::Char, 32),
        Engine::VARCHAR => (Type::Varchar, 32),
        Engine::NUMERIC => (Type::Decimal, 32),
        _ if matches!(engine.kind(), Kind::Enum(_)) => (Type::Text, 32),
        _ => (Type::Opaque, 32),
    }
}

/// With what a type's modifier says: a length, or 16 bits of precision above 11 of scale.
fn sized(mut column: Column, modifier: i64) -> Column {
    match column.kind {
        _ if modifier < 0 => {}
        Type::Char | Type::Varchar => column.length = modifier,
        Type::Decimal => {
            column.scale = ((modifier & 0x7FF) ^ 1024) - 1024;
            column.precision = (modifier >> 16).max(column.scale) - column.scale.min(0);
            column.scale = column.scale.max(0);
        }
        _ => {}
    }
    column
}
