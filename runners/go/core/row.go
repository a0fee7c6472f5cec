package core

// Row is a result's slots, made ready for the driver's Scan.
type Row struct {
	columns      []Column
	slots        []Slot
	destinations []any
	natural      Natural
	loose        []any // what came where a slot did not take it
}

// Natural is a driver's value of a column in a form that the encoder knows.
type Natural func(column *Column, value any) any

// NewRow makes a row of these slots, one for each column. With natural a row that they do not take is scanned again, as
// whatever the driver has it as.
func NewRow(columns []Column, slots []Slot, natural Natural) *Row {
	row := &Row{columns: columns, slots: slots, natural: natural}
	for _, slot := range slots {
		row.destinations = append(row.destinations, slot.Destination())
	}
	return row
}

// Replace has another slot take a column's values.
func (r *Row) Replace(at int, slot Slot) {
	r.slots[at], r.destinations[at] = slot, slot.Destination()
}

// Columns are what is declared of the values.
func (r *Row) Columns() []Column { return r.columns }

// Slots are where the values are left.
func (r *Row) Slots() []Slot { return r.slots }

// Source is a driver's result, read row by row.
type Source interface {
	Next() bool
	Scan(destinations ...any) error
	Err() error
}

// Take takes every value of every row that is left.
func Take[S Source](row *Row, rows S, counters *Counters) error {
	first := true
	for rows.Next() {
		loose := false
		if err := rows.Scan(row.destinations...); err == nil {
			counters.Touch += row.touch()
		} else if row.natural == nil || row.loosely(rows) != nil {
			return err
		} else {
			counters.Touch += row.touchLoose()
			loose = true
		}
		counters.Rows++
		if first {
			first = false
			counters.firstRow()
		}
		if counters.encoder != nil {
			if err := counters.encoder.Row(row.values(loose)); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

func (r *Row) values(loose bool) func(at int) any {
	if loose {
		return r.looseValue
	}
	return func(at int) any { return r.slots[at].Value() }
}

func (r *Row) touch() int64 {
	var sum int64
	for _, slot := range r.slots {
		sum += slot.Touch()
	}
	return sum
}

// loosely scans the row under way once more.
func (r *Row) loosely(rows Source) error {
	r.loose = make([]any, len(r.columns))
	destinations := make([]any, len(r.columns))
	for at := range r.loose {
		destinations[at] = &r.loose[at]
	}
	return rows.Scan(destinations...)
}

func (r *Row) looseValue(at int) any {
	if r.loose[at] == nil {
		return nil
	}
	return r.natural(&r.columns[at], r.loose[at])
}

func (r *Row) touchLoose() (sum int64) {
	for at := range r.columns {
		sum += TouchValue(&r.columns[at], r.looseValue(at))
	}
	return sum
}
