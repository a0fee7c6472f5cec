package core

import (
	"math"
	"math/big"
	"time"
)

const (
	exact      = 1 << 53
	noNumber   = 3
	otherValue = 5
)

// TouchFloat is what a float adds to the touch sum (docs/codec.md).
func TouchFloat(value float64) int64 {
	if math.Abs(value) < exact {
		return int64(value)
	}
	return noNumber
}

// TouchBool is what a truth value adds.
func TouchBool(value bool) int64 {
	if value {
		return 1
	}
	return 0
}

// TouchBig is what an integer of any size adds.
func TouchBig(value *big.Int) int64 {
	return int64(new(big.Int).And(value, new(big.Int).SetUint64(math.MaxUint64)).Uint64())
}

// TouchValue is what a value in any form adds: of another kind than declared it is as good as there.
func TouchValue(column *Column, value any) int64 {
	if isNull(value) {
		return 1
	}
	touch, ok := int64(otherValue), false
	switch column.Type {
	case "integer", "decimal":
		var number Decimal
		if number, ok = decimalOf(value); ok {
			touch = number.Touch()
		}
	case "float32", "float64":
		var number float64
		if number, ok = floatOf(value, column.Type); ok {
			touch = TouchFloat(number)
		}
	case "boolean":
		var truth bool
		if truth, ok = truthOf(value); ok {
			touch = TouchBool(truth)
		}
	case "char", "varchar", "text", "json":
		touch = int64(len(Text(value)))
	case "binary":
		touch = touchBinary(value)
	case "date", "timestamp", "timestamptz":
		touch = touchMoment(column.Type, value)
	case "time", "timetz":
		var of ZonedTime
		if of, ok = zonedTimeOf(value); !ok {
			of.Of, ok = timeOf(value)
		}
		if ok {
			touch = TouchTime(int64(of.Of))
		}
	}
	return touch
}

// TouchTime is the second of the minute, without the sign.
func TouchTime(ns int64) int64 {
	return max(ns, -ns) / second % 60
}

func touchBinary(value any) int64 {
	switch value := value.(type) {
	case []byte:
		return int64(len(value))
	case string:
		return int64(len(value))
	}
	return otherValue
}

func touchMoment(kind string, value any) int64 {
	switch at := momentOf(kind, value).(type) {
	case NoDay:
		if kind == "date" {
			return int64(at.Day)
		}
		return TouchTime(int64(at.Of))
	case time.Time:
		if kind == "date" {
			return int64(at.Day())
		}
		return int64(at.Second())
	}
	return otherValue
}
