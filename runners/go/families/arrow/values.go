package arrow

import (
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"

	"rowpath/core"
)

const secondsADay = 24 * 60 * 60

// value is the one at a place in a form that the encoder knows; nil for NULL.
func (r *Result) value(column *core.Column, values arrow.Array, at int) any {
	values = plain(values)
	if isNull(values, at) {
		return nil
	}
	if of := textOf(values); of != nil {
		return r.natural(column, textual(values, of(at)))
	}
	switch values := values.(type) {
	case *array.Boolean:
		return values.Value(at)
	case *array.Int64:
		return values.Value(at)
	case *array.Int32:
		return values.Value(at)
	case *array.Int16:
		return values.Value(at)
	case *array.Int8:
		return values.Value(at)
	case *array.Uint64:
		return values.Value(at)
	case *array.Uint32:
		return values.Value(at)
	case *array.Uint16:
		return values.Value(at)
	case *array.Uint8:
		return values.Value(at)
	case *array.Float64:
		return values.Value(at)
	case *array.Float32:
		return values.Value(at)
	case *array.Float16:
		return values.Value(at).Float32()
	case *array.Decimal128:
		return decimalFrom(values.Value(at), values.DataType().(*arrow.Decimal128Type).Scale)
	case *array.Decimal256:
		return core.Decimal{Big: values.Value(at).BigInt(), Scale: values.DataType().(*arrow.Decimal256Type).Scale}
	case *array.Decimal64:
		return core.Decimal{Small: int64(values.Value(at)), Scale: values.DataType().(*arrow.Decimal64Type).Scale}
	case *array.Decimal32:
		return core.Decimal{Small: int64(values.Value(at)), Scale: values.DataType().(*arrow.Decimal32Type).Scale}
	}
	if made := temporal(values, at); made != nil {
		return made
	}
	return r.nested(column, values, at)
}

func textual(values arrow.Array, text string) any {
	switch values.DataType().ID() {
	case arrow.BINARY, arrow.LARGE_BINARY, arrow.BINARY_VIEW, arrow.FIXED_SIZE_BINARY:
		return []byte(text)
	}
	return text
}

func temporal(values arrow.Array, at int) any {
	if of := timeOf(values); of != nil {
		return core.TimeOfDay(of(at))
	}
	switch values := values.(type) {
	case *array.Date32:
		days := values.Value(at)
		if endless(int64(days), math.MaxInt32) {
			return core.Infinite{Negative: days < 0}
		}
		return core.Date(day(days))
	case *array.Date64:
		return core.Date(time.UnixMilli(int64(values.Value(at))).UTC())
	case *array.Timestamp:
		moment := values.Value(at)
		if endless(int64(moment), math.MaxInt64) {
			return core.Infinite{Negative: moment < 0}
		}
		return moment.ToTime(values.DataType().(*arrow.TimestampType).Unit)
	case *array.MonthDayNanoInterval:
		span := values.Value(at)
		return core.Interval{Months: span.Months, Days: span.Days, Nanoseconds: span.Nanoseconds}
	case *array.MonthInterval:
		return core.Interval{Months: int32(values.Value(at))}
	case *array.DayTimeInterval:
		span := values.Value(at)
		return core.Interval{Days: span.Days, Nanoseconds: int64(span.Milliseconds) * int64(time.Millisecond)}
	case *array.Duration:
		return time.Duration(values.Value(at)) * values.DataType().(*arrow.DurationType).Unit.Multiplier()
	}
	return nil
}

// nested is the value of a type with others within; as Arrow writes it where there is no form for it.
func (r *Result) nested(column *core.Column, values arrow.Array, at int) any {
	switch values := values.(type) {
	case *array.Map:
		start, end := values.ValueOffsets(at)
		made := core.Map{}
		for place := int(start); place < int(end); place++ {
			key, item := r.value(column.Field(0), values.Keys(), place), r.value(column.Field(1), values.Items(), place)
			made = append(made, [2]any{key, item})
		}
		return made
	case array.ListLike:
		start, end := values.ValueOffsets(at)
		made := []any{}
		for place := int(start); place < int(end); place++ {
			made = append(made, r.value(column.Element(), values.ListValues(), place))
		}
		return made
	case *array.Struct:
		made := core.Structure{}
		for member := range values.NumField() {
			made = append(made, r.value(column.Field(member), values.Field(member), at))
		}
		return made
	case *array.SparseUnion:
		return r.value(anyValue, values.Field(values.ChildID(at)), at)
	case *array.DenseUnion:
		return r.value(anyValue, values.Field(values.ChildID(at)), int(values.ValueOffset(at)))
	case *array.Dictionary:
		return r.value(column, values.Dictionary(), values.GetValueIndex(at))
	}
	return foreign{values.ValueStr(at)}
}

var anyValue = &core.Column{Type: "any", Nullable: true}

// foreign is a value of a type that has no form in common: its text in Arrow.
type foreign struct{ text string }

func (f foreign) String() string { return f.text }

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
