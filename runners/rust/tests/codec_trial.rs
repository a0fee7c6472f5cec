//! Answers, line by line, for tests/runners/rust: `hash HEX` with the XXH64 of the bytes; `decoded COLUMN HEX` and
//! `result COLUMNS ROWS`, both in JSON, with what `verify` replies, the touch sum and each row's bytes: of the value
//! decoded from the codec's bytes, taken the usual way, or of values by their own kind; `date TEXT`, `time TEXT`,
//! `timestamp TEXT`, `instant TEXT` with what the usual readers make of the text.
use rowpath::core::text_forms::{date_text, hex_text, time_text};
use rowpath::core::{
    Array, Column, Encoder, Interval, Moment, Outcome, Reader, Sink, Touch, Type, Value, fail, iso, unusual, xxhash64,
};
use serde_json::{Value as Json, json};
use std::io::stdin;

fn main() {
    for line in stdin().lines().map_while(Result::ok) {
        println!("{}", answer(&line));
    }
}

fn answer(line: &str) -> String {
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    tried(kind, rest).unwrap_or_else(|failure| format!("error {}", failure.text()))
}

fn tried(kind: &str, rest: &str) -> Outcome<String> {
    Ok(match kind {
        "hash" => format!("{:016x}", xxhash64(&unhex(rest)?)),
        "decoded" => {
            let (column, hex) = rest.rsplit_once(' ').ok_or_else(unusual)?;
            let column: Column = serde_json::from_str(column).map_err(|error| fail("internal", error))?;
            let value = Reader(&unhex(hex)?).value(&column).map_err(|text| fail("internal", text))?;
            verified(vec![column], &[vec![value]])?
        }
        "result" => {
            let (columns, rows): (Vec<Column>, Vec<Vec<Json>>) =
                serde_json::from_str(rest).map_err(|error| fail("internal", error))?;
            let row = |row: &Vec<Json>| row.iter().zip(&columns).map(|(one, column)| natural(one, column)).collect();
            let rows: Vec<Vec<Value>> = rows.iter().map(row).collect();
            verified(columns, &rows)?
        }
        "date" => date_text(iso::date(rest)?),
        "time" => time_text(iso::time(rest)?),
        "timestamp" => iso::timestamp(rest).map(|(date, time)| moment_text(date.at(time)))?,
        _ => moment_text(iso::instant(rest)?) + "Z",
    })
}

fn moment_text(moment: Moment) -> String {
    format!("{}T{}", date_text(moment.date()), time_text(moment.time()))
}

fn unhex(text: &str) -> Outcome<Vec<u8>> {
    let byte = |at| text.get(at..at + 2).and_then(|pair| u8::from_str_radix(pair, 16).ok());
    (0..text.len()).step_by(2).map(|at| byte(at).ok_or_else(|| fail("internal", "no hexadecimal digits"))).collect()
}

fn verified(columns: Vec<Column>, rows: &[Vec<Value>]) -> Outcome<String> {
    let mut encoder = Encoder::new(columns.clone().into(), u64::MAX, "")?;
    let (mut touch, mut bytes) = (Touch(0), Vec::new());
    for row in rows {
        for (at, (value, column)) in row.iter().zip(&columns).enumerate() {
            put(value, column, &mut touch)?;
            encoder.begin_value(at);
            put(value, column, &mut encoder)?;
            encoder.end_value();
        }
        bytes.push(hex_text(&encoder.bytes));
        encoder.end_row()?;
    }
    let mut reply = json!(encoder.digests());
    (reply["touch"], reply["bytes"]) = (json!(hex_text(&touch.0.to_be_bytes())), json!(bytes));
    Ok(reply.to_string())
}

/// Takes a value as an adapter does: the usual way, else by its own kind.
fn put(value: &Value, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
    match (column.kind, value) {
        (_, Value::Null) => sink.null(),
        (Type::Integer, Value::Integer(value)) => sink.integer(*value),
        (Type::Integer | Type::Decimal, Value::Decimal(value)) => sink.decimal(value),
        (Type::Float32 | Type::Float64, Value::Float(value)) => sink.float(*value),
        (Type::Boolean, Value::Boolean(value)) => sink.boolean(*value),
        (kind, Value::Text(value)) if kind.is_text() => sink.text(value),
        (Type::Binary, Value::Binary(value)) => sink.binary(value),
        (Type::Date, Value::Date(value)) => sink.date(value),
        (Type::Time, Value::Time(value)) => sink.time(value),
        (Type::Timestamp, Value::Timestamp(value)) => sink.timestamp(value),
        (Type::Timestamptz, Value::Instant(value)) => sink.instant(value),
        (Type::Interval, Value::Interval(value)) => sink.interval(value),
        (Type::Uuid, Value::Uuid(value)) => sink.uuid(value),
        (Type::Array, Value::Array(value)) if value.lower == 1 && value.integers().is_some() => {
            sink.array(&value.integers().unwrap_or_default())
        }
        (Type::Date | Type::Timestamp | Type::Timestamptz, Value::Infinite { negative }) => sink.infinite(*negative),
        _ => sink.other(value.clone(), column),
    }
}

/// A vector's value by its own kind; what it spells in text stays text.
fn natural(value: &Json, column: &Column) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Boolean(*flag),
        Json::String(text) if column.kind == Type::Binary => Value::Binary(unhex(text).unwrap_or_default()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Number(number) => Value::Integer(number.as_i64().unwrap_or_default()),
        Json::Object(spelt) => match spelt.iter().next().map(|(form, inner)| (form.as_str(), inner)) {
            Some(("hex", inner)) => {
                let bytes = unhex(inner.as_str().unwrap_or("")).unwrap_or_default();
                if column.kind == Type::Any { Value::Binary(bytes) } else { Value::Raw(bytes) }
            }
            Some(("integer", inner)) => Value::Integer(inner.as_str().unwrap_or("").parse().unwrap_or_default()),
            Some(("float", inner)) => Value::Float(inner.as_str().unwrap_or("").parse().unwrap_or_default()),
            _ => bounded(spelt["lower"].as_i64().unwrap_or(1) as i32, &spelt["elements"], column),
        },
        Json::Array(values) => match column.kind {
            Type::Array => bounded(1, value, column),
            Type::Interval => {
                let part = |at: usize| values[at].as_i64().unwrap_or_default();
                Value::Interval(Interval { months: part(0) as i32, days: part(1) as i32, nanoseconds: part(2) })
            }
            Type::Map => {
                Value::Map(rows(values, column).into_iter().map(|mut row| (row.remove(0), row.remove(0))).collect())
            }
            Type::Rows => Value::Rows(rows(values, column)),
            _ => Value::Struct(row(values, column)),
        },
    }
}

fn bounded(lower: i32, elements: &Json, column: &Column) -> Value {
    let element = column.element();
    let is_dimension = |one: &Json| (one.is_array() || one.get("lower").is_some()) && !element.kind.is_nested();
    let one = |one: &Json| natural(one, if is_dimension(one) { column } else { element });
    Value::Array(Array { lower, elements: elements.as_array().into_iter().flatten().map(one).collect() })
}

fn row(values: &[Json], column: &Column) -> Vec<Value> {
    values.iter().zip(&column.fields).map(|(one, field)| natural(one, field)).collect()
}

fn rows(values: &[Json], column: &Column) -> Vec<Vec<Value>> {
    values.iter().map(|one| row(one.as_array().map_or(&[], Vec::as_slice), column)).collect()
}
