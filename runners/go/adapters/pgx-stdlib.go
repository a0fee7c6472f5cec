// pgx through database/sql.
package main

import (
	"context"
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
	if options.Get("pool", "none") == "none" || options.Get("profile", "tuned") == "shipped" {
		return stdlib.OpenDB(*config), nil
	}
	// By itself it pings a connection that was idle for more than a second; the path says whether the pool does.
	never := func(context.Context, stdlib.ShouldPingParams) bool { return false }
	return stdlib.OpenDB(*config, stdlib.OptionShouldPing(never)), nil
}

func (dialect) Code(thrown error) (code, kind string) { return pgx.Code(thrown) }

func (dialect) Facts(ask func(string) (string, error), facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("github.com/jackc/pgx/v5")
	return postgresql.Facts(ask, facts)
}
