package main

import (
	"database/sql"
	"fmt"

	_ "github.com/lib/pq"
)

const timestampIsText = false

func open(settings map[string]string) (*sql.DB, error) {
	return sql.Open("postgres", fmt.Sprintf(
		"host='%s' port=%s user='%s' password='%s' dbname='%s' sslmode=disable",
		settings["host"], settings["port"], settings["user"], settings["password"], settings["database"],
	))
}
