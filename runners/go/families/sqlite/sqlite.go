// Package sqlite is what the drivers of SQLite share: its text forms, its settings, what it reports of itself.
package sqlite

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/sqltext"
)

var texts = []string{"decimal", "date", "time", "timestamp", "timestamptz"}

// Dialect is SQLite's SQL and values; an adapter adds how it connects and its errors' codes.
type Dialect struct{ databasesql.AsItIs }

// Slot is where a column's values are left: decimals, dates and times are text in the database.
func (d Dialect) Slot(column core.Column) core.Slot {
	switch column.Type {
	case "integer":
		return &integer{column: column}
	case "char", "varchar", "text", "json":
		return &text{column: column}
	}
	return databasesql.SlotOf(column, d.Natural, texts...)
}

// Natural is a value as it came: SQLite has no types that Go lacks.
func (Dialect) Natural(_ *core.Column, value any) any { return value }

// Bind is a parameter as the drivers take it.
func (Dialect) Bind(value any) (any, error) {
	switch value.(type) {
	case core.Decimal, core.Date, core.TimeOfDay, time.Time, core.Instant, core.UUID:
		return sqltext.Text(value)
	case core.Interval, []*int64, []any, core.Infinite:
		return nil, core.Unsupported("SQLite has no type for a %T", value)
	}
	return value, nil
}

// Literal is a value inside SQL; a decimal is text.
func (Dialect) Literal(value any) (string, error) {
	if decimal, ok := value.(core.Decimal); ok {
		return sqltext.Quoted(decimal.String()), nil
	}
	return sqltext.Standard(value)
}

// Pragmas are the settings of a path, each with its value.
func Pragmas(options core.Options) [][2]string {
	if options.Get("durability", "none") != "full" {
		return [][2]string{{"busy_timeout", "60000"}, {"synchronous", "OFF"}}
	}
	return [][2]string{{"busy_timeout", "60000"}, {"journal_mode", "WAL"}, {"synchronous", "FULL"}}
}

// NameWithPragmas is the database's file as a URI with the settings of the path, for drivers that take `_pragma`.
func NameWithPragmas(options core.Options) (string, error) {
	var parameters []string
	for _, pragma := range Pragmas(options) {
		parameters = append(parameters, fmt.Sprintf("_pragma=%s(%s)", pragma[0], pragma[1]))
	}
	return Name(options, parameters)
}

// Name is the database's file as a URI, with these parameters.
func Name(options core.Options, parameters []string) (string, error) {
	path, err := options.Need("path")
	if options.Get("read_only", "no") == "yes" {
		parameters = append(parameters, "mode=ro")
	}
	file := url.URL{Scheme: "file", Path: path}
	return "file://" + file.EscapedPath() + "?" + strings.Join(parameters, "&"), err
}

// Facts are what SQLite reports of itself.
func (Dialect) Facts(ask func(string) (string, error), facts *core.Facts) (err error) {
	one := core.Answers(ask, &err)
	facts.EngineVersion = one("SELECT sqlite_version()")
	facts.Build = one("SELECT group_concat(compile_options, ' ') FROM pragma_compile_options")
	for _, name := range []string{"journal_mode", "synchronous", "cache_size", "mmap_size", "busy_timeout"} {
		facts.Settings[name] = one(fmt.Sprintf("PRAGMA %s", name))
	}
	return err
}

// integer is where integers are left, and whatever else a driver makes of them because of how the column is declared:
// BOOLEAN, or a date.
type integer struct {
	column core.Column
	value  int64
	fits   bool
	other  any // nil: NULL
}

func (s *integer) Scan(source any) error {
	if s.value, s.fits = source.(int64); !s.fits {
		s.other = source
	}
	return nil
}

func (s *integer) Destination() any { return s }
func (s *integer) Touch() int64 {
	switch {
	case s.fits:
		return s.value
	case s.other == nil:
		return 1
	}
	return core.TouchValue(&s.column, s.other)
}
func (s *integer) Value() any {
	if s.fits {
		return s.value
	}
	return s.other
}
func (s *integer) Delivers() string { return "int64" }
func (s *integer) Converted() bool  { return false }

// text is where texts are left, and the times that a driver makes of those in a column declared as one.
type text struct {
	column core.Column
	value  string
	fits   bool
	other  any // nil: NULL
}

func (s *text) Scan(source any) error {
	switch source := source.(type) {
	case string:
		s.value, s.fits = source, true
	case []byte:
		s.value, s.fits = string(source), true
	default:
		s.fits, s.other = false, source
	}
	return nil
}

func (s *text) Destination() any { return s }
func (s *text) Touch() int64 {
	switch {
	case s.fits:
		return int64(len(s.value))
	case s.other == nil:
		return 1
	}
	return core.TouchValue(&s.column, s.other)
}
func (s *text) Value() any {
	if s.fits {
		return s.value
	}
	return s.other
}
func (s *text) Delivers() string { return "string" }
func (s *text) Converted() bool  { return false }
