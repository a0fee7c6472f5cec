package pgx

import (
	"fmt"
	"math/big"

	"github.com/jackc/pgx/v5/pgtype"

	"rowpath/core"
)

// SlotOf is where pgx leaves the values of a column: Go's own types, pgtype's where NULL or infinity may come.
func SlotOf(column core.Column) core.Slot {
	switch column.Type {
	case "integer":
		return integer(column)
	case "decimal":
		return made(func(v *pgtype.Numeric) bool { return v.Valid }, touchNumeric)
	case "float32":
		return plain(column, func(v *float32) int64 { return core.TouchFloat(float64(*v)) },
			made(func(v *pgtype.Float4) bool { return v.Valid }, func(v *pgtype.Float4) int64 {
				return core.TouchFloat(float64(v.Float32))
			}))
	case "float64":
		return plain(column, func(v *float64) int64 { return core.TouchFloat(*v) },
			made(func(v *pgtype.Float8) bool { return v.Valid }, func(v *pgtype.Float8) int64 {
				return core.TouchFloat(v.Float64)
			}))
	case "boolean":
		return plain(column, func(v *bool) int64 { return core.TouchBool(*v) },
			made(func(v *pgtype.Bool) bool { return v.Valid }, func(v *pgtype.Bool) int64 { return core.TouchBool(v.Bool) }))
	case "char", "varchar", "text", "json":
		return plain(column, func(v *string) int64 { return int64(len(*v)) },
			made(func(v *pgtype.Text) bool { return v.Valid }, func(v *pgtype.Text) int64 { return int64(len(v.String)) }))
	case "binary":
		return made(func(v *[]byte) bool { return *v != nil }, func(v *[]byte) int64 { return int64(len(*v)) })
	case "bits":
		return made(func(v *pgtype.Bits) bool { return v.Valid }, five[pgtype.Bits])
	case "array":
		return array(column)
	case "opaque":
		return made(func(v *any) bool { return *v != nil }, five[any])
	default:
		return temporal(column)
	}
}

func temporal(column core.Column) core.Slot {
	switch column.Type {
	case "date":
		return made(func(v *pgtype.Date) bool { return v.Valid }, func(v *pgtype.Date) int64 {
			return finite(v.InfinityModifier, v.Time.Day())
		})
	case "time":
		return made(func(v *pgtype.Time) bool { return v.Valid }, func(v *pgtype.Time) int64 {
			return v.Microseconds / microsecondsASecond % 60
		})
	case "timestamp":
		return made(func(v *pgtype.Timestamp) bool { return v.Valid }, func(v *pgtype.Timestamp) int64 {
			return finite(v.InfinityModifier, v.Time.Second())
		})
	case "timestamptz":
		return made(func(v *pgtype.Timestamptz) bool { return v.Valid }, func(v *pgtype.Timestamptz) int64 {
			return finite(v.InfinityModifier, v.Time.Second())
		})
	case "interval":
		return made(func(v *pgtype.Interval) bool { return v.Valid }, five[pgtype.Interval])
	case "uuid":
		return made(func(v *pgtype.UUID) bool { return v.Valid }, five[pgtype.UUID])
	default:
		return Raw(column, nil, nil)
	}
}

const microsecondsASecond = 1_000_000

// slot is a destination of type T.
type slot[T any] struct {
	value T
	valid func(*T) bool // nil: always
	touch func(*T) int64
}

func made[T any](valid func(*T) bool, touch func(*T) int64) core.Slot {
	return &slot[T]{valid: valid, touch: touch}
}

// plain is Go's own type where no NULL may come.
func plain[T any](column core.Column, touch func(*T) int64, nullable core.Slot) core.Slot {
	if column.Nullable {
		return nullable
	}
	return &slot[T]{touch: touch}
}

func (s *slot[T]) Destination() any { return &s.value }
func (s *slot[T]) Touch() int64 {
	if s.valid != nil && !s.valid(&s.value) {
		return 1
	}
	return s.touch(&s.value)
}
func (s *slot[T]) Value() any {
	if s.valid != nil && !s.valid(&s.value) {
		return nil
	}
	return natural(s.value)
}
func (s *slot[T]) Delivers() string {
	if name := fmt.Sprintf("%T", s.value); name != "<nil>" {
		return name
	}
	return "any"
}
func (s *slot[T]) Converted() bool { return false }

func integer(column core.Column) core.Slot {
	switch {
	case column.Bits == 16:
		return plain(column, func(v *int16) int64 { return int64(*v) },
			made(func(v *pgtype.Int2) bool { return v.Valid }, func(v *pgtype.Int2) int64 { return int64(v.Int16) }))
	case column.Bits == 32:
		return plain(column, func(v *int32) int64 { return int64(*v) },
			made(func(v *pgtype.Int4) bool { return v.Valid }, func(v *pgtype.Int4) int64 { return int64(v.Int32) }))
	case column.Bits > 64:
		return made(func(v *pgtype.Uint64) bool { return v.Valid }, func(v *pgtype.Uint64) int64 { return int64(v.Uint64) })
	default:
		return plain(column, func(v *int64) int64 { return *v },
			made(func(v *pgtype.Int8) bool { return v.Valid }, func(v *pgtype.Int8) int64 { return v.Int64 }))
	}
}

// array has its elements in pgtype's own types.
func array(column core.Column) core.Slot {
	element := column.Element()
	switch element.Type {
	case "integer":
		return arrayOf[pgtype.Int8]()
	case "decimal":
		return arrayOf[pgtype.Numeric]()
	case "float32":
		return arrayOf[pgtype.Float4]()
	case "float64":
		return arrayOf[pgtype.Float8]()
	case "boolean":
		return arrayOf[pgtype.Bool]()
	case "char", "varchar", "text", "json":
		return arrayOf[pgtype.Text]()
	case "binary":
		return arrayOf[[]byte]()
	case "bits":
		return arrayOf[pgtype.Bits]()
	case "date":
		return arrayOf[pgtype.Date]()
	case "time":
		return arrayOf[pgtype.Time]()
	case "timestamp":
		return arrayOf[pgtype.Timestamp]()
	case "timestamptz":
		return arrayOf[pgtype.Timestamptz]()
	case "interval":
		return arrayOf[pgtype.Interval]()
	case "uuid":
		return arrayOf[pgtype.UUID]()
	}
	return Raw(column, nil, nil)
}

func arrayOf[T any]() core.Slot {
	valid := func(v *pgtype.Array[T]) bool { return v.Valid }
	return &list[T]{slot[pgtype.Array[T]]{valid: valid, touch: five[pgtype.Array[T]]}}
}

type list[T any] struct{ slot[pgtype.Array[T]] }

func (l *list[T]) Value() any {
	if !l.value.Valid {
		return nil
	}
	elements := make([]any, len(l.value.Elements))
	for at, each := range l.value.Elements {
		elements[at] = natural(each)
	}
	return shaped(elements, l.value.Dims)
}

// shaped is an array's elements, one behind the other, in its dimensions.
func shaped(elements []any, dimensions []pgtype.ArrayDimension) any {
	if len(dimensions) == 0 {
		return elements
	}
	first := dimensions[0]
	if len(dimensions) > 1 {
		parts := make([]any, first.Length)
		size := len(elements) / max(len(parts), 1)
		for at := range parts {
			parts[at] = shaped(elements[at*size:(at+1)*size], dimensions[1:])
		}
		elements = parts
	}
	if first.LowerBound != 1 {
		return core.Array{Lower: first.LowerBound, Elements: elements}
	}
	return elements
}

func five[T any](*T) int64 { return 5 }

func finite(infinity pgtype.InfinityModifier, touch int) int64 {
	if infinity != pgtype.Finite {
		return 5
	}
	return int64(touch)
}

func touchNumeric(v *pgtype.Numeric) int64 {
	if v.NaN || v.InfinityModifier != pgtype.Finite {
		return 3
	}
	return decimal(v).Touch()
}

func decimal(v *pgtype.Numeric) core.Decimal {
	if v.Int.IsInt64() {
		return core.Decimal{Small: v.Int.Int64(), Scale: -v.Exp}
	}
	return core.Decimal{Big: v.Int, Scale: -v.Exp}
}

// Numeric is a decimal as pgx takes it.
func Numeric(value core.Decimal) pgtype.Numeric {
	switch {
	case value == core.NaN:
		return pgtype.Numeric{NaN: true, Valid: true}
	case value == core.Infinity:
		return pgtype.Numeric{InfinityModifier: pgtype.Infinity, Valid: true}
	case value == core.NegativeInfinity:
		return pgtype.Numeric{InfinityModifier: pgtype.NegativeInfinity, Valid: true}
	}
	unscaled := value.Big
	if unscaled == nil {
		unscaled = big.NewInt(value.Small)
	}
	return pgtype.Numeric{Int: unscaled, Exp: -value.Scale, Valid: true}
}
