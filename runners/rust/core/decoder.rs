use super::column::{Column, Type};
use super::decimal::Decimal;
use super::failure::{Outcome, fail};
use super::values::{Array, Date, Interval, Moment, Rows, Time, Value};

const MAGIC: &[u8; 8] = b"RPROWS1\n";
type Read<T> = Result<T, String>;

/// The rows [first, first + count) of a parameter file (docs/codec.md) as natural values.
pub fn read_rows(name: &str, columns: &[Column], first: usize, count: usize) -> Outcome<Rows> {
    let data = std::fs::read(name).map_err(|error| fail("internal", format!("parameters: {error}")))?;
    let broken = |text: String| fail("internal", format!("{name}: {text}"));
    if data.get(..8) != Some(MAGIC) {
        return Err(broken("no parameter file".into()));
    }
    let word = |at: usize| Reader(data.get(8 + 8 * at..).unwrap_or(&[])).u64().map(|word| word as usize);
    let total = word(0).map_err(broken)?;
    if first + count > total {
        return Err(broken(format!("rows {first} to {} of {total}", first + count)));
    }
    let row = |at: usize| {
        let bytes = data.get(word(1 + at)?..word(2 + at)?).ok_or("it ends too soon")?;
        decode_row(bytes, columns)
    };
    (first..first + count).map(|at| row(at).map_err(|text| broken(format!("row {at}: {text}")))).collect()
}

fn decode_row(bytes: &[u8], columns: &[Column]) -> Read<Vec<Value>> {
    let mut reader = Reader(bytes);
    let row = columns.iter().map(|column| reader.value(column)).collect::<Read<_>>()?;
    if reader.0.is_empty() { Ok(row) } else { Err(format!("{} bytes too many", reader.0.len())) }
}

/// Bytes of values that are still to be read.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Read<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("it ends too soon")?;
        self.0 = rest;
        Ok(taken)
    }

    fn bytes<const N: usize>(&mut self) -> Read<[u8; N]> {
        self.take(N)?.try_into().map_err(|_| "it ends too soon".into())
    }

    fn u32(&mut self) -> Read<u32> {
        self.bytes().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Read<u64> {
        self.bytes().map(u64::from_le_bytes)
    }

    fn long(&mut self) -> Read<&'a [u8]> {
        let length = self.u32()? as usize;
        self.take(length)
    }

    fn text(&mut self) -> Read<&'a str> {
        std::str::from_utf8(self.long()?).map_err(|error| error.to_string())
    }

    /// The next value as the natural type of its column.
    pub fn value(&mut self, column: &Column) -> Read<Value> {
        Ok(match self.bytes::<1>()?[0] {
            0 => Value::Null,
            b'N' => number(self.text()?, column.kind)?,
            b'F' => Value::Float(f64::from_le_bytes(self.bytes()?)),
            b'L' => Value::Boolean(self.bytes::<1>()?[0] == 1),
            b'S' => Value::Text(self.text()?.to_string()),
            b'B' => Value::Binary(self.long()?.to_vec()),
            b'd' => Value::Date(Date::of_days(self.u32()? as i32)),
            b't' => Value::Time(Time(self.u64()? as i64)),
            b'T' => Value::Timestamp(self.moment()?),
            b'Z' => Value::Instant(self.moment()?),
            b'I' => Value::Interval(self.interval()?),
            b'U' => Value::Uuid(self.bytes()?),
            b'A' => Value::Array(self.array(column)?),
            b'X' => Value::Infinite { negative: self.text()? == "-inf" },
            b'O' => return Err("an opaque value is no parameter".into()),
            tag => return Err(format!("no value begins with {tag}")),
        })
    }

    fn moment(&mut self) -> Read<Moment> {
        Ok(Moment { seconds: self.u64()? as i64, nanoseconds: self.u32()? })
    }

    fn interval(&mut self) -> Read<Interval> {
        Ok(Interval { months: self.u32()? as i32, days: self.u32()? as i32, nanoseconds: self.u64()? as i64 })
    }

    /// Of a further dimension the elements are arrays.
    fn array(&mut self, column: &Column) -> Read<Array> {
        let count = self.u32()?;
        let elements = (0..count).map(|_| self.value(column.element())).collect::<Read<_>>()?;
        Ok(Array { lower: 1, elements })
    }
}

/// A decimal, or an integer, which may be beyond 64 bits.
fn number(text: &str, kind: Type) -> Read<Value> {
    match text.parse() {
        Ok(whole) if kind != Type::Decimal => Ok(Value::Integer(whole)),
        _ => Decimal::parse(text).map(Value::Decimal).map_err(|_| format!("no number: {text}")),
    }
}
