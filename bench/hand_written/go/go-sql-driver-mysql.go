package main

import (
	"database/sql"
	"net"

	"github.com/go-sql-driver/mysql"
)

const timestampIsText = false

func open(settings map[string]string) (*sql.DB, error) {
	config := mysql.NewConfig()
	config.User, config.Passwd, config.DBName = settings["user"], settings["password"], settings["database"]
	config.Net, config.Addr = "tcp", net.JoinHostPort(settings["host"], settings["port"])
	config.ParseTime = true
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}
