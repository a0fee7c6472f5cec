package duckdb

import (
	"math"
	"math/big"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"rowpath/core"
	"rowpath/families/databasesql"
)

const secondsADay = 24 * 60 * 60

// slotOf is where values of DuckDB's own types are left; nil for a column of none.
func slotOf(column core.Column) core.Slot {
	switch column.Type {
	case "integer":
		return databasesql.Integer(column)
	case "float32":
		return databasesql.Float32(column)
	case "decimal":
		return &decimal{}
	case "date":
		return databasesql.Own(touchDate, encodeDate)
	case "time":
		return databasesql.Own(func(v time.Time) int64 { return int64(v.Second()) }, encodeTime)
	case "timestamp":
		return databasesql.Own(touchMoment, func(e *core.Encoder, v time.Time) error { return encodeMoment(e, v, e.Timestamp) })
	case "timestamptz":
		return databasesql.Own(touchMoment, func(e *core.Encoder, v time.Time) error { return encodeMoment(e, v, e.Instant) })
	case "interval":
		return databasesql.Own(five[duckdb.Interval], encodeInterval)
	case "uuid":
		return databasesql.Own(five[[]byte], func(e *core.Encoder, v []byte) error { return e.UUID([16]byte(v)) })
	case "array":
		return databasesql.Own(five[[]any], encodeArray)
	}
	return nil
}

func five[T any](T) int64 { return 5 }

// infinite is whether that number of days or microseconds is DuckDB's infinity: the greatest number, or its negative.
func infinite(value, most int64) bool { return value == most || value == -most }

func touchDate(v time.Time) int64 {
	if infinite(v.Unix(), math.MaxInt32*secondsADay) {
		return 5
	}
	return int64(v.Day())
}

func encodeDate(e *core.Encoder, v time.Time) error {
	if infinite(v.Unix(), math.MaxInt32*secondsADay) {
		return e.Infinite(v.Unix() < 0)
	}
	return e.Date(v)
}

func touchMoment(v time.Time) int64 {
	if infinite(v.UnixMicro(), math.MaxInt64) {
		return 5
	}
	return int64(v.Second())
}

func encodeMoment(e *core.Encoder, v time.Time, finite func(time.Time) error) error {
	if infinite(v.UnixMicro(), math.MaxInt64) {
		return e.Infinite(v.UnixMicro() < 0)
	}
	return finite(v)
}

func encodeTime(e *core.Encoder, v time.Time) error {
	seconds := (v.Hour()*60+v.Minute())*60 + v.Second()
	return e.Time(int64(seconds)*int64(time.Second) + int64(v.Nanosecond()))
}

func encodeInterval(e *core.Encoder, v duckdb.Interval) error {
	return e.Interval(core.Interval{Months: v.Months, Days: v.Days, Nanoseconds: v.Micros * 1000})
}

func encodeArray(e *core.Encoder, v []any) error {
	values := make([]*int64, len(v))
	for at, each := range v {
		var number int64
		switch each := each.(type) {
		case nil:
			continue
		case int16:
			number = int64(each)
		case int32:
			number = int64(each)
		case int64:
			number = each
		default:
			return core.Fail("verify", "no integer in a list: %T", each)
		}
		values[at] = &number
	}
	return e.Array(values)
}

// decimal takes decimals, and the integers that are wider than 64 bits or have no sign.
type decimal struct {
	null  bool
	value core.Decimal
}

func (s *decimal) Scan(source any) error {
	s.null = source == nil
	switch value := source.(type) {
	case nil:
	case duckdb.Decimal:
		s.value = number(value.Value, int32(value.Scale))
	case *big.Int:
		s.value = number(value, 0)
	case uint64:
		s.value = number(new(big.Int).SetUint64(value), 0)
	case int64:
		s.value = core.Decimal{Small: value}
	default:
		return core.Fail("verify", "no decimal: %T", source)
	}
	return nil
}

func number(unscaled *big.Int, scale int32) core.Decimal {
	if unscaled.IsInt64() {
		return core.Decimal{Small: unscaled.Int64(), Scale: scale}
	}
	return core.Decimal{Big: unscaled, Scale: scale}
}

func (s *decimal) Destination() any { return s }
func (s *decimal) Touch() int64 {
	if s.null {
		return 1
	}
	return s.value.Touch()
}
func (s *decimal) Encode(encoder *core.Encoder) error {
	if s.null {
		return encoder.Null()
	}
	return encoder.Decimal(s.value)
}
func (s *decimal) Delivers() string { return "duckdb.Decimal" }
func (s *decimal) Converted() bool  { return false }
