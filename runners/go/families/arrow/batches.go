// Package arrow takes Arrow record batches: it touches them column by column and has them encoded value by value.
package arrow

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"rowpath/core"
)

// Result takes the results of one phase.
type Result struct {
	columns []core.Column
	natural core.Natural
	schema  *arrow.Schema // of the last one; nil before
	sink    byte          // the last byte of a text, so that it is read
}

// ResultOf is for results with these columns; natural makes of bytes and texts what an engine means by them.
func ResultOf(columns []core.Column, natural core.Natural) *Result {
	return &Result{columns: columns, natural: natural}
}

// Take takes every batch that is left, and releases the reader.
func (r *Result) Take(reader array.RecordReader, counters *core.Counters) error {
	defer reader.Release()
	if counters.Proving() {
		if err := counters.Expect(reader.Schema().NumFields()); err != nil {
			return err
		}
		r.schema = reader.Schema()
	}
	return core.TakeBatches(&batches{r, reader}, counters)
}

// Delivers is a column's type in Arrow, and whether the adapter converts text.
func (r *Result) Delivers(column int) (name string, converted bool) {
	if r.schema == nil {
		return "null", false
	}
	kind := storage(r.schema.Field(column).Type)
	return fmt.Sprint(r.schema.Field(column).Type), isText(kind.ID()) && !declaredText[r.columns[column].Type]
}

var declaredText = map[string]bool{
	"char": true, "varchar": true, "text": true, "json": true, "opaque": true, "any": true,
}

func isText(kind arrow.Type) bool {
	return kind == arrow.STRING || kind == arrow.LARGE_STRING || kind == arrow.STRING_VIEW
}

// storage is how an extension type keeps its values.
func storage(kind arrow.DataType) arrow.DataType {
	if extension, ok := kind.(arrow.ExtensionType); ok {
		return extension.StorageType()
	}
	return kind
}

type batches struct {
	result *Result
	reader array.RecordReader
}

func (b *batches) Next() (core.Batch, error) {
	if !b.reader.Next() {
		return nil, b.reader.Err()
	}
	return batch{b.result, b.reader.RecordBatch()}, nil
}

type batch struct {
	result *Result
	record arrow.RecordBatch
}

func (b batch) Rows() int { return int(b.record.NumRows()) }

func (b batch) Touch() (sum int64) {
	for at := range b.result.columns {
		column, values := &b.result.columns[at], plain(b.record.Column(at))
		touched, ok := b.result.touch(column.Type, values)
		if !ok { // Arrow has them as another type than declared
			touched = each(values, func(row int) int64 { return core.TouchValue(column, b.result.value(column, values, row)) })
		}
		sum += touched
	}
	return sum
}

func (b batch) Value(row, column int) any {
	return b.result.value(&b.result.columns[column], b.record.Column(column), row)
}

// plain is a column's values without an extension type around them.
func plain(values arrow.Array) arrow.Array {
	if extension, ok := values.(array.ExtensionArray); ok {
		return extension.Storage()
	}
	return values
}
