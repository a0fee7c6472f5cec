package core

import (
	"strings"
	"time"
)

// Dates and times by hand, in the form that they usually have (moments.go reads the others): time.Parse takes several
// times as long, which would be measured as the driver's.

// ParseDate reads `2000-11-07`.
func ParseDate(text string) (time.Time, error) {
	if len(text) != len(time.DateOnly) {
		return time.Time{}, noDate(text)
	}
	return moment(text, 0)
}

// ParseTime reads `01:02:03` with up to nine digits of a fraction; a length of time has 24 hours and more, or a sign.
func ParseTime(text string) (TimeOfDay, error) {
	if len(text) < 8 || text[2] != ':' || text[5] != ':' {
		return parseLong(text)
	}
	hour, minute, rest := Digits(text[:2]), Digits(text[3:5]), Digits(text[6:8])
	fraction, ok := FractionNs(text[8:])
	if hour < 0 || minute < 0 || rest < 0 || minute > 59 || rest > 59 || !ok {
		return 0, noDate(text)
	}
	return TimeOfDay(int64(hour*3600+minute*60+rest)*second + fraction), nil
}

// parseLong reads a time with a sign or with hours of three digits.
func parseLong(text string) (TimeOfDay, error) {
	if len(text) < 9 || (text[0] == '-' && text[1] == '-') {
		return 0, noDate(text)
	}
	of, err := ParseTime(text[1:])
	switch hundreds := Digits(text[:1]); {
	case text[0] == '-':
		return -of, err
	case hundreds > 0 && text[3] == ':':
		return of + TimeOfDay(int64(hundreds)*100*3600*second), err
	}
	return 0, noDate(text)
}

// ParseTimestamp reads `2000-11-07 01:02:03.456789`, a blank or a T between them.
func ParseTimestamp(text string) (time.Time, error) {
	if len(text) < len(time.DateTime) || (text[10] != ' ' && text[10] != 'T') {
		return time.Time{}, noDate(text)
	}
	of, err := ParseTime(text[11:])
	if err != nil || of < 0 || of >= TimeOfDay(dayNs) {
		return time.Time{}, noDate(text)
	}
	return moment(text[:10], of)
}

// ParseInstant reads a timestamp with Z or an offset of hours and perhaps minutes; without either it is UTC.
func ParseInstant(text string) (time.Time, error) {
	zone := -1
	if len(text) > len(time.DateTime) {
		zone = strings.IndexAny(text[len(time.DateTime):], "+-Z")
	}
	if zone < 0 {
		return ParseTimestamp(text)
	}
	zone += len(time.DateTime)
	wall, err := ParseTimestamp(text[:zone])
	offset, ok := offsetSeconds(text[zone:])
	if err != nil || !ok {
		return time.Time{}, noDate(text)
	}
	return wall.Add(-time.Duration(offset) * time.Second), nil
}

func moment(date string, of TimeOfDay) (time.Time, error) {
	year, month, day := Digits(date[:4]), Digits(date[5:7]), Digits(date[8:10])
	if date[4] != '-' || date[7] != '-' || year < 0 || month < 1 || month > 12 || day < 1 {
		return time.Time{}, noDate(date)
	}
	made := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if made.Day() != day {
		return time.Time{}, noDate(date)
	}
	return made.Add(time.Duration(of)), nil
}

// Digits is a number without a sign; below 0 where it is none.
func Digits(text string) int {
	value := 0
	for at := range len(text) {
		digit := text[at] - '0'
		if digit > 9 {
			return -1
		}
		value = 10*value + int(digit)
	}
	return value
}

// FractionNs reads nothing, or a point and one to nine digits.
func FractionNs(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	if text[0] != '.' || len(text) < 2 || len(text) > 10 {
		return 0, false
	}
	value := Digits(text[1:])
	return int64(value) * powers[10-len(text)], value >= 0
}

// offsetSeconds reads nothing, `Z`, `+02`, `-0530`, `-05:30` and `+05:53:28`.
func offsetSeconds(text string) (int, bool) {
	if text == "" || text == "Z" {
		return 0, true
	}
	plain := strings.ReplaceAll(text[1:], ":", "")
	if len(plain) != 2 && len(plain) != 4 && len(plain) != 6 {
		return 0, false
	}
	value := 3600 * Digits(plain[:2])
	if len(plain) > 2 {
		value += 60 * Digits(plain[2:4])
	}
	if len(plain) > 4 {
		value += Digits(plain[4:])
	}
	if text[0] == '-' {
		value = -value
	}
	return value, Digits(plain) >= 0
}

func noDate(text string) error { return Fail("internal", "no date or time in ISO 8601: '%s'", text) }
