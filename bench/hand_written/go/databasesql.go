// A database through database/sql: one prepared statement, read by key or as a whole. The file beside it opens the
// driver, and says whether it delivers timestamps as text.
package main

import (
	"bufio"
	"database/sql"
	"os"
	"time"
)

func keyed(query *sql.Stmt, keys []string, operations int) (touch int64) {
	var key, data string
	for i := range operations {
		rows, err := query.Query(keys[i%len(keys)])
		check(err)
		for rows.Next() {
			check(rows.Scan(&key, &data))
			touch += lengths(key, data)
		}
		check(rows.Err())
		check(rows.Close())
	}
	return touch
}

func scan(query *sql.Stmt, operations int) (touch int64) {
	var kind, file, browser, text string
	var at time.Time
	var size, place int64
	var user sql.NullInt64
	when := any(&at)
	if timestampIsText {
		when = &text
	}
	for range operations {
		rows, err := query.Query()
		check(err)
		for rows.Next() {
			check(rows.Scan(&kind, &file, &browser, when, &size, &user, &place))
			if timestampIsText {
				at = parsed(text)
			}
			touch += lengths(kind, file, browser) + int64(at.Second()) + size + place
			if user.Valid {
				touch += user.Int64
			} else {
				touch++
			}
		}
		check(rows.Err())
		check(rows.Close())
	}
	return touch
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	settings := readSettings(in)
	keys := readKeys(settings["keys"])
	db, err := open(settings)
	check(err)
	db.SetMaxOpenConns(1)
	query, err := db.Prepare(settings["sql"])
	check(err)
	serve(in, func(operations int) int64 {
		if keys != nil {
			return keyed(query, keys, operations)
		}
		return scan(query, operations)
	})
	check(query.Close())
	check(db.Close())
}
