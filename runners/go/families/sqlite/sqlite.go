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
func (Dialect) Slot(column core.Column) core.Slot {
	if column.Type == "integer" {
		// Not Go's own type: of a column that is declared BOOLEAN or as a date, drivers make another one.
		return databasesql.Own(column, func(v int64) int64 { return v }, databasesql.Kept)
	}
	return databasesql.SlotOf(column, databasesql.Kept, texts...)
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
