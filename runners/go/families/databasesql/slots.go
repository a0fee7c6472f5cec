// Package databasesql drives any driver of Go's database/sql.
package databasesql

import (
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rowpath/core"
	"rowpath/families/sqltext"
)

// SlotOf is where database/sql leaves the values of a column: Go's own types, sql.Null of them where NULL may come.
// texts are the logical types that the driver delivers as text.
func SlotOf(column core.Column, texts ...string) (core.Slot, error) {
	switch column.Type {
	case "integer":
		return plain(column, integerValue), nil
	case "float32", "float64":
		return plain(column, floatValue), nil
	case "boolean":
		return plain(column, boolValue), nil
	case "char", "varchar", "text", "json":
		return plain(column, textValue), nil
	case "binary":
		return plain(column, bytesValue), nil
	case "opaque":
		return &anySlot{}, nil
	}
	for _, each := range texts {
		if each == column.Type {
			return &scanned{kind: column.Type, text: true}, nil
		}
	}
	return &scanned{kind: column.Type}, nil
}

// Float32 is where a driver leaves floats that it delivers as float32.
func Float32(column core.Column) core.Slot { return plain(column, float32Value) }

// Integer is where a driver leaves integers that it delivers in a column's own width.
func Integer(column core.Column) core.Slot {
	switch column.Bits {
	case 16:
		return plain(column, int16Value)
	case 32:
		return plain(column, int32Value)
	default:
		return plain(column, integerValue)
	}
}

// kind is what a Go type means to touch and digest.
type kind[T any] struct {
	touch  func(*T) int64
	encode func(*core.Encoder, T) error
}

var (
	integerValue = kind[int64]{func(v *int64) int64 { return *v }, (*core.Encoder).Integer}
	int32Value   = kind[int32]{
		func(v *int32) int64 { return int64(*v) },
		func(e *core.Encoder, v int32) error { return e.Integer(int64(v)) },
	}
	int16Value = kind[int16]{
		func(v *int16) int64 { return int64(*v) },
		func(e *core.Encoder, v int16) error { return e.Integer(int64(v)) },
	}
	floatValue   = kind[float64]{func(v *float64) int64 { return core.TouchFloat(*v) }, (*core.Encoder).Float}
	float32Value = kind[float32]{
		func(v *float32) int64 { return core.TouchFloat(float64(*v)) },
		func(e *core.Encoder, v float32) error { return e.Float(float64(v)) },
	}
	boolValue = kind[bool]{func(v *bool) int64 { return core.TouchBool(*v) }, (*core.Encoder).Bool}
	textValue = kind[string]{func(v *string) int64 { return int64(len(*v)) }, (*core.Encoder).Text}
	// Not a bare []byte: it is nil for NULL, and with modernc for no bytes too.
	bytesValue = kind[[]byte]{func(v *[]byte) int64 { return int64(len(*v)) }, (*core.Encoder).Binary}
)

func plain[T any](column core.Column, kind kind[T]) core.Slot {
	if column.Nullable {
		return &nullable[T]{kind: kind}
	}
	return &always[T]{kind: kind}
}

type always[T any] struct {
	kind[T]
	value T
}

func (s *always[T]) Destination() any                   { return &s.value }
func (s *always[T]) Touch() int64                       { return s.touch(&s.value) }
func (s *always[T]) Encode(encoder *core.Encoder) error { return s.encode(encoder, s.value) }
func (s *always[T]) Delivers() string                   { return fmt.Sprintf("%T", s.value) }
func (s *always[T]) Converted() bool                    { return false }

type nullable[T any] struct {
	kind[T]
	value sql.Null[T]
}

func (s *nullable[T]) Destination() any { return &s.value }
func (s *nullable[T]) Touch() int64 {
	if !s.value.Valid {
		return 1
	}
	return s.touch(&s.value.V)
}
func (s *nullable[T]) Encode(encoder *core.Encoder) error {
	if !s.value.Valid {
		return encoder.Null()
	}
	return s.encode(encoder, s.value.V)
}
func (s *nullable[T]) Delivers() string { return fmt.Sprintf("%T", s.value.V) }
func (s *nullable[T]) Converted() bool  { return false }

type anySlot struct{ value any }

func (s *anySlot) Destination() any { return &s.value }
func (s *anySlot) Touch() int64 {
	if s.value == nil {
		return 1
	}
	return 5
}
func (s *anySlot) Encode(encoder *core.Encoder) error {
	if s.value == nil {
		return encoder.Null()
	}
	return encoder.Opaque()
}
func (s *anySlot) Delivers() string { return "any" }
func (s *anySlot) Converted() bool  { return false }

// scanned takes what database/sql has no type of its own for: decimals, dates and times, from text or time.Time.
type scanned struct {
	kind     string
	text     bool
	null     bool
	decimal  core.Decimal
	at       time.Time
	of       core.TimeOfDay
	interval core.Interval
	uuid     core.UUID
	array    []*int64
	infinite *core.Infinite
}

func (s *scanned) Destination() any { return s }

func (s *scanned) Delivers() string {
	if s.text || !strings.HasPrefix(s.kind, "t") && s.kind != "date" {
		return "string"
	}
	return "time.Time"
}

func (s *scanned) Converted() bool { return s.Delivers() == "string" }

// Scan takes the driver's value.
func (s *scanned) Scan(source any) error {
	s.null, s.infinite = source == nil, nil
	switch value := source.(type) {
	case nil:
		return nil
	case string:
		return s.parse(value)
	case []byte:
		return s.parse(string(value))
	case time.Time:
		return s.take(value)
	case int64:
		return s.parse(strconv.FormatInt(value, 10))
	case float64:
		return s.parse(strconv.FormatFloat(value, 'f', -1, 64))
	default:
		return core.Fail("verify", "no %s: %T", s.kind, source)
	}
}

func (s *scanned) take(value time.Time) error {
	s.at = value
	if s.kind != "time" {
		return nil
	}
	midnight := time.Date(value.Year(), value.Month(), value.Day(), 0, 0, 0, 0, value.Location())
	s.of = core.TimeOfDay(value.Sub(midnight))
	if value.Year() > 0 || value.YearDay() > 1 { // pq's day of times is the first of the year 0
		return core.Unsupported("a time of day ends before 24:00")
	}
	return nil
}

func (s *scanned) parse(text string) (err error) {
	switch s.kind {
	case "decimal":
		s.decimal, err = core.ParseDecimal(text)
		return err
	case "time":
		s.of, err = core.ParseTime(text)
		return err
	case "interval":
		s.interval, err = sqltext.ParseInterval(text)
		return err
	case "uuid":
		s.uuid, err = core.ParseUUID(text)
		return err
	case "array":
		s.array, err = sqltext.ParseArray(text)
		return err
	}
	if text == "infinity" || text == "-infinity" {
		s.infinite = &core.Infinite{Negative: text[0] == '-'}
		return nil
	}
	switch s.kind {
	case "date":
		s.at, err = core.ParseDate(text)
	case "timestamp":
		s.at, err = core.ParseTimestamp(text)
	default:
		s.at, err = core.ParseInstant(text)
	}
	return err
}

func (s *scanned) Touch() int64 {
	switch {
	case s.null:
		return 1
	case s.infinite != nil:
		return 5
	}
	switch s.kind {
	case "decimal":
		return s.decimal.Touch()
	case "date":
		return int64(s.at.Day())
	case "time":
		return int64(s.of) / int64(time.Second) % 60
	case "timestamp", "timestamptz":
		return int64(s.at.Second())
	default:
		return 5
	}
}

func (s *scanned) Encode(encoder *core.Encoder) error {
	switch {
	case s.null:
		return encoder.Null()
	case s.infinite != nil:
		return encoder.Infinite(s.infinite.Negative)
	}
	switch s.kind {
	case "decimal":
		return encoder.Decimal(s.decimal)
	case "date":
		return encoder.Date(s.at)
	case "time":
		return encoder.Time(int64(s.of))
	case "timestamp":
		return encoder.Timestamp(s.at)
	case "timestamptz":
		return encoder.Instant(s.at)
	case "interval":
		return encoder.Interval(s.interval)
	case "uuid":
		return encoder.UUID(s.uuid)
	default:
		return encoder.Array(s.array)
	}
}
