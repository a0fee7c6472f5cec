use super::column::{Column, Type};
use super::decimal::Decimal;
use super::failure::{Outcome, fail};
use super::sink::{Day, OfDay, Sink, Wall};
use super::values::{Interval, Moment};
use super::xxhash64::xxhash64;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;

/// Makes the codec's bytes of rows and their digest (docs/codec.md).
pub struct Encoder {
    columns: Arc<[Column]>,
    limit: u64,
    kept: Option<BufWriter<File>>,
    pub bytes: Vec<u8>,
    pub at: usize,
    rows: u64,
    sum: u64,
}

impl Encoder {
    /// A digest over at most `limit` rows of these columns; the rows are kept in the file, where one is named.
    pub fn new(columns: Arc<[Column]>, limit: u64, keep: &str) -> Outcome<Encoder> {
        let kept = match keep {
            "" => None,
            name => Some(BufWriter::new(File::create(name).map_err(not_kept)?)),
        };
        Ok(Encoder { columns, limit, kept, bytes: Vec::new(), at: 0, rows: 0, sum: 0 })
    }

    /// `rows:hex16`.
    pub fn digest(&self) -> String {
        format!("{}:{:016x}", self.rows, self.sum)
    }

    pub fn end_row(&mut self) -> Outcome<()> {
        if self.rows < self.limit {
            self.rows += 1;
            self.sum = self.sum.wrapping_add(xxhash64(&self.bytes));
            if let Some(file) = &mut self.kept {
                let length = (self.bytes.len() as u32).to_le_bytes();
                file.write_all(&length).and_then(|()| file.write_all(&self.bytes)).map_err(not_kept)?;
            }
        }
        self.bytes.clear();
        self.at = 0;
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

    fn put(&mut self, tag: u8, bytes: &[u8]) -> Outcome<()> {
        self.bytes.push(tag);
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn put_long(&mut self, tag: u8, bytes: &[u8]) -> Outcome<()> {
        self.put(tag, &(bytes.len() as u32).to_le_bytes())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn put_moment(&mut self, tag: u8, moment: Moment) -> Outcome<()> {
        self.put(tag, &moment.seconds.to_le_bytes())?;
        self.bytes.extend_from_slice(&moment.nanoseconds.to_le_bytes());
        Ok(())
    }
}

fn not_kept(error: std::io::Error) -> super::Failure {
    fail("internal", format!("rows cannot be kept: {error}"))
}

impl Sink for Encoder {
    fn null(&mut self) -> Outcome<()> {
        if !self.columns[self.at].nullable {
            return Err(fail("verify", "NULL where none is allowed"));
        }
        self.put(0, &[])
    }
    fn integer(&mut self, value: i64) -> Outcome<()> {
        let bits = self.columns[self.at].bits;
        let unused = 64 - u32::from(bits);
        if value << unused >> unused != value {
            return Err(fail("verify", format!("{value} in an integer of {bits} bits")));
        }
        self.put_long(b'N', value.to_string().as_bytes())
    }
    fn decimal(&mut self, value: &Decimal) -> Outcome<()> {
        self.put_long(b'N', value.plain().as_bytes())
    }
    fn float(&mut self, value: f64) -> Outcome<()> {
        let is_single = self.columns[self.at].kind == Type::Float32;
        let value = if is_single { f64::from(value as f32) } else { value } + 0.0; // -0 + 0 is +0
        let bits = if value.is_nan() { 0x7FF8_0000_0000_0000 } else { value.to_bits() };
        self.put(b'F', &bits.to_le_bytes())
    }
    fn boolean(&mut self, value: bool) -> Outcome<()> {
        self.put(b'L', &[u8::from(value)])
    }
    fn text(&mut self, value: &str) -> Outcome<()> {
        let padded = self.columns[self.at].kind == Type::Char;
        self.put_long(b'S', if padded { value.trim_end_matches(' ') } else { value }.as_bytes())
    }
    fn binary(&mut self, value: &[u8]) -> Outcome<()> {
        self.put_long(b'B', value)
    }
    fn date(&mut self, value: &impl Day) -> Outcome<()> {
        self.put(b'd', &value.days().to_le_bytes())
    }
    fn time(&mut self, value: &impl OfDay) -> Outcome<()> {
        self.put(b't', &value.ns().to_le_bytes())
    }
    fn timestamp(&mut self, value: &impl Wall) -> Outcome<()> {
        self.put_moment(b'T', value.moment())
    }
    fn instant(&mut self, value: &impl Wall) -> Outcome<()> {
        self.put_moment(b'Z', value.moment())
    }
    fn infinite(&mut self, negative: bool) -> Outcome<()> {
        self.put_long(b'X', if negative { b"-inf" } else { b"inf" })
    }
    fn interval(&mut self, value: &Interval) -> Outcome<()> {
        self.put(b'I', &value.months.to_le_bytes())?;
        self.bytes.extend_from_slice(&value.days.to_le_bytes());
        self.bytes.extend_from_slice(&value.nanoseconds.to_le_bytes());
        Ok(())
    }
    fn uuid(&mut self, value: &[u8; 16]) -> Outcome<()> {
        self.put(b'U', value)
    }
    fn array(&mut self, value: &[Option<i64>]) -> Outcome<()> {
        self.put(b'A', &(value.len() as u32).to_le_bytes())?;
        for element in value {
            match element {
                None => self.put(0, &[])?,
                Some(number) => self.integer(*number)?,
            }
        }
        Ok(())
    }
    fn opaque(&mut self) -> Outcome<()> {
        self.put(b'O', &[])
    }
}
