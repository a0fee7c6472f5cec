package core

import (
	hexadecimal "encoding/hex"
	"fmt"
	"strings"
)

// ParseUUID reads a UUID of 36 characters, or the 16 bytes themselves.
func ParseUUID(text string) (UUID, error) {
	if len(text) == 16 {
		return UUID([]byte(text)), nil
	}
	bytes, err := hexadecimal.DecodeString(strings.ReplaceAll(text, "-", ""))
	if err != nil || len(bytes) != 16 {
		return UUID{}, Fail("internal", "no UUID: '%s'", text)
	}
	return UUID(bytes), nil
}

// String is the UUID as it is written.
func (u UUID) String() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}
