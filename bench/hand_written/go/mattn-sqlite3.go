package main

import (
	"database/sql"

	_ "github.com/mattn/go-sqlite3"
)

const timestampIsText = true

func open(settings map[string]string) (*sql.DB, error) {
	return sql.Open("sqlite3", "file:"+settings["path"])
}
