//! Answers, line by line, for tests/runners/protocol/test_codec.py: `hash HEX` with the XXH64 of the bytes; `value TYPE
//! BITS NULLABLE HEX` with the bytes, digest and touch of the value decoded from the codec's bytes; `date TEXT`, `time
//! TEXT`, `timestamp TEXT`, `instant TEXT` with what is made of the text.
use rowpath::core::text_forms::{date_text, hex_text, time_text};
use rowpath::core::{Column, Encoder, Moment, Outcome, Reader, Sink, Touch, Type, Value, fail, iso, xxhash64};
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
    let bytes = hex_text(&encoder.bytes);
    encoder.end_row()?;
    Ok(format!("{bytes} {} {}", encoder.digest(), hex_text(&touch.0.to_be_bytes())))
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
