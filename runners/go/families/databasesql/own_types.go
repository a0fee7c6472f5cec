package databasesql

import (
	"fmt"

	"rowpath/core"
)

// Own is where values of a type of the driver's own are left; natural makes of them, and of any other, what the encoder
// knows.
func Own[T any](column core.Column, touch func(T) int64, natural core.Natural) core.Slot {
	return &own[T]{column: column, touch: touch, natural: natural}
}

type own[T any] struct {
	column  core.Column
	value   T
	fits    bool
	other   any // what came instead; nil: NULL
	touch   func(T) int64
	natural core.Natural
}

// Scan takes the driver's value.
func (s *own[T]) Scan(source any) error {
	if s.value, s.fits = source.(T); !s.fits {
		s.other = source
	}
	return nil
}

func (s *own[T]) Destination() any { return s }
func (s *own[T]) Touch() int64 {
	switch {
	case s.fits:
		return s.touch(s.value)
	case s.other == nil:
		return 1
	}
	return core.TouchValue(&s.column, s.Value())
}
func (s *own[T]) Value() any {
	switch {
	case s.fits:
		return s.natural(&s.column, s.value)
	case s.other == nil:
		return nil
	}
	return s.natural(&s.column, s.other)
}
func (s *own[T]) Delivers() string { return fmt.Sprintf("%T", s.value) }
func (s *own[T]) Converted() bool  { return false }
