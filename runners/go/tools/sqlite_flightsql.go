// A server of Flight SQL: that of arrow-go's examples over a SQLite file of ours, behind a login.
//
// Arguments: the file, its durability, the address to listen on, a private file whose two lines are user and password.
// It prints `listening on ADDRESS`, and ends with SIGTERM.
package main

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"database/sql"
	"database/sql/driver"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/apache/arrow-go/v18/arrow/flight"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql"
	"github.com/apache/arrow-go/v18/arrow/flight/flightsql/example"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	native "modernc.org/sqlite"

	"rowpath/core"
	"rowpath/families/sqlite"
)

func main() {
	if err := serve(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func serve(arguments []string) (err error) {
	if len(arguments) != 4 {
		return errors.New("expected FILE DURABILITY ADDRESS LOGIN")
	}
	name, err := sqlite.NameWithPragmas(core.Options{"path": arguments[0], "durability": arguments[1]})
	if err != nil {
		return err
	}
	login, err := newLogin(arguments[3])
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector(name))
	defer func() { err = errors.Join(err, db.Close()) }()
	of, err := example.NewSQLiteFlightSQLServer(db)
	if err != nil {
		return err
	}
	server := flight.NewServerWithMiddleware([]flight.ServerMiddleware{{Unary: login.unary, Stream: login.stream}})
	server.RegisterFlightService(flightsql.NewFlightServer(of))
	if err := server.Init(arguments[2]); err != nil {
		return err
	}
	server.SetShutdownOnSignals(syscall.SIGTERM)
	fmt.Println("listening on", server.Addr())
	return server.Serve()
}

// login is what a client must show in the header `authorization` of every call: `Basic` with user and password, or
// `Bearer` with what a handshake has given it.
type login struct{ basic, bearer string }

const header = "authorization"

func newLogin(file string) (login, error) {
	text, err := os.ReadFile(file)
	user, password, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	if err == nil && (user == "" || password == "") {
		err = fmt.Errorf("no user and password in %s", file)
	}
	basic := base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
	return login{"Basic " + basic, "Bearer " + rand.Text()}, err
}

func (l login) check(ctx context.Context) error {
	asked, _ := metadata.FromIncomingContext(ctx)
	for _, shown := range asked.Get(header) {
		shown = strings.TrimRight(shown, "=") // some clients leave out what pads base64
		for _, right := range []string{strings.TrimRight(l.basic, "="), l.bearer} {
			if subtle.ConstantTimeCompare([]byte(shown), []byte(right)) == 1 {
				return nil
			}
		}
	}
	return status.Error(codes.Unauthenticated, "wrong user or password")
}

func (l login) unary(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
	if err := l.check(ctx); err != nil {
		return nil, err
	}
	return handle(ctx, request)
}

func (l login) stream(of any, stream grpc.ServerStream, call *grpc.StreamServerInfo, handle grpc.StreamHandler) error {
	if err := l.check(stream.Context()); err != nil {
		return err
	}
	if strings.HasSuffix(call.FullMethod, "/Handshake") {
		return stream.SetHeader(metadata.Pairs(header, l.bearer))
	}
	return handle(of, stream)
}

// connector opens the file by its name. The example panics at types that it has no word for, CHAR(10) among them, so
// each column is given the word of its affinity.
type connector string

func (c connector) Driver() driver.Driver { return &native.Driver{} }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	opened, err := c.Driver().Open(string(c))
	if err != nil {
		return nil, err
	}
	return connection{opened.(ownConnection)}, nil
}

type ownConnection interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

type connection struct{ ownConnection }

func (c connection) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	made, err := c.ownConnection.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement{made.(ownStatement)}, nil
}

func (c connection) QueryContext(ctx context.Context, query string, given []driver.NamedValue) (driver.Rows, error) {
	return typed(c.ownConnection.QueryContext(ctx, query, given))
}

type ownStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

type statement struct{ ownStatement }

func (s statement) QueryContext(ctx context.Context, given []driver.NamedValue) (driver.Rows, error) {
	return typed(s.ownStatement.QueryContext(ctx, given))
}

type ownRows interface {
	driver.RowsColumnTypeDatabaseTypeName
	driver.RowsColumnTypeNullable
	driver.RowsColumnTypeScanType
}

type rows struct{ ownRows }

func typed(made driver.Rows, err error) (driver.Rows, error) {
	if err != nil {
		return nil, err
	}
	return rows{made.(ownRows)}, nil
}

// affinities are what a declared type contains, and the example's word for such columns: the rules of
// https://sqlite.org/datatype3.html in their order.
var affinities = [][2]string{
	{"INT", "INTEGER"}, {"CHAR", "TEXT"}, {"CLOB", "TEXT"}, {"TEXT", "TEXT"}, {"BLOB", "BLOB"}, {"REAL", "REAL"},
	{"FLOA", "REAL"}, {"DOUB", "REAL"},
}

func (r rows) ColumnTypeDatabaseTypeName(column int) string {
	declared := strings.ToUpper(r.ownRows.ColumnTypeDatabaseTypeName(column))
	for _, of := range affinities {
		if strings.Contains(declared, of[0]) {
			return of[1]
		}
	}
	return declared
}
