package core

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Row is a result's slots, made ready for the driver's Scan.
type Row struct {
	columns      []Column
	slots        []Slot
	destinations []any
	position     *regexp.Regexp
}

// NewRow makes a row of these slots, one for each column; position finds the column's in the text of an error of Scan.
func NewRow(columns []Column, slots []Slot, position *regexp.Regexp) *Row {
	row := &Row{columns: columns, slots: slots, position: position}
	for _, slot := range slots {
		row.destinations = append(row.destinations, slot.Destination())
	}
	return row
}

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
		if err := rows.Scan(row.destinations...); err != nil {
			return row.misfit(err)
		}
		counters.Touch += row.touch()
		counters.Rows++
		if first {
			first = false
			counters.firstRow()
		}
		if counters.encoder != nil {
			if err := counters.encoder.row(row.slots); err != nil {
				return err
			}
		}
	}
	return rows.Err()
}

func (r *Row) touch() int64 {
	var sum int64
	for _, slot := range r.slots {
		sum += slot.Touch()
	}
	return sum
}

// misfit is a value that the driver cannot hand over as the column's type.
func (r *Row) misfit(thrown error) error {
	kind, text := "verify", thrown.Error()
	var own *Failure
	if errors.As(thrown, &own) {
		kind, text = own.Kind, own.Text
	} else if strings.Contains(text, "NULL") {
		text = "NULL where none is allowed: " + text
	}
	if found := r.position.FindStringSubmatch(thrown.Error()); found != nil {
		if at, _ := strconv.Atoi(found[1]); at < len(r.columns) {
			text = fmt.Sprintf("column %s: %s", r.columns[at].Name, text)
		}
	}
	return Fail(kind, "%s", text)
}
