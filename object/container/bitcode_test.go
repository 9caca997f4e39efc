package container

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// bitWriter writes the format that bitReader reads.
type bitWriter struct {
	data []byte
	at   int
}

func (w *bitWriter) fixed(value uint64, width int) {
	for i := range width {
		if w.at%8 == 0 {
			w.data = append(w.data, 0)
		}
		w.data[w.at/8] |= byte(value>>i&1) << (w.at % 8)
		w.at++
	}
}

func (w *bitWriter) vbr(value uint64, width int) {
	for more := uint64(1) << (width - 1); ; value >>= width - 1 {
		if value < more {
			w.fixed(value, width)
			return
		}
		w.fixed(value&(more-1)|more, width)
	}
}

func (w *bitWriter) align() {
	for w.at%32 != 0 {
		w.fixed(0, 1)
	}
}

// block writes a block whose abbreviations have three bits.
func (w *bitWriter) block(outer int, id uint64, content func()) {
	w.fixed(1, outer)
	w.vbr(id, 8)
	w.vbr(3, 4)
	w.align()
	length := len(w.data)
	w.fixed(0, 32)
	content()
	w.fixed(0, 3)
	w.align()
	w.data[length] = byte((len(w.data) - length - 4) / 4)
}

func (w *bitWriter) record(values ...uint64) {
	w.fixed(3, 3)
	w.vbr(values[0], 6)
	w.vbr(uint64(len(values)-1), 6)
	for _, v := range values[1:] {
		w.vbr(v, 6)
	}
}

// unabbreviated returns a module with only a symbol table, as in NVIDIA's libdevice.
func unabbreviated(names ...string) []byte {
	w := &bitWriter{}
	w.fixed(0xdec04342, 32)
	w.block(2, blockModule, func() {
		w.record(1, 2) // MODULE_CODE_VERSION
		w.block(3, 17, func() { w.record(1, 2) })
		w.block(3, blockSymtab, func() {
			for i, name := range names {
				values := []uint64{1, uint64(i)}
				for _, c := range []byte(name) {
					values = append(values, uint64(c))
				}
				w.record(values...)
			}
		})
	})
	return w.data
}

// abbreviated returns a module in the format of LLVM 5 and later: the names are in
// a string table, written with an abbreviation from BLOCKINFO.
func abbreviated() []byte {
	const table = "fnglobaldeclaredllvm.x"
	w := &bitWriter{}
	w.fixed(0xdec04342, 32)
	w.block(2, blockIdentity, func() { w.record(1, 'L', '1', '9') })
	w.block(2, blockInfo, func() {
		w.record(1, blockModule)
		w.fixed(2, 3) // a function: code, offset, length, type, convention, prototype
		w.vbr(4, 5)
		w.fixed(1, 1)
		w.vbr(8, 8)
		w.fixed(0, 1)
		w.fixed(vbr, 3)
		w.vbr(6, 5)
		w.fixed(0, 1)
		w.fixed(array, 3)
		w.fixed(0, 1)
		w.fixed(fixed, 3)
		w.vbr(5, 5)
	})
	w.block(2, blockModule, func() {
		w.record(codeTriple, 'n', 'v', 'p')
		w.block(3, blockGroups, func() {
			w.record(append([]uint64{3, 1, 0xffffffff}, attribute("target-cpus", "sm_75")...)...)
			w.record(append(append([]uint64{3, 2, 0xffffffff, 0, 7}, attribute("min-legal-vector-width", "0")...), attribute("target-cpu", "sm_80")...)...)
		})
		for _, f := range [][6]uint64{
			{0, 2, 0, 0, 0, 0},
			{8, 8, 1, 2, 1, 0},
			{16, 6, 0, 0, 1, 0}, // llvm.x
			{0, 1, 0, 0, 0, linkageInternal},
			{1, 1, 0, 0, 0, 19},
			{0, 2, 0, 0, 0, linkageAvailable},
		} {
			w.fixed(4, 3)
			w.vbr(f[0], 6)
			w.vbr(5, 6)
			for _, v := range f[1:] {
				w.fixed(v, 5)
			}
		}
		w.record(codeVariable, 2, 6, 0, 1, 1, 0)
		w.record(codeAlias, 0, 1, 0, 0, 0, 16)
	})
	w.block(2, blockStrtab, func() {
		w.fixed(2, 3)
		w.vbr(2, 5)
		w.fixed(1, 1)
		w.vbr(1, 8)
		w.fixed(0, 1)
		w.fixed(blob, 3)
		w.fixed(4, 3)
		w.vbr(uint64(len(table)), 6)
		w.align()
		for _, c := range []byte(table) {
			w.fixed(uint64(c), 8)
		}
		w.align()
	})
	return w.data
}

func attribute(name, value string) (record []uint64) {
	for _, c := range []byte("\x04" + name + "\x00" + value + "\x00") {
		record = append(record, uint64(c))
	}
	return record
}

func TestReadBitcode(t *testing.T) {
	wrapped := append([]byte(wrapperMagic), 0, 0, 0, 0, 20, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0)
	wrapped = append(wrapped, abbreviated()...)
	wrapped[12], wrapped[13] = byte(len(abbreviated())), byte(len(abbreviated())>>8)
	wrapped = append(wrapped, "behind it"...)
	want := Bitcode{Producer: "L19", Triple: "nvp", Target: "sm_80", Symbols: []BitcodeSymbol{
		{Name: "fn", Defined: true}, {Name: "declared"}, {Name: "n", Defined: true, Inline: true}, {Name: "fn"}, {Name: "global", Defined: true}, {Name: "f", Defined: true},
	}}
	for _, data := range [][]byte{abbreviated(), wrapped} {
		if got, ok := ReadBitcode(data); !ok || !cmp.Equal(got, want) || !IsBitcode(data) {
			t.Errorf("%t %s", ok, cmp.Diff(want, got))
		}
	}
	want = Bitcode{Symbols: []BitcodeSymbol{{Name: "__nv_sinf", Defined: true}, {Name: "__nv_pow", Defined: true}}}
	if got, ok := ReadBitcode(unabbreviated("__nv_sinf", "__nv_pow")); !ok || !cmp.Equal(got, want) {
		t.Errorf("%t %s", ok, cmp.Diff(want, got))
	}
}

// TestReadBitcodeDamaged checks that damaged files end, without a panic.
func TestReadBitcodeDamaged(t *testing.T) {
	for _, whole := range [][]byte{unabbreviated("__nv_sinf"), abbreviated()} {
		for n := range whole {
			ReadBitcode(whole[:n])
			damaged := slices.Clone(whole)
			damaged[n] ^= 0xff
			ReadBitcode(damaged)
		}
	}
	endless := func(element func(*bitWriter)) []byte { // an array of 2^30 elements without bits
		w := &bitWriter{}
		w.fixed(0xdec04342, 32)
		w.block(2, blockModule, func() {
			w.fixed(2, 3)
			w.vbr(2, 5)
			w.fixed(0, 1)
			w.fixed(array, 3)
			element(w)
			w.fixed(4, 3)
			w.vbr(1<<30, 6)
		})
		return w.data
	}
	for name, element := range map[string]func(*bitWriter){
		"literal": func(w *bitWriter) { w.fixed(1, 1); w.vbr(7, 8) },
		"fixed":   func(w *bitWriter) { w.fixed(0, 1); w.fixed(fixed, 3); w.vbr(0, 5) },
		"vbr":     func(w *bitWriter) { w.fixed(0, 1); w.fixed(vbr, 3); w.vbr(0, 5) },
	} {
		from := allocated()
		if _, ok := ReadBitcode(endless(element)); ok || allocated()-from > 1<<20 {
			t.Errorf("%s: %t, %d bytes allocated", name, ok, allocated()-from)
		}
	}
}

// TestReadBitcodeBlob reads a string table of 2^61 bytes: 2^64 bits.
func TestReadBitcodeBlob(t *testing.T) {
	w := &bitWriter{}
	w.fixed(0xdec04342, 32)
	w.block(2, blockStrtab, func() {
		w.fixed(2, 3)
		w.vbr(2, 5)
		w.fixed(1, 1)
		w.vbr(1, 8)
		w.fixed(0, 1)
		w.fixed(blob, 3)
		w.fixed(4, 3)
		w.vbr(1<<61, 6)
		w.align()
	})
	if _, ok := ReadBitcode(w.data); ok {
		t.Error("read to the end")
	}
}

func FuzzBitcode(f *testing.F) {
	f.Add(unabbreviated("__nv_sinf", "x"))
	f.Add(abbreviated())
	f.Fuzz(func(t *testing.T, data []byte) {
		start, from := time.Now(), allocated()
		ReadBitcode(data)
		if tooLong(start) {
			t.Errorf("took %v for %d bytes", time.Since(start), len(data))
		}
		if n := allocated() - from; n > uint64(64<<20+1000*len(data)) {
			t.Errorf("allocates %d bytes for %d", n, len(data))
		}
	})
}
