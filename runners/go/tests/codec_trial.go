// Answers, line by line, for tests/runners/protocol/test_codec.py: `hash HEX` with the XXH64 of the bytes; `value TYPE
// BITS NULLABLE HEX` with the bytes, digest and touch of the value decoded from the codec's bytes; `date TEXT`, `time
// TEXT`, `timestamp TEXT`, `instant TEXT` with what is made of the text.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"time"

	"rowpath/core"
)

const lengthBytes = 4 // before each kept row

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	for input.Scan() {
		kind, rest, _ := strings.Cut(input.Text(), " ")
		answer, err := answered(kind, rest)
		if err != nil {
			answer = "error " + err.Error()
		}
		fmt.Println(answer)
	}
}

func answered(kind, rest string) (string, error) {
	switch kind {
	case "hash":
		data, err := hex.DecodeString(rest)
		return fmt.Sprintf("%016x", core.XXHash64(data)), err
	case "value":
		return valued(strings.Split(rest, " "))
	case "date":
		at, err := core.ParseDate(rest)
		return at.Format(time.DateOnly), err
	case "time":
		of, err := core.ParseTime(rest)
		return of.String(), err
	case "timestamp":
		at, err := core.ParseTimestamp(rest)
		return at.Format("2006-01-02T15:04:05.999999999"), err
	default:
		at, err := core.ParseInstant(rest)
		return at.Format(time.RFC3339Nano), err
	}
}

func valued(words []string) (string, error) {
	column := core.Column{Name: "value", Type: words[0], Nullable: words[2] == "true"}
	fmt.Sscan(words[1], &column.Bits)
	data, err := hex.DecodeString(words[3])
	if err != nil {
		return "", err
	}
	row, err := core.DecodeRow(data, []core.Column{column})
	if err != nil {
		if column.Type != "opaque" {
			return "", err
		}
		row = []any{nil}
	}
	encoder := core.NewEncoder([]core.Column{column}, 1)
	var made bytes.Buffer
	rows := bufio.NewWriter(&made)
	encoder.Keep(rows)
	var touch int64
	err = encoder.Row(func(int) (err error) {
		touch, err = natural(encoder, &column, row[0])
		return err
	})
	if err != nil {
		return "", err
	}
	_ = rows.Flush() // to memory
	return fmt.Sprintf("%x %s %016x", made.Bytes()[lengthBytes:], encoder.Digest(), uint64(touch)), nil
}

// natural encodes a decoded value; its touch.
func natural(e *core.Encoder, column *core.Column, value any) (int64, error) {
	if column.Type == "opaque" && value == nil && !column.Nullable {
		return 5, e.Opaque()
	}
	switch value := value.(type) {
	case nil:
		return 1, e.Null()
	case int64:
		return value, e.Integer(value)
	case core.Decimal:
		return value.Touch(), e.Decimal(value)
	case float64:
		return core.TouchFloat(value), e.Float(value)
	case bool:
		return core.TouchBool(value), e.Bool(value)
	case string:
		return int64(len(value)), e.Text(value)
	case []byte:
		return int64(len(value)), e.Binary(value)
	case core.Date:
		return int64(time.Time(value).Day()), e.Date(time.Time(value))
	case core.TimeOfDay:
		return int64(value) / int64(time.Second) % 60, e.Time(int64(value))
	case time.Time:
		return int64(value.Second()), e.Timestamp(value)
	case core.Instant:
		return int64(time.Time(value).Second()), e.Instant(time.Time(value))
	}
	return 5, rest(e, value)
}

func rest(e *core.Encoder, value any) error {
	switch value := value.(type) {
	case core.Infinite:
		return e.Infinite(value.Negative)
	case core.Interval:
		return e.Interval(value)
	case core.UUID:
		return e.UUID(value)
	case []*int64:
		return e.Array(value)
	}
	return fmt.Errorf("no value: %T", value)
}
