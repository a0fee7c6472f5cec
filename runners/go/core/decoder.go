package core

import (
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"strconv"
	"time"
)

const magic = "RPROWS1\n"

// readRows is the rows [first, first + count) of a parameter file (docs/codec.md) as natural values.
func readRows(name string, columns []Column, first, count int64) ([][]any, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, Fail("internal", "parameters: %s", err)
	}
	if len(data) < 16 || string(data[:8]) != magic {
		return nil, Fail("internal", "%s: no parameter file", name)
	}
	total := int64(binary.LittleEndian.Uint64(data[8:]))
	if first < 0 || count < 0 || first+count > total {
		return nil, Fail("internal", "%s: rows %d to %d of %d", name, first, first+count, total)
	}
	offset := func(row int64) uint64 { return binary.LittleEndian.Uint64(data[16+8*row:]) }
	rows := make([][]any, count)
	for row := range rows {
		at := first + int64(row)
		if rows[row], err = DecodeRow(data[offset(at):offset(at+1)], columns); err != nil {
			return nil, Fail("internal", "%s: row %d: %s", name, at, err)
		}
	}
	return rows, nil
}

// DecodeRow is one row of the codec's bytes as natural values.
func DecodeRow(data []byte, columns []Column) (row []any, err error) {
	defer func() { // a slice that ends too soon
		if broken := recover(); broken != nil {
			err = fmt.Errorf("%v", broken)
		}
	}()
	reader := reader{data}
	row = make([]any, len(columns))
	for at := range columns {
		if row[at], err = reader.value(&columns[at]); err != nil {
			return nil, err
		}
	}
	if len(reader.data) > 0 {
		return nil, fmt.Errorf("%d bytes too many", len(reader.data))
	}
	return row, nil
}

type reader struct{ data []byte }

func (r *reader) take(count int) []byte {
	taken := r.data[:count]
	r.data = r.data[count:]
	return taken
}

func (r *reader) u32() uint32 { return binary.LittleEndian.Uint32(r.take(4)) }

func (r *reader) u64() uint64 { return binary.LittleEndian.Uint64(r.take(8)) }

func (r *reader) text() string { return string(r.take(int(r.u32()))) }

// value is the next one as the natural type of its column.
func (r *reader) value(column *Column) (any, error) {
	switch tag := r.take(1)[0]; tag {
	case 0:
		return nil, nil
	case 'N':
		return number(column, r.text())
	case 'F':
		return math.Float64frombits(r.u64()), nil
	case 'L':
		return r.take(1)[0] == 1, nil
	case 'S':
		return r.text(), nil
	case 'B':
		return []byte(r.text()), nil
	case 'd':
		return Date(time.Unix(int64(int32(r.u32()))*secondsADay, 0).UTC()), nil
	case 't':
		return TimeOfDay(r.u64()), nil
	case 'T':
		return r.moment(), nil
	case 'Z':
		return Instant(r.moment()), nil
	case 'I':
		return Interval{int32(r.u32()), int32(r.u32()), int64(r.u64())}, nil
	case 'U':
		return UUID(r.take(16)), nil
	case 'A':
		return r.array(column)
	case 'X':
		return Infinite{r.text() == "-inf"}, nil
	case 'O':
		return nil, fmt.Errorf("an opaque value is no parameter")
	default:
		return nil, fmt.Errorf("no value begins with %q", tag)
	}
}

func (r *reader) moment() time.Time {
	seconds := int64(r.u64())
	return time.Unix(seconds, int64(r.u32())).UTC()
}

// array is []*int64, the form that drivers take; of more dimensions it is []any of such.
func (r *reader) array(column *Column) (any, error) {
	values := make([]*int64, r.u32())
	for at := range values {
		switch r.take(1)[0] {
		case 0:
			continue
		case 'A':
			return r.dimensions(column, len(values))
		}
		value, err := strconv.ParseInt(r.text(), 10, 64)
		if err != nil {
			return nil, err
		}
		values[at] = &value
	}
	return values, nil
}

func (r *reader) dimensions(column *Column, count int) (any, error) {
	values := make([]any, count)
	for at := range values {
		if at > 0 {
			r.take(1)
		}
		var err error
		if values[at], err = r.array(column); err != nil {
			return nil, err
		}
	}
	return values, nil
}

func number(column *Column, text string) (any, error) {
	if column.Type == "decimal" {
		return ParseDecimal(text)
	}
	if value, err := strconv.ParseInt(text, 10, 64); err == nil {
		return value, nil
	}
	return ParseDecimal(text) // as drivers take integers of more than 64 bits
}
