package sqltext

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"rowpath/core"
)

// What other engines have in PostgreSQL's form too.

// ParseArray reads PostgreSQL's text of an array of integers: `{1,NULL,-2}`.
func ParseArray(text string) ([]*int64, error) {
	if len(text) < 2 || text[0] != '{' || text[1] == '{' {
		return nil, core.Unsupported("an array of one dimension, not '%s'", text)
	}
	values := []*int64{}
	if text == "{}" {
		return values, nil
	}
	for word := range strings.SplitSeq(text[1:len(text)-1], ",") {
		if word == "NULL" {
			values = append(values, nil)
			continue
		}
		value, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, core.Fail("verify", "no array of integers: '%s'", text)
		}
		values = append(values, &value)
	}
	return values, nil
}

// ArrayText is PostgreSQL's text of an array.
func ArrayText(values []*int64) string {
	var words []string
	for _, value := range values {
		if value == nil {
			words = append(words, "NULL")
		} else {
			words = append(words, strconv.FormatInt(*value, 10))
		}
	}
	return "{" + strings.Join(words, ",") + "}"
}

// ParseInterval reads an interval in PostgreSQL's own style: `1 year 2 mons -3 days +04:05:06.7`.
func ParseInterval(text string) (core.Interval, error) {
	var made core.Interval
	words := strings.Fields(text)
	for len(words) > 1 {
		count, err := strconv.ParseInt(words[0], 10, 32)
		if err != nil {
			return made, noInterval(text)
		}
		switch strings.TrimSuffix(words[1], "s") {
		case "year":
			made.Months += 12 * int32(count)
		case "mon":
			made.Months += int32(count)
		case "day":
			made.Days += int32(count)
		default:
			return made, noInterval(text)
		}
		words = words[2:]
	}
	if len(words) == 0 {
		return made, nil
	}
	ns, ok := clockNs(words[0])
	if !ok {
		return made, noInterval(text)
	}
	made.Nanoseconds = ns
	return made, nil
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

func noInterval(text string) error {
	return core.Unsupported("no interval of months, days and time: '%s'", text)
}
