package sqltext

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"rowpath/core"
)

// What other engines have in PostgreSQL's form too.

// Read is PostgreSQL's text of a value in a form that the encoder knows; as it is where the encoder reads it.
func Read(column *core.Column, text string) any {
	switch column.Type {
	case "array":
		if values, ok := readArray(column, text); ok {
			return values
		}
	case "interval":
		if endless, ok := core.Endless(text); ok {
			return endless
		}
		if span, ok := ParseInterval(text); ok {
			return span
		}
	case "binary":
		if digits, ok := strings.CutPrefix(text, `\x`); ok {
			if bytes, err := hex.DecodeString(digits); err == nil {
				return bytes
			}
		}
	}
	return text
}

// arrays reads one text of an array.
type arrays struct {
	element *core.Column
	text    string
	lower   []int32 // of each dimension
}

// readArray reads an array of any dimension and lower bounds, `[0:1][1:2]={{1,2},{3,4}}`, with the elements' quotes.
func readArray(column *core.Column, text string) (any, bool) {
	reader := &arrays{element: column.Element(), text: text}
	if strings.HasPrefix(text, "[") {
		bounds, values, ok := strings.Cut(text, "=")
		if !ok {
			return nil, false
		}
		for bound := range strings.SplitSeq(strings.Trim(bounds, "[]"), "][") {
			first, _, _ := strings.Cut(bound, ":")
			lower, err := strconv.ParseInt(first, 10, 32)
			if err != nil {
				return nil, false
			}
			reader.lower = append(reader.lower, int32(lower))
		}
		reader.text = values
	}
	made, ok := reader.array(0)
	return made, ok && reader.text == ""
}

func (r *arrays) array(dimension int) (any, bool) {
	if !r.skip("{") {
		return nil, false
	}
	elements := []any{}
	for !r.skip("}") {
		if len(elements) > 0 && !r.skip(",") {
			return nil, false
		}
		one, ok := r.one(dimension)
		if !ok {
			return nil, false
		}
		elements = append(elements, one)
	}
	if dimension < len(r.lower) && r.lower[dimension] != 1 {
		return core.Array{Lower: r.lower[dimension], Elements: elements}, true
	}
	return elements, true
}

func (r *arrays) skip(mark string) (found bool) {
	r.text, found = strings.CutPrefix(r.text, mark)
	return found
}

func (r *arrays) one(dimension int) (any, bool) {
	switch {
	case strings.HasPrefix(r.text, "{"):
		return r.array(dimension + 1)
	case r.skip(`"`):
		return r.quoted()
	}
	end := strings.IndexAny(r.text, ",}")
	if end < 0 {
		return nil, false
	}
	word := r.text[:end]
	r.text = r.text[end:]
	if word == "NULL" {
		return nil, true
	}
	return Read(r.element, word), true
}

func (r *arrays) quoted() (any, bool) {
	var word strings.Builder
	for at := 0; at < len(r.text); at++ {
		switch character := r.text[at]; {
		case character == '"':
			r.text = r.text[at+1:]
			return Read(r.element, word.String()), true
		case character == '\\' && at+1 < len(r.text):
			at++
			word.WriteByte(r.text[at])
		default:
			word.WriteByte(character)
		}
	}
	return nil, false
}

// ParseArray reads the usual text of an array of integers: `{1,NULL,-2}`.
func ParseArray(text string) ([]*int64, bool) {
	if len(text) < 2 || text[0] != '{' || text[1] == '{' {
		return nil, false
	}
	values := []*int64{}
	if text == "{}" {
		return values, true
	}
	for word := range strings.SplitSeq(text[1:len(text)-1], ",") {
		if word == "NULL" {
			values = append(values, nil)
			continue
		}
		value, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, false
		}
		values = append(values, &value)
	}
	return values, true
}

// ArrayText is PostgreSQL's text of an array of integers; []any has one of them for each element.
func ArrayText(values any) string {
	var words []string
	switch values := values.(type) {
	case []any:
		for _, value := range values {
			words = append(words, ArrayText(value))
		}
	case []*int64:
		for _, value := range values {
			if value == nil {
				words = append(words, "NULL")
			} else {
				words = append(words, strconv.FormatInt(*value, 10))
			}
		}
	}
	return "{" + strings.Join(words, ",") + "}"
}

const mostHours = int(math.MaxInt64/time.Hour) - 1 // whose nanoseconds 64 bits hold

// ParseInterval reads an interval in PostgreSQL's own style: `1 year 2 mons -3 days +04:05:06.7`.
func ParseInterval(text string) (core.Interval, bool) {
	var made core.Interval
	words := strings.Fields(text)
	for len(words) > 1 {
		count, err := strconv.ParseInt(words[0], 10, 32)
		if err != nil {
			return made, false
		}
		switch strings.TrimSuffix(words[1], "s") {
		case "year":
			made.Months += 12 * int32(count)
		case "mon":
			made.Months += int32(count)
		case "day":
			made.Days += int32(count)
		default:
			return made, false
		}
		words = words[2:]
	}
	if len(words) == 0 {
		return made, true
	}
	ns, ok := clockNs(words[0])
	if !ok {
		return made, false
	}
	made.Nanoseconds = ns
	return made, true
}

// clockNs reads hours of any number, minutes and seconds, with a sign.
func clockNs(text string) (int64, bool) {
	unsigned := strings.TrimLeft(text, "+-")
	parts := strings.Split(unsigned, ":")
	if len(parts) != 3 || len(parts[2]) < 2 {
		return 0, false
	}
	fraction, ok := core.FractionNs(parts[2][2:])
	hours, minutes, seconds := core.Digits(parts[0]), core.Digits(parts[1]), core.Digits(parts[2][:2])
	if hours > mostHours {
		return 0, false
	}
	ns := int64(hours*3600+minutes*60+seconds)*int64(time.Second) + fraction
	if text[0] == '-' {
		ns = -ns
	}
	return ns, ok && hours >= 0 && minutes >= 0 && seconds >= 0
}

// IntervalText is the interval as PostgreSQL reads it.
func IntervalText(i core.Interval) string {
	return fmt.Sprintf("%d mons %d days %d microseconds", i.Months, i.Days, i.Nanoseconds/1000)
}
