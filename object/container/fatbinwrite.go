package container

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/pierrec/lz4/v4"
)

// Image is a PTX text for a fatbin or a host object, with the properties that
// NVIDIA's tools need.
type Image struct {
	Text         []byte
	Target       string // sm_80, sm_90a, sm_100f
	Major, Minor int    // PTX ISA
	OS           string // linux, windows, mac; empty if unknown
	AddressSize  int    // 32 or 64; 0 means 64
	Debug        bool   // it holds DWARF
	Options      string // options for ptxas: "--compile-only "
}

const (
	// fatbinOptions is the offset at which fatbinary 12.4 stores the options of
	// ptxas. They are required, because nvlink 12.4 crashes without them.
	fatbinOptions = 0x48
	fatbinDebug   = 0x2
)

// Fatbin returns a fatbin of one PTX, as an LZ4 block, because every CUDA since 11.8 reads that
// form. zstd needs 12.8.
func Fatbin(m Image) ([]byte, error) {
	sm, flags, err := m.flags()
	if err != nil {
		return nil, err
	}
	// A NUL ends the text, because the tools read it as a C string.
	plain := append(append(make([]byte, 0, len(m.Text)+1), m.Text...), 0)
	body, packed, unpacked := plain, 0, 0
	block := make([]byte, lz4.CompressBlockBound(len(plain)))
	c := lz4.CompressorHC{Level: lz4.Level9}
	n, err := c.CompressBlock(plain, block)
	if err != nil {
		return nil, fmt.Errorf("cannot compress %d bytes: %w", len(plain), err)
	}
	if n > 0 && n < len(plain) {
		body, packed, unpacked = block[:n], n, len(plain)
		flags |= fatbinLZ4
	}
	body = pad8(body)
	options := pad8(append([]byte(m.Options), 0))
	header := fatbinOptions + 8 + len(options)

	e := fatbinEntry{
		Kind: fatbinPTX, Version: 0x101, Header: uint32(header), Padded: uint64(len(body)), Packed: uint32(packed), Options: fatbinOptions,
		Minor: uint16(m.Minor), Major: uint16(m.Major), SM: sm, Flags: flags, Plain: uint64(unpacked),
	}
	out := structs(e, uint64(0), uint32(fatbinOptions+8), uint32(len(m.Options)))
	return aloneInFatbin(append(out, options...), body), nil
}

func (m Image) flags() (sm uint32, flags uint64, err error) {
	number := strings.TrimPrefix(m.Target, "sm_")
	switch {
	case strings.HasSuffix(number, "a"):
		flags |= fatbinArch
	case strings.HasSuffix(number, "f"):
		flags |= fatbinFamily
	}
	n, bad := strconv.ParseUint(strings.TrimRight(number, "af"), 10, 16)
	if bad != nil || number == m.Target {
		return 0, 0, fmt.Errorf("%q is not an architecture that a fatbin can name", m.Target)
	}
	if m.AddressSize != 32 {
		flags |= fatbin64
	}
	if m.Debug {
		flags |= fatbinDebug
	}
	flags |= map[string]uint64{"linux": fatbinLinux, "mac": fatbinMac, "windows": fatbinWindows}[m.OS]
	return uint32(n), flags, nil
}

func pad8(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }
