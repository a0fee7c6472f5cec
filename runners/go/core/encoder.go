package core

import (
	"bufio"
	"encoding/binary"
	"fmt"
)

const orderFactor = 0x9E3779B97F4A7C15

// Encoder makes the codec's bytes of rows and their digests (docs/codec.md).
type Encoder struct {
	columns []Column
	limit   int64
	kept    *bufio.Writer // nil: rows are not kept
	bytes   []byte
	rows    int64
	digest  digest
	proofs  []columnProof
	column  *Column // the one under way, whose unit and bounds count within its fields too
	proof   *columnProof
}

// digest is the sum of hashes, and the one that depends on their order.
type digest struct{ sum, order uint64 }

func (d *digest) add(bytes []byte) {
	hash := XXHash64(bytes)
	d.sum += hash
	d.order = d.order*orderFactor + hash
}

// columnProof is what `verify` replies of one column.
type columnProof struct {
	digest
	finest  finest
	bounds  bool
	foreign int64
	reason  string
}

func (p *columnProof) reply() object {
	reply := object{"digest": hex(int64(p.sum)), "order": hex(int64(p.order))}
	if p.finest > 0 {
		reply["finest_ns"] = p.finest
	}
	if p.bounds {
		reply["bounds"] = true
	}
	if p.foreign > 0 {
		reply["foreign"], reply["reason"] = p.foreign, printable(p.reason)
	}
	return reply
}

// finest is the largest unit that divides all nanoseconds met; 0: none were.
type finest int64

func (f *finest) meet(nanoseconds int64) {
	unit := int64(*f)
	if unit == 0 {
		unit = second
	}
	for nanoseconds%unit != 0 {
		unit /= 1000
	}
	*f = finest(unit)
}

// NewEncoder makes a digest over at most limit rows of these columns.
func NewEncoder(columns []Column, limit int64) *Encoder {
	return &Encoder{columns: columns, limit: limit, proofs: make([]columnProof, len(columns))}
}

// Digest is `rows:hex16`.
func (e *Encoder) Digest() string { return fmt.Sprintf("%d:%016x", e.rows, e.digest.sum) }

// Order is the order digest.
func (e *Encoder) Order() string { return hex(int64(e.digest.order)) }

// Columns is what is proven of each column.
func (e *Encoder) Columns() []any {
	replies := []any{}
	for at := range e.proofs {
		replies = append(replies, e.proofs[at].reply())
	}
	return replies
}

// Keep has the bytes of every row written too, each row behind its length.
func (e *Encoder) Keep(rows *bufio.Writer) { e.kept = rows }

// Row encodes a row column by column; an error is one of keeping it.
func (e *Encoder) Row(value func(at int) any) error {
	if e.rows == e.limit {
		return nil
	}
	e.rows++
	e.bytes = e.bytes[:0]
	for at := range e.columns {
		from := len(e.bytes)
		e.column, e.proof = &e.columns[at], &e.proofs[at]
		e.value(e.column, value(at))
		e.proof.add(e.bytes[from:])
	}
	e.digest.add(e.bytes)
	if e.kept == nil {
		return nil
	}
	if err := binary.Write(e.kept, binary.LittleEndian, uint32(len(e.bytes))); err != nil {
		return err
	}
	_, err := e.kept.Write(e.bytes)
	return err
}
