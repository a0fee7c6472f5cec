// Package duckdb is DuckDB's SQL and values as duckdb-go has them.
package duckdb

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/duckdb/duckdb-go/v2"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/sqltext"
)

// Dialect is what an adapter adds how it connects to.
type Dialect struct{ databasesql.AsItIs }

// Slot is where a column's values are left.
func (Dialect) Slot(column core.Column) core.Slot {
	if own := slotOf(column); own != nil {
		return own
	}
	return databasesql.SlotOf(column, natural)
}

// Natural is a value of DuckDB's in a form that the encoder knows.
func (Dialect) Natural(column *core.Column, value any) any { return natural(column, value) }

// Bind is a parameter as the driver takes it; decimals, UUIDs and arrays go as text.
func (Dialect) Bind(value any) (any, error) {
	switch value := value.(type) {
	case core.Decimal:
		if !value.IsNumber() {
			return nil, core.Unsupported("DuckDB has no decimal %s", value)
		}
	case nil, bool, int64, float64, string, []byte, time.Time:
		return value, nil
	case core.Date:
		return time.Time(value), nil
	case core.Instant:
		return time.Time(value), nil
	case core.TimeOfDay:
		return time.Unix(0, int64(value)).UTC(), nil
	case core.Interval:
		return duckdb.Interval{Months: value.Months, Days: value.Days, Micros: value.Nanoseconds / 1000}, nil
	case []*int64, []any:
		return listText(value), nil
	}
	return sqltext.Text(value)
}

// Literal is a value inside SQL.
func (Dialect) Literal(value any) (string, error) {
	switch value := value.(type) {
	case core.Decimal:
		if !value.IsNumber() {
			return "", core.Unsupported("DuckDB has no decimal %s", value)
		}
	case []byte:
		return "from_hex('" + hex.EncodeToString(value) + "')", nil
	case []*int64, []any:
		return listText(value), nil
	case core.Interval:
		return fmt.Sprintf("INTERVAL '%d months %d days %d microseconds'",
			value.Months, value.Days, value.Nanoseconds/1000), nil
	case float64:
		text := strconv.FormatFloat(value, 'g', -1, 64)
		if math.IsNaN(value) || math.IsInf(value, 0) {
			text = sqltext.Quoted(text)
		}
		return text, nil
	}
	return sqltext.Standard(value)
}

func listText(values any) string {
	return strings.NewReplacer("{", "[", "}", "]", ",", ", ").Replace(sqltext.ArrayText(values))
}

// Code is the kind of error in DuckDB's words.
func (Dialect) Code(thrown error) (code, kind string) {
	var own *duckdb.Error
	if !errors.As(thrown, &own) {
		return "", ""
	}
	if own.Type == duckdb.ErrorTypeFatal {
		kind = "connect"
	}
	word, _, _ := strings.Cut(own.Msg, " Error:")
	return word, kind
}

// Facts are what DuckDB reports of itself.
func (Dialect) Facts(ask func(string) (string, error), facts *core.Facts) (err error) {
	one := core.Answers(ask, &err)
	facts.DriverVersion = core.ModuleVersion("github.com/duckdb/duckdb-go/v2")
	facts.EngineVersion = strings.TrimPrefix(one("SELECT library_version FROM pragma_version()"), "v")
	facts.Build = one("SELECT source_id FROM pragma_version()") + " " + one("SELECT platform FROM pragma_platform()")
	for _, name := range []string{"threads", "TimeZone", "memory_limit", "checkpoint_threshold", "access_mode"} {
		facts.Settings[name] = one("SELECT current_setting('" + name + "')")
	}
	return err
}

// WithJSONAsText is the phase with its JSON cast to text: by itself the driver hands over what it parsed.
func WithJSONAsText(phase *core.Phase) *core.Phase {
	var names, taken []string
	found := false
	for at, column := range phase.Columns {
		name := "c" + strconv.Itoa(at) // the query's own may occur twice
		names, taken = append(names, name), append(taken, name)
		if column.Type == "json" {
			taken[at], found = "CAST("+name+" AS VARCHAR)", true
		}
	}
	if !found {
		return phase
	}
	made := *phase
	made.SQL = fmt.Sprintf("SELECT %s FROM (%s\n) AS q (%s)",
		strings.Join(taken, ", "), phase.SQL, strings.Join(names, ", "))
	return &made
}
