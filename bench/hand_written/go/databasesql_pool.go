// A driver through database/sql, each read on a connection that is taken for it and prepares its statement. The file
// beside it opens the driver.
package main

import (
	"bufio"
	"context"
	"database/sql"
	"os"
	"time"
)

func readOn(lent *sql.Conn, ctx context.Context, query, wanted string) (touch int64) {
	var key, data string
	statement, err := lent.PrepareContext(ctx, query)
	check(err)
	rows, err := statement.QueryContext(ctx, wanted)
	check(err)
	for rows.Next() {
		check(rows.Scan(&key, &data))
		touch += lengths(key, data)
	}
	check(rows.Err())
	check(rows.Close())
	check(statement.Close())
	return touch
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	settings := readSettings(in)
	keys, query := readKeys(settings["keys"]), settings["sql"]
	ctx, end := context.WithTimeout(context.Background(), time.Hour) // a program has some limit
	defer end()
	db, err := open(settings)
	check(err)
	db.SetMaxOpenConns(1)
	db.SetMaxIdleConns(1)
	var held *sql.Conn // for all reads
	if settings["hold"] == "on" {
		held, err = db.Conn(ctx)
		check(err)
	}
	serve(in, func(operations int) (touch int64) {
		for i := range operations {
			begin := time.Now()
			lent, err := held, error(nil)
			if held == nil {
				lent, err = db.Conn(ctx)
			}
			ownNs += time.Since(begin).Nanoseconds()
			check(err)
			touch += readOn(lent, ctx, query, keys[i%len(keys)])
			begin = time.Now()
			if held == nil {
				err = lent.Close()
			}
			ownNs += time.Since(begin).Nanoseconds()
			check(err)
		}
		return touch
	})
	if held != nil {
		check(held.Close())
	}
	check(db.Close())
}
