package core

// Phase is a phase as `prepare` sends it.
type Phase struct {
	Name             string   `json:"name"`
	Kind             string   `json:"kind"`
	SQL              string   `json:"sql"`
	Table            string   `json:"table"`
	Columns          []Column `json:"columns"`
	ParameterColumns []Column `json:"parameter_columns"`
	Transaction      string   `json:"transaction"`
	Stamps           bool     `json:"stamps"`
	RowsPerOperation int      `json:"rows_per_operation"`
	Way              string   `json:"way"`
	Pipeline         int      `json:"-"` // so many operations are sent before the first answer is read; 0: one by one
}

// InTransaction is whether BEGIN and COMMIT belong to each operation.
func (p *Phase) InTransaction() bool { return p.Transaction == "transaction" }

// operations is how many operations this many parameter rows make before positions wrap; at least one.
func (p *Phase) operations(parameters int) (int, error) {
	if p.Kind != "load" {
		return max(parameters, 1), nil
	}
	if p.RowsPerOperation < 1 || parameters < p.RowsPerOperation {
		return 0, Fail("internal", "%s stores %d rows, has %d", p.Name, p.RowsPerOperation, parameters)
	}
	return parameters / p.RowsPerOperation, nil
}
