package core

// Column is one column by its declared logical type; Bits is an integer's width (16, 32, 64).
type Column struct {
	Name      string `json:"name"`
	Type      string `json:"type"`
	Length    int    `json:"length"`
	Precision int    `json:"precision"`
	Scale     int    `json:"scale"`
	Bits      int    `json:"bits"`
	Nullable  bool   `json:"nullable"`
}

// DescribedColumn is a column that no workload declares, with the engine's own name of its type.
type DescribedColumn struct {
	Column
	EngineType string `json:"engine_type"`
}

var types = map[string]bool{
	"integer": true, "decimal": true, "float32": true, "float64": true, "boolean": true, "char": true,
	"varchar": true, "text": true, "json": true, "binary": true, "date": true, "time": true, "timestamp": true,
	"timestamptz": true, "interval": true, "uuid": true, "array": true, "opaque": true,
}

// check fills in what may be absent and refuses types that the codec lacks.
func check(columns []Column) error {
	for at := range columns {
		if columns[at].Bits == 0 {
			columns[at].Bits = 32
		}
		if !types[columns[at].Type] {
			return Unsupported("column %s: the Go runner knows no type %s", columns[at].Name, columns[at].Type)
		}
	}
	return nil
}
