package duckdb

import (
	"fmt"
	"strings"

	"rowpath/core"
)

type kind struct {
	name string
	bits int
}

// Source: DuckDB's documentation, "Data Types".
var (
	kinds = map[string]kind{
		"BOOLEAN": {name: "boolean"}, "TINYINT": {"integer", 16}, "UTINYINT": {"integer", 16}, "SMALLINT": {"integer", 16},
		"USMALLINT": {"integer", 32}, "INTEGER": {"integer", 32}, "UINTEGER": {"integer", 64}, "BIGINT": {"integer", 64},
		"FLOAT": {name: "float32"}, "DOUBLE": {name: "float64"}, "VARCHAR": {name: "text"}, "JSON": {name: "json"},
		"BLOB": {name: "binary"}, "DATE": {name: "date"}, "TIME": {name: "time"}, "TIMESTAMP": {name: "timestamp"},
		"TIMESTAMP_S": {name: "timestamp"}, "TIMESTAMP_MS": {name: "timestamp"},
		"TIMESTAMP WITH TIME ZONE": {name: "timestamptz"}, "INTERVAL": {name: "interval"}, "UUID": {name: "uuid"},
		"SMALLINT[]": {"array", 16}, "INTEGER[]": {"array", 32}, "BIGINT[]": {"array", 64}, `"NULL"`: {name: "text"},
	}
	wide = map[string]int{"UBIGINT": 20, "HUGEINT": 39} // integers beyond 64 bits, by their digits
)

// Describing executes nothing of the query.
func (Dialect) Describing(query string) string { return "DESCRIBE " + query }

// Described is a column by its type as DuckDB spells it.
func (Dialect) Described(name, spelt string) core.DescribedColumn {
	made := core.DescribedColumn{
		Column: core.Column{Name: name, Type: "opaque", Bits: 32, Nullable: true}, EngineType: spelt,
	}
	if known, ok := kinds[spelt]; ok {
		made.Type, made.Bits = known.name, max(known.bits, 16)
		if known.bits == 0 {
			made.Bits = 32
		}
		return made
	}
	if digits, ok := wide[spelt]; ok {
		made.Type, made.Precision = "decimal", digits
		return made
	}
	if read, _ := fmt.Sscanf(spelt, "DECIMAL(%d,%d)", &made.Precision, &made.Scale); read == 2 && !isList(spelt) {
		made.Type = "decimal"
		return made
	}
	made.Precision, made.Scale = 0, 0
	if strings.HasPrefix(spelt, "ENUM(") && !isList(spelt) {
		made.Type = "text"
	}
	return made
}

func isList(spelt string) bool { return strings.HasSuffix(spelt, "]") }
