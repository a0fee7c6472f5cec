use super::column::{Column, Type};
use super::decimal::Decimal;
use super::failure::Outcome;
use super::sink::{Day, OfDay, Sink, Wall};
use super::values::{Interval, Value, nearest};
use std::hint::black_box;

const EXACT: f64 = 9_007_199_254_740_992.0; // 2⁵³

/// The touch sum of the values taken so far (docs/codec.md).
#[derive(Default)]
pub struct Touch(pub i64);

impl Touch {
    #[inline]
    fn add(&mut self, value: i64) -> Outcome<()> {
        self.0 = self.0.wrapping_add(value);
        Ok(())
    }
}

impl Sink for Touch {
    #[inline]
    fn null(&mut self) -> Outcome<()> {
        self.add(1)
    }
    #[inline]
    fn integer(&mut self, value: i64) -> Outcome<()> {
        self.add(value)
    }
    #[inline]
    fn decimal(&mut self, value: &Decimal) -> Outcome<()> {
        self.add(value.touch())
    }
    #[inline]
    fn float(&mut self, value: f64) -> Outcome<()> {
        self.add(if value.abs() < EXACT { value as i64 } else { 3 })
    }
    #[inline]
    fn boolean(&mut self, value: bool) -> Outcome<()> {
        self.add(i64::from(value))
    }
    #[inline]
    fn text(&mut self, value: &str) -> Outcome<()> {
        self.add(value.len() as i64)
    }
    #[inline]
    fn binary(&mut self, value: &[u8]) -> Outcome<()> {
        black_box(value.last().copied()); // the length alone would not read it
        self.add(value.len() as i64)
    }
    #[inline]
    fn date(&mut self, value: &impl Day) -> Outcome<()> {
        self.add(i64::from(value.day_of_month()))
    }
    #[inline]
    fn time(&mut self, value: &impl OfDay) -> Outcome<()> {
        self.add(i64::from(value.second_of_minute()))
    }
    #[inline]
    fn timestamp(&mut self, value: &impl Wall) -> Outcome<()> {
        self.add(i64::from(value.second_of_minute()))
    }
    #[inline]
    fn instant(&mut self, value: &impl Wall) -> Outcome<()> {
        self.add(i64::from(value.second_of_minute()))
    }
    fn infinite(&mut self, _: bool) -> Outcome<()> {
        self.add(5)
    }
    fn interval(&mut self, _: &Interval) -> Outcome<()> {
        self.add(5)
    }
    fn uuid(&mut self, _: &[u8; 16]) -> Outcome<()> {
        self.add(5)
    }
    fn array(&mut self, _: &[Option<i64>]) -> Outcome<()> {
        self.add(5)
    }
    fn opaque(&mut self) -> Outcome<()> {
        self.add(5)
    }
    #[cold]
    fn other(&mut self, value: Value, column: &Column) -> Outcome<()> {
        let value = nearest(value, column);
        match (column.kind, &value) {
            (_, Value::Null) => self.null(),
            (Type::Any | Type::Opaque, _) => self.opaque(),
            (_, Value::Integer(value)) => self.integer(*value),
            (_, Value::Decimal(value)) => self.decimal(value),
            (_, Value::Float(value)) => self.float(*value),
            (_, Value::Boolean(value)) => self.boolean(*value),
            (_, Value::Text(value)) => self.text(value),
            (_, Value::Raw(value) | Value::Binary(value)) => self.binary(value),
            (_, Value::Date(value)) => self.date(value),
            (_, Value::Time(value) | Value::Timetz(value, _)) => self.time(value),
            (_, Value::Timestamp(value) | Value::Instant(value)) => self.timestamp(value),
            (Type::Date, Value::NoDay(day, _)) => self.date(day),
            (_, Value::NoDay(_, time)) => self.time(time),
            _ => self.opaque(),
        }
    }
}
