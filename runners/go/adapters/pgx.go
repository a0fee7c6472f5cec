// pgx alone, without database/sql: rows are scanned from the wire into Go's own types and pgtype's.
package main

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"rowpath/core"
	family "rowpath/families/pgx"
	"rowpath/families/postgresql"
	"rowpath/families/sqltext"
	"rowpath/pools/pgxpool"
)

func main() { core.Main("pgx", func() core.Adapter { return &adapter{} }) }

var ever = context.Background()

type adapter struct {
	core.Base
	options    core.Options
	config     *pgx.ConnConfig
	connection *pgx.Conn
}

func (a *adapter) Open(options core.Options) (err error) {
	a.options = options
	if a.config, err = family.Config(options); err != nil {
		return err
	}
	a.connection, err = pgx.ConnectConfig(ever, a.config)
	return err
}

func (a *adapter) OpenPool(options core.Options) (core.Pool, error) {
	if name := options.Get("pool", "none"); name != pgxpool.Name {
		return nil, core.Unsupported("pgx has no pool %s", name)
	}
	config, err := family.Config(options)
	if err != nil {
		return nil, err
	}
	return pgxpool.Over(config, options)
}

func (a *adapter) Share(options core.Options, pool core.Pool) {
	a.options, a.config = options, pool.(*pgxpool.Pool).Config().ConnConfig
}

func (a *adapter) Seat(lent any) { a.connection = pgxpool.Connection(lent) }

func (a *adapter) Slots(columns []core.Column) ([]core.Slot, error) {
	slots := make([]core.Slot, len(columns))
	for at, column := range columns {
		slots[at] = family.SlotOf(column)
	}
	return slots, nil
}

func (a *adapter) Prepare(phase *core.Phase, rows [][]any) (core.Operation, error) {
	slots, _ := a.Slots(phase.Columns)
	row := core.NewRow(phase.Columns, slots, nil)
	switch {
	case phase.Kind == "null":
		return nil, core.Unsupported("this path has no operation of kind null")
	case phase.Kind == "connect":
		return a.connecting(phase, row), nil
	case phase.Way == "bulk":
		return a.bulk(phase, rows)
	}
	one := &statement{row: row, types: pgtype.NewMap(), queries: phase.Kind == "query"} // as each connection begins
	var err error
	if a.options.Get("statement", "prepared") == "text" {
		one.sql, err = sqltext.Texts(phase.SQL, phase.ParameterColumns, rows, postgresql.Literal)
	} else {
		one.sql = []string{sqltext.Numbered(phase)}
		one.arguments, err = a.arguments(rows, phase.Kind == "query" && phase.Pipeline == 0) // a batch takes no formats
	}
	if err != nil {
		return nil, err
	}
	if one.queries && one.arguments == nil && len(one.sql) == 1 {
		if formats := a.formats(); formats != nil {
			one.arguments = [][]any{{formats}}
		}
	}
	switch {
	case phase.Kind == "load":
		return a.inTransaction(one, phase.RowsPerOperation), nil
	case phase.InTransaction():
		return a.inTransaction(one, 1), nil
	}
	return &single{one, a}, nil
}

// single is a statement by itself, in autocommit.
type single struct {
	*statement
	adapter *adapter
}

func (s *single) Run(row int, counters *core.Counters) error {
	return s.run(s.adapter.connection, row, counters)
}

// RunPipeline sends all with one Sync behind them: one transaction, of which an error ends what follows it.
func (s *single) RunPipeline(rows []int, counters *core.Counters, ended func(error)) {
	for len(rows) > 0 {
		rows = rows[s.pipeline(rows, counters, ended):]
	}
}

// pipeline is how many of them came to their end; those behind a value that a slot did not take have yet to.
func (s *single) pipeline(rows []int, counters *core.Counters, ended func(error)) (done int) {
	queue := &pgx.Batch{}
	for _, row := range rows {
		sql, given := s.of(row)
		queue.Queue(sql, given...)
	}
	results := s.adapter.connection.SendBatch(ever, queue)
	defer results.Close() // its error is one of those below
	for range rows {
		answer, err := results.Query()
		if err == nil {
			err = core.Take(s.row, answer, counters)
			answer.Close()
			if err != nil {
				if err = family.Misfit(s.row, answer, s.types, err, counters); err == nil {
					return done
				}
			}
		}
		ended(err)
		done++
	}
	return done
}

func (s *single) Close() error { return nil }

// formats has results sent as text; nil: as pgx chooses, which is binary where it prepares or describes.
func (a *adapter) formats() any {
	if a.options.Get("statement", "prepared") == "text" || a.options.Get("format", "binary") == "binary" {
		return nil
	}
	return pgx.QueryResultFormats{pgx.TextFormatCode}
}

// arguments are each row's parameters in pgx's own types.
func (a *adapter) arguments(rows [][]any, queries bool) ([][]any, error) {
	bound := make([][]any, len(rows))
	for at, row := range rows {
		if formats := a.formats(); queries && formats != nil {
			bound[at] = append(bound[at], formats)
		}
		for _, value := range row {
			one, err := family.Bind(value)
			if err != nil {
				return nil, err
			}
			bound[at] = append(bound[at], one)
		}
	}
	if len(rows) == 0 {
		return nil, nil
	}
	return bound, nil
}

func (a *adapter) connecting(phase *core.Phase, row *core.Row) core.Operation {
	return core.Function(func(_ int, counters *core.Counters) error {
		start := core.NowNs()
		fresh, err := pgx.ConnectConfig(ever, a.config)
		if err != nil {
			return err
		}
		counters.ConnectNs += core.NowNs() - start
		first := statement{sql: []string{phase.SQL}, row: row, types: fresh.TypeMap(), queries: true}
		return errors.Join(first.run(fresh, 0, counters), fresh.Close(ever))
	})
}

func (a *adapter) inTransaction(one *statement, times int) core.Operation {
	return core.Function(func(row int, counters *core.Counters) error {
		return pgx.BeginFunc(ever, a.connection, func(begun pgx.Tx) error {
			for at := row * times; at < (row+1)*times; at++ {
				if err := one.run(begun, at, counters); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (a *adapter) bulk(phase *core.Phase, rows [][]any) (core.Operation, error) {
	way := a.options.Get("bulk", "none")
	store := map[string]func(pgx.Tx, *core.Phase, [][]any) error{"copy": copyIn, "batch": batch}[way]
	if way == "unnest" {
		sql, err := family.Unnest(ever, a.connection, phase)
		if err != nil {
			return nil, err
		}
		store = func(begun pgx.Tx, phase *core.Phase, rows [][]any) error {
			_, err := begun.Exec(ever, sql, family.Arrays(rows, len(phase.ParameterColumns))...)
			return err
		}
	}
	if store == nil {
		return nil, core.Unsupported("pgx has no bulk way %s", way)
	}
	bound, err := a.arguments(rows, false)
	return core.Function(func(row int, counters *core.Counters) error {
		err := pgx.BeginFunc(ever, a.connection, func(begun pgx.Tx) error {
			first := row * phase.RowsPerOperation
			return store(begun, phase, bound[first:first+phase.RowsPerOperation])
		})
		counters.Executed()
		return err
	}), err
}

func copyIn(begun pgx.Tx, phase *core.Phase, rows [][]any) error {
	table, columns := postgresql.Names(phase)
	_, err := begun.CopyFrom(ever, pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
	return err
}

// batch is one round trip of many statements.
func batch(begun pgx.Tx, phase *core.Phase, rows [][]any) error {
	queue, sql := &pgx.Batch{}, sqltext.Numbered(phase)
	for _, row := range rows {
		queue.Queue(sql, row...)
	}
	return begun.SendBatch(ever, queue).Close()
}

func (a *adapter) Run(sql string) error {
	_, err := a.connection.Exec(ever, sql, pgx.QueryExecModeSimpleProtocol)
	return err
}

func (a *adapter) Load(phase *core.Phase, rows [][]any) error {
	bound, err := a.arguments(rows, false)
	if err != nil {
		return err
	}
	return pgx.BeginFunc(ever, a.connection, func(begun pgx.Tx) error { return batch(begun, phase, bound) })
}

func (a *adapter) Interrupt(asked core.Interruption) (core.Outcome, error) {
	drain := func(until context.Context) error {
		rows, err := a.connection.Query(until, asked.SQL)
		if err != nil {
			return err
		}
		for rows.Next() {
		}
		return rows.Err()
	}
	return asked.Stop(drain, func() bool { return a.connection.Ping(ever) == nil })
}

func (a *adapter) Describe(sql string) ([]core.DescribedColumn, error) {
	return family.Describe(a.connection, sql)
}

func (a *adapter) ServerPid() (int64, error) { return int64(a.connection.PgConn().PID()), nil }

func (a *adapter) Code(thrown error) (code, kind string) { return family.Code(thrown) }

func (a *adapter) Facts(facts *core.Facts) error {
	facts.DriverVersion = core.ModuleVersion("github.com/jackc/pgx/v5")
	facts.Settings["autocommit"] = "on" // pgx has no other
	facts.Settings["exec_mode"] = a.config.DefaultQueryExecMode.String()
	return postgresql.Facts(func(query string) (answer string, err error) {
		err = a.connection.QueryRow(ever, query).Scan(&answer)
		return answer, err
	}, facts)
}

func (a *adapter) Close() error { return a.connection.Close(ever) }

// runs is a connection or a transaction.
type runs interface {
	family.Queries
	family.Executes
}

// statement is a phase's SQL: one text with parameters, or a text for each row.
type statement struct {
	sql       []string
	arguments [][]any
	row       *core.Row
	types     *pgtype.Map
	queries   bool
}

// of is the text and the arguments for one parameter row.
func (s *statement) of(row int) (sql string, given []any) {
	sql = s.sql[0]
	if len(s.sql) > 1 {
		sql = s.sql[row]
	}
	if s.arguments != nil {
		given = s.arguments[row]
	}
	return sql, given
}

func (s *statement) run(on runs, row int, counters *core.Counters) error {
	sql, given := s.of(row)
	if !s.queries {
		_, err := on.Exec(ever, sql, given...)
		counters.Executed()
		return err
	}
	for {
		rows, err := on.Query(ever, sql, given...)
		if err != nil {
			return err
		}
		counters.Executed()
		err = core.Take(s.row, rows, counters)
		rows.Close()
		if err == nil {
			return nil
		}
		if err = family.Misfit(s.row, rows, s.types, err, counters); err != nil {
			return err
		}
	}
}
