package core

import (
	"math/big"
	"strconv"
	"strings"
)

// Decimal is unscaled · 10^-Scale; Big holds what 64 bits do not.
type Decimal struct {
	Small   int64
	Big     *big.Int
	Scale   int32
	special special // Big is set then, so that only numbers of more than 64 bits ask for it
}

// special is what is no number.
type special uint8

const (
	nan special = iota + 1
	positive
	negative
)

// The decimals that are no numbers.
var (
	NaN              = Decimal{Big: new(big.Int), special: nan}
	Infinity         = Decimal{Big: new(big.Int), special: positive}
	NegativeInfinity = Decimal{Big: new(big.Int), special: negative}
)

// IsNumber is whether it is none of them.
func (d Decimal) IsNumber() bool { return d.special == 0 }

const mostDigits = 18 // that are sure to fit 64 bits

var powers = func() (all [mostDigits + 1]int64) {
	all[0] = 1
	for at := 1; at < len(all); at++ {
		all[at] = 10 * all[at-1]
	}
	return all
}()

// Touch is the integral part.
func (d Decimal) Touch() int64 {
	if d.Big == nil && d.Scale >= 0 && d.Scale <= mostDigits {
		return d.Small / powers[d.Scale]
	}
	if d.special != 0 {
		return noNumber
	}
	whole := d.unscaled()
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.Scale, -d.Scale))), nil)
	if d.Scale < 0 {
		whole.Mul(whole, power)
	} else {
		whole.Quo(whole, power)
	}
	return TouchBig(whole)
}

func (d Decimal) unscaled() *big.Int {
	if d.Big != nil {
		return new(big.Int).Set(d.Big)
	}
	return big.NewInt(d.Small)
}

// Plain is the plain decimal notation, without trailing zeros of the fraction.
func (d Decimal) Plain() string {
	text := d.String()
	if strings.ContainsRune(text, '.') {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	if text == "-0" {
		return "0"
	}
	return text
}

// String is the decimal notation with all digits of its scale.
func (d Decimal) String() string {
	if d.special != 0 {
		return [...]string{nan: "nan", positive: "inf", negative: "-inf"}[d.special]
	}
	digits := d.unscaled().String()
	if d.Scale <= 0 {
		if digits == "0" {
			return digits
		}
		return digits + strings.Repeat("0", int(-d.Scale))
	}
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	if missing := int(d.Scale) + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	point := len(digits) - int(d.Scale)
	return sign + digits[:point] + "." + digits[point:]
}

// ParseDecimal reads a decimal, with an exponent or without.
func ParseDecimal(text string) (Decimal, error) {
	mantissa, exponent := text, 0
	if at := strings.IndexAny(text, "eE"); at >= 0 {
		parsed, err := strconv.ParseInt(text[at+1:], 10, 16)
		if err != nil {
			return unusual(text)
		}
		mantissa, exponent = text[:at], int(parsed)
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	scale := int32(len(fraction) - exponent)
	if len(whole)+len(fraction) <= mostDigits {
		if small, ok := digitsOf(whole, fraction); ok {
			return Decimal{Small: small, Scale: scale}, nil
		}
		return unusual(text)
	}
	large, ok := new(big.Int).SetString(whole+fraction, 10)
	if !ok || strings.ContainsRune(mantissa, '_') {
		return unusual(text)
	}
	return Decimal{Big: large, Scale: scale}, nil
}

// digitsOf is the number that both texts make together.
func digitsOf(whole, fraction string) (int64, bool) {
	negative := strings.HasPrefix(whole, "-")
	if negative || strings.HasPrefix(whole, "+") {
		whole = whole[1:]
	}
	var value int64
	for _, part := range [2]string{whole, fraction} {
		for at := range len(part) {
			digit := part[at] - '0'
			if digit > 9 {
				return 0, false
			}
			value = 10*value + int64(digit)
		}
	}
	if negative {
		value = -value
	}
	return value, len(whole)+len(fraction) > 0
}

// unusual reads what is no number.
func unusual(text string) (Decimal, error) {
	if strings.EqualFold(text, "nan") {
		return NaN, nil
	}
	endless, ok := Endless(text)
	switch {
	case !ok:
		return Decimal{}, Fail("internal", "no decimal: '%s'", text)
	case endless.Negative:
		return NegativeInfinity, nil
	}
	return Infinity, nil
}
