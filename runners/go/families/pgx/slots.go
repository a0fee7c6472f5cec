package pgx

import (
	"fmt"
	"math/big"
	"regexp"
	"time"

	"github.com/jackc/pgx/v5/pgtype"

	"rowpath/core"
)

// ScanPosition finds the position that pgx names in an error of Scan.
var ScanPosition = regexp.MustCompile(`dest\[(\d+)`)

// SlotOf is where pgx leaves the values of a column: Go's own types, pgtype's where NULL or infinity may come.
func SlotOf(column core.Column) core.Slot {
	switch column.Type {
	case "integer":
		return integer(column)
	case "decimal":
		return made(func(v *pgtype.Numeric) bool { return v.Valid }, touchNumeric, encodeNumeric)
	case "float32":
		return plain(column, func(v *float32) int64 { return core.TouchFloat(float64(*v)) }, encodeFloat32,
			made(func(v *pgtype.Float4) bool { return v.Valid }, func(v *pgtype.Float4) int64 {
				return core.TouchFloat(float64(v.Float32))
			}, func(e *core.Encoder, v *pgtype.Float4) error { return e.Float(float64(v.Float32)) }))
	case "float64":
		return plain(column, func(v *float64) int64 { return core.TouchFloat(*v) }, encodeFloat64,
			made(func(v *pgtype.Float8) bool { return v.Valid }, func(v *pgtype.Float8) int64 {
				return core.TouchFloat(v.Float64)
			}, func(e *core.Encoder, v *pgtype.Float8) error { return e.Float(v.Float64) }))
	case "boolean":
		return plain(column, func(v *bool) int64 { return core.TouchBool(*v) },
			func(e *core.Encoder, v *bool) error { return e.Bool(*v) },
			made(func(v *pgtype.Bool) bool { return v.Valid }, func(v *pgtype.Bool) int64 { return core.TouchBool(v.Bool) },
				func(e *core.Encoder, v *pgtype.Bool) error { return e.Bool(v.Bool) }))
	case "char", "varchar", "text", "json":
		return plain(column, func(v *string) int64 { return int64(len(*v)) },
			func(e *core.Encoder, v *string) error { return e.Text(*v) },
			made(func(v *pgtype.Text) bool { return v.Valid }, func(v *pgtype.Text) int64 { return int64(len(v.String)) },
				func(e *core.Encoder, v *pgtype.Text) error { return e.Text(v.String) }))
	case "binary":
		return made(func(v *[]byte) bool { return *v != nil }, func(v *[]byte) int64 { return int64(len(*v)) },
			func(e *core.Encoder, v *[]byte) error { return e.Binary(*v) })
	default:
		return temporal(column)
	}
}

func temporal(column core.Column) core.Slot {
	switch column.Type {
	case "date":
		return made(func(v *pgtype.Date) bool { return v.Valid }, func(v *pgtype.Date) int64 {
			return finite(v.InfinityModifier, v.Time.Day())
		}, func(e *core.Encoder, v *pgtype.Date) error { return moment(e, v.InfinityModifier, v.Time, e.Date) })
	case "time":
		return made(func(v *pgtype.Time) bool { return v.Valid }, func(v *pgtype.Time) int64 {
			return v.Microseconds / microsecondsASecond % 60
		}, encodeTime)
	case "timestamp":
		return made(func(v *pgtype.Timestamp) bool { return v.Valid }, func(v *pgtype.Timestamp) int64 {
			return finite(v.InfinityModifier, v.Time.Second())
		}, func(e *core.Encoder, v *pgtype.Timestamp) error {
			return moment(e, v.InfinityModifier, v.Time, e.Timestamp)
		})
	case "timestamptz":
		return made(func(v *pgtype.Timestamptz) bool { return v.Valid }, func(v *pgtype.Timestamptz) int64 {
			return finite(v.InfinityModifier, v.Time.Second())
		}, func(e *core.Encoder, v *pgtype.Timestamptz) error {
			return moment(e, v.InfinityModifier, v.Time, e.Instant)
		})
	case "interval":
		return made(func(v *pgtype.Interval) bool { return v.Valid }, five[pgtype.Interval], encodeInterval)
	case "uuid":
		return made(func(v *pgtype.UUID) bool { return v.Valid }, five[pgtype.UUID],
			func(e *core.Encoder, v *pgtype.UUID) error { return e.UUID(v.Bytes) })
	case "array":
		return made(func(v *pgtype.Array[pgtype.Int8]) bool { return v.Valid }, five[pgtype.Array[pgtype.Int8]], encodeArray)
	default:
		return made(func(v *any) bool { return *v != nil }, five[any],
			func(e *core.Encoder, _ *any) error { return e.Opaque() })
	}
}

const microsecondsASecond = 1_000_000

// slot is a destination of type T.
type slot[T any] struct {
	value  T
	valid  func(*T) bool // nil: always
	touch  func(*T) int64
	encode func(*core.Encoder, *T) error
}

func made[T any](valid func(*T) bool, touch func(*T) int64, encode func(*core.Encoder, *T) error) core.Slot {
	return &slot[T]{valid: valid, touch: touch, encode: encode}
}

// plain is Go's own type where no NULL may come.
func plain[T any](
	column core.Column, touch func(*T) int64, encode func(*core.Encoder, *T) error, nullable core.Slot,
) core.Slot {
	if column.Nullable {
		return nullable
	}
	return &slot[T]{touch: touch, encode: encode}
}

func (s *slot[T]) Destination() any { return &s.value }
func (s *slot[T]) Touch() int64 {
	if s.valid != nil && !s.valid(&s.value) {
		return 1
	}
	return s.touch(&s.value)
}
func (s *slot[T]) Encode(encoder *core.Encoder) error {
	if s.valid != nil && !s.valid(&s.value) {
		return encoder.Null()
	}
	return s.encode(encoder, &s.value)
}
func (s *slot[T]) Delivers() string {
	if name := fmt.Sprintf("%T", s.value); name != "<nil>" {
		return name
	}
	return "any"
}
func (s *slot[T]) Converted() bool { return false }

func integer(column core.Column) core.Slot {
	switch column.Bits {
	case 16:
		return plain(column, func(v *int16) int64 { return int64(*v) },
			func(e *core.Encoder, v *int16) error { return e.Integer(int64(*v)) },
			made(func(v *pgtype.Int2) bool { return v.Valid }, func(v *pgtype.Int2) int64 { return int64(v.Int16) },
				func(e *core.Encoder, v *pgtype.Int2) error { return e.Integer(int64(v.Int16)) }))
	case 32:
		return plain(column, func(v *int32) int64 { return int64(*v) },
			func(e *core.Encoder, v *int32) error { return e.Integer(int64(*v)) },
			made(func(v *pgtype.Int4) bool { return v.Valid }, func(v *pgtype.Int4) int64 { return int64(v.Int32) },
				func(e *core.Encoder, v *pgtype.Int4) error { return e.Integer(int64(v.Int32)) }))
	default:
		return plain(column, func(v *int64) int64 { return *v },
			func(e *core.Encoder, v *int64) error { return e.Integer(*v) },
			made(func(v *pgtype.Int8) bool { return v.Valid }, func(v *pgtype.Int8) int64 { return v.Int64 },
				func(e *core.Encoder, v *pgtype.Int8) error { return e.Integer(v.Int64) }))
	}
}

func five[T any](*T) int64 { return 5 }

func finite(infinity pgtype.InfinityModifier, touch int) int64 {
	if infinity != pgtype.Finite {
		return 5
	}
	return int64(touch)
}

func moment(e *core.Encoder, infinity pgtype.InfinityModifier, at time.Time, encode func(time.Time) error) error {
	if infinity != pgtype.Finite {
		return e.Infinite(infinity == pgtype.NegativeInfinity)
	}
	return encode(at)
}

func encodeFloat32(e *core.Encoder, v *float32) error { return e.Float(float64(*v)) }
func encodeFloat64(e *core.Encoder, v *float64) error { return e.Float(*v) }

func touchNumeric(v *pgtype.Numeric) int64 {
	if v.NaN || v.InfinityModifier != pgtype.Finite {
		return 3
	}
	return decimal(v).Touch()
}

func encodeNumeric(e *core.Encoder, v *pgtype.Numeric) error {
	if v.NaN || v.InfinityModifier != pgtype.Finite {
		return core.Unsupported("a decimal that is no number")
	}
	return e.Decimal(decimal(v))
}

func decimal(v *pgtype.Numeric) core.Decimal {
	if v.Int.IsInt64() {
		return core.Decimal{Small: v.Int.Int64(), Scale: -v.Exp}
	}
	return core.Decimal{Big: v.Int, Scale: -v.Exp}
}

// Numeric is a decimal as pgx takes it.
func Numeric(value core.Decimal) pgtype.Numeric {
	unscaled := value.Big
	if unscaled == nil {
		unscaled = big.NewInt(value.Small)
	}
	return pgtype.Numeric{Int: unscaled, Exp: -value.Scale, Valid: true}
}

func encodeTime(e *core.Encoder, v *pgtype.Time) error {
	if v.Microseconds >= 24*3600*microsecondsASecond {
		return core.Unsupported("a time of day ends before 24:00")
	}
	return e.Time(v.Microseconds * 1000)
}

func encodeInterval(e *core.Encoder, v *pgtype.Interval) error {
	return e.Interval(core.Interval{Months: v.Months, Days: v.Days, Nanoseconds: v.Microseconds * 1000})
}

func encodeArray(e *core.Encoder, v *pgtype.Array[pgtype.Int8]) error {
	if len(v.Dims) > 1 {
		return core.Unsupported("an array of arrays")
	}
	values := make([]*int64, len(v.Elements))
	for at := range v.Elements {
		if v.Elements[at].Valid {
			values[at] = &v.Elements[at].Int64
		}
	}
	return e.Array(values)
}
