package core

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Dates and times in any form that a result has them in, also those for which time.Time has no room.

// written finds in ISO 8601 a date, a time, its distance from UTC and an era, each of which may be missing.
var written = regexp.MustCompile(`^(?:(-?\d{4,})-(\d\d)-(\d\d))?[ T]?(?:(-?)(\d{2,}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?` +
	`(Z|[+-]\d\d(?::?\d\d){0,2})?( BC| \(BC\))?$`)

// spelling is a date and a time as written.
type spelling struct {
	year, month, day int
	of               TimeOfDay
	offset           int
	dated, timed     bool
}

func readMoment(text string) (made spelling, ok bool) {
	found := written.FindStringSubmatch(text)
	if found == nil {
		return made, false
	}
	numbers := [9]int{}
	for at := range numbers {
		if found[at] != "" {
			numbers[at], _ = strconv.Atoi(found[at]) // the others are no numbers
		}
	}
	made = spelling{year: numbers[1], month: numbers[2], day: numbers[3], dated: found[1] != "", timed: found[5] != ""}
	if found[10] != "" {
		made.year = 1 - made.year
	}
	fraction, _ := FractionNs(found[8])
	made.of = TimeOfDay(int64((numbers[5]*60+numbers[6])*60+numbers[7])*second + fraction)
	if found[4] != "" {
		made.of = -made.of
	}
	made.offset, ok = offsetSeconds(found[9])
	return made, ok && (made.dated || made.timed)
}

// at is the time meant, or what no calendar has.
func (m spelling) at() any {
	midnight := time.Date(m.year, time.Month(m.month), m.day, 0, 0, 0, 0, time.UTC)
	if m.month < 1 || m.month > 12 || m.day < 1 || midnight.Day() != m.day {
		return NoDay{int32(m.year), uint8(m.month), uint8(m.day), m.of}
	}
	return midnight.Add(time.Duration(m.of) - time.Duration(m.offset)*time.Second)
}

// Endless reads `infinity`, in the forms that engines have of it.
func Endless(text string) (Infinite, bool) {
	switch strings.ToLower(text) {
	case "infinity", "inf", "+infinity":
		return Infinite{}, true
	case "-infinity", "-inf":
		return Infinite{Negative: true}, true
	}
	return Infinite{}, false
}

// momentOf is a time.Time, NoDay or Infinite; nil of a value that is no date and no timestamp.
func momentOf(kind string, value any) any {
	switch value := value.(type) {
	case time.Time, NoDay, Infinite:
		return value
	case Instant:
		return time.Time(value)
	case Date:
		return time.Time(value)
	case []byte:
		return momentOf(kind, string(value))
	case string:
		if endless, ok := Endless(value); ok {
			return endless
		}
		read, ok := readMoment(value)
		if !ok || !read.dated {
			return nil
		}
		if kind != "timestamptz" {
			read.offset = 0 // a wall clock is what is written
		}
		return read.at()
	}
	return nil
}

func timeOf(value any) (TimeOfDay, bool) {
	switch value := value.(type) {
	case TimeOfDay:
		return value, true
	case time.Duration:
		return TimeOfDay(value), true
	case ZonedTime:
		return value.Of, true
	case time.Time:
		return clockOf(value), true
	case []byte:
		return timeOf(string(value))
	case string:
		read, ok := readMoment(value)
		return read.of, ok && read.timed
	}
	return 0, false
}

func clockOf(value time.Time) TimeOfDay {
	seconds := (value.Hour()*60+value.Minute())*60 + value.Second()
	if value.Year() <= 1 && value.YearDay() == 2 { // drivers have 24:00 on the day after that of all times
		seconds += secondsADay
	}
	return TimeOfDay(int64(seconds)*second + int64(value.Nanosecond()))
}

func zonedTimeOf(value any) (ZonedTime, bool) {
	switch value := value.(type) {
	case ZonedTime:
		return value, true
	case time.Time:
		_, offset := value.Zone()
		return ZonedTime{clockOf(value), int32(offset)}, true
	case []byte:
		return zonedTimeOf(string(value))
	case string:
		read, ok := readMoment(value)
		return ZonedTime{read.of, int32(read.offset)}, ok && read.timed
	}
	return ZonedTime{}, false
}
