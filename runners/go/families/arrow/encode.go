package arrow

import (
	"math"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"rowpath/core"
)

// encode adds the bytes of a value that is not NULL.
func encode(e *core.Encoder, kind string, values arrow.Array, at int) error {
	switch kind {
	case "integer":
		if of := integerOf(values); of != nil {
			number, fits := of(at)
			if !fits {
				return core.Fail("verify", "an integer beyond 64 bits")
			}
			return e.Integer(number)
		}
	case "decimal":
		if of := decimalOf(values); of != nil {
			number, err := of(at)
			if err != nil {
				return err
			}
			return e.Decimal(number)
		}
	case "boolean":
		if flags, ok := values.(*array.Boolean); ok {
			return e.Bool(flags.Value(at))
		}
	case "float32", "float64":
		switch values := values.(type) {
		case *array.Float64:
			return e.Float(values.Value(at))
		case *array.Float32:
			return e.Float(float64(values.Value(at)))
		}
	case "char", "varchar", "text", "json", "binary", "uuid":
		if of := textOf(values); of != nil {
			return encodeText(e, kind, of(at))
		}
	case "date", "time", "timestamp", "timestamptz":
		return encodeMoment(e, kind, values, at)
	case "interval":
		if spans, ok := values.(*array.MonthDayNanoInterval); ok {
			span := spans.Value(at)
			return e.Interval(core.Interval{Months: span.Months, Days: span.Days, Nanoseconds: span.Nanoseconds})
		}
	case "array":
		if lists, ok := values.(array.ListLike); ok {
			return encodeList(e, lists, at)
		}
	default:
		return e.Opaque()
	}
	return misfit(kind, values)
}

func encodeText(e *core.Encoder, kind, text string) error {
	switch kind {
	case "binary":
		return e.Binary([]byte(text))
	case "uuid":
	default:
		return e.Text(text)
	}
	uuid, err := core.ParseUUID(text)
	if err != nil {
		return err
	}
	return e.UUID(uuid)
}

func encodeMoment(e *core.Encoder, kind string, values arrow.Array, at int) error {
	if of := timeOf(values); of != nil && kind == "time" {
		if of(at) >= secondsADay*int64(time.Second) {
			return core.Unsupported("a time of day ends before 24:00")
		}
		return e.Time(of(at))
	}
	switch values := values.(type) {
	case *array.Date32:
		if days := values.Value(at); endless(int64(days), math.MaxInt32) {
			return e.Infinite(days < 0)
		}
		if kind == "date" {
			return e.Date(day(values.Value(at)))
		}
	case *array.Timestamp:
		moment := values.Value(at)
		if endless(int64(moment), math.MaxInt64) {
			return e.Infinite(moment < 0)
		}
		if kind == "timestamptz" {
			return e.Instant(moment.ToTime(values.DataType().(*arrow.TimestampType).Unit))
		}
		return e.Timestamp(moment.ToTime(values.DataType().(*arrow.TimestampType).Unit))
	}
	return misfit(kind, values)
}

func encodeList(e *core.Encoder, lists array.ListLike, at int) error {
	elements := lists.ListValues()
	of := integerOf(elements)
	if of == nil {
		return misfit("array", lists)
	}
	start, end := lists.ValueOffsets(at)
	found := make([]*int64, 0, end-start)
	for place := int(start); place < int(end); place++ {
		if elements.IsNull(place) {
			found = append(found, nil)
			continue
		}
		number, _ := of(place)
		found = append(found, &number)
	}
	return e.Array(found)
}
