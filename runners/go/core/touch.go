package core

import "math"

const exact = 1 << 53

// TouchFloat is what a float adds to the touch sum (docs/codec.md).
func TouchFloat(value float64) int64 {
	if math.Abs(value) < exact {
		return int64(value)
	}
	return 3
}

// TouchBool is what a truth value adds.
func TouchBool(value bool) int64 {
	if value {
		return 1
	}
	return 0
}
