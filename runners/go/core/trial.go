package core

import (
	hexadecimal "encoding/hex"
	"fmt"
	"strings"
	"time"
)

// Trial answers a line of the codec's tests (tests/codec_trial.go).
func Trial(line string) string {
	kind, rest, _ := strings.Cut(line, " ")
	answer, err := tried(kind, rest)
	if err != nil {
		return "error " + err.Error()
	}
	return answer
}

func tried(kind, rest string) (string, error) {
	switch kind {
	case "hash":
		data, err := hexadecimal.DecodeString(rest)
		return hex(int64(XXHash64(data))), err
	case "value":
		return triedValue(strings.Split(rest, " "))
	case "date":
		at, err := ParseDate(rest)
		return at.Format(time.DateOnly), err
	case "time":
		of, err := ParseTime(rest)
		return of.String(), err
	case "timestamp":
		at, err := ParseTimestamp(rest)
		return at.Format("2006-01-02T15:04:05.999999999"), err
	default:
		at, err := ParseInstant(rest)
		return at.Format(time.RFC3339Nano), err
	}
}

func triedValue(words []string) (string, error) {
	column := Column{Name: "value", Type: words[0], Nullable: words[2] == "true"}
	fmt.Sscan(words[1], &column.Bits)
	data, err := hexadecimal.DecodeString(words[3])
	if err != nil {
		return "", err
	}
	value, err := (&reader{data}).value(&column)
	if err != nil && column.Type != "opaque" {
		return "", err
	}
	encoder := NewEncoder([]Column{column}, 1)
	touch, err := natural(encoder, &column, value)
	if err != nil {
		return "", encoder.named(err)
	}
	bytes := hexadecimal.EncodeToString(encoder.bytes)
	return fmt.Sprintf("%s %s %s", bytes, endedDigest(encoder), hex(touch)), nil
}

func endedDigest(encoder *Encoder) string {
	_ = encoder.end() // writes nothing
	return encoder.Digest()
}

// natural encodes a decoded value; its touch.
func natural(e *Encoder, column *Column, value any) (int64, error) {
	if column.Type == "opaque" && value == nil && !column.Nullable {
		return 5, e.Opaque()
	}
	switch value := value.(type) {
	case nil:
		return 1, e.Null()
	case int64:
		return value, e.Integer(value)
	case Decimal:
		return value.Touch(), e.Decimal(value)
	case float64:
		return TouchFloat(value), e.Float(value)
	case bool:
		return TouchBool(value), e.Bool(value)
	case string:
		return int64(len(value)), e.Text(value)
	case []byte:
		return int64(len(value)), e.Binary(value)
	case Date:
		return int64(time.Time(value).Day()), e.Date(time.Time(value))
	case TimeOfDay:
		return int64(value) / second % 60, e.Time(int64(value))
	case time.Time:
		return int64(value.Second()), e.Timestamp(value)
	case Instant:
		return int64(time.Time(value).Second()), e.Instant(time.Time(value))
	}
	return 5, rest(e, value)
}

func rest(e *Encoder, value any) error {
	switch value := value.(type) {
	case Infinite:
		return e.Infinite(value.Negative)
	case Interval:
		return e.Interval(value)
	case UUID:
		return e.UUID(value)
	case []*int64:
		return e.Array(value)
	}
	return fmt.Errorf("no value: %T", value)
}
