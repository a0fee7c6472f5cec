package arrow

import (
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal"
	vector "github.com/apache/arrow-go/v18/arrow/math"

	"rowpath/core"
)

// touch is what a column of a batch adds to the touch sum; false where its Arrow type is not the usual one.
func (r *Result) touch(kind string, values arrow.Array) (int64, bool) {
	if values.NullN() == values.Len() { // nothing but NULL may be of any type
		return int64(values.Len()), true
	}
	switch kind {
	case "integer":
		return touchIntegers(values)
	case "decimal":
		return touchDecimals(values)
	case "float32", "float64":
		return touchFloats(values)
	case "boolean":
		if flags, ok := values.(*array.Boolean); ok {
			return each(values, func(at int) int64 { return core.TouchBool(flags.Value(at)) }), true
		}
	case "char", "varchar", "text", "json", "binary":
		if of := textOf(values); of != nil {
			return each(values, func(at int) int64 { return r.length(of(at)) }), true
		}
	case "date":
		if days, ok := values.(*array.Date32); ok {
			return sum(values, days.Values(), touchDay), true
		}
	case "time":
		if of := timeOf(values); of != nil {
			return each(values, func(at int) int64 { return of(at) / int64(time.Second) % 60 }), true
		}
	case "timestamp", "timestamptz":
		if moments, ok := values.(*array.Timestamp); ok {
			units := unitsASecond(moments)
			return sum(values, moments.Values(), func(v arrow.Timestamp) int64 { return touchSecond(v, units) }), true
		}
	case "uuid":
		if of := textOf(values); of != nil {
			return each(values, func(at int) int64 { return r.uuid(of(at)) }), true
		}
	case "timetz":
	default: // interval, array, opaque and others that count by being there
		if union, ok := values.(array.Union); ok {
			return touchUnion(union), true
		}
		return 5*int64(values.Len()-values.NullN()) + int64(values.NullN()), true
	}
	return 0, false
}

// length is a text's length; its last byte is read.
func (r *Result) length(text string) int64 {
	if len(text) > 0 {
		r.sink ^= text[len(text)-1]
	}
	return int64(len(text))
}

func (r *Result) uuid(text string) int64 {
	r.length(text)
	return 5
}

// sum adds up what the values are worth, 1 for each NULL.
func sum[T any](of arrow.Array, values []T, touch func(T) int64) (total int64) {
	if of.NullN() == 0 {
		for _, value := range values {
			total += touch(value)
		}
		return total
	}
	return each(of, func(at int) int64 { return touch(values[at]) })
}

// each adds up what the values at each place are worth, 1 for each NULL.
func each(of arrow.Array, touch func(at int) int64) (total int64) {
	if of.NullN() == 0 {
		for at := range of.Len() {
			total += touch(at)
		}
		return total
	}
	for at := range of.Len() {
		if of.IsNull(at) {
			total++
		} else {
			total += touch(at)
		}
	}
	return total
}

type whole interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

func total[T whole](of arrow.Array, values []T) (total int64) {
	if of.NullN() > 0 {
		return sum(of, values, func(v T) int64 { return int64(v) })
	}
	for _, value := range values {
		total += int64(value)
	}
	return total
}

func touchIntegers(values arrow.Array) (int64, bool) {
	switch values := values.(type) {
	case *array.Int64:
		if values.NullN() == 0 {
			return vector.Int64.Sum(values), true
		}
		return total(values, values.Values()), true
	case *array.Int32:
		return total(values, values.Values()), true
	case *array.Int16:
		return total(values, values.Values()), true
	case *array.Int8:
		return total(values, values.Values()), true
	case *array.Uint32:
		return total(values, values.Values()), true
	case *array.Uint16:
		return total(values, values.Values()), true
	case *array.Uint8:
		return total(values, values.Values()), true
	}
	return touchDecimals(values) // HUGEINT is a decimal of 38 digits
}

func touchDecimals(values arrow.Array) (int64, bool) {
	switch values := values.(type) {
	case *array.Uint64:
		return total(values, values.Values()), true
	case *array.Decimal128:
		scale := values.DataType().(*arrow.Decimal128Type).Scale
		return sum(values, values.Values(), func(v decimal.Decimal128) int64 {
			return decimalFrom(v, scale).Touch()
		}), true
	}
	return 0, false
}

func touchFloats(values arrow.Array) (int64, bool) {
	switch values := values.(type) {
	case *array.Float64:
		return sum(values, values.Values(), core.TouchFloat), true
	case *array.Float32:
		return sum(values, values.Values(), func(v float32) int64 { return core.TouchFloat(float64(v)) }), true
	}
	return 0, false
}

func touchDay(days arrow.Date32) int64 {
	if endless(int64(days), math.MaxInt32) {
		return 5
	}
	return int64(day(days).Day())
}

func touchSecond(moment arrow.Timestamp, units int64) int64 {
	switch {
	case moment >= 0 && int64(moment) != math.MaxInt64:
		return int64(moment) / units % 60
	case endless(int64(moment), math.MaxInt64):
		return 5
	}
	second := int64(moment) / units
	if int64(moment)%units < 0 {
		second--
	}
	return (second%60 + 60) % 60
}

func touchUnion(values array.Union) (total int64) {
	for at := range values.Len() {
		total += 5
		if isNull(values, at) {
			total -= 4
		}
	}
	return total
}
