// modernc.org/sqlite: SQLite's C code, translated to Go.
package main

import (
	"database/sql"
	"errors"
	"strconv"

	driver "modernc.org/sqlite"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/sqlite"
)

func main() {
	core.Main("modernc-sqlite", func() core.Adapter { return databasesql.Over(dialect{}) })
}

const primary = 0xFF // of an extended code

type dialect struct{ sqlite.Dialect }

func (dialect) Connect(options core.Options) (*sql.DB, error) {
	name, err := sqlite.NameWithPragmas(options)
	if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", name)
}

func (dialect) Code(thrown error) (code, kind string) {
	var own *driver.Error
	if errors.As(thrown, &own) {
		return strconv.Itoa(own.Code() & primary), ""
	}
	return "", ""
}

func (d dialect) Facts(ask func(string) (string, error), facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("modernc.org/sqlite")
	return d.Dialect.Facts(ask, facts)
}
