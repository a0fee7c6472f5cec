package core

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// Failure is an error with the protocol's kind and the driver's own code; an empty code means none.
type Failure struct {
	Kind string `json:"kind"`
	Code string `json:"code"`
	Text string `json:"text"`
}

func (f *Failure) Error() string { return f.Text }

// Fail makes a failure of that kind without a code.
func Fail(kind, format string, values ...any) *Failure {
	return &Failure{Kind: kind, Text: fmt.Sprintf(format, values...)}
}

// Unsupported makes the failure that is a result: what the path lacks, for people.
func Unsupported(format string, values ...any) *Failure {
	return Fail("unsupported", format, values...)
}

// Again is of a verify whose operation met a value that its slots do not take, and changed them: it is to begin again.
var Again = errors.New("a value that a slot did not take")

// failureOf is what was returned, as the protocol's error; kind where neither it nor the adapter knows one.
func failureOf(thrown error, kind string, adapter Adapter) *Failure {
	var own *Failure
	if errors.As(thrown, &own) {
		return &Failure{own.Kind, own.Code, printable(thrown.Error())}
	}
	code := ""
	if adapter != nil {
		found, foundKind := adapter.Code(thrown)
		code = found
		if foundKind != "" {
			kind = foundKind
		}
	}
	if errors.Is(thrown, context.DeadlineExceeded) {
		kind = "timeout"
	}
	return &Failure{kind, code, printable(thrown.Error())}
}

func printable(text string) string {
	fields := strings.FieldsFunc(text, unicode.IsControl)
	return strings.TrimSpace(strings.ToValidUTF8(strings.Join(fields, " "), "?"))
}
