// ncruces/go-sqlite3: SQLite compiled to WebAssembly, translated to Go.
package main

import (
	"database/sql"
	"errors"
	"strconv"

	sqlite3 "github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/driver"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/sqlite"
)

func main() {
	core.Main("ncruces-sqlite", func() core.Adapter { return databasesql.Over(dialect{}) })
}

type dialect struct{ sqlite.Dialect }

func (dialect) Connect(options core.Options) (*sql.DB, error) {
	name, err := sqlite.NameWithPragmas(options)
	if err != nil {
		return nil, err
	}
	return driver.Open(name)
}

func (dialect) Code(thrown error) (code, kind string) {
	var own *sqlite3.Error
	if errors.As(thrown, &own) {
		return strconv.Itoa(int(own.Code())), ""
	}
	return "", ""
}

func (d dialect) Facts(ask func(string) (string, error), facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("github.com/ncruces/go-sqlite3")
	return d.Dialect.Facts(ask, facts)
}
