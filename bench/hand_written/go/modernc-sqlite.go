package main

import (
	"database/sql"

	_ "modernc.org/sqlite"
)

const timestampIsText = true

func open(settings map[string]string) (*sql.DB, error) {
	return sql.Open("sqlite", "file:"+settings["path"])
}
