// Package sqltext makes SQL texts: values inside them, and placeholders of a driver's own.
package sqltext

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rowpath/core"
)

const (
	seconds      = "2006-01-02 15:04:05"
	microseconds = seconds + ".000000"
)

// Literal is a value as it stands inside SQL; the dialect's own where it differs.
type Literal func(value any) (string, error)

// Texts is one SQL text a row, each placeholder outside of quotes replaced by the literal of its value.
func Texts(sql string, columns []core.Column, rows [][]any, literal Literal) ([]string, error) {
	if len(columns) == 0 { // a question mark is no placeholder then
		return []string{sql}, nil
	}
	pieces := Split(sql)
	if len(pieces) != len(columns)+1 {
		return nil, core.Fail("internal", "%d placeholders for %d columns", len(pieces)-1, len(columns))
	}
	texts := make([]string, len(rows))
	for row, values := range rows {
		var text strings.Builder
		for at, value := range values {
			spelt, err := literal(value)
			if err != nil {
				return nil, err
			}
			text.WriteString(pieces[at] + spelt)
		}
		texts[row] = text.String() + pieces[len(values)]
	}
	return texts, nil
}

// Numbered is the SQL with `$1`, `$2`, … instead of question marks, where there are parameters.
func Numbered(phase *core.Phase) string {
	if len(phase.ParameterColumns) == 0 {
		return phase.SQL
	}
	pieces := Split(phase.SQL)
	var text strings.Builder
	for at, piece := range pieces {
		if at > 0 {
			text.WriteString("$" + strconv.Itoa(at))
		}
		text.WriteString(piece)
	}
	return text.String()
}

// Split is the SQL between its placeholders; a question mark within quotes is none.
func Split(sql string) []string {
	var pieces []string
	var quote rune
	from := 0
	for at, character := range sql {
		switch {
		case quote != 0:
			if character == quote {
				quote = 0
			}
		case character == '\'' || character == '"':
			quote = character
		case character == '?':
			pieces = append(pieces, sql[from:at])
			from = at + 1
		}
	}
	return append(pieces, sql[from:])
}

// Standard is the literal of standard SQL.
func Standard(value any) (string, error) {
	switch value := value.(type) {
	case nil:
		return "NULL", nil
	case string:
		return Quoted(value), nil
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64), nil
	case []byte:
		return "x'" + hex.EncodeToString(value) + "'", nil
	case bool, int64, core.Decimal:
		return fmt.Sprint(value), nil
	default:
		text, err := Text(value)
		return Quoted(text), err
	}
}

// Quoted is a quoted string.
func Quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// Text is a natural value that SQL has as text: a decimal, date, time, interval, UUID or array.
func Text(value any) (string, error) {
	switch value := value.(type) {
	case core.Decimal, core.UUID:
		return fmt.Sprint(value), nil
	case core.Interval:
		return IntervalText(value), nil
	case core.Date:
		return time.Time(value).Format(time.DateOnly), nil
	case core.TimeOfDay:
		midnight := time.Unix(0, int64(value)).UTC()
		return wall(midnight)[len("2006-01-02 "):], nil
	case time.Time:
		return wall(value), nil
	case core.Instant:
		return wall(time.Time(value).UTC()) + "+00:00", nil
	case []*int64, []any:
		return ArrayText(value), nil
	case core.Infinite:
		return strings.TrimPrefix("-infinity", map[bool]string{false: "-"}[value.Negative]), nil
	default:
		return "", core.Unsupported("no text of a %T", value)
	}
}

func wall(at time.Time) string {
	if at.Nanosecond() == 0 {
		return at.Format(seconds)
	}
	return at.Format(microseconds)
}
