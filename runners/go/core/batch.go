package core

// Batch is columns of a driver's own, all of the same length.
type Batch interface {
	// Rows is how many there are.
	Rows() int
	// Touch is what all values add to the touch sum.
	Touch() int64
	// Value is one value in a form that the encoder knows; outside the clock.
	Value(row, column int) any
}

// Batches is a result as batches; nil after the last one.
type Batches interface{ Next() (Batch, error) }

// Columnar is an operation that knows only from its batches what the driver delivers.
type Columnar interface {
	// Delivers is a column's type, and whether the adapter converts text.
	Delivers(column int) (name string, converted bool)
}

// TakeBatches takes every value of every batch that is left.
func TakeBatches(batches Batches, counters *Counters) error {
	first := true
	for {
		batch, err := batches.Next()
		if err != nil || batch == nil {
			return err
		}
		counters.Touch += batch.Touch()
		counters.Rows += int64(batch.Rows())
		if first && batch.Rows() > 0 {
			first = false
			counters.firstRow()
		}
		if counters.encoder == nil {
			continue
		}
		for row := range batch.Rows() {
			if err := counters.encoder.Row(func(column int) any { return batch.Value(row, column) }); err != nil {
				return err
			}
		}
	}
}
