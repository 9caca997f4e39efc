package container

import (
	"fmt"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Format is the form in which a package stores the PTX of its members.
type Format string

const (
	Plain Format = "plain" // as text
	Zstd  Format = "zstd"  // each as a zstd frame
	NV    Format = "nv"    // as host objects, for nvlink and nvcc
)

// StoredName returns the file name of a member in this format: k.ptx, k.ptx.zst or
// k.o.
func (f Format) StoredName(name string) string {
	switch f {
	case Zstd:
		return name + ".zst"
	case NV:
		return strings.TrimSuffix(strings.TrimSuffix(name, ".ptx"), ".o") + ".o"
	}
	return name
}

// Store returns the body of a member. hostArch and id are used for host objects
// only.
func (f Format) Store(m Image, hostArch, id string) ([]byte, error) {
	switch f {
	case Plain:
		return m.Text, nil
	case Zstd:
		return encoder().EncodeAll(m.Text, nil), nil
	case NV:
		fatbin, err := Fatbin(m)
		if err != nil {
			return nil, err
		}
		return HostObject(hostArch, id, fatbin)
	}
	return nil, fmt.Errorf("unknown format %q", f)
}

// encoder compresses members. Creating one takes longer than compressing a member,
// so there is only one; it keeps no state between members. It uses one goroutine,
// so that its output does not depend on the machine.
var encoder = sync.OnceValue(func() *zstd.Encoder {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
	if err != nil {
		panic(err) // this cannot happen, because the options are constants
	}
	return w
})
