// go-sql-driver/mysql: MariaDB and MySQL through database/sql.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"rowpath/core"
	"rowpath/families/databasesql"
	"rowpath/families/sqltext"
)

func main() {
	core.Main("go-sql-driver-mysql", func() core.Adapter { return databasesql.Over(&dialect{}) })
}

const mostPlaceholders = 65535

var (
	texts     = []string{"decimal", "time", "uuid"}
	variables = []string{
		"time_zone", "sql_mode", "default_storage_engine", "innodb_flush_log_at_trx_commit", "character_set_client",
		"collation_connection",
	}
)

type dialect struct {
	databasesql.AsItIs
	textual, compressed bool
}

func (d *dialect) Connect(options core.Options) (*sql.DB, error) {
	port, err := options.Need("port")
	if err != nil {
		return nil, err
	}
	settings, dialer, err := options.DriverSettings()
	if err != nil {
		return nil, err
	}
	words := url.Values{}
	for name, value := range settings {
		words.Set(name, value)
	}
	if d.compressed = options.Get("compression", "none") == "zlib"; d.compressed {
		words.Set("compress", "true")
	}
	d.textual = options.Get("statement", "prepared") == "text"
	config, err := mysql.ParseDSN("/?" + words.Encode())
	if err != nil {
		return nil, core.Unsupported("%v", err)
	}
	config.User, config.Passwd = options.Get("user", ""), options.Get("password", "")
	config.DBName = options.Get("database", "")
	host := options.Get("host", "127.0.0.1")
	config.Net, config.Addr = "tcp", net.JoinHostPort(host, port)
	if options.Get("transport", "tcp") == "unix" {
		config.Net, config.Addr = "unix", options.Get("socket", "")
	}
	if options.Get("tls", "off") != "off" {
		if config.TLS, err = encryption(options, host); err != nil {
			return nil, err
		}
	}
	config.ParseTime = true
	config.InterpolateParams = options.Get("interpolate_params", "off") == "on"
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	config.Params["time_zone"] = "'+00:00'"
	if dialer != nil {
		config.DialFunc = dialer.DialContext
	}
	connector, err := mysql.NewConnector(config)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// encryption is the configuration of crypto/tls, which the driver takes as it is: its own words know no authority.
func encryption(options core.Options, host string) (*tls.Config, error) {
	mode := options.Get("tls", "off")
	config := &tls.Config{ServerName: host, InsecureSkipVerify: mode != "verify-full"}
	if file := options.Get("tls_ca", ""); file != "" {
		authorities, err := os.ReadFile(file)
		if err != nil {
			return nil, core.Fail("connect", "%v", err)
		}
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(authorities) // without any, every certificate is refused
	}
	if mode == "verify-ca" {
		config.VerifyConnection = func(state tls.ConnectionState) error { return chained(state, config.RootCAs) }
	}
	if certificate := options.Get("tls_cert", ""); certificate != "" {
		own, err := tls.LoadX509KeyPair(certificate, options.Get("tls_key", ""))
		if err != nil {
			return nil, core.Fail("connect", "%v", err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	return config, nil
}

// chained is crypto/tls's own check but for the host's name, in the form that its documentation has for that.
func chained(state tls.ConnectionState, authorities *x509.CertPool) error {
	between := x509.NewCertPool()
	for _, certificate := range state.PeerCertificates[1:] {
		between.AddCert(certificate)
	}
	_, err := state.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: authorities, Intermediates: between})
	return err
}

func (d *dialect) Slot(column core.Column) core.Slot {
	if column.Type == "float32" {
		return databasesql.Float32(column)
	}
	return databasesql.SlotOf(column, d.Natural, texts...)
}

func (*dialect) Natural(_ *core.Column, value any) any { return value }

func (*dialect) Bind(value any) (any, error) {
	switch value := value.(type) {
	case core.Decimal:
		if !value.IsNumber() {
			return nil, core.Unsupported("there is no decimal %s", value)
		}
	case nil, bool, int64, float64, string, []byte, time.Time:
		return value, nil
	case core.Instant:
		return time.Time(value), nil
	case core.Interval, []*int64, []any, core.Infinite:
		return nil, core.Unsupported("there is no type for a %T", value)
	}
	return sqltext.Text(value)
}

func (*dialect) Literal(value any) (string, error) {
	switch value := value.(type) {
	case core.Decimal:
		if !value.IsNumber() {
			return "", core.Unsupported("there is no decimal %s", value)
		}
	case string:
		return sqltext.Quoted(strings.ReplaceAll(value, `\`, `\\`)), nil
	case core.Instant:
		return sqltext.Standard(time.Time(value).UTC())
	}
	return sqltext.Standard(value)
}

func (*dialect) Code(thrown error) (code, kind string) {
	var own *mysql.MySQLError
	switch {
	case errors.As(thrown, &own):
		return strconv.Itoa(int(own.Number)), ""
	case errors.Is(thrown, mysql.ErrInvalidConn):
		return "", "connect"
	}
	return "", ""
}

func (d *dialect) Facts(ask func(string) (string, error), facts *core.Facts) (err error) {
	one := core.Answers(ask, &err)
	facts.DriverVersion = core.ModuleVersion("github.com/go-sql-driver/mysql")
	facts.EngineVersion = one("SELECT VERSION()")
	facts.Build = one("SELECT CONCAT(VERSION(), ' ', @@version_comment)")
	for _, name := range variables {
		facts.Settings[name] = one("SELECT COALESCE(@@" + name + ", 'none')")
	}
	facts.Settings["tls"], facts.Settings["tls_version"] = "off", one("SHOW SESSION STATUS LIKE 'Ssl_version'")
	if facts.Settings["tls_version"] != "" {
		facts.Settings["tls"] = "on"
	}
	if d.compressed {
		facts.Settings["compression"] = strings.ToLower(one("SHOW SESSION STATUS LIKE 'Compression'"))
	}
	return err
}

// Bulk is one INSERT of many rows, as many as the statement may have placeholders.
func (d *dialect) Bulk(
	way string, db *sql.DB, phase *core.Phase, rows [][]any, bind databasesql.Binder,
) (core.Operation, error) {
	if way != "multi-row" {
		return nil, core.Unsupported("go-sql-driver/mysql has no bulk way %s", way)
	}
	at := strings.LastIndexByte(phase.SQL, '(')
	if at < 0 {
		return nil, core.Unsupported("no INSERT of one row: %s", phase.SQL)
	}
	insert := multiRow{phase.SQL[:at], phase.SQL[at:], rows, bind, d}
	return core.Function(func(row int, counters *core.Counters) error {
		most := mostPlaceholders / len(phase.ParameterColumns)
		err := databasesql.Transaction(db, func(begun *sql.Tx) error {
			end := (row + 1) * phase.RowsPerOperation
			for first := row * phase.RowsPerOperation; first < end; first += most {
				if err := insert.store(begun, first, min(first+most, end)); err != nil {
					return err
				}
			}
			return nil
		})
		counters.Executed()
		return err
	}), nil
}

type multiRow struct {
	head, values string
	rows         [][]any
	bind         databasesql.Binder
	dialect      *dialect
}

func (m *multiRow) store(begun *sql.Tx, first, end int) error {
	if m.dialect.textual {
		return m.storeText(begun, first, end)
	}
	query := m.head + strings.TrimSuffix(strings.Repeat(m.values+",", end-first), ",")
	var given []any
	for _, row := range m.rows[first:end] {
		for _, value := range row {
			bound, err := m.bind(value)
			if err != nil {
				return err
			}
			given = append(given, bound)
		}
	}
	_, err := begun.Exec(query, given...)
	return err
}

func (m *multiRow) storeText(begun *sql.Tx, first, end int) error {
	columns := make([]core.Column, len(m.rows[first]))
	texts, err := sqltext.Texts(m.values, columns, m.rows[first:end], m.dialect.Literal)
	if err != nil {
		return err
	}
	_, err = begun.Exec(m.head + strings.Join(texts, ","))
	return err
}
