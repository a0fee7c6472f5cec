package core

import "time"

const (
	secondsADay = 24 * 60 * 60
	second      = int64(time.Second)
	dayNs       = secondsADay * second
)

// Interval is months, days and nanoseconds, none of which can be turned into another.
type Interval struct {
	Months, Days int32
	Nanoseconds  int64
}

// TimeOfDay is nanoseconds since midnight.
type TimeOfDay int64

// String is the time with as many digits of a fraction as it has, at most nine.
func (t TimeOfDay) String() string {
	return time.Unix(0, int64(t)).UTC().Format("15:04:05.999999999")
}

// Infinite is a date or timestamp after all others, or before them.
type Infinite struct{ Negative bool }

// UUID is in the order in which it is written.
type UUID [16]byte

// Instant is a moment of a column with a time zone; a plain time.Time is a wall clock, shown as UTC.
type Instant time.Time

// Date is a day.
type Date time.Time

func floorDivide(value, by int64) int64 {
	quotient := value / by
	if value%by < 0 {
		quotient--
	}
	return quotient
}
