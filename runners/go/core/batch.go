package core

// Batch is columns of a driver's own, all of the same length.
type Batch interface {
	// Rows is how many there are.
	Rows() int
	// Touch is what all values add to the touch sum.
	Touch() (int64, error)
	// Encode adds the bytes of one value; outside the clock.
	Encode(encoder *Encoder, row, column int) error
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
		touch, err := batch.Touch()
		if err != nil {
			return err
		}
		counters.Touch += touch
		counters.Rows += int64(batch.Rows())
		if first && batch.Rows() > 0 {
			first = false
			counters.firstRow()
		}
		if counters.encoder == nil {
			continue
		}
		for row := range batch.Rows() {
			err := counters.encoder.Row(func(column int) error { return batch.Encode(counters.encoder, row, column) })
			if err != nil {
				return err
			}
		}
	}
}
