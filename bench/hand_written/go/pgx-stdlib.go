package main

import (
	"database/sql"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
)

const timestampIsText = false

func open(settings map[string]string) (*sql.DB, error) {
	config, err := pgx.ParseConfig(fmt.Sprintf(
		"host=%s port=%s user=%s dbname=%s sslmode=disable",
		settings["host"], settings["port"], settings["user"], settings["database"],
	))
	if err != nil {
		return nil, err
	}
	config.Password = settings["password"]
	return stdlib.OpenDB(*config), nil
}
