package core

import (
	"context"
	"errors"
	"time"
)

// Interruption is a request to have a long statement stopped: Kind is `cancel` or `timeout`.
type Interruption struct {
	Kind    string `json:"kind"`
	SQL     string `json:"sql"`
	AfterMs int64  `json:"after_ms"`
	MostMs  int64  `json:"most_ms"`
}

// Outcome is whether the statement ended early with an error, when, and what is left of the connection.
type Outcome struct {
	Honoured bool   `json:"honoured"`
	TookNs   int64  `json:"took_ns"`
	Usable   bool   `json:"usable"`
	Text     string `json:"text"`
}

// Stop runs the statement and has it stopped the way of Go: by its context, cancelled or with a deadline.
//
// drain executes it and takes its rows; answers is whether the same connection serves a first query afterwards.
func (i Interruption) Stop(drain func(context.Context) error, answers func() bool) (Outcome, error) {
	after := time.Duration(i.AfterMs) * time.Millisecond
	wanted, cancel := context.WithCancel(context.Background())
	start := NowNs() // before the clock that stops the statement: it cannot seem to have stopped too early
	switch i.Kind {
	case "cancel":
		time.AfterFunc(after, cancel)
	case "timeout":
		wanted, cancel = context.WithTimeout(context.Background(), after)
	default:
		cancel()
		return Outcome{}, Unsupported("database drivers of Go know no behaviour %s", i.Kind)
	}
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- drain(wanted) }()
	select {
	case err := <-ended:
		return outcome(err, NowNs()-start, answers), nil
	case <-time.After(time.Duration(i.MostMs) * time.Millisecond):
		return Outcome{false, NowNs() - start, false, "the statement went on"}, nil
	}
}

func outcome(err error, tookNs int64, answers func() bool) Outcome {
	if err == nil {
		return Outcome{false, tookNs, answers(), "the statement came to its own end"}
	}
	var missing *Failure
	if errors.As(err, &missing) && missing.Kind == "unsupported" {
		return Outcome{false, tookNs, answers(), missing.Text}
	}
	return Outcome{true, tookNs, answers(), printable(err.Error())}
}
