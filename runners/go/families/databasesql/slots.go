// Package databasesql drives any driver of Go's database/sql.
package databasesql

import (
	"database/sql"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"rowpath/core"
	"rowpath/families/sqltext"
)

// SlotOf is where database/sql leaves the values of a column: Go's own types, sql.Null of them where NULL may come.
// natural makes of the driver's other values what the encoder knows; texts are the logical types that the driver
// delivers as text.
func SlotOf(column core.Column, natural core.Natural, texts ...string) core.Slot {
	switch column.Type {
	case "integer":
		if column.Bits <= widest {
			return plain(column, integerValue)
		}
	case "float32", "float64":
		return plain(column, floatValue)
	case "boolean":
		return plain(column, boolValue)
	case "char", "varchar", "text", "json":
		return plain(column, textValue)
	case "binary":
		return plain(column, bytesValue)
	case "opaque":
		return &anySlot{}
	case "decimal", "date", "time", "timestamp", "timestamptz", "interval", "uuid":
		return &scanned{column: column, kind: column.Type, natural: natural, text: slices.Contains(texts, column.Type)}
	case "array":
		if column.Element().Type == "integer" {
			return &scanned{column: column, kind: "array", natural: natural, text: slices.Contains(texts, column.Type)}
		}
	}
	return &scanned{column: column, natural: natural, text: slices.Contains(texts, column.Type)}
}

const widest = 64 // bits of Go's own integers

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

// kind is what a Go type means to the touch.
type kind[T any] struct{ touch func(*T) int64 }

var (
	integerValue = kind[int64]{func(v *int64) int64 { return *v }}
	int32Value   = kind[int32]{func(v *int32) int64 { return int64(*v) }}
	int16Value   = kind[int16]{func(v *int16) int64 { return int64(*v) }}
	floatValue   = kind[float64]{func(v *float64) int64 { return core.TouchFloat(*v) }}
	float32Value = kind[float32]{func(v *float32) int64 { return core.TouchFloat(float64(*v)) }}
	boolValue    = kind[bool]{func(v *bool) int64 { return core.TouchBool(*v) }}
	textValue    = kind[string]{func(v *string) int64 { return int64(len(*v)) }}
	bytesValue   = kind[[]byte]{func(v *[]byte) int64 { return int64(len(*v)) }}
)

func plain[T any](column core.Column, kind kind[T]) core.Slot {
	if column.Nullable {
		return &nullable[T]{kind: kind}
	}
	return &always[T]{kind: kind}
}

// there is a value that is not NULL: []byte is nil for NULL, and with modernc for no bytes too.
func there(value any) any {
	if bytes, ok := value.([]byte); ok && bytes == nil {
		return []byte{}
	}
	return value
}

type always[T any] struct {
	kind[T]
	value T
}

func (s *always[T]) Destination() any { return &s.value }
func (s *always[T]) Touch() int64     { return s.touch(&s.value) }
func (s *always[T]) Value() any       { return there(s.value) }
func (s *always[T]) Delivers() string { return fmt.Sprintf("%T", s.value) }
func (s *always[T]) Converted() bool  { return false }

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
func (s *nullable[T]) Value() any {
	if !s.value.Valid {
		return nil
	}
	return there(s.value.V)
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
func (s *anySlot) Value() any       { return s.value }
func (s *anySlot) Delivers() string { return "any" }
func (s *anySlot) Converted() bool  { return false }

// scanned takes what database/sql has no type of its own for: decimals, dates and times, from text or time.Time.
type scanned struct {
	column   core.Column
	natural  core.Natural
	kind     string // empty: the column's values have no usual form
	text     bool
	null     bool
	decimal  core.Decimal
	at       time.Time
	of       core.TimeOfDay
	interval core.Interval
	uuid     core.UUID
	array    []*int64
	unusual  any // what came in another form
}

func (s *scanned) Destination() any { return s }

func (s *scanned) Delivers() string {
	switch {
	case s.text:
		return "string"
	case strings.HasPrefix(s.kind, "t"), s.kind == "date":
		return "time.Time"
	case s.kind == "":
		return "any"
	}
	return "string"
}

func (s *scanned) Converted() bool { return s.Delivers() == "string" }

// Scan takes the driver's value, whatever it is.
func (s *scanned) Scan(source any) error {
	s.null, s.unusual = source == nil, nil
	switch value := source.(type) {
	case nil:
		return nil
	case string:
		s.parse(value)
	case []byte:
		if s.kind == "" {
			s.unusual = s.natural(&s.column, value)
		} else {
			s.parse(string(value))
		}
	case time.Time:
		s.take(value)
	case int64:
		s.number(value, strconv.FormatInt(value, 10))
	case float64:
		s.number(value, strconv.FormatFloat(value, 'f', -1, 64))
	default:
		s.unusual = s.natural(&s.column, source)
	}
	return nil
}

func (s *scanned) number(value any, text string) {
	if s.kind == "" {
		s.unusual = s.natural(&s.column, value)
	} else {
		s.parse(text)
	}
}

func (s *scanned) take(value time.Time) {
	s.at = value
	switch s.kind {
	case "date", "timestamp", "timestamptz":
	case "time":
		midnight := time.Date(value.Year(), value.Month(), value.Day(), 0, 0, 0, 0, value.Location())
		s.of = core.TimeOfDay(value.Sub(midnight))
		if s.of == 0 && value.Year() == 0 && value.YearDay() == 2 { // pq's day of times is the first of the year 0
			s.of = core.TimeOfDay(24 * time.Hour)
		}
	default:
		s.unusual = s.natural(&s.column, value)
	}
}

func (s *scanned) parse(text string) {
	if !s.usual(text) {
		s.unusual = s.natural(&s.column, text)
	}
}

func (s *scanned) usual(text string) (ok bool) {
	var err error
	switch s.kind {
	case "decimal":
		s.decimal, err = core.ParseDecimal(text)
	case "time":
		s.of, err = core.ParseTime(text)
	case "interval":
		s.interval, ok = sqltext.ParseInterval(text)
		return ok
	case "uuid":
		s.uuid, err = core.ParseUUID(text)
	case "array":
		s.array, ok = sqltext.ParseArray(text)
		return ok
	case "date":
		s.at, err = core.ParseDate(text)
	case "timestamp":
		s.at, err = core.ParseTimestamp(text)
	case "timestamptz":
		s.at, err = core.ParseInstant(text)
	default:
		return false
	}
	return err == nil
}

func (s *scanned) Touch() int64 {
	switch {
	case s.null:
		return 1
	case s.unusual != nil:
		return core.TouchValue(&s.column, s.unusual)
	}
	switch s.kind {
	case "decimal":
		return s.decimal.Touch()
	case "date":
		return int64(s.at.Day())
	case "time":
		return core.TouchTime(int64(s.of))
	case "timestamp", "timestamptz":
		return int64(s.at.Second())
	default:
		return 5
	}
}

func (s *scanned) Value() any {
	switch {
	case s.null:
		return nil
	case s.unusual != nil:
		return s.unusual
	}
	switch s.kind {
	case "decimal":
		return s.decimal
	case "date", "timestamp", "timestamptz":
		return s.at
	case "time":
		return s.of
	case "interval":
		return s.interval
	case "uuid":
		return s.uuid
	default:
		return s.array
	}
}
