use super::column::Column;
use super::counters::Counters;
use super::failure::Outcome;
use super::sink::Sink;
use super::touch::Touch;

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
    counters.took(counters.at_first_row(), touch.0);
    if let Some(encoder) = &mut counters.encoder {
        for (at, column) in columns.iter().enumerate() {
            encoder.at = at;
            row.value(at, column, encoder).map_err(|failure| failure.in_column(&column.name))?;
        }
        encoder.end_row()?;
    }
    Ok(())
}
