package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

const foreignMost = 100 // bytes that are kept of a foreign value

// value adds the bytes of a value of a column so declared. None is refused: what has no bytes of that type is foreign.
func (e *Encoder) value(column *Column, value any) {
	if isNull(value) {
		e.tag(0)
		return
	}
	encode := encoders[column.Type]
	if encode == nil || !encode(e, column, value) {
		e.foreign(column, value)
	}
}

// encoders add a value that is not NULL; false where it has no bytes of the type.
var encoders map[string]func(e *Encoder, column *Column, value any) bool

func init() { // they encode one another's values
	encoders = map[string]func(*Encoder, *Column, any) bool{
		"integer": (*Encoder).number, "decimal": (*Encoder).number, "float32": (*Encoder).float, "float64": (*Encoder).float,
		"boolean": (*Encoder).boolean, "char": (*Encoder).string, "varchar": (*Encoder).string, "text": (*Encoder).string,
		"json": (*Encoder).string, "binary": (*Encoder).binary, "bits": (*Encoder).bits, "date": (*Encoder).day,
		"time": (*Encoder).timeOfDay, "timetz": (*Encoder).zonedTime, "timestamp": (*Encoder).timestamp,
		"timestamptz": (*Encoder).timestamp, "interval": (*Encoder).interval, "uuid": (*Encoder).uuid,
		"array": (*Encoder).array, "struct": (*Encoder).structure, "map": (*Encoder).entries, "rows": (*Encoder).nestedRows,
		"any": (*Encoder).any, "opaque": (*Encoder).opaque,
	}
}

func isNull(value any) bool {
	switch value := value.(type) {
	case nil:
		return true
	case []byte:
		return value == nil
	case *int64:
		return value == nil
	}
	return false
}

func (e *Encoder) tag(tag byte) { e.bytes = append(e.bytes, tag) }

func (e *Encoder) put32(value uint32) { e.bytes = binary.LittleEndian.AppendUint32(e.bytes, value) }

func (e *Encoder) put64(value uint64) { e.bytes = binary.LittleEndian.AppendUint64(e.bytes, value) }

func (e *Encoder) text(tag byte, text string) bool {
	e.tag(tag)
	e.put32(uint32(len(text)))
	e.bytes = append(e.bytes, text...)
	return true
}

func (e *Encoder) foreign(column *Column, value any) {
	text := strings.ToValidUTF8(Text(value), "\uFFFD")
	for len(text) > foreignMost {
		_, size := utf8.DecodeLastRuneInString(text)
		text = text[:len(text)-size]
	}
	e.text('?', text)
	if e.proof.foreign++; e.proof.foreign == 1 {
		e.proof.reason = fmt.Sprintf("no %s: %T %s", column.Type, value, text)
		if _, made := value.(time.Time); made {
			e.proof.reason = "no common form: the driver makes time.Time of the text"
		}
	}
}

// number takes integers and decimals.
func (e *Encoder) number(column *Column, value any) bool {
	decimal, ok := decimalOf(value)
	return ok && (decimal.IsNumber() || column.Type == "decimal") && e.text('N', decimal.Plain())
}

// decimalOf is a number as a decimal.
func decimalOf(value any) (Decimal, bool) {
	if whole, ok := wholeOf(value); ok {
		return Decimal{Small: whole}, true
	}
	switch value := value.(type) {
	case Decimal:
		return value, true
	case uint64:
		return Decimal{Big: new(big.Int).SetUint64(value)}, true
	case *big.Int:
		return Decimal{Big: value}, true
	case float64:
		return spelt(strconv.FormatFloat(value, 'g', -1, 64))
	case float32:
		return spelt(strconv.FormatFloat(float64(value), 'g', -1, 32))
	case string:
		return spelt(strings.TrimSpace(value))
	case []byte:
		return spelt(strings.TrimSpace(string(value)))
	}
	return Decimal{}, false
}

func spelt(text string) (Decimal, bool) {
	found, err := ParseDecimal(text)
	return found, err == nil
}

// wholeOf is an integer of at most 64 bits with a sign.
func wholeOf(value any) (int64, bool) {
	switch value := value.(type) {
	case int64:
		return value, true
	case int32:
		return int64(value), true
	case int16:
		return int64(value), true
	case int8:
		return int64(value), true
	case int:
		return int64(value), true
	case uint32:
		return int64(value), true
	case uint16:
		return int64(value), true
	case uint8:
		return int64(value), true
	case *int64:
		return *value, true
	case bool:
		return TouchBool(value), true
	}
	return 0, false
}

func (e *Encoder) float(column *Column, value any) bool {
	number, ok := floatOf(value, column.Type)
	if !ok {
		return false
	}
	if column.Type == "float32" {
		number = float64(float32(number))
	}
	bits := math.Float64bits(number + 0) // -0 + 0 is +0
	if number != number {
		bits = 0x7FF8000000000000
	}
	e.tag('F')
	e.put64(bits)
	return true
}

func floatOf(value any, kind string) (float64, bool) {
	width := 64
	if kind == "float32" {
		width = 32 // a text rounded to 64 bits first would be rounded twice
	}
	switch value := value.(type) {
	case float64:
		return value, true
	case float32:
		return float64(value), true
	case bool:
		return 0, false
	}
	number, ok := decimalOf(value)
	if !ok {
		return 0, false
	}
	found, err := strconv.ParseFloat(number.String(), width)
	return found, err == nil || math.IsInf(found, 0)
}

func (e *Encoder) boolean(_ *Column, value any) bool {
	truth, ok := truthOf(value)
	if ok {
		e.bytes = append(e.bytes, 'L', byte(TouchBool(truth)))
	}
	return ok
}

func truthOf(value any) (truth, ok bool) {
	if whole, ok := wholeOf(value); ok {
		return whole != 0, true
	}
	switch value := value.(type) {
	case string:
		truth, err := strconv.ParseBool(value)
		return truth, err == nil
	case []byte:
		return truthOf(string(value))
	}
	return false, false
}

// string takes no time in the place of a text: how that was written is lost.
func (e *Encoder) string(column *Column, value any) bool {
	if _, made := value.(time.Time); made {
		return false
	}
	text := Text(value)
	if column.Type == "char" {
		text = strings.TrimRight(text, " ")
	}
	return e.text('S', text)
}

func (e *Encoder) binary(_ *Column, value any) bool {
	switch value := value.(type) {
	case []byte:
		return e.text('B', string(value))
	case string:
		return e.text('B', value)
	case UUID:
		return e.text('B', string(value[:]))
	}
	return false
}

// bits takes Bits, digits, and the bytes or the number whose lowest bits are the column's.
func (e *Encoder) bits(column *Column, value any) bool {
	switch value := value.(type) {
	case Bits:
		e.putBits(value)
		return true
	case string:
		digits, ok := new(big.Int).SetString("0"+value, 2)
		if ok {
			e.putBits(LowBits(digits, len(value)))
		}
		return ok
	case []byte:
		e.putBits(LowBits(new(big.Int).SetBytes(value), bitsOf(column, 8*len(value))))
		return true
	case uint64:
		e.putBits(LowBits(new(big.Int).SetUint64(value), bitsOf(column, 64)))
		return true
	}
	whole, ok := wholeOf(value)
	if ok {
		e.putBits(LowBits(big.NewInt(whole), bitsOf(column, 64)))
	}
	return ok
}

func bitsOf(column *Column, otherwise int) int {
	if column.Length > 0 {
		return column.Length
	}
	return otherwise
}

func (e *Encoder) putBits(value Bits) {
	e.tag('b')
	e.put32(uint32(value.Count))
	e.bytes = append(e.bytes, value.Bytes...)
}

func (e *Encoder) infinite(value Infinite) bool {
	if value.Negative {
		return e.text('X', "-inf")
	}
	return e.text('X', "inf")
}

func (e *Encoder) day(_ *Column, value any) bool {
	switch value := momentOf("date", value).(type) {
	case Infinite:
		return e.infinite(value)
	case NoDay:
		return e.noDay(value, 0)
	case time.Time:
		year, month, day := value.Date()
		midnight := time.Date(year, month, day, 0, 0, 0, 0, time.UTC)
		e.tag('d')
		e.put32(uint32(int32(floorDivide(midnight.Unix(), secondsADay))))
		return true
	}
	return false
}

func (e *Encoder) noDay(value NoDay, ns int64) bool {
	e.tag('Y')
	e.put32(uint32(value.Year))
	e.bytes = append(e.bytes, value.Month, value.Day)
	e.put64(uint64(ns))
	return true
}

func (e *Encoder) timeOfDay(_ *Column, value any) bool {
	of, ok := timeOf(value)
	if ok {
		e.tag('t')
		e.put64(uint64(e.cut(int64(of))))
	}
	return ok
}

// zonedTime takes a time without a zone as just that.
func (e *Encoder) zonedTime(column *Column, value any) bool {
	if _, bare := value.(TimeOfDay); bare {
		return e.timeOfDay(column, value)
	}
	of, ok := zonedTimeOf(value)
	if ok {
		e.tag('y')
		e.put64(uint64(e.cut(int64(of.Of))))
		e.put32(uint32(of.Offset))
	}
	return ok
}

// timestamp takes the wall clock of a time, of a timestamptz its instant.
func (e *Encoder) timestamp(column *Column, value any) bool {
	switch at := momentOf(column.Type, value).(type) {
	case Infinite:
		return e.infinite(at)
	case NoDay:
		return e.noDay(at, e.cut(int64(at.Of)))
	case time.Time:
		tag, seconds := byte('Z'), at.Unix()
		if column.Type != "timestamptz" {
			_, offset := at.Zone()
			tag, seconds = 'T', seconds+int64(offset)
		}
		nanoseconds := e.cut(int64(at.Nanosecond()))
		e.tag(tag)
		e.put64(uint64(seconds + nanoseconds/second))
		e.put32(uint32(nanoseconds % second))
		return true
	}
	return false
}

// cut is nanoseconds in the column's unit.
func (e *Encoder) cut(nanoseconds int64) int64 {
	e.proof.finest.meet(nanoseconds)
	unit := max(e.column.UnitNs, 1)
	if e.column.Rounded {
		nanoseconds += unit / 2
	}
	return floorDivide(nanoseconds, unit) * unit
}

func (e *Encoder) interval(_ *Column, value any) bool {
	switch value := value.(type) {
	case Infinite:
		return e.infinite(value)
	case time.Duration:
		return e.putInterval(Interval{Nanoseconds: int64(value)})
	case Interval:
		return e.putInterval(value)
	}
	return false
}

func (e *Encoder) putInterval(value Interval) bool {
	e.tag('I')
	e.put32(uint32(value.Months))
	e.put32(uint32(value.Days))
	e.put64(uint64(e.cut(value.Nanoseconds)))
	return true
}

func (e *Encoder) uuid(_ *Column, value any) bool {
	found, ok := uuidOf(value)
	if ok {
		e.tag('U')
		e.bytes = append(e.bytes, found[:]...)
	}
	return ok
}

func uuidOf(value any) (UUID, bool) {
	switch value := value.(type) {
	case UUID:
		return value, true
	case [16]byte:
		return value, true
	case []byte:
		return uuidOf(string(value))
	case string:
		found, err := ParseUUID(value)
		return found, err == nil
	}
	return UUID{}, false
}

// array takes arrays; a further dimension is an element that is itself one.
func (e *Encoder) array(column *Column, value any) bool {
	lower, elements, ok := elementsOf(value)
	if !ok {
		return false
	}
	if lower != 1 {
		e.proof.bounds = true
		if e.column.Bounds {
			e.tag('a')
			e.put32(uint32(lower))
		}
	}
	element := column.Element()
	e.tag('A')
	e.put32(uint32(len(elements)))
	for _, each := range elements {
		if _, _, deeper := elementsOf(each); deeper && !nested[element.Type] {
			e.array(column, each)
		} else {
			e.value(element, each)
		}
	}
	return true
}

var nested = map[string]bool{"array": true, "struct": true, "map": true, "rows": true, "any": true}

func elementsOf(value any) (lower int32, elements []any, ok bool) {
	switch value := value.(type) {
	case []any:
		return 1, value, true
	case Array:
		return value.Lower, value.Elements, true
	case []*int64:
		elements = make([]any, len(value))
		for at, each := range value {
			elements[at] = each
		}
		return 1, elements, true
	}
	return 0, nil, false
}

func (e *Encoder) structure(column *Column, value any) bool {
	members, ok := value.(Structure)
	if ok {
		e.tag('K')
		e.put32(uint32(len(members)))
		e.members(column, members)
	}
	return ok
}

func (e *Encoder) members(column *Column, values []any) {
	for at, each := range values {
		e.value(column.Field(at), each)
	}
}

// entries takes a map, whose entries come in the order of their bytes.
func (e *Encoder) entries(column *Column, value any) bool {
	pairs, ok := value.(Map)
	if !ok {
		return false
	}
	e.tag('M')
	e.put32(uint32(len(pairs)))
	outside := e.bytes
	all := make([][]byte, len(pairs))
	for at, pair := range pairs {
		e.bytes = nil
		e.members(column, pair[:])
		all[at] = e.bytes
	}
	slices.SortFunc(all, bytes.Compare)
	e.bytes = append(outside, bytes.Join(all, nil)...)
	return true
}

func (e *Encoder) nestedRows(column *Column, value any) bool {
	rows, ok := value.(NestedRows)
	if ok {
		e.tag('R')
		e.put32(uint32(len(rows)))
		for _, row := range rows {
			e.members(column, row)
		}
	}
	return ok
}

// any takes a value by its own kind.
func (e *Encoder) any(_ *Column, value any) bool {
	kind := kindOf(value)
	if kind == "" {
		return false
	}
	own := Column{Type: kind, Fields: []Column{}}
	if nested[kind] {
		own.Fields = []Column{{Type: "any"}, {Type: "any"}}
	}
	return encoders[kind](e, &own, value)
}

func kindOf(value any) string {
	switch value := value.(type) {
	case bool:
		return "boolean"
	case float64:
		if value == math.Trunc(value) && math.Abs(value) < exact {
			return "integer"
		}
		return "float64"
	case float32:
		return kindOf(float64(value))
	case string:
		return "text"
	case []byte:
		return "binary"
	case Bits:
		return "bits"
	case Date:
		return "date"
	case TimeOfDay:
		return "time"
	case ZonedTime:
		return "timetz"
	case time.Time, NoDay:
		return "timestamp"
	case Instant:
		return "timestamptz"
	case Interval, Infinite, time.Duration:
		return "interval"
	case UUID:
		return "uuid"
	case []any, Array:
		return "array"
	case Structure:
		return "struct"
	case Map:
		return "map"
	case NestedRows:
		return "rows"
	}
	if _, ok := decimalOf(value); ok {
		return "decimal"
	}
	return ""
}

func (e *Encoder) opaque(_ *Column, _ any) bool {
	e.tag('O')
	return true
}

// Text is a value as text: as Go's database/sql writes it into a string, where it does.
func Text(value any) string {
	switch value := value.(type) {
	case string:
		return value
	case []byte:
		return string(value)
	case bool:
		return strconv.FormatBool(value)
	case float64:
		return strconv.FormatFloat(value, 'g', -1, 64)
	case float32:
		return strconv.FormatFloat(float64(value), 'g', -1, 32)
	case time.Time:
		return value.Format(time.RFC3339Nano)
	case Instant:
		return time.Time(value).Format(time.RFC3339Nano)
	case Date:
		return time.Time(value).Format(time.DateOnly)
	}
	return fmt.Sprint(value)
}
