package pgx

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"rowpath/core"
	"rowpath/families/sqltext"
)

// Queries is a connection or a transaction that queries.
type Queries interface {
	Query(ctx context.Context, sql string, arguments ...any) (pgx.Rows, error)
}

// Executes is a connection or a transaction that executes.
type Executes interface {
	Exec(ctx context.Context, sql string, arguments ...any) (pgconn.CommandTag, error)
}

// Bind is a parameter in pgx's own types.
func Bind(value any) (any, error) {
	switch value := value.(type) {
	case nil, bool, int64, float64, string, []byte, time.Time, []*int64:
		return value, nil
	case core.Decimal:
		return Numeric(value), nil
	case core.Date:
		return pgtype.Date{Time: time.Time(value), Valid: true}, nil
	case core.TimeOfDay:
		return pgtype.Time{Microseconds: int64(value) / 1000, Valid: true}, nil
	case core.Instant:
		return time.Time(value), nil
	case core.Interval:
		return pgtype.Interval{
			Months: value.Months, Days: value.Days, Microseconds: value.Nanoseconds / 1000, Valid: true,
		}, nil
	case core.UUID:
		return pgtype.UUID{Bytes: value, Valid: true}, nil
	}
	return sqltext.Text(value)
}
