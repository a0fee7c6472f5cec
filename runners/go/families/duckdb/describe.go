package duckdb

import (
	"fmt"
	"strings"

	"rowpath/core"
)

// Source: DuckDB's documentation, "Data Types".
var kinds = map[string]core.Column{
	"BOOLEAN": {Type: "boolean"}, "TINYINT": {Type: "integer", Bits: 16}, "UTINYINT": {Type: "integer", Bits: 16},
	"SMALLINT": {Type: "integer", Bits: 16}, "USMALLINT": {Type: "integer"}, "INTEGER": {Type: "integer"},
	"UINTEGER": {Type: "integer", Bits: 64}, "BIGINT": {Type: "integer", Bits: 64},
	"UBIGINT": {Type: "integer", Bits: 128}, "HUGEINT": {Type: "integer", Bits: 128},
	"UHUGEINT": {Type: "integer", Bits: 128}, "FLOAT": {Type: "float32"}, "DOUBLE": {Type: "float64"},
	"VARCHAR": {Type: "text"}, "JSON": {Type: "json"}, "BLOB": {Type: "binary"}, "BIT": {Type: "bits"},
	"DATE": {Type: "date"}, "TIME": {Type: "time"}, "TIME_NS": {Type: "time"}, "TIME WITH TIME ZONE": {Type: "timetz"},
	"TIMESTAMP": {Type: "timestamp"}, "TIMESTAMP_S": {Type: "timestamp"}, "TIMESTAMP_MS": {Type: "timestamp"},
	"TIMESTAMP_NS": {Type: "timestamp"}, "TIMESTAMP WITH TIME ZONE": {Type: "timestamptz"},
	"INTERVAL": {Type: "interval"}, "UUID": {Type: "uuid"}, `"NULL"`: {Type: "text"}, "BIGNUM": {Type: "decimal"},
	"VARIANT": {Type: "any"},
}

// Describing executes nothing of the query.
func (Dialect) Describing(query string) string { return "DESCRIBE " + query }

// Described is a column by its type as DuckDB spells it.
func (Dialect) Described(name, spelt string) core.DescribedColumn {
	made := typed(spelt)
	made.Name = name
	return core.DescribedColumn{Column: made, EngineType: spelt}
}

// typed is the declaration of a type.
func typed(spelt string) core.Column {
	made := core.Column{Type: "opaque", Nullable: true}
	if known, ok := kinds[spelt]; ok {
		made.Type, made.Bits = known.Type, known.Bits
		return made
	}
	if strings.HasSuffix(spelt, "]") { // a list, or an array of so many
		element := typed(spelt[:strings.LastIndexByte(spelt, '[')])
		if element.Type != "opaque" {
			made.Type, made.Fields = "array", []core.Column{element}
		}
		return made
	}
	word, inside, _ := strings.Cut(strings.TrimSuffix(spelt, ")"), "(")
	switch word {
	case "DECIMAL":
		made.Type = "decimal"
		fmt.Sscanf(inside, "%d,%d", &made.Precision, &made.Scale)
	case "ENUM":
		made.Type = "text"
	case "UNION":
		made.Type = "any"
	case "STRUCT":
		made.Type, made.Fields = "struct", members(inside)
	case "MAP":
		made.Type = "map"
		for at, part := range parts(inside) {
			field := typed(part)
			field.Name = [2]string{"key", "value"}[at%2]
			made.Fields = append(made.Fields, field)
		}
	}
	return made
}

// members are a structure's: names, quoted where they must be, each with its type.
func members(inside string) (fields []core.Column) {
	for _, part := range parts(inside) {
		name, kind, _ := strings.Cut(part, " ")
		if part[0] == '"' {
			end := closing(part)
			name, kind = strings.ReplaceAll(part[1:end-1], `""`, `"`), part[end:]
		}
		field := typed(strings.TrimSpace(kind))
		field.Name = name
		fields = append(fields, field)
	}
	return fields
}

// closing is behind the quote that ends a name.
func closing(part string) int {
	for at := 1; at < len(part); at++ {
		if part[at] != '"' {
			continue
		}
		if at+1 == len(part) || part[at+1] != '"' {
			return at + 1
		}
		at++
	}
	return len(part)
}

// parts are what commas divide, outside of quotes and brackets.
func parts(inside string) (found []string) {
	depth, from := 0, 0
	var quote byte
	for at := range len(inside) {
		switch character := inside[at]; {
		case quote != 0:
			if character == quote {
				quote = 0
			}
		case character == '"' || character == '\'':
			quote = character
		case character == '(' || character == '[':
			depth++
		case character == ')' || character == ']':
			depth--
		case character == ',' && depth == 0:
			found = append(found, strings.TrimSpace(inside[from:at]))
			from = at + 1
		}
	}
	return append(found, strings.TrimSpace(inside[from:]))
}
