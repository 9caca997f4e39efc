package container

import (
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Format is how a package stores the PTX of its members.
type Format string

const (
	Plain Format = "plain" // as text
	Zstd  Format = "zstd"  // as a zstd frame each
	NV    Format = "nv"    // as host objects, for nvlink and nvcc
)

// StoredName is what a member of a format is called: k.ptx, k.ptx.zst or k.o.
func (f Format) StoredName(name string) string {
	switch f {
	case Zstd:
		return name + ".zst"
	case NV:
		return strings.TrimSuffix(strings.TrimSuffix(name, ".ptx"), ".o") + ".o"
	}
	return name
}

// Store is the body of a member. The CPU and the identifier are those of a host
// object.
func (f Format) Store(m Image, hostArch, id string) ([]byte, error) {
	switch f {
	case Plain:
		return m.Text, nil
	case Zstd:
		return compress(m.Text)
	case NV:
		fatbin, err := Fatbin(m)
		if err != nil {
			return nil, err
		}
		return HostObject(hostArch, id, fatbin)
	}
	return nil, fmt.Errorf("unknown format %q", f)
}

// encoder compresses members. To make one takes longer than to compress a
// member, so there is one; what it has compressed before does not show. It has
// one goroutine, so that the bytes do not depend on the machine.
var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
})

// compress makes one zstd frame.
func compress(text []byte) ([]byte, error) {
	w, err := encoder()
	if err != nil {
		return nil, err
	}
	return w.EncodeAll(text, nil), nil
}
