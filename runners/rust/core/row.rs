use super::column::Column;
use super::failure::Outcome;
use super::sample_counters::Counters;
use super::sink::Sink;
use super::touch::Touch;
use std::ops::Range;

/// A driver's row.
pub trait Source {
    /// Takes one value as the natural type of its column.
    fn value(&self, at: usize, column: &Column, sink: &mut impl Sink) -> Outcome<()>;
}

/// Takes every value of a row: touches it and, in `verify`, encodes it.
#[inline]
pub fn take(row: &impl Source, columns: &[Column], counters: &mut Counters) -> Outcome<()> {
    let mut touch = Touch(0);
    for (at, column) in columns.iter().enumerate() {
        if let Err(failure) = row.value(at, column, &mut touch) {
            return Err(failure.in_column(&column.name));
        }
    }
    counters.took(counters.at_first_row(), 1, touch.0);
    if let Some(encoder) = &mut counters.encoder {
        for (at, column) in columns.iter().enumerate() {
            encoder.at = at;
            row.value(at, column, encoder).map_err(|failure| failure.in_column(&column.name))?;
        }
        encoder.end_row()?;
    }
    Ok(())
}

/// Columns of a driver's own, all of the same length.
pub trait Batch {
    fn rows(&self) -> usize;
    /// Takes these values of one column, each as its natural type.
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
        for (at, column) in columns.iter().enumerate() {
            encoder.at = at;
            batch.values(row..row + 1, at, column, encoder).map_err(|failure| failure.in_column(&column.name))?;
        }
        encoder.end_row()?;
    }
    Ok(())
}
