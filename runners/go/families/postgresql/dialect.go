package postgresql

import (
	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/sqltext"
)

// Dialect is PostgreSQL's SQL and values through database/sql; an adapter adds how it connects, its errors' codes and
// its facts.
type Dialect struct {
	Texts []string // types whose values the driver hands over as text
}

// SQL is the statement with PostgreSQL's placeholders.
func (Dialect) SQL(phase *core.Phase) string { return sqltext.Numbered(phase) }

// Slot is where a column's values are left.
func (d Dialect) Slot(column core.Column) core.Slot {
	return databasesql.SlotOf(column, d.Natural, d.Texts...)
}

// Natural is PostgreSQL's text of a value as what it spells.
func (Dialect) Natural(column *core.Column, value any) any {
	switch value := value.(type) {
	case string:
		return sqltext.Read(column, value)
	case []byte:
		if column.Type == "binary" {
			return value
		}
		return sqltext.Read(column, string(value))
	}
	return value
}

// Bind is a parameter as the driver takes it.
func (Dialect) Bind(value any) (any, error) { return Bind(value) }

// Literal is a value inside SQL.
func (Dialect) Literal(value any) (string, error) { return Literal(value) }

// PidQuery asks for the process that serves the connection.
func (Dialect) PidQuery() string { return "SELECT pg_backend_pid()" }
