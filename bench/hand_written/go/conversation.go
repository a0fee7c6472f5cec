// What a small program needs around its loop; the conversation is that of common.h.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func readSettings(in *bufio.Scanner) map[string]string {
	settings := map[string]string{}
	for in.Scan() && in.Text() != "" {
		name, value, _ := strings.Cut(in.Text(), "=")
		settings[name] = value
	}
	return settings
}

// readKeys is nil without a file.
func readKeys(file string) []string {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	check(err)
	return strings.Fields(string(text))
}

var ownNs int64 // what operations time themselves is added here

// serve has run do as many operations as each line says; it returns the sum over all values.
func serve(in *bufio.Scanner, run func(operations int) int64) {
	fmt.Println("ready")
	for in.Scan() {
		operations, err := strconv.Atoi(in.Text())
		check(err)
		ownNs = 0
		begin := time.Now()
		touch := run(operations)
		fmt.Println(time.Since(begin).Nanoseconds(), uint64(touch), ownNs)
	}
}

func lengths(texts ...string) int64 {
	var sum int
	for _, text := range texts {
		sum += len(text)
	}
	return int64(sum)
}

// parsed is 2000-11-07 01:02:03.456789 as a time; time.Parse takes several times as long.
func parsed(text string) time.Time {
	two := func(at int) int { return int(text[at]-'0')*10 + int(text[at+1]-'0') }
	nanoseconds, unit := 0, 100_000_000
	for at := 20; at < len(text); at, unit = at+1, unit/10 {
		nanoseconds += int(text[at]-'0') * unit
	}
	return time.Date(
		two(0)*100+two(2), time.Month(two(5)), two(8), two(11), two(14), two(17), nanoseconds, time.UTC,
	)
}
