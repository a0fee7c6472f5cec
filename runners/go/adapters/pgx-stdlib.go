// pgx through database/sql.
package main

import (
	"database/sql"

	"github.com/jackc/pgx/v5/stdlib"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/pgx"
	"rowpath/families/postgresql"
	"rowpath/families/sqltext"
)

func main() {
	core.Main("pgx-stdlib", func() core.Adapter { return databasesql.Over(dialect{}) })
}

var texts = []string{"decimal", "time", "interval", "uuid", "array"}

type dialect struct{}

func (dialect) Connect(options core.Options) (*sql.DB, error) {
	config, err := pgx.Config(options)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

func (dialect) SQL(phase *core.Phase) string { return sqltext.Numbered(phase) }

func (dialect) Slot(column core.Column) (core.Slot, error) {
	return databasesql.SlotOf(column, texts...)
}

func (dialect) Bind(value any) (any, error)           { return postgresql.Bind(value) }
func (dialect) Literal(value any) (string, error)     { return postgresql.Literal(value) }
func (dialect) PidQuery() string                      { return "SELECT pg_backend_pid()" }
func (dialect) Code(thrown error) (code, kind string) { return pgx.Code(thrown) }

func (dialect) Facts(ask func(string) (string, error), facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("github.com/jackc/pgx/v5")
	return postgresql.Facts(ask, facts)
}
