//! The columns of a query, which is prepared and not executed (PostgreSQL's manual, RowDescription).
use crate::core::{Column, DescribedColumn, Type};
use tokio_postgres::types::{Kind, Type as Engine};

/// The engine's own name of a type ($1) with its modifier ($2).
pub const OF_TYPES: &str = "SELECT format_type($1, $2)";

const HEADER: i32 = 4; // what a length or a precision is counted from in a type modifier

/// The column of a prepared statement.
pub fn column(field: &tokio_postgres::Column, engine_type: String) -> DescribedColumn {
    let column = sized(of_type(field.name(), field.type_()), i64::from(field.type_modifier() - HEADER));
    DescribedColumn { column, engine_type }
}

fn of_type(name: &str, engine: &Engine) -> Column {
    let integer = |bits| Column::new(name, Type::Integer).of_bits(bits);
    let kind = match *engine {
        Engine::INT2 => return integer(16),
        Engine::INT4 => return integer(32),
        Engine::INT8 | Engine::OID | Engine::XID | Engine::CID => return integer(64),
        Engine::XID8 => return integer(128),
        Engine::INT2_VECTOR | Engine::OID_VECTOR => Type::Opaque, // of which the text is no array's
        Engine::BOOL => Type::Boolean,
        Engine::FLOAT4 => Type::Float32,
        Engine::FLOAT8 => Type::Float64,
        Engine::TEXT | Engine::NAME | Engine::UNKNOWN | Engine::CHAR => Type::Text,
        Engine::JSON | Engine::JSONB => Type::Json,
        Engine::BYTEA => Type::Binary,
        Engine::BIT | Engine::VARBIT => Type::Bits,
        Engine::DATE => Type::Date,
        Engine::TIME => Type::Time,
        Engine::TIMETZ => Type::Timetz,
        Engine::TIMESTAMP => Type::Timestamp,
        Engine::TIMESTAMPTZ => Type::Timestamptz,
        Engine::INTERVAL => Type::Interval,
        Engine::UUID => Type::Uuid,
        Engine::BPCHAR => Type::Char,
        Engine::VARCHAR => Type::Varchar,
        Engine::NUMERIC => Type::Decimal,
        _ => match engine.kind() {
            Kind::Enum(_) => Type::Text,
            Kind::Domain(base) => return of_type(name, base),
            Kind::Array(element) => return Column::array_of(name, of_type("", element)),
            _ => Type::Opaque,
        },
    };
    Column::new(name, kind)
}

/// With what a type's modifier says: a length, or 16 bits of precision above 11 of scale. An array's is its elements'.
fn sized(mut column: Column, modifier: i64) -> Column {
    match column.kind {
        _ if modifier < 0 => {}
        Type::Array => column.fields = column.fields.into_iter().map(|element| sized(element, modifier)).collect(),
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
