package core

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Encoder makes the codec's bytes of rows and their digest (docs/codec.md).
type Encoder struct {
	columns []Column
	limit   int64
	kept    *bufio.Writer // nil: rows are not kept
	bytes   []byte
	at      int
	rows    int64
	sum     uint64
}

// NewEncoder makes a digest over at most limit rows of these columns.
func NewEncoder(columns []Column, limit int64) *Encoder {
	return &Encoder{columns: columns, limit: limit}
}

// Digest is `rows:hex16`.
func (e *Encoder) Digest() string { return fmt.Sprintf("%d:%016x", e.rows, e.sum) }

func (e *Encoder) row(slots []Slot) error {
	return e.Row(func(at int) error { return slots[at].Encode(e) })
}

// Keep has the bytes of every row written too, each row behind its length.
func (e *Encoder) Keep(rows *bufio.Writer) { e.kept = rows }

// Row encodes a row column by column.
func (e *Encoder) Row(encode func(at int) error) error {
	for e.at = range e.columns {
		if err := encode(e.at); err != nil {
			return e.named(err)
		}
	}
	return e.end()
}

func (e *Encoder) end() error {
	defer func() { e.bytes = e.bytes[:0] }()
	if e.rows == e.limit {
		return nil
	}
	e.rows++
	e.sum += XXHash64(e.bytes)
	if e.kept == nil {
		return nil
	}
	if err := binary.Write(e.kept, binary.LittleEndian, uint32(len(e.bytes))); err != nil {
		return err
	}
	_, err := e.kept.Write(e.bytes)
	return err
}

// named is a failure with the name of the column under way.
func (e *Encoder) named(thrown error) error {
	kind := "verify"
	var own *Failure
	if errors.As(thrown, &own) {
		kind = own.Kind
	}
	return Fail(kind, "column %s: %s", e.columns[e.at].Name, thrown)
}

func (e *Encoder) tag(tag byte) { e.bytes = append(e.bytes, tag) }

func (e *Encoder) put32(value uint32) { e.bytes = binary.LittleEndian.AppendUint32(e.bytes, value) }

func (e *Encoder) put64(value uint64) { e.bytes = binary.LittleEndian.AppendUint64(e.bytes, value) }

func (e *Encoder) text(tag byte, text string) {
	e.tag(tag)
	e.put32(uint32(len(text)))
	e.bytes = append(e.bytes, text...)
}

// Null takes a NULL.
func (e *Encoder) Null() error {
	if !e.columns[e.at].Nullable {
		return Fail("verify", "NULL where none is allowed")
	}
	e.tag(0)
	return nil
}

// Integer takes an integer, which must fit the column's width.
func (e *Encoder) Integer(value int64) error {
	if bits := e.columns[e.at].Bits; bits < 64 && value != value<<(64-bits)>>(64-bits) {
		return Fail("verify", "%d in an integer of %d bits", value, bits)
	}
	e.text('N', strconv.FormatInt(value, 10))
	return nil
}

// Decimal takes a decimal.
func (e *Encoder) Decimal(value Decimal) error {
	e.text('N', value.Plain())
	return nil
}

// Float takes a float; of a float32 column it is rounded to binary32.
func (e *Encoder) Float(value float64) error {
	if e.columns[e.at].Type == "float32" {
		value = float64(float32(value))
	}
	bits := math.Float64bits(value + 0) // -0 + 0 is +0
	if value != value {
		bits = 0x7FF8000000000000
	}
	e.tag('F')
	e.put64(bits)
	return nil
}

// Bool takes a truth value.
func (e *Encoder) Bool(value bool) error {
	e.bytes = append(e.bytes, 'L', byte(TouchBool(value)))
	return nil
}

// Text takes char, varchar, text and json.
func (e *Encoder) Text(value string) error {
	if !utf8.ValidString(value) {
		return Fail("verify", "text that is no valid UTF-8")
	}
	if e.columns[e.at].Type == "char" {
		value = strings.TrimRight(value, " ")
	}
	e.text('S', value)
	return nil
}

// Binary takes bytes.
func (e *Encoder) Binary(value []byte) error {
	e.text('B', string(value))
	return nil
}

// Date takes a date: the calendar day of the instant in its own zone.
func (e *Encoder) Date(value time.Time) error {
	day := time.Date(value.Year(), value.Month(), value.Day(), 0, 0, 0, 0, time.UTC)
	e.tag('d')
	e.put32(uint32(int32(floorDivide(day.Unix(), secondsADay))))
	return nil
}

// Time takes a time of day in nanoseconds since midnight.
func (e *Encoder) Time(ns int64) error {
	e.tag('t')
	e.put64(uint64(ns))
	return nil
}

// Timestamp takes the wall clock of a time.
func (e *Encoder) Timestamp(value time.Time) error {
	_, offset := value.Zone()
	return e.moment('T', value.Unix()+int64(offset), value.Nanosecond())
}

// Instant takes an instant.
func (e *Encoder) Instant(value time.Time) error {
	return e.moment('Z', value.Unix(), value.Nanosecond())
}

func (e *Encoder) moment(tag byte, seconds int64, nanoseconds int) error {
	e.tag(tag)
	e.put64(uint64(seconds))
	e.put32(uint32(nanoseconds))
	return nil
}

// Infinite takes an infinite date, timestamp or timestamptz.
func (e *Encoder) Infinite(negative bool) error {
	if negative {
		e.text('X', "-inf")
	} else {
		e.text('X', "inf")
	}
	return nil
}

// Interval takes an interval.
func (e *Encoder) Interval(value Interval) error {
	e.tag('I')
	e.put32(uint32(value.Months))
	e.put32(uint32(value.Days))
	e.put64(uint64(value.Nanoseconds))
	return nil
}

// UUID takes a UUID.
func (e *Encoder) UUID(value [16]byte) error {
	e.tag('U')
	e.bytes = append(e.bytes, value[:]...)
	return nil
}

// Array takes an array of integers; nil is a NULL in it.
func (e *Encoder) Array(values []*int64) error {
	e.tag('A')
	e.put32(uint32(len(values)))
	for _, value := range values {
		if value == nil {
			e.tag(0)
		} else if err := e.Integer(*value); err != nil {
			return err
		}
	}
	return nil
}

// Opaque takes a value of which only that it is there is in the digest.
func (e *Encoder) Opaque() error {
	e.tag('O')
	return nil
}
