use super::column::{Column, Cut, Type};
use super::decimal::Decimal;
use super::failure::{Outcome, fail};
use super::sink::{Day, OfDay, Sink, Wall};
use super::values::{Array, Date, Interval, Moment, SECOND_NS, Time, Value, nearest};
use super::xxhash64::xxhash64;
use serde::Serialize;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;

const ORDER: u64 = 0x9E37_79B9_7F4A_7C15;
const UNITS_NS: [i64; 4] = [1_000_000_000, 1_000_000, 1000, 1];
const MOST_FOREIGN_BYTES: usize = 100;

/// Makes the codec's bytes of rows and their digests (docs/codec.md).
pub struct Encoder {
    columns: Arc<[Column]>,
    limit: u64,
    kept: Option<BufWriter<File>>,
    pub bytes: Vec<u8>,
    at: usize,
    from: usize, // where the value under way begins
    rows: u64,
    sums: Sums,
    found: Vec<Found>,
}

/// The sum of hashes modulo 2⁶⁴, and one that depends on their order.
#[derive(Clone, Copy, Default)]
struct Sums {
    sum: u64,
    order: u64,
}

/// What was met in a column.
#[derive(Clone, Default)]
struct Found {
    sums: Sums,
    finest_ns: i64,
    bounds: bool,
    foreign: i64,
    reason: String,
}

/// What `verify` replies of a whole result.
#[derive(Clone, Serialize)]
pub struct Digests {
    pub digest: String,
    pub order: String,
    pub columns: Vec<ColumnDigest>,
}

/// What `verify` replies of a column.
#[derive(Clone, Serialize)]
pub struct ColumnDigest {
    digest: String,
    order: String,
    #[serde(skip_serializing_if = "is_none")]
    finest_ns: i64,
    #[serde(skip_serializing_if = "is_false")]
    bounds: bool,
    #[serde(skip_serializing_if = "is_none")]
    foreign: i64,
    #[serde(skip_serializing_if = "String::is_empty")]
    reason: String,
}

fn is_none(value: &i64) -> bool {
    *value == 0
}

fn is_false(value: &bool) -> bool {
    !*value
}

impl Sums {
    fn add(&mut self, bytes: &[u8]) {
        let hash = xxhash64(bytes);
        self.sum = self.sum.wrapping_add(hash);
        self.order = self.order.wrapping_mul(ORDER).wrapping_add(hash);
    }
}

impl Encoder {
    /// Digests over at most `limit` rows of these columns; the rows are kept in the file, where one is named.
    pub fn new(columns: Arc<[Column]>, limit: u64, keep: &str) -> Outcome<Encoder> {
        let kept = match keep {
            "" => None,
            name => Some(BufWriter::new(File::create(name).map_err(not_kept)?)),
        };
        let found = vec![Found::default(); columns.len()];
        let (bytes, sums) = (Vec::new(), Sums::default());
        Ok(Encoder { columns, limit, kept, bytes, at: 0, from: 0, rows: 0, sums, found })
    }

    /// The digest of all rows, `rows:hex16`, their order digest, and what was met in each column.
    pub fn digests(&self) -> Digests {
        let hex = |sum: u64| format!("{sum:016x}");
        let columns = self.found.iter().cloned().map(|found| ColumnDigest {
            digest: hex(found.sums.sum),
            order: hex(found.sums.order),
            finest_ns: found.finest_ns,
            bounds: found.bounds,
            foreign: found.foreign,
            reason: found.reason,
        });
        let digest = format!("{}:{:016x}", self.rows, self.sums.sum);
        Digests { digest, order: hex(self.sums.order), columns: columns.collect() }
    }

    /// Whether another row goes into the digests.
    pub fn has_room(&self) -> bool {
        self.rows < self.limit
    }

    pub fn begin_value(&mut self, at: usize) {
        (self.at, self.from) = (at, self.bytes.len());
    }

    pub fn end_value(&mut self) {
        self.found[self.at].sums.add(&self.bytes[self.from..]);
    }

    pub fn end_row(&mut self) -> Outcome<()> {
        self.rows += 1;
        self.sums.add(&self.bytes);
        if let Some(file) = &mut self.kept {
            let length = (self.bytes.len() as u32).to_le_bytes();
            file.write_all(&length).and_then(|()| file.write_all(&self.bytes)).map_err(not_kept)?;
        }
        self.bytes.clear();
        Ok(())
    }

    /// Writes out what is kept.
    pub fn finish(&mut self) -> Outcome<()> {
        self.kept.as_mut().map_or(Ok(()), |file| file.flush().map_err(not_kept))
    }

    pub fn expect(&self, came: usize) -> Outcome<()> {
        match self.columns.len() {
            declared if declared == came => Ok(()),
            declared => Err(fail("verify", format!("{came} columns came where {declared} are declared"))),
        }
    }

    fn put(&mut self, tag: u8, bytes: &[u8]) {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(bytes);
    }

    fn put_long(&mut self, tag: u8, bytes: &[u8]) {
        self.put_count(tag, bytes.len());
        self.bytes.extend_from_slice(bytes);
    }

    fn put_count(&mut self, tag: u8, count: usize) {
        self.put(tag, &(count as u32).to_le_bytes());
    }

    fn put_text(&mut self, bytes: &[u8], kind: Type) {
        let end = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |at| at + 1);
        self.put_long(b'S', if kind == Type::Char { &bytes[..end] } else { bytes });
    }

    fn put_float(&mut self, value: f64, kind: Type) {
        let value = if kind == Type::Float32 { f64::from(value as f32) } else { value } + 0.0; // -0 + 0 is +0
        let bits = if value.is_nan() { 0x7FF8_0000_0000_0000 } else { value.to_bits() };
        self.put(b'F', &bits.to_le_bytes());
    }

    fn put_moment(&mut self, tag: u8, moment: Moment) {
        self.met(moment.nanoseconds.into());
        let cut = self.columns[self.at].cut;
        let passed_ns = i128::from(moment.seconds) * i128::from(SECOND_NS) + i128::from(moment.nanoseconds);
        let passed_ns = cut_ns(passed_ns, cut);
        let seconds = passed_ns.div_euclid(SECOND_NS.into()) as i64;
        self.put(tag, &seconds.to_le_bytes());
        self.bytes.extend_from_slice(&(passed_ns.rem_euclid(SECOND_NS.into()) as u32).to_le_bytes());
    }

    /// Nanoseconds, cut.
    fn nanoseconds(&mut self, ns: i64) -> [u8; 8] {
        self.met(ns);
        (cut_ns(ns.into(), self.columns[self.at].cut) as i64).to_le_bytes()
    }

    fn met(&mut self, ns: i64) {
        let unit = UNITS_NS.into_iter().find(|unit| ns % unit == 0).unwrap_or(1);
        let finest = &mut self.found[self.at].finest_ns;
        *finest = if *finest == 0 { unit } else { unit.min(*finest) };
    }

    fn put_no_day(&mut self, day: Date, time: Time, kind: Type) {
        let mut time_ns = time.0.to_le_bytes();
        if kind != Type::Date {
            time_ns = self.nanoseconds(time.0);
        }
        self.put(b'Y', &day.year.to_le_bytes());
        self.bytes.extend_from_slice(&[day.month, day.day]);
        self.bytes.extend_from_slice(&time_ns);
    }

    fn put_interval(&mut self, value: &Interval) {
        let nanoseconds = self.nanoseconds(value.nanoseconds);
        self.put(b'I', &value.months.to_le_bytes());
        self.bytes.extend_from_slice(&value.days.to_le_bytes());
        self.bytes.extend_from_slice(&nanoseconds);
    }

    fn put_foreign(&mut self, text: &str, reason: &str) {
        let found = &mut self.found[self.at];
        found.foreign += 1;
        if found.reason.is_empty() {
            found.reason = reason.to_string();
        }
        let end = (0..=MOST_FOREIGN_BYTES.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
        self.put_long(b'?', &text.as_bytes()[..end.unwrap_or(0)]);
    }

    fn put_array(&mut self, value: Array, column: &Column) {
        if value.lower != 1 {
            self.found[self.at].bounds = true;
            if self.columns[self.at].cut.bounds {
                self.put(b'a', &value.lower.to_le_bytes());
            }
        }
        let element = column.element();
        self.put_count(b'A', value.elements.len());
        for one in value.elements {
            // A further dimension is no other type: an element that is itself an array.
            let is_dimension = matches!(one, Value::Array(_)) && !element.kind.is_nested();
            self.put_value(one, if is_dimension { column } else { element });
        }
    }

    /// Members, each as its field says; in a column of any type each by its own kind.
    fn put_members(&mut self, values: Vec<Value>, column: &Column) {
        for (at, value) in values.into_iter().enumerate() {
            self.put_value(value, column.fields.get(at).unwrap_or(column));
        }
    }

    fn put_map(&mut self, entries: Vec<(Value, Value)>, column: &Column) {
        self.put_count(b'M', entries.len());
        let from = self.bytes.len();
        let mut sorted = Vec::new();
        for (key, value) in entries {
            self.put_members(vec![key, value], column);
            sorted.push(self.bytes.split_off(from));
        }
        sorted.sort();
        self.bytes.extend(sorted.into_iter().flatten());
    }

    /// Any value in the form that is nearest to what it is declared as.
    fn put_value(&mut self, value: Value, column: &Column) {
        match nearest(value, column) {
            Value::Null => self.bytes.push(0),
            Value::Integer(value) => self.put_long(b'N', value.to_string().as_bytes()),
            Value::Decimal(value) => self.put_long(b'N', value.plain().as_bytes()),
            Value::Float(value) => self.put_float(value, column.kind),
            Value::Boolean(value) => self.put(b'L', &[u8::from(value)]),
            Value::Text(value) => self.put_text(value.as_bytes(), column.kind),
            Value::Raw(value) => self.put_text(&value, column.kind),
            Value::Binary(value) => self.put_long(b'B', &value),
            Value::Bits(value) => {
                self.put(b'b', &value.count.to_le_bytes());
                self.bytes.extend_from_slice(&value.bytes);
            }
            Value::Date(value) => self.put(b'd', &value.days().to_le_bytes()),
            Value::Time(value) => {
                let nanoseconds = self.nanoseconds(value.0);
                self.put(b't', &nanoseconds);
            }
            Value::Timetz(value, offset_s) => {
                let nanoseconds = self.nanoseconds(value.0);
                self.put(b'y', &nanoseconds);
                self.bytes.extend_from_slice(&offset_s.to_le_bytes());
            }
            Value::Timestamp(value) => self.put_moment(b'T', value),
            Value::Instant(value) => self.put_moment(b'Z', value),
            Value::NoDay(day, time) => self.put_no_day(day, time, column.kind),
            Value::Interval(value) => self.put_interval(&value),
            Value::Uuid(value) => self.put(b'U', &value),
            Value::Infinite { negative } => self.put_long(b'X', if negative { b"-inf" } else { b"inf" }),
            Value::Array(value) => self.put_array(value, column),
            Value::Struct(values) => {
                self.put_count(b'K', values.len());
                self.put_members(values, column);
            }
            Value::Map(entries) => self.put_map(entries, column),
            Value::Rows(rows) => {
                self.put_count(b'R', rows.len());
                rows.into_iter().for_each(|row| self.put_members(row, column));
            }
            Value::Opaque => self.bytes.push(b'O'),
            Value::Foreign(foreign) => self.put_foreign(&foreign.text, &foreign.reason),
        }
    }
}

/// Nanoseconds cut to a multiple of the unit, downwards.
fn cut_ns(ns: i128, cut: Cut) -> i128 {
    let unit = i128::from(cut.unit_ns.max(1));
    (ns + if cut.rounded { unit / 2 } else { 0 }).div_euclid(unit) * unit
}

fn not_kept(error: std::io::Error) -> super::Failure {
    fail("internal", format!("rows cannot be kept: {error}"))
}

impl Sink for Encoder {
    fn null(&mut self) -> Outcome<()> {
        self.bytes.push(0);
        Ok(())
    }
    fn integer(&mut self, value: i64) -> Outcome<()> {
        self.put_long(b'N', value.to_string().as_bytes());
        Ok(())
    }
    fn decimal(&mut self, value: &Decimal) -> Outcome<()> {
        self.put_long(b'N', value.plain().as_bytes());
        Ok(())
    }
    fn float(&mut self, value: f64) -> Outcome<()> {
        self.put_float(value, self.columns[self.at].kind);
        Ok(())
    }
    fn boolean(&mut self, value: bool) -> Outcome<()> {
        self.put(b'L', &[u8::from(value)]);
        Ok(())
    }
    fn text(&mut self, value: &str) -> Outcome<()> {
        self.put_text(value.as_bytes(), self.columns[self.at].kind);
        Ok(())
    }
    fn binary(&mut self, value: &[u8]) -> Outcome<()> {
        self.put_long(b'B', value);
        Ok(())
    }
    fn date(&mut self, value: &impl Day) -> Outcome<()> {
        self.put(b'd', &value.days().to_le_bytes());
        Ok(())
    }
    fn time(&mut self, value: &impl OfDay) -> Outcome<()> {
        let nanoseconds = self.nanoseconds(value.ns());
        self.put(b't', &nanoseconds);
        Ok(())
    }
    fn timestamp(&mut self, value: &impl Wall) -> Outcome<()> {
        self.put_moment(b'T', value.moment());
        Ok(())
    }
    fn instant(&mut self, value: &impl Wall) -> Outcome<()> {
        self.put_moment(b'Z', value.moment());
        Ok(())
    }
    fn infinite(&mut self, negative: bool) -> Outcome<()> {
        self.put_long(b'X', if negative { b"-inf" } else { b"inf" });
        Ok(())
    }
    fn interval(&mut self, value: &Interval) -> Outcome<()> {
        self.put_interval(value);
        Ok(())
    }
    fn uuid(&mut self, value: &[u8; 16]) -> Outcome<()> {
        self.put(b'U', value);
        Ok(())
    }
    fn array(&mut self, value: &[Option<i64>]) -> Outcome<()> {
        self.put_count(b'A', value.len());
        for element in value {
            match element {
                None => self.bytes.push(0),
                Some(number) => self.integer(*number)?,
            }
        }
        Ok(())
    }
    fn opaque(&mut self) -> Outcome<()> {
        self.bytes.push(b'O');
        Ok(())
    }
    fn other(&mut self, value: Value, column: &Column) -> Outcome<()> {
        self.put_value(value, column);
        Ok(())
    }
}
