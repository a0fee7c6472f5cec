package arrow

import (
	"math"
	"math/big"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"

	"rowpath/core"
)

const secondsADay = 24 * 60 * 60

// isNull is whether there is no value; a union keeps that in its fields.
func isNull(values arrow.Array, at int) bool {
	switch values := values.(type) {
	case *array.SparseUnion:
		return values.Field(values.ChildID(at)).IsNull(at)
	case *array.DenseUnion:
		return values.Field(values.ChildID(at)).IsNull(int(values.ValueOffset(at)))
	}
	return values.IsNull(at)
}

// textOf gives the text or bytes at a place; nil where the values are neither.
func textOf(values arrow.Array) func(at int) string {
	switch values := values.(type) {
	case *array.String:
		return values.Value
	case *array.LargeString:
		return values.Value
	case *array.StringView:
		return values.Value
	case *array.Binary:
		return values.ValueString
	case *array.LargeBinary:
		return values.ValueString
	case *array.BinaryView:
		return values.ValueString
	case *array.FixedSizeBinary:
		return func(at int) string { return string(values.Value(at)) }
	case *array.Dictionary: // an enumeration
		if of := textOf(values.Dictionary()); of != nil {
			return func(at int) string { return of(values.GetValueIndex(at)) }
		}
	}
	return nil
}

// integerOf gives the integer at a place, where it fits 64 bits; nil where the values are none.
func integerOf(values arrow.Array) func(at int) (int64, bool) {
	switch values := values.(type) {
	case *array.Int64:
		return widened(values.Values())
	case *array.Int32:
		return widened(values.Values())
	case *array.Int16:
		return widened(values.Values())
	case *array.Int8:
		return widened(values.Values())
	case *array.Uint64:
		all := values.Values()
		return func(at int) (int64, bool) { return int64(all[at]), all[at] <= math.MaxInt64 }
	case *array.Uint32:
		return widened(values.Values())
	case *array.Uint16:
		return widened(values.Values())
	case *array.Uint8:
		return widened(values.Values())
	case *array.Decimal128: // DuckDB's HUGEINT
		if values.DataType().(*arrow.Decimal128Type).Scale == 0 {
			return func(at int) (int64, bool) { return small(values.Value(at)) }
		}
	}
	return nil
}

func widened[T whole](values []T) func(at int) (int64, bool) {
	return func(at int) (int64, bool) { return int64(values[at]), true }
}

// decimalOf gives the decimal at a place; nil where the values are none.
func decimalOf(values arrow.Array) func(at int) (core.Decimal, error) {
	switch values := values.(type) {
	case *array.Decimal128:
		scale := values.DataType().(*arrow.Decimal128Type).Scale
		return func(at int) (core.Decimal, error) { return decimalFrom(values.Value(at), scale), nil }
	case *array.Uint64:
		return func(at int) (core.Decimal, error) {
			return core.Decimal{Big: new(big.Int).SetUint64(values.Value(at))}, nil
		}
	}
	if of := integerOf(values); of != nil {
		return func(at int) (core.Decimal, error) {
			number, _ := of(at)
			return core.Decimal{Small: number}, nil
		}
	}
	if of := textOf(values); of != nil {
		return func(at int) (core.Decimal, error) { return core.ParseDecimal(of(at)) }
	}
	return nil
}

func decimalFrom(value decimal.Decimal128, scale int32) core.Decimal {
	if number, fits := small(value); fits {
		return core.Decimal{Small: number, Scale: scale}
	}
	return core.Decimal{Big: value.BigInt(), Scale: scale}
}

// small is the number where 64 bits hold it.
func small(value decimal.Decimal128) (int64, bool) {
	number := int64(value.LowBits())
	return number, value.HighBits() == number>>63
}

// timeOf gives the nanoseconds since midnight at a place; nil where the values are no times.
func timeOf(values arrow.Array) func(at int) int64 {
	switch values := values.(type) {
	case *array.Time64:
		unit := int64(values.DataType().(*arrow.Time64Type).Unit.Multiplier())
		return func(at int) int64 { return int64(values.Value(at)) * unit }
	case *array.Time32:
		unit := int64(values.DataType().(*arrow.Time32Type).Unit.Multiplier())
		return func(at int) int64 { return int64(values.Value(at)) * unit }
	}
	return nil
}

// unitsASecond is how many of a timestamp's units a second has.
func unitsASecond(values *array.Timestamp) int64 {
	return int64(time.Second / values.DataType().(*arrow.TimestampType).Unit.Multiplier())
}

// endless is whether a date of 32 bits or a timestamp of 64 is DuckDB's infinity: the greatest number, or its negative.
func endless(value, most int64) bool { return value == most || value == -most }

func day(days arrow.Date32) time.Time { return time.Unix(int64(days)*secondsADay, 0).UTC() }
