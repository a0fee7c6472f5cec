// PostgreSQL through pgx alone, which prepares a text once by itself.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
)

func keyed(connection *pgx.Conn, query string, keys []string, operations int) (touch int64) {
	var key, data string
	for i := range operations {
		rows, err := connection.Query(context.Background(), query, keys[i%len(keys)])
		check(err)
		for rows.Next() {
			check(rows.Scan(&key, &data))
			touch += lengths(key, data)
		}
		check(rows.Err())
	}
	return touch
}

func scan(connection *pgx.Conn, query string, operations int) (touch int64) {
	var kind, file, browser string
	var at time.Time
	var size int32
	var user pgtype.Int4
	var place int16
	for range operations {
		rows, err := connection.Query(context.Background(), query)
		check(err)
		for rows.Next() {
			check(rows.Scan(&kind, &file, &browser, &at, &size, &user, &place))
			touch += lengths(kind, file, browser) + int64(at.Second()) + int64(size) + int64(place)
			if user.Valid {
				touch += int64(user.Int32)
			} else {
				touch++
			}
		}
		check(rows.Err())
	}
	return touch
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	settings := readSettings(in)
	keys := readKeys(settings["keys"])
	config, err := pgx.ParseConfig(fmt.Sprintf(
		"host=%s port=%s user=%s dbname=%s sslmode=disable",
		settings["host"], settings["port"], settings["user"], settings["database"],
	))
	check(err)
	config.Password = settings["password"]
	connection, err := pgx.ConnectConfig(context.Background(), config)
	check(err)
	serve(in, func(operations int) int64 {
		if keys != nil {
			return keyed(connection, settings["sql"], keys, operations)
		}
		return scan(connection, settings["sql"], operations)
	})
	check(connection.Close(context.Background()))
}
