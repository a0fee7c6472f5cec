package core

import (
	"math/big"
	"time"
)

const (
	secondsADay = 24 * 60 * 60
	second      = int64(time.Second)
	dayNs       = secondsADay * second
)

// A value of a result is any of Go's own types, of those below, or text that spells one. nil is NULL.

// Interval is months, days and nanoseconds, none of which can be turned into another.
type Interval struct {
	Months, Days int32
	Nanoseconds  int64
}

// TimeOfDay is nanoseconds since midnight: more than a day, or negative, where it is a length of time.
type TimeOfDay int64

// String is the time with as many digits of a fraction as it has, at most nine.
func (t TimeOfDay) String() string {
	return time.Unix(0, int64(t)).UTC().Format("15:04:05.999999999")
}

// ZonedTime is a time of day and its seconds east of UTC.
type ZonedTime struct {
	Of     TimeOfDay
	Offset int32
}

// Infinite is a date, timestamp or interval after all others, or before them.
type Infinite struct{ Negative bool }

// NoDay is a date or timestamp as it is written that no calendar has: 0000-00-00.
type NoDay struct {
	Year       int32
	Month, Day uint8
	Of         TimeOfDay
}

// UUID is in the order in which it is written.
type UUID [16]byte

// Instant is a moment of a column with a time zone; a plain time.Time is a wall clock, shown as UTC.
type Instant time.Time

// Date is a day.
type Date time.Time

// Bits is a string of bits; the first one is the highest of the first byte.
type Bits struct {
	Count int
	Bytes []byte
}

// Array is an array whose lower bound is not 1; others are []any.
type Array struct {
	Lower    int32
	Elements []any
}

// Structure is the values of a structure's members, in their order.
type Structure []any

// Map is keys with their values, in any order.
type Map [][2]any

// NestedRows is the rows of a result inside a value.
type NestedRows [][]any

// LowBits is the lowest count bits of a number.
func LowBits(number *big.Int, count int) Bits {
	size := (count + 7) / 8
	shifted := new(big.Int).Lsh(number, uint(8*size-count))
	bytes := make([]byte, size)
	low := new(big.Int).And(shifted, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), uint(8*size)), big.NewInt(1)))
	return Bits{count, low.FillBytes(bytes)}
}

func floorDivide(value, by int64) int64 {
	quotient := value / by
	if value%by < 0 {
		quotient--
	}
	return quotient
}
