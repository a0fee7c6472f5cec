package pgx

import (
	"math"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"rowpath/core"
)

// natural is a value of pgtype's in a form that the encoder knows; nil for NULL.
func natural(value any) any {
	switch value := value.(type) {
	case pgtype.Int2:
		return or(value.Valid, value.Int16)
	case pgtype.Int4:
		return or(value.Valid, value.Int32)
	case pgtype.Int8:
		return or(value.Valid, value.Int64)
	case pgtype.Uint64:
		return or(value.Valid, value.Uint64)
	case pgtype.Float4:
		return or(value.Valid, value.Float32)
	case pgtype.Float8:
		return or(value.Valid, value.Float64)
	case pgtype.Bool:
		return or(value.Valid, value.Bool)
	case pgtype.Text:
		return or(value.Valid, value.String)
	case pgtype.UUID:
		return or(value.Valid, core.UUID(value.Bytes))
	case pgtype.Bits:
		return or(value.Valid, core.Bits{Count: int(value.Len), Bytes: value.Bytes})
	case pgtype.Numeric:
		return or(value.Valid, numeric(value))
	}
	return naturalTime(value)
}

func naturalTime(value any) any {
	switch value := value.(type) {
	case pgtype.Date:
		return or(value.Valid, moment(value.InfinityModifier, value.Time))
	case pgtype.Timestamp:
		return or(value.Valid, moment(value.InfinityModifier, value.Time))
	case pgtype.Timestamptz:
		return or(value.Valid, moment(value.InfinityModifier, value.Time))
	case pgtype.Time:
		return or(value.Valid, core.TimeOfDay(value.Microseconds*1000))
	case pgtype.Interval:
		return or(value.Valid, interval(value))
	case pgtype.InfinityModifier:
		return core.Infinite{Negative: value == pgtype.NegativeInfinity}
	}
	return value
}

func or[T any](valid bool, value T) any {
	if !valid {
		return nil
	}
	return value
}

func moment(infinity pgtype.InfinityModifier, at time.Time) any {
	if infinity != pgtype.Finite {
		return core.Infinite{Negative: infinity == pgtype.NegativeInfinity}
	}
	return at
}

func numeric(v pgtype.Numeric) core.Decimal {
	switch {
	case v.NaN:
		return core.NaN
	case v.InfinityModifier == pgtype.Infinity:
		return core.Infinity
	case v.InfinityModifier == pgtype.NegativeInfinity:
		return core.NegativeInfinity
	case !v.Valid:
		return core.Decimal{}
	}
	return decimal(&v)
}

// interval is as it came where 64 bits do not hold its nanoseconds. PostgreSQL's infinity is the greatest number in each
// part, or the least.
func interval(v pgtype.Interval) any {
	switch {
	case v.Months == math.MaxInt32 && v.Days == math.MaxInt32 && v.Microseconds == math.MaxInt64:
		return core.Infinite{}
	case v.Months == math.MinInt32 && v.Days == math.MinInt32 && v.Microseconds == math.MinInt64:
		return core.Infinite{Negative: true}
	case v.Microseconds > math.MaxInt64/1000 || v.Microseconds < math.MinInt64/1000:
		return v
	}
	return core.Interval{Months: v.Months, Days: v.Days, Nanoseconds: v.Microseconds * 1000}
}
