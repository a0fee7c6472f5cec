// Package sqlite is what the drivers of SQLite share: its text forms, its settings, what it reports of itself.
package sqlite

import (
	"database/sql"
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
func (Dialect) Slot(column core.Column) (core.Slot, error) {
	switch column.Type {
	case "interval", "uuid", "array":
		return nil, core.Unsupported("column %s: SQLite has no type %s", column.Name, column.Type)
	case "integer":
		return &integer{column: column.Name}, nil
	}
	return databasesql.SlotOf(column, texts...)
}

// Bind is a parameter as the drivers take it.
func (Dialect) Bind(value any) (any, error) {
	switch value.(type) {
	case core.Decimal, core.Date, core.TimeOfDay, time.Time, core.Instant, core.UUID:
		return sqltext.Text(value)
	case core.Interval, []*int64, core.Infinite:
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

// integer is where integers are left, unless the driver makes another type of them because of how the column is
// declared: BOOLEAN, or a date.
type integer struct {
	column string
	value  sql.Null[int64]
}

func (s *integer) Scan(value any) error {
	switch given := value.(type) {
	case int64:
		s.value = sql.Null[int64]{V: given, Valid: true}
	case nil:
		s.value = sql.Null[int64]{}
	default:
		return core.Unsupported("column %s: an integer delivered as %T, as its column is declared", s.column, value)
	}
	return nil
}

func (s *integer) Destination() any { return s }
func (s *integer) Touch() int64 {
	if !s.value.Valid {
		return 1
	}
	return s.value.V
}
func (s *integer) Encode(encoder *core.Encoder) error {
	if !s.value.Valid {
		return encoder.Null()
	}
	return encoder.Integer(s.value.V)
}
func (s *integer) Delivers() string { return "int64" }
func (s *integer) Converted() bool  { return false }
