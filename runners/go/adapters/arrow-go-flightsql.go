// arrow-go's client of Flight SQL: rows through its driver of database/sql, columns as the batches of its own client.
package main

import (
	"context"
	"database/sql"
	"errors"
	"net"

	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/driver"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"

	"rowpath/core"
	"rowpath/families/arrow"
	"rowpath/families/databasesql"
	"rowpath/families/sqlite"
)

func main() {
	core.Main("arrow-go-flightsql", func() core.Adapter {
		own := &dialect{}
		return &adapter{Adapter: databasesql.Over(own), dialect: own}
	})
}

// adapter has a client of its own for columns: the driver hands over rows only.
type adapter struct {
	*databasesql.Adapter
	dialect *dialect
}

func (a *adapter) Open(options core.Options) error {
	if err := a.Adapter.Open(options); err != nil {
		return err
	}
	if options.Get("fetch", "row") != "columnar" {
		return a.Run("SELECT 1") // the driver shows its login only when it is used
	}
	address, login, err := server(options)
	if err != nil {
		return err
	}
	client, err := flightsql.NewClient(address, nil, nil, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	a.dialect.client = client
	a.dialect.admitted, err = client.Client.AuthenticateBasicToken(context.Background(), login.user, login.password)
	return err
}

func (a *adapter) Close() (err error) {
	if a.dialect.client != nil {
		err = a.dialect.client.Close()
	}
	return errors.Join(err, a.Adapter.Close())
}

type login struct{ user, password string }

func server(options core.Options) (address string, of login, err error) {
	port, noPort := options.Need("port")
	user, noUser := options.Need("user")
	address = net.JoinHostPort(options.Get("host", "127.0.0.1"), port)
	return address, login{user, options.Get("password", "")}, errors.Join(noPort, noUser)
}

type dialect struct {
	sqlite.Dialect
	client   *flightsql.Client
	admitted context.Context
}

func (*dialect) Connect(options core.Options) (*sql.DB, error) {
	address, of, err := server(options)
	if err != nil {
		return nil, err
	}
	made := &driver.Connector{}
	config := driver.DriverConfig{Address: address, Username: of.user, Password: of.password}
	if err := made.Configure(&config); err != nil {
		return nil, err
	}
	return sql.OpenDB(made), nil
}

// Bind is a parameter as the driver takes it and the server knows it.
func (d *dialect) Bind(value any) (any, error) {
	switch value := value.(type) {
	case nil, []byte:
		return nil, core.Unsupported("arrow-go's driver takes no parameter %T", value)
	case bool:
		if value {
			return int64(1), nil
		}
		return int64(0), nil
	}
	return d.Dialect.Bind(value)
}

func (*dialect) Code(thrown error) (code, kind string) {
	of, ok := status.FromError(thrown)
	switch {
	case !ok:
		return "", ""
	case of.Code() == codes.Unauthenticated || of.Code() == codes.Unavailable:
		return of.Code().String(), "connect"
	default:
		return of.Code().String(), ""
	}
}

func (d *dialect) Facts(ask func(string) (string, error), facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("github.com/apache/arrow-go/v18")
	return d.Dialect.Facts(ask, facts)
}

func (d *dialect) Columns(phase *core.Phase) databasesql.Taker {
	return taker{arrow.ResultOf(phase.Columns, ofText), d}
}

type taker struct {
	*arrow.Result
	of *dialect
}

func (t taker) Take(_ any, query string, _ []any, counters *core.Counters) error {
	info, err := t.of.client.Execute(t.of.admitted, query)
	if err != nil {
		return err
	}
	counters.Executed()
	for _, endpoint := range info.Endpoint {
		reader, err := t.of.client.DoGet(t.of.admitted, endpoint.Ticket)
		if err != nil {
			return err
		}
		if err := t.Result.Take(reader, counters); err != nil {
			return err
		}
	}
	return nil
}

// ofText is a value of a type that SQLite keeps as text.
func ofText(column *core.Column, value any) any {
	text, ok := value.(string)
	if !ok {
		return value
	}
	var made any
	var err error
	switch column.Type {
	case "decimal":
		made, err = core.ParseDecimal(text)
	case "date":
		made, err = core.ParseDate(text)
	case "time":
		made, err = core.ParseTime(text)
	case "timestamp":
		made, err = core.ParseTimestamp(text)
	default:
		return value
	}
	if err != nil {
		return value
	}
	return made
}
