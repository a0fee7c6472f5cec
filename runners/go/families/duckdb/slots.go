package duckdb

import (
	"encoding/json"
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
		if column.Bits > 64 {
			return &decimal{column: column}
		}
		return databasesql.Integer(column)
	case "float32":
		return databasesql.Float32(column)
	case "decimal":
		return &decimal{column: column}
	case "date":
		return databasesql.Own(column, touchDate, natural)
	case "time":
		return databasesql.Own(column, func(v time.Time) int64 { return int64(v.Second()) }, natural)
	case "timestamp", "timestamptz":
		return databasesql.Own(column, touchMoment, natural)
	case "interval":
		return databasesql.Own(column, five[duckdb.Interval], natural)
	case "uuid":
		return databasesql.Own(column, five[[]byte], natural)
	case "array":
		return databasesql.Own(column, five[[]any], natural)
	case "struct":
		return databasesql.Own(column, five[map[string]any], natural)
	case "map":
		return databasesql.Own(column, five[duckdb.OrderedMap], natural)
	case "any":
		return databasesql.Own(column, touchUnion, natural)
	case "bits":
		return databasesql.Own(column, five[string], natural)
	case "timetz":
		return databasesql.Own(column, func(v time.Time) int64 { return int64(v.Second()) }, natural)
	}
	return nil
}

func five[T any](T) int64 { return 5 }

// endless is whether that number of days or microseconds is DuckDB's infinity: the greatest number, or its negative.
func endless(value, most int64) bool { return value == most || value == -most }

func touchDate(v time.Time) int64 {
	if endless(v.Unix(), math.MaxInt32*secondsADay) {
		return 5
	}
	return int64(v.Day())
}

func touchMoment(v time.Time) int64 {
	if endless(v.UnixMicro(), math.MaxInt64) || otherwiseEndless(v) {
		return 5
	}
	return int64(v.Second())
}

const (
	lastOfNanoseconds  = math.MaxInt64 / int64(time.Second) // seconds
	lastOfMicroseconds = math.MaxInt64 / 1_000_000
)

// otherwiseEndless is whether that is DuckDB's infinity in nanoseconds, milliseconds or seconds.
func otherwiseEndless(v time.Time) bool {
	switch seconds := v.Unix(); {
	case seconds == lastOfNanoseconds || seconds == -lastOfNanoseconds-1:
		return endless(v.UnixNano(), math.MaxInt64)
	case seconds > lastOfMicroseconds || seconds < -lastOfMicroseconds-1:
		return endless(v.UnixMilli(), math.MaxInt64) || endless(seconds, math.MaxInt64)
	}
	return false
}

// natural is a value of DuckDB's, as the driver has it, in a form that the encoder knows.
func natural(column *core.Column, value any) any {
	switch value := value.(type) {
	case time.Time:
		return moment(column.Type, value)
	case duckdb.Decimal:
		return number(value.Value, int32(value.Scale))
	case duckdb.Interval:
		return interval(value)
	case duckdb.UUID:
		return core.UUID(value)
	case duckdb.Bit:
		return value.String()
	case duckdb.Union:
		return natural(&core.Column{Type: "any"}, value.Value)
	case []any:
		return list(column.Element(), value)
	case map[string]any:
		return structure(column, value)
	case duckdb.OrderedMap:
		return entries(column, value)
	}
	if column.Type == "json" { // within another type the driver hands over what it parsed
		if _, text := value.(string); !text {
			if text, err := json.Marshal(value); err == nil {
				return text
			}
		}
	}
	return value
}

// OfArrow is a value of a record batch: DuckDB has bits there as the bytes in which it keeps them.
func OfArrow(column *core.Column, value any) any {
	if kept, ok := value.([]byte); ok && column.Type == "bits" {
		return duckdb.Bit{Data: kept}.String()
	}
	return value
}

func moment(kind string, v time.Time) any {
	switch {
	case kind == "date" && endless(v.Unix(), math.MaxInt32*secondsADay):
		return core.Infinite{Negative: v.Unix() < 0}
	case kind != "date" && (endless(v.UnixMicro(), math.MaxInt64) || otherwiseEndless(v)):
		return core.Infinite{Negative: v.Unix() < 0}
	}
	return v
}

func touchUnion(v duckdb.Union) int64 {
	if v.Value == nil {
		return 1
	}
	return 5
}

// interval is as it came where 64 bits do not hold its nanoseconds.
func interval(v duckdb.Interval) any {
	if v.Micros > math.MaxInt64/1000 || v.Micros < math.MinInt64/1000 {
		return v
	}
	return core.Interval{Months: v.Months, Days: v.Days, Nanoseconds: v.Micros * 1000}
}

func list(element *core.Column, values []any) []any {
	made := make([]any, len(values))
	for at, value := range values {
		made[at] = natural(element, value)
	}
	return made
}

// structure has the members in the order in which they are declared; it is as it came where they are others.
func structure(column *core.Column, members map[string]any) any {
	made := core.Structure{}
	for at := range column.Fields {
		value, found := members[column.Fields[at].Name]
		if !found {
			return members
		}
		made = append(made, natural(&column.Fields[at], value))
	}
	if len(made) < len(members) {
		return members
	}
	return made
}

func entries(column *core.Column, value duckdb.OrderedMap) core.Map {
	keys, values := value.Keys(), value.Values()
	made := make(core.Map, len(keys))
	for at, key := range keys {
		made[at] = [2]any{natural(column.Field(0), key), natural(column.Field(1), values[at])}
	}
	return made
}

// decimal takes decimals, and the integers that are wider than 64 bits or have no sign.
type decimal struct {
	column  core.Column
	null    bool
	value   core.Decimal
	unusual any
}

func (s *decimal) Scan(source any) error {
	s.null, s.unusual = source == nil, nil
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
		s.unusual = natural(&s.column, source)
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
	switch {
	case s.null:
		return 1
	case s.unusual != nil:
		return core.TouchValue(&s.column, s.unusual)
	}
	return s.value.Touch()
}
func (s *decimal) Value() any {
	switch {
	case s.null:
		return nil
	case s.unusual != nil:
		return s.unusual
	}
	return s.value
}
func (s *decimal) Delivers() string { return "duckdb.Decimal" }
func (s *decimal) Converted() bool  { return false }
