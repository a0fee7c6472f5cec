// Package postgresql is what the drivers of PostgreSQL share: how its SQL has values, what it reports of itself.
package postgresql

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"rowpath/core"
	"rowpath/families/sqltext"
)

var shown = []string{"server_version", "TimeZone", "fsync", "synchronous_commit", "default_transaction_isolation"}

// sslModes are libpq's words for the coordinate `tls`; there is none for the driver's own choice.
var sslModes = map[string]string{
	"off": "disable", "on": "require", "verify-ca": "verify-ca", "verify-full": "verify-full",
}

// Literal is a value inside SQL.
func Literal(value any) (string, error) {
	switch value := value.(type) {
	case core.Decimal:
		if !value.IsNumber() {
			return sqltext.Quoted(value.String()), nil
		}
	case float64:
		return sqltext.Quoted(strconv.FormatFloat(value, 'g', -1, 64)), nil
	case []byte:
		return `'\x` + hex.EncodeToString(value) + "'", nil
	}
	return sqltext.Standard(value)
}

// Bind is a parameter as drivers of database/sql take it.
func Bind(value any) (any, error) {
	switch value := value.(type) {
	case time.Time, nil, bool, int64, float64, string, []byte:
		return value, nil
	case core.Instant:
		return time.Time(value), nil
	}
	return sqltext.Text(value)
}

// ConnectionString is libpq's, without what only one driver knows; the dialer is as of DriverSettings.
func ConnectionString(options core.Options) (string, *core.Dialer, error) {
	port, err := options.Need("port")
	if err != nil {
		return "", nil, err
	}
	settings, dialer, err := options.DriverSettings()
	if err != nil {
		return "", nil, err
	}
	host := options.Get("host", "127.0.0.1")
	if options.Get("transport", "tcp") == "unix" {
		host = options.Get("socket_dir", "")
	}
	intervals := "postgres"
	if options.Get("startup", "") == "plain" {
		intervals = ""
	}
	words := [][2]string{
		{"host", host}, {"port", port}, {"user", options.Get("user", "")}, {"password", options.Get("password", "")},
		{"dbname", options.Get("database", "")}, {"application_name", "rowpath"}, {"IntervalStyle", intervals},
		{"sslmode", sslModes[options.Get("tls", "off")]}, {"sslrootcert", options.Get("tls_ca", "")},
		{"sslcert", options.Get("tls_cert", "")}, {"sslkey", options.Get("tls_key", "")},
	}
	for name, value := range settings {
		words = append(words, [2]string{name, value})
	}
	var texts []string
	for _, word := range words {
		if word[1] != "" {
			escaped := strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(word[1])
			texts = append(texts, fmt.Sprintf("%s='%s'", word[0], escaped))
		}
	}
	return strings.Join(texts, " "), dialer, nil
}

// Facts are what the server reports of itself and of this connection.
func Facts(ask func(string) (string, error), facts *core.Facts) (err error) {
	one := core.Answers(ask, &err)
	for _, name := range shown {
		facts.Settings[name] = one("SELECT current_setting('" + name + "')")
	}
	facts.EngineVersion = facts.Settings["server_version"]
	facts.Build = one("SELECT version()")
	const own = " FROM pg_stat_ssl WHERE pid = pg_backend_pid()"
	// A role that the session has set may not see its own row there.
	facts.Settings["tls"] = one("SELECT coalesce(max(CASE WHEN ssl THEN 'on' ELSE 'off' END), 'unknown')" + own)
	facts.Settings["tls_version"] = one("SELECT coalesce(max(coalesce(version, 'none')), 'unknown')" + own)
	return err
}

// Kind is the protocol's kind of a SQLSTATE, where it is known.
func Kind(state string) string {
	if strings.HasPrefix(state, "08") || strings.HasPrefix(state, "57P") || strings.HasPrefix(state, "28") {
		return "connect"
	}
	return ""
}

// Names are the phase's table and columns as the server knows them: drivers quote what a program names.
func Names(phase *core.Phase) (table string, columns []string) {
	for _, column := range phase.ParameterColumns {
		columns = append(columns, strings.ToLower(column.Name))
	}
	return strings.ToLower(phase.Table), columns
}
