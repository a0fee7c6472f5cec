//! SQLite through rusqlite: a prepared statement; a timestamp is kept as text. Conversation as in common.h.
mod conversation;
use conversation::{Conversation, Outcome};
use rusqlite::{Connection, OpenFlags, Statement};

struct Timestamp {
    days: i64,
    second_of_day: i64,
    microsecond: i64,
}

/// `2000-11-07 01:02:03.456789`, of the years 1 to 9999.
fn parsed(text: &str) -> Timestamp {
    let bytes = text.as_bytes();
    let two = |at: usize| i64::from(bytes[at] - b'0') * 10 + i64::from(bytes[at + 1] - b'0');
    let (year, month, day) = (two(0) * 100 + two(2), two(5), two(8));
    let shifted = if month <= 2 { year - 1 } else { year };
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = shifted * 365 + shifted / 4 - shifted / 100 + shifted / 400 + of_year - 719_468;
    let mut microsecond = 0;
    let mut unit = 100_000;
    for digit in bytes.get(20..).unwrap_or_default() {
        microsecond += i64::from(digit - b'0') * unit;
        unit /= 10;
    }
    Timestamp { days, second_of_day: (two(11) * 60 + two(14)) * 60 + two(17), microsecond }
}

fn keyed(query: &mut Statement, keys: &[String], operations: usize) -> rusqlite::Result<u64> {
    let mut touch = 0;
    for i in 0..operations {
        let mut rows = query.query([&keys[i % keys.len()]])?;
        while let Some(row) = rows.next()? {
            touch += row.get_ref(0)?.as_str()?.len() + row.get_ref(1)?.as_str()?.len();
        }
    }
    Ok(touch as u64)
}

fn scan(query: &mut Statement, operations: usize) -> rusqlite::Result<u64> {
    let mut touch = 0;
    for _ in 0..operations {
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            for column in 0..3 {
                touch += row.get_ref(column)?.as_str()?.len() as i64;
            }
            let at = std::hint::black_box(parsed(row.get_ref(3)?.as_str()?));
            touch += at.second_of_day % 60;
            touch += row.get::<_, i64>(4)?;
            touch += row.get::<_, Option<i64>>(5)?.unwrap_or(1);
            touch += row.get::<_, i64>(6)?;
        }
    }
    Ok(touch as u64)
}

fn main() -> Outcome<()> {
    let conversation = Conversation::begin()?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(conversation.get("path"), flags)?;
    let mut query = connection.prepare(conversation.get("sql"))?;
    conversation.serve(|operations| {
        let touch = match conversation.keys.as_slice() {
            [] => scan(&mut query, operations)?,
            keys => keyed(&mut query, keys, operations)?,
        };
        Ok((touch, None))
    })
}
