package object

import (
	"bytes"
	"regexp"
	"runtime/metrics"
	"testing"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// FuzzMeta reads the comment that an earlier link left before a module, with any
// contents: no panic, no hang, and allocations of at most 4 times the text.
func FuzzMeta(f *testing.F) {
	digest := "0123456789abcdef"
	f.Add([]byte(" v=1 address_size=64 os=linux arch=x86_64 model=lp64\n   xxh64=" + digest + "\n   xxh64=" + digest + " "))
	f.Add([]byte("os=\x00 os os= =os ==\n*/ */\n.version 8.0\n/* ptxlink-meta: os=mac"))
	f.Add([]byte(""))
	f.Fuzz(func(t *testing.T, meta []byte) {
		text := bytes.Join([][]byte{[]byte("//\n" + MetaMark), meta, []byte("*/\n.version 8.0\n.target sm_80\n.address_size 64\n")}, nil)
		allocated := func() uint64 {
			sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
			metrics.Read(sample)
			return sample[0].Value.Uint64()
		}
		parsed, fault := ptx.Parse(&diag.Source{Name: "f", Text: text})
		if fault != nil {
			return
		}
		var log diag.Log
		m := newFile(parsed, &log)
		least := ^uint64(0) // of several tries: others may allocate meanwhile
		for range 3 {
			m.Digests, m.Host, m.Producer = nil, Host{}, ""
			from := allocated()
			m.readPreamble(&log)
			least = min(least, allocated()-from)
		}
		if least > uint64(4*len(text))+1<<16 {
			t.Errorf("allocates %d bytes for %d", least, len(text))
		}
		if len(m.Digests) == 0 {
			t.Error("no digest")
		}
		for _, d := range m.Digests {
			if !isDigest(d) {
				t.Errorf("digest %q", d)
			}
		}
		for _, word := range append([]string{m.Host.OS, m.Host.Arch, m.Host.Model}, m.Digests...) {
			if !regexp.MustCompile(`^[a-z0-9_]*$`).MatchString(word) {
				t.Errorf("%q is carried on", word)
			}
		}
		if got := m.Src.String(m.HostSpan); m.Producer == "ptxlink" && got != MetaMark {
			t.Errorf("the record is said to be at %q", got)
		}
	})
}
