// Answers, line by line, for tests/runners/go/test_codec.py: `hash HEX` with the XXH64 of the bytes; `value JSON`, a
// column's declaration and a value of the shared vectors, with bytes, digest and touch of the value; `parameter HEX
// JSON` the same of the value decoded from the codec's bytes; `result JSON`, columns and rows, with what `verify`
// replies; `foreign TYPE` of a value that has no bytes; `date TEXT`, `time TEXT`, `timestamp TEXT`, `instant TEXT` with
// what is made of the text.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"strconv"
	"strings"
	"time"

	"rowpath/core"
)

const lengthBytes = 4 // before each kept row

func main() {
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, 1<<20)
	for input.Scan() {
		kind, rest, _ := strings.Cut(input.Text(), " ")
		answer, err := answered(kind, rest)
		if err != nil {
			answer = "error " + err.Error()
		}
		fmt.Println(answer)
	}
}

func answered(kind, rest string) (string, error) {
	switch kind {
	case "hash":
		data, err := hex.DecodeString(rest)
		return fmt.Sprintf("%016x", core.XXHash64(data)), err
	case "value":
		vector, err := read(rest)
		if err != nil {
			return "", err
		}
		if vector.AsText {
			return valued(vector.Column, vector.Value)
		}
		return valued(vector.Column, natural(&vector.Column, vector.Value))
	case "parameter":
		return parameter(rest)
	case "result":
		return result(rest)
	case "foreign":
		return valued(core.Column{Type: rest, Nullable: true}, struct{ Text string }{"a stranger"})
	case "date":
		at, err := core.ParseDate(rest)
		return at.Format(time.DateOnly), err
	case "time":
		of, err := core.ParseTime(rest)
		return of.String(), err
	case "timestamp":
		at, err := core.ParseTimestamp(rest)
		return at.Format("2006-01-02T15:04:05.999999999"), err
	default:
		at, err := core.ParseInstant(rest)
		return at.Format(time.RFC3339Nano), err
	}
}

type vector struct {
	Column  core.Column
	Value   any
	AsText  bool `json:"as_text"` // a text that a driver handed over
	Columns []core.Column
	Rows    [][]any
}

func read(text string) (read vector, err error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	return read, decoder.Decode(&read)
}

func parameter(rest string) (string, error) {
	bytes, declared, _ := strings.Cut(rest, " ")
	data, err := hex.DecodeString(bytes)
	if err != nil {
		return "", err
	}
	vector, err := read(declared)
	if err != nil {
		return "", err
	}
	row, err := core.DecodeRow(data, []core.Column{vector.Column})
	if err != nil {
		return "", err
	}
	return valued(vector.Column, row[0])
}

func valued(column core.Column, value any) (string, error) {
	encoder := core.NewEncoder([]core.Column{column}, 1)
	var made bytes.Buffer
	rows := bufio.NewWriter(&made)
	encoder.Keep(rows)
	if err := encoder.Row(func(int) any { return value }); err != nil {
		return "", err
	}
	_ = rows.Flush() // to memory
	touch := uint64(core.TouchValue(&column, value))
	return fmt.Sprintf("%x %s %016x", made.Bytes()[lengthBytes:], encoder.Digest(), touch), nil
}

func result(rest string) (string, error) {
	vector, err := read(rest)
	if err != nil {
		return "", err
	}
	encoder := core.NewEncoder(vector.Columns, int64(len(vector.Rows)))
	for _, row := range vector.Rows {
		err := encoder.Row(func(at int) any { return natural(&vector.Columns[at], row[at]) })
		if err != nil {
			return "", err
		}
	}
	reply, err := json.Marshal(map[string]any{
		"digest": encoder.Digest(), "order": encoder.Order(), "columns": encoder.Columns(),
	})
	return string(reply), err
}

// natural is a vector's value in a form that the encoder knows.
func natural(column *core.Column, value any) any {
	switch value := value.(type) {
	case map[string]any:
		return special(column, value)
	case []any:
		return listed(column, value)
	case json.Number:
		return natural(column, value.String())
	case string:
		switch column.Type {
		case "integer":
			number, _ := new(big.Int).SetString(value, 10)
			return number
		case "decimal":
			number, _ := core.ParseDecimal(value)
			return number
		case "float32", "float64":
			number, _ := strconv.ParseFloat(value, 64)
			return number
		case "binary":
			bytes, _ := hex.DecodeString(value)
			return bytes
		case "interval":
			endless, _ := core.Endless(value)
			return endless
		}
	}
	return value
}

// special is what JSON has no form for.
func special(column *core.Column, value map[string]any) any {
	for form, inner := range value {
		switch form {
		case "hex":
			bytes, _ := hex.DecodeString(inner.(string))
			if column.Type == "any" {
				return bytes
			}
			return string(bytes)
		case "integer":
			number, _ := new(big.Int).SetString(inner.(string), 10)
			return number
		case "float":
			number, _ := strconv.ParseFloat(inner.(string), 64)
			return number
		}
	}
	lower, _ := value["lower"].(json.Number).Int64()
	return core.Array{Lower: int32(lower), Elements: listed(column, value["elements"].([]any)).([]any)}
}

func listed(column *core.Column, values []any) any {
	made := make([]any, len(values))
	for at, value := range values {
		made[at] = natural(column.Field(at), value)
		switch column.Type {
		case "array":
			element := column.Element()
			_, list := value.([]any)
			_, bounded := value.(map[string]any)
			if (list || bounded) && element.Type != "array" && element.Type != "struct" {
				element = column // a further dimension
			}
			made[at] = natural(element, value)
		case "map", "rows":
			members := core.Column{Type: "struct", Fields: column.Fields}
			made[at] = []any(natural(&members, value).(core.Structure))
		}
	}
	switch column.Type {
	case "interval":
		return interval(values)
	case "struct":
		return core.Structure(made)
	case "map":
		entries := core.Map{}
		for _, entry := range made {
			entries = append(entries, [2]any(entry.([]any)))
		}
		return entries
	case "rows":
		rows := core.NestedRows{}
		for _, row := range made {
			rows = append(rows, row.([]any))
		}
		return rows
	}
	return made
}

func interval(values []any) core.Interval {
	var parts [3]int64
	for at, value := range values {
		parts[at], _ = value.(json.Number).Int64()
	}
	return core.Interval{Months: int32(parts[0]), Days: int32(parts[1]), Nanoseconds: parts[2]}
}
