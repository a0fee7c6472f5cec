package core

// Function is an operation that holds nothing on the connection.
type Function func(row int, counters *Counters) error

// Run calls it.
func (f Function) Run(row int, counters *Counters) error { return f(row, counters) }

// Close does nothing.
func (f Function) Close() error { return nil }
