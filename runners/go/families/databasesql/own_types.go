package databasesql

import (
	"fmt"

	"rowpath/core"
)

// Own is where values of a type of the driver's own are left.
func Own[T any](touch func(T) int64, encode func(*core.Encoder, T) error) core.Slot {
	return &own[T]{touch: touch, encode: encode}
}

type own[T any] struct {
	null   bool
	value  T
	touch  func(T) int64
	encode func(*core.Encoder, T) error
}

// Scan takes the driver's value.
func (s *own[T]) Scan(source any) error {
	value, fits := source.(T)
	if !fits && source != nil {
		return core.Fail("verify", "no %T: %T", s.value, source)
	}
	s.null, s.value = source == nil, value
	return nil
}

func (s *own[T]) Destination() any { return s }
func (s *own[T]) Touch() int64 {
	if s.null {
		return 1
	}
	return s.touch(s.value)
}
func (s *own[T]) Encode(encoder *core.Encoder) error {
	if s.null {
		return encoder.Null()
	}
	return s.encode(encoder, s.value)
}
func (s *own[T]) Delivers() string { return fmt.Sprintf("%T", s.value) }
func (s *own[T]) Converted() bool  { return false }
