//! Answers a line of the codec's tests (tests/codec_trial.rs).
use super::column::{Column, Type};
use super::decoder::Reader;
use super::encoder::Encoder;
use super::failure::{Outcome, fail};
use super::iso;
use super::sample_reply::hex;
use super::sink::Sink;
use super::text_forms::{date_text, time_text};
use super::touch::Touch;
use super::values::{Moment, Value};
use super::xxhash64::xxhash64;

pub fn answer(line: &str) -> String {
    let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
    tried(kind, rest).unwrap_or_else(|failure| format!("error {}", failure.text()))
}

fn tried(kind: &str, rest: &str) -> Outcome<String> {
    Ok(match kind {
        "hash" => format!("{:016x}", xxhash64(&unhex(rest)?)),
        "value" => return value(&rest.split(' ').collect::<Vec<_>>()),
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

fn value(words: &[&str]) -> Outcome<String> {
    let kind: Type = serde_json::from_value(words[0].into()).map_err(|error| fail("internal", error))?;
    let bits = words[1].parse().unwrap_or(32);
    let nullable = words[2] == "true";
    let column = Column { name: "value".into(), kind, length: 0, precision: 0, scale: 0, bits, nullable };
    let data = unhex(words[3])?;
    let value = match Reader(&data).value(&column) {
        Ok(value) => Some(value),
        Err(_) if kind == Type::Opaque => None,
        Err(text) => return Err(fail("internal", text)),
    };
    let mut encoder = Encoder::new([column].into(), 1, "")?;
    let mut touch = Touch(0);
    put(value.as_ref(), &mut touch)?;
    put(value.as_ref(), &mut encoder).map_err(|failure| failure.in_column("value"))?;
    let bytes = super::text_forms::hex_text(&encoder.bytes);
    encoder.end_row()?;
    Ok(format!("{bytes} {} {}", encoder.digest(), hex(touch.0)))
}

fn put(value: Option<&Value>, sink: &mut impl Sink) -> Outcome<()> {
    match value {
        None => sink.opaque(),
        Some(Value::Null) => sink.null(),
        Some(Value::Integer(value)) => sink.integer(*value),
        Some(Value::Decimal(value)) => sink.decimal(value),
        Some(Value::Float(value)) => sink.float(*value),
        Some(Value::Boolean(value)) => sink.boolean(*value),
        Some(Value::Text(value)) => sink.text(value),
        Some(Value::Binary(value)) => sink.binary(value),
        Some(Value::Date(value)) => sink.date(value),
        Some(Value::Time(value)) => sink.time(value),
        Some(Value::Timestamp(value)) => sink.timestamp(value),
        Some(Value::Instant(value)) => sink.instant(value),
        Some(Value::Interval(value)) => sink.interval(value),
        Some(Value::Uuid(value)) => sink.uuid(value),
        Some(Value::Array(value)) => sink.array(value),
        Some(Value::Infinite { negative }) => sink.infinite(*negative),
    }
}
