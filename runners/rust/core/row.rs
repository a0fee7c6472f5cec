use super::column::Column;
use super::encoder::Encoder;
use super::failure::Outcome;
use super::sample_counters::Counters;
use super::sink::Sink;
use super::touch::Touch;
use super::values::Value;
use std::ops::Range;

/// A driver's row.
pub trait Source {
    /// Takes one value as the natural type of its column, the usual way; on an error nothing was taken.
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()>;
    /// A value that the usual way cannot take, by its own kind. Errors: the driver's own.
    fn natural(&self, at: usize, column: &Column) -> Outcome<Value>;
}

/// Takes every value of a row: touches it and, in `verify`, encodes it.
#[inline]
pub fn take(row: &impl Source, columns: &[Column], counters: &mut Counters) -> Outcome<()> {
    let mut touch = Touch(0);
    for (at, column) in columns.iter().enumerate() {
        if row.value(at, column, &mut touch).is_err() {
            take_unusual(row, at, column, &mut touch)?;
        }
    }
    counters.took(counters.at_first_row(), 1, touch.0);
    if let Some(encoder) = &mut counters.encoder {
        encode(columns, encoder, |at, column, encoder| match row.value(at, column, encoder) {
            Ok(()) => Ok(()),
            Err(_) => take_unusual(row, at, column, encoder),
        })?;
    }
    Ok(())
}

#[cold]
fn take_unusual(row: &impl Source, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()> {
    let value = row.natural(at, column).map_err(|failure| failure.in_column(&column.name))?;
    sink.other(value, column)
}

fn encode(
    columns: &[Column],
    encoder: &mut Encoder,
    take: impl Fn(usize, &Column, &mut Encoder) -> Outcome<()>,
) -> Outcome<()> {
    if encoder.has_room() {
        for (at, column) in columns.iter().enumerate() {
            encoder.begin_value(at);
            take(at, column, encoder)?;
            encoder.end_value();
        }
        encoder.end_row()?;
    }
    Ok(())
}

/// Columns of a driver's own, all of the same length.
pub trait Batch {
    fn rows(&self) -> usize;
    /// Takes these values of one column, each as its natural type or, where it has none, by its own kind.
    fn values(&self, rows: Range<usize>, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()>;
}

/// Takes every value of a batch: touches it column by column and, in `verify`, encodes it row by row.
pub fn take_batch(batch: &impl Batch, columns: &[Column], counters: &mut Counters) -> Outcome<()> {
    let (rows, mut touch) = (batch.rows(), Touch(0));
    for (at, column) in columns.iter().enumerate() {
        batch.values(0..rows, at, column, &mut touch).map_err(|failure| failure.in_column(&column.name))?;
    }
    counters.took(rows > 0 && counters.at_first_row(), rows as i64, touch.0);
    let Some(encoder) = &mut counters.encoder else { return Ok(()) };
    for row in 0..rows {
        encode(columns, encoder, |at, column, encoder| batch.values(row..row + 1, at, column, encoder))?;
    }
    Ok(())
}
