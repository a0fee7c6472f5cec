// pgx through database/sql.
package main

import (
	"database/sql"

	"github.com/jackc/pgx/v5/stdlib"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/pgx"
	"rowpath/families/postgresql"
)

func main() {
	texts := []string{"decimal", "time", "timetz", "interval", "uuid", "array"}
	core.Main("pgx-stdlib", func() core.Adapter { return databasesql.Over(dialect{postgresql.Dialect{Texts: texts}}) })
}

type dialect struct{ postgresql.Dialect }

func (dialect) Connect(options core.Options) (*sql.DB, error) {
	config, err := pgx.Config(options)
	if err != nil {
		return nil, err
	}
	return stdlib.OpenDB(*config), nil
}

func (dialect) Code(thrown error) (code, kind string) { return pgx.Code(thrown) }

func (dialect) Facts(ask func(string) (string, error), facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("github.com/jackc/pgx/v5")
	return postgresql.Facts(ask, facts)
}
