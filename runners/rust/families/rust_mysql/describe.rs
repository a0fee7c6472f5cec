//! The columns of a query, which is prepared and not executed (MariaDB's documentation, "Result Set Packets").
use crate::core::{Column, DescribedColumn, Type};
use mysql_common::constants::{ColumnFlags as Flag, ColumnType as Kind};
use mysql_common::packets::Column as Own;

const BYTES: u16 = 63; // the character set of what is no text

/// The columns of a prepared statement.
pub fn described(columns: &[Own]) -> Vec<DescribedColumn> {
    columns.iter().map(column).collect()
}

fn column(own: &Own) -> DescribedColumn {
    let (flags, is_bytes) = (own.flags(), own.character_set() == BYTES);
    let (kind, bits, engine_type) = type_of(own.column_type(), flags, is_bytes);
    let mut column = Column::new(own.name_str(), kind).of_bits(bits);
    column.nullable = !flags.contains(Flag::NOT_NULL_FLAG);
    let mut engine_type = engine_type.to_string();
    match kind {
        Type::Binary | Type::Bits => column.length = own.column_length().into(),
        Type::Decimal => {
            let signs = i64::from(!flags.contains(Flag::UNSIGNED_FLAG)) + i64::from(own.decimals() > 0);
            column.scale = own.decimals().into();
            column.precision = (i64::from(own.column_length()) - signs).max(column.scale);
            engine_type = format!("DECIMAL({},{})", column.precision, column.scale);
        }
        _ => {}
    }
    DescribedColumn { column, engine_type }
}

/// The codec's type, an integer's width, and the engine's name.
fn type_of(kind: Kind, flags: Flag, is_bytes: bool) -> (Type, u8, &'static str) {
    let is_unsigned = flags.contains(Flag::UNSIGNED_FLAG);
    let text = |text, binary| if is_bytes { (Type::Binary, 32, binary) } else { (Type::Text, 32, text) };
    match kind {
        _ if flags.contains(Flag::SET_FLAG) => (Type::Text, 32, "SET"),
        _ if flags.contains(Flag::ENUM_FLAG) => (Type::Text, 32, "ENUM"),
        Kind::MYSQL_TYPE_TINY if is_unsigned => (Type::Integer, 16, "TINYINT UNSIGNED"),
        Kind::MYSQL_TYPE_TINY => (Type::Integer, 16, "TINYINT"),
        Kind::MYSQL_TYPE_SHORT if is_unsigned => (Type::Integer, 32, "SMALLINT UNSIGNED"),
        Kind::MYSQL_TYPE_SHORT => (Type::Integer, 16, "SMALLINT"),
        Kind::MYSQL_TYPE_YEAR => (Type::Integer, 16, "YEAR"),
        Kind::MYSQL_TYPE_INT24 if is_unsigned => (Type::Integer, 32, "MEDIUMINT UNSIGNED"),
        Kind::MYSQL_TYPE_INT24 => (Type::Integer, 32, "MEDIUMINT"),
        Kind::MYSQL_TYPE_LONG if is_unsigned => (Type::Integer, 64, "INT UNSIGNED"),
        Kind::MYSQL_TYPE_LONG => (Type::Integer, 32, "INT"),
        Kind::MYSQL_TYPE_LONGLONG if is_unsigned => (Type::Integer, 128, "BIGINT UNSIGNED"), // beyond 63 bits
        Kind::MYSQL_TYPE_LONGLONG => (Type::Integer, 64, "BIGINT"),
        Kind::MYSQL_TYPE_DECIMAL | Kind::MYSQL_TYPE_NEWDECIMAL => (Type::Decimal, 32, "DECIMAL"),
        Kind::MYSQL_TYPE_FLOAT => (Type::Float32, 32, "FLOAT"),
        Kind::MYSQL_TYPE_DOUBLE => (Type::Float64, 32, "DOUBLE"),
        Kind::MYSQL_TYPE_DATE | Kind::MYSQL_TYPE_NEWDATE => (Type::Date, 32, "DATE"),
        Kind::MYSQL_TYPE_TIME => (Type::Time, 32, "TIME"),
        Kind::MYSQL_TYPE_DATETIME => (Type::Timestamp, 32, "DATETIME"),
        Kind::MYSQL_TYPE_TIMESTAMP => (Type::Timestamp, 32, "TIMESTAMP"), // the wall clock of the session's time zone
        Kind::MYSQL_TYPE_JSON => (Type::Json, 32, "JSON"),
        Kind::MYSQL_TYPE_NULL => (Type::Text, 32, "NULL"),
        Kind::MYSQL_TYPE_TINY_BLOB => text("TINYTEXT", "TINYBLOB"),
        Kind::MYSQL_TYPE_BLOB => text("TEXT", "BLOB"),
        Kind::MYSQL_TYPE_MEDIUM_BLOB => text("MEDIUMTEXT", "MEDIUMBLOB"),
        Kind::MYSQL_TYPE_LONG_BLOB => text("LONGTEXT", "LONGBLOB"),
        Kind::MYSQL_TYPE_VARCHAR | Kind::MYSQL_TYPE_VAR_STRING => text("VARCHAR", "VARBINARY"),
        Kind::MYSQL_TYPE_STRING if !is_bytes => (Type::Char, 32, "CHAR"),
        Kind::MYSQL_TYPE_STRING => (Type::Binary, 32, "BINARY"),
        Kind::MYSQL_TYPE_BIT => (Type::Bits, 32, "BIT"),
        Kind::MYSQL_TYPE_GEOMETRY => (Type::Opaque, 32, "GEOMETRY"),
        _ => (Type::Opaque, 32, "of another kind"),
    }
}
