package core

import (
	"fmt"
	"strconv"
	"strings"
)

// Options are the path's coordinates and what the engine's instance adds, as `open` sends them.
type Options map[string]any

// Get is an option as text; otherwise where it is absent.
func (o Options) Get(name, otherwise string) string {
	switch value := o[name].(type) {
	case nil:
		return otherwise
	case string:
		return value
	case float64:
		return strconv.FormatFloat(value, 'f', -1, 64)
	default:
		return fmt.Sprint(value)
	}
}

// Need is an option that must be there.
func (o Options) Need(name string) (string, error) {
	if _, there := o[name]; !there {
		return "", Fail("connect", "the option %s is missing", name)
	}
	return o.Get(name, ""), nil
}

// Number is an option as a number; 0 where it is absent.
func (o Options) Number(name string) int64 {
	number, _ := strconv.ParseInt(o.Get(name, "0"), 10, 64)
	return number
}

// Count is the n of a value KIND:n; 0 where the option is of another kind.
func (o Options) Count(name, kind string) int {
	count, _ := strconv.Atoi(strings.TrimPrefix(o.Get(name, ""), kind+":"))
	return count
}
