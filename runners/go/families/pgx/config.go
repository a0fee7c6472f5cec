// Package pgx is what pgx has alone and through database/sql: how it connects, its exec modes, its errors.
package pgx

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"rowpath/core"
	"rowpath/families/postgresql"
)

var modes = map[string]pgx.QueryExecMode{
	"cache_statement": pgx.QueryExecModeCacheStatement,
	"cache_describe":  pgx.QueryExecModeCacheDescribe,
	"describe_exec":   pgx.QueryExecModeDescribeExec,
	"exec":            pgx.QueryExecModeExec,
	"simple_protocol": pgx.QueryExecModeSimpleProtocol,
}

// standing is the exec mode that a statement mode has where none is named.
var standing = map[string]string{"prepared": "cache_statement", "bound": "describe_exec", "text": "simple_protocol"}

// Config is how a path connects, with its exec mode.
func Config(options core.Options) (*pgx.ConnConfig, error) {
	words, dialer, err := postgresql.ConnectionString(options)
	if err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(words)
	if err != nil {
		return nil, err
	}
	named := options.Get("exec_mode", "auto")
	if named == "auto" {
		named = standing[options.Get("statement", "prepared")]
	}
	mode, known := modes[named]
	if !known {
		return nil, core.Unsupported("pgx has no exec mode %s", named)
	}
	config.DefaultQueryExecMode = mode
	config.RuntimeParams["DateStyle"] = "ISO" // as pq has it: a role's own style would be misread as text
	config.AfterConnect = func(until context.Context, connection *pgconn.PgConn) error {
		return textAsUTF8(until, connection, mode == pgx.QueryExecModeSimpleProtocol)
	}
	if dialer != nil {
		config.DialFunc = dialer.DialContext
	}
	return config, nil
}

// textAsUTF8 has a database of another encoding send UTF-8, for which pgx takes all texts. One without an encoding
// sends its bytes, but pgx refuses the simple protocol with it.
func textAsUTF8(until context.Context, connection *pgconn.PgConn, simple bool) error {
	encoding := connection.ParameterStatus("server_encoding")
	if encoding == "UTF8" || (encoding == "SQL_ASCII" && !simple) {
		return nil
	}
	return connection.Exec(until, "SET client_encoding = 'UTF8'").Close()
}

// Code is an error's SQLSTATE, and the protocol's kind where it is known.
func Code(thrown error) (code, kind string) {
	var own *pgconn.PgError
	var refused *pgconn.ConnectError
	switch {
	case errors.As(thrown, &own):
		return own.Code, postgresql.Kind(own.Code)
	case errors.As(thrown, &refused), pgconn.SafeToRetry(thrown):
		return "", "connect"
	}
	return "", ""
}
