package core

import "encoding/json"

// Column is one column by its declared logical type (docs/codec.md). Bits is an integer's width; Fields are what an
// array, a structure, a map or nested rows hold; UnitNs, Rounded and Bounds say how its values are compared.
type Column struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`
	Length    int      `json:"length,omitempty"`
	Precision int      `json:"precision,omitempty"`
	Scale     int      `json:"scale,omitempty"`
	Bits      int      `json:"bits,omitempty"`
	Nullable  bool     `json:"nullable,omitempty"`
	Fields    []Column `json:"fields,omitempty"`
	UnitNs    int64    `json:"unit_ns,omitempty"`
	Rounded   bool     `json:"rounded,omitempty"`
	Bounds    bool     `json:"-"` // true by default, so that a described column may leave it out
}

const (
	defaultBits = 32
	nestedMost  = 32 // levels: a declaration is not the place to find the end of the stack
)

// UnmarshalJSON reads a declaration, whose absent fields have their defaults.
func (c *Column) UnmarshalJSON(data []byte) error {
	type fields Column
	read := struct {
		*fields
		Bounds *bool `json:"bounds"`
	}{fields: (*fields)(c)}
	*c = Column{Bits: defaultBits, UnitNs: 1, Bounds: true}
	err := json.Unmarshal(data, &read)
	if read.Bounds != nil {
		c.Bounds = *read.Bounds
	}
	c.Bits, c.UnitNs = max(c.Bits, 1), max(c.UnitNs, 1)
	return err
}

// Element is the declaration of an array's elements: without fields they are integers.
func (c *Column) Element() *Column {
	if len(c.Fields) > 0 {
		return &c.Fields[0]
	}
	return &Column{Type: "integer", Bits: c.Bits, Nullable: true}
}

// Field is the declaration of a member; of one too many it is that of any value.
func (c *Column) Field(at int) *Column {
	if at < len(c.Fields) {
		return &c.Fields[at]
	}
	return &Column{Type: "any", Nullable: true}
}

// DescribedColumn is a column that no workload declares, with the engine's own name of its type.
type DescribedColumn struct {
	Column
	EngineType string `json:"engine_type"`
}

var types = map[string]bool{
	"integer": true, "decimal": true, "float32": true, "float64": true, "boolean": true, "char": true,
	"varchar": true, "text": true, "json": true, "binary": true, "bits": true, "date": true, "time": true,
	"timetz": true, "timestamp": true, "timestamptz": true, "interval": true, "uuid": true, "array": true,
	"struct": true, "map": true, "rows": true, "any": true, "opaque": true,
}

// check refuses types that the codec lacks.
func check(columns []Column, level int) error {
	for at := range columns {
		column := &columns[at]
		if !types[column.Type] || level > nestedMost {
			return Unsupported("column %s: the Go runner knows no type %s", column.Name, column.Type)
		}
		if err := check(column.Fields, level+1); err != nil {
			return err
		}
	}
	return nil
}
