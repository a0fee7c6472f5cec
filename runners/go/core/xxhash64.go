package core

import (
	"encoding/binary"
	"math/bits"
)

const (
	prime1 uint64 = 0x9E3779B185EBCA87
	prime2 uint64 = 0xC2B2AE3D27D4EB4F
	prime3 uint64 = 0x165667B19E3779F9
	prime4 uint64 = 0x85EBCA77C2B2AE63
	prime5 uint64 = 0x27D4EB2F165667C5
)

// XXHash64 is XXH64 with seed 0 (Yann Collet's specification).
func XXHash64(data []byte) uint64 {
	hash, rest := prime5, data
	if len(data) >= 32 {
		hash, rest = stripes(data)
	}
	hash += uint64(len(data))
	for ; len(rest) >= 8; rest = rest[8:] {
		hash ^= round(0, binary.LittleEndian.Uint64(rest))
		hash = bits.RotateLeft64(hash, 27)*prime1 + prime4
	}
	if len(rest) >= 4 {
		hash ^= uint64(binary.LittleEndian.Uint32(rest)) * prime1
		hash = bits.RotateLeft64(hash, 23)*prime2 + prime3
		rest = rest[4:]
	}
	for _, one := range rest {
		hash ^= uint64(one) * prime5
		hash = bits.RotateLeft64(hash, 11) * prime1
	}
	return avalanche(hash)
}

func stripes(data []byte) (uint64, []byte) {
	first, negated := prime1, prime1
	lanes := [4]uint64{first + prime2, prime2, 0, -negated}
	for ; len(data) >= 32; data = data[32:] {
		for lane := range lanes {
			lanes[lane] = round(lanes[lane], binary.LittleEndian.Uint64(data[8*lane:]))
		}
	}
	var hash uint64
	for lane, turn := range []int{1, 7, 12, 18} {
		hash += bits.RotateLeft64(lanes[lane], turn)
	}
	for _, lane := range lanes {
		hash = (hash^round(0, lane))*prime1 + prime4
	}
	return hash, data
}

func round(lane, input uint64) uint64 {
	return bits.RotateLeft64(lane+input*prime2, 31) * prime1
}

func avalanche(hash uint64) uint64 {
	hash = (hash ^ hash>>33) * prime2
	hash = (hash ^ hash>>29) * prime3
	return hash ^ hash>>32
}
