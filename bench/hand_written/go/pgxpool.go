// PostgreSQL through pgx's pool, which checks no connection that it lends.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

func main() {
	in := bufio.NewScanner(os.Stdin)
	settings := readSettings(in)
	keys, query := readKeys(settings["keys"]), settings["sql"]
	ctx, end := context.WithTimeout(context.Background(), time.Hour) // a program has some limit
	defer end()
	config, err := pgxpool.ParseConfig(fmt.Sprintf(
		"host=%s port=%s user=%s dbname=%s sslmode=disable pool_max_conns=1",
		settings["host"], settings["port"], settings["user"], settings["database"],
	))
	check(err)
	config.ConnConfig.Password = settings["password"]
	config.ShouldPing = func(context.Context, pgxpool.ShouldPingParams) bool { return false }
	pool, err := pgxpool.NewWithConfig(ctx, config)
	check(err)
	var held *pgxpool.Conn // for all reads
	if settings["hold"] == "on" {
		held, err = pool.Acquire(ctx)
		check(err)
	}
	serve(in, func(operations int) (touch int64) {
		var key, data string
		for i := range operations {
			begin := time.Now()
			connection, err := held, error(nil)
			if held == nil {
				connection, err = pool.Acquire(ctx)
			}
			ownNs += time.Since(begin).Nanoseconds()
			check(err)
			rows, err := connection.Query(ctx, query, keys[i%len(keys)])
			check(err)
			for rows.Next() {
				check(rows.Scan(&key, &data))
				touch += lengths(key, data)
			}
			check(rows.Err())
			begin = time.Now()
			if held == nil {
				connection.Release()
			}
			ownNs += time.Since(begin).Nanoseconds()
		}
		return touch
	})
	if held != nil {
		held.Release()
	}
	pool.Close()
}
