use super::column::Column;
use super::decimal::Decimal;
use super::failure::Outcome;
use super::values::{Date, Interval, Moment, SECOND_NS, Time, Value};

/// What takes the values of a row, in column order: the touch sum, or the encoder. It takes every value.
pub trait Sink {
    fn null(&mut self) -> Outcome<()>;
    fn integer(&mut self, value: i64) -> Outcome<()>;
    fn decimal(&mut self, value: &Decimal) -> Outcome<()>;
    fn float(&mut self, value: f64) -> Outcome<()>;
    fn boolean(&mut self, value: bool) -> Outcome<()>;
    /// Takes char, varchar, text and json.
    fn text(&mut self, value: &str) -> Outcome<()>;
    fn binary(&mut self, value: &[u8]) -> Outcome<()>;
    fn date(&mut self, value: &impl Day) -> Outcome<()>;
    fn time(&mut self, value: &impl OfDay) -> Outcome<()>;
    fn timestamp(&mut self, value: &impl Wall) -> Outcome<()>;
    fn instant(&mut self, value: &impl Wall) -> Outcome<()>;
    fn infinite(&mut self, negative: bool) -> Outcome<()>;
    fn interval(&mut self, value: &Interval) -> Outcome<()>;
    fn uuid(&mut self, value: &[u8; 16]) -> Outcome<()>;
    /// Takes an array of integers; None is a NULL in it.
    fn array(&mut self, value: &[Option<i64>]) -> Outcome<()>;
    /// Takes a value of which only that it is there is in the digest.
    fn opaque(&mut self) -> Outcome<()>;
    /// Takes any value in the form that is nearest to its column's declared type.
    fn other(&mut self, value: Value, column: &Column) -> Outcome<()>;
}

/// A date, as a library has it.
pub trait Day {
    fn day_of_month(&self) -> u32;
    /// Days since 1970-01-01.
    fn days(&self) -> i32;
}

/// A time of day, as a library has it.
pub trait OfDay {
    fn second_of_minute(&self) -> u32;
    /// Nanoseconds since midnight.
    fn ns(&self) -> i64;
}

/// A timestamp or an instant, as a library has it.
pub trait Wall {
    fn second_of_minute(&self) -> u32;
    fn moment(&self) -> Moment;
}

impl Day for Date {
    fn day_of_month(&self) -> u32 {
        u32::from(self.day)
    }
    fn days(&self) -> i32 {
        Date::days(*self)
    }
}

impl OfDay for Time {
    fn second_of_minute(&self) -> u32 {
        (self.0 / SECOND_NS % 60).unsigned_abs() as u32
    }
    fn ns(&self) -> i64 {
        self.0
    }
}

impl Wall for Moment {
    fn second_of_minute(&self) -> u32 {
        self.seconds.rem_euclid(60) as u32
    }
    fn moment(&self) -> Moment {
        *self
    }
}

/// A wall clock as its parts, before anything is counted in seconds.
impl Wall for (Date, Time) {
    fn second_of_minute(&self) -> u32 {
        self.1.second_of_minute()
    }
    fn moment(&self) -> Moment {
        self.0.at(self.1)
    }
}
