package container

import (
	"bytes"
	"compress/zlib"
	"debug/elf"
	"encoding/binary"
	"testing"

	"ptxlink/internal/oracles"
)

// TestMendClang checks what the scripts clang_*.txtar do not show: the cubin that is given stays as
// it is, others are returned, and damaged ones end in no panic.
func TestMendClang(t *testing.T) {
	ptx := ".version 7.8\n.target sm_80\n.address_size 64\n.extern .func k(.param .b64 p);\n.global .align 8 .u64 __clang_gpu_used_external[1] = {k};\n" +
		".extern .global .u32 _ZL1y;\n.visible .global .u32 _ZL1y__static__1 = 7;\n.visible .entry e(.param .u64 p) { .reg .b32 r; ld.global.u32 r, [_ZL1y]; st.global.u32 [_ZL1y__static__1], r; ret; }\n"
	cubin := oracles.Assemble(t, "ptxas", "sm_80", []byte(ptx), "-c")
	before := bytes.Clone(cubin)
	mended := MendClang(cubin)
	if !bytes.Equal(cubin, before) || len(mended) != len(cubin) {
		t.Fatal("the cubin was changed")
	}
	got := map[string]bool{}
	symbols, err := Cubin{Data: mended}.AllSymbols()
	for _, s := range symbols {
		if !s.Local {
			got[s.Linkage()+" "+s.Kind()+" "+s.Name] = true
		}
	}
	for _, want := range []string{"extern entry k", "extern object _ZL1y__static__1", "visible object _ZL1y__static__1"} {
		if err != nil || !got[want] || len(got) != 4 {
			t.Errorf("no %s in %v %v", want, got, err)
		}
	}
	if again := MendClang(mended); !bytes.Equal(again, mended) {
		t.Error("a mended cubin is mended again")
	}
	if &MendClang(oracles.LeastCubin)[0] != &oracles.LeastCubin[0] {
		t.Error("a cubin without a fault is copied")
	}
	if compressed := compressSymbols(t, cubin); !bytes.Equal(MendClang(compressed), compressed) {
		t.Error("a cubin with a compressed table of symbols is changed")
	}
	for at := range cubin {
		damaged := bytes.Clone(cubin)
		damaged[at] ^= 0xff
		MendClang(damaged)
	}
}

// compressSymbols returns a cubin whose table of symbols is compressed, as no tool writes it.
func compressSymbols(t *testing.T, cubin []byte) []byte {
	t.Helper()
	f, err := openCubin(cubin)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range f.list {
		if s.kind != elf.SHT_SYMTAB {
			continue
		}
		data := f.contents(s)
		out := bytes.NewBuffer(bytes.Clone(cubin))
		binary.Write(out, le, elf.Chdr64{Type: uint32(elf.COMPRESS_ZLIB), Size: s.size, Addralign: 1})
		w := zlib.NewWriter(out)
		w.Write(data)
		w.Close()
		compressed := out.Bytes()
		header := compressed[le.Uint64(cubin[40:])+uint64(i)*uint64(le.Uint16(cubin[58:])):]
		le.PutUint64(header[8:], uint64(elf.SHF_COMPRESSED))
		le.PutUint64(header[24:], uint64(len(cubin)))
		le.PutUint64(header[32:], uint64(len(compressed)-len(cubin)))
		return compressed
	}
	t.Fatal("no symbols")
	return nil
}
