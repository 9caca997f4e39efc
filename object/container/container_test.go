package container

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"ptxlink/internal/oracles"
	"ptxlink/object/diag"
)

var one = []byte("// one\n.version 8.0\n.target sm_80\n.address_size 64\n.visible .func one() { ret; }\n")
var two = []byte(strings.Replace(string(one), "one", "two", -1))

func put(parts ...any) []byte {
	var b bytes.Buffer
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			b.WriteString(part)
		default:
			if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
				panic(err)
			}
		}
	}
	return b.Bytes()
}

func pad(b []byte) []byte { return append(b, make([]byte, -len(b)&7)...) }

// entry returns a fatbin entry with a header of header bytes.
func entry(kind uint16, sm uint32, flags uint64, header int, text []byte) []byte {
	body, packed, plain := text, 0, 0
	switch {
	case flags&fatbinLZ4 != 0:
		body = make([]byte, lz4.CompressBlockBound(len(text)))
		var c lz4.Compressor
		n, err := c.CompressBlock(text, body)
		if err != nil {
			panic(err)
		}
		body, packed, plain = body[:n], n, len(text)
	case flags&fatbinZstd != 0:
		body = zst(text)
		packed, plain = len(body), len(text)
	}
	body = pad(bytes.Clone(body))
	h := put(kind, uint16(0x101), uint32(header), uint64(len(body)), uint32(packed), uint32(0x40), uint16(0), uint16(8),
		sm, uint64(0), flags, uint64(0), uint64(plain), uint32(0x48), uint32(0))
	h = append(h, make([]byte, header-len(h))...)
	return append(h, body...)
}

func fatbin(entries ...[]byte) []byte {
	body := bytes.Join(entries, nil)
	return append(put(fatbinMagic, uint16(1), uint16(16), uint64(len(body))), body...)
}

func zst(b []byte) []byte {
	w, _ := zstd.NewWriter(nil)
	return w.EncodeAll(b, nil)
}

func gz(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func lz4frame(b []byte) []byte {
	var out bytes.Buffer
	w := lz4.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func head(name string, size int) string {
	return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", size)
}

func arMembers(pairs ...any) []byte {
	out := "!<arch>\n"
	for i := 0; i < len(pairs); i += 2 {
		body := string(pairs[i+1].([]byte))
		out += head(pairs[i].(string), len(body)) + body
		if len(body)%2 != 0 {
			out += "\n"
		}
	}
	return []byte(out)
}

// hostELF returns an ELF object of x86-64 with one section.
func hostELF(section string, body []byte) []byte {
	names := "\x00" + section + "\x00.shstrtab\x00"
	at := 64
	body = pad(bytes.Clone(body))
	tail := pad([]byte(names))
	sh := func(name, typ uint32, off, size int) []byte {
		return put(name, typ, uint64(0), uint64(0), uint64(off), uint64(size), uint64(0), uint64(8), uint64(0))
	}
	return put("\x7fELF\x02\x01\x01", [9]byte{}, uint16(1), uint16(62), uint32(1), uint64(0), uint64(0), uint64(at+len(body)+len(tail)),
		uint32(0), uint16(64), uint16(0), uint16(0), uint16(64), uint16(3), uint16(2),
		body, tail, sh(0, 0, 0, 0), sh(1, 1, at, len(body)), sh(uint32(2+len(section)), 3, at+len(body), len(names)))
}

// coffOf returns a file for Windows with one section. headers are the bytes before
// the COFF header: none for an object, and the MZ and PE headers of a program. A name
// of more than 8 bytes is stored in the table of long names, except in a program.
func coffOf(headers []byte, machine uint16, section string, body []byte) []byte {
	at := uint32(len(headers) + coffHeader + coffSection)
	field, virtual := section, 0
	if len(headers) > 0 {
		field, virtual = section[:min(len(section), 8)], len(body)
		body = append(bytes.Clone(body), make([]byte, -len(body)&511)...)
	} else if len(section) > 8 {
		field = "/4"
	}
	return put(string(headers), machine, uint16(1), uint32(0), at+uint32(len(body)), uint32(0), uint32(0),
		fmt.Sprintf("%-8s", field)[:len(field)], make([]byte, 8-len(field)), uint32(virtual), uint32(0), uint32(len(body)), at, [12]byte{}, uint32(0x40000040),
		body, uint32(4+len(section)+1), section+"\x00")
}

// program is the MZ header of a program and the mark of its PE header.
var program = append(put("MZ", make([]byte, 0x3a), uint32(0x80)), append(make([]byte, 0x40), peMagic...)...)

// bigobjOf returns an object of cl /bigobj, whose name of the section is given in base64.
func bigobjOf(section string, body []byte) []byte {
	at := uint32(bigHeader + coffSection)
	return put(anonymous, uint16(2), uint16(0x8664), uint32(0), bigObject, [16]byte{}, uint32(1), at+uint32(len(body)), uint32(0),
		"//AAAAAE", [8]byte{}, uint32(len(body)), at, [12]byte{}, uint32(0x40000040),
		body, uint32(4+len(section)+1), section+"\x00")
}

// offloadOf returns an OffloadBinary with one image of each text.
func offloadOf(version uint32, compress bool, arch string, texts ...[]byte) []byte {
	size, sz := 32, 16
	if version >= 2 {
		sz = 24
	}
	if version >= 3 {
		size = 40
	}
	entries, strs, at := size, size+40*len(texts), 0
	table := strs + 2*sz
	words := "triple\x00nvptx64-nvidia-cuda\x00arch\x00" + arch + "\x00"
	at = (table + len(words) + 7) &^ 7
	var es, images []byte
	for _, text := range texts {
		es = append(es, put(uint16(0), uint16(2), uint32(0), uint64(strs), uint64(2), uint64(at+len(images)), uint64(len(text)))...)
		images = append(images, text...)
	}
	str := func(key, value, n int) []byte {
		b := put(uint64(table+key), uint64(table+value))
		if version >= 2 {
			b = append(b, put(uint64(n))...)
		}
		return b
	}
	body := put(es, str(0, 7, 19), str(27, 32, len(arch)), words)
	body = append(body, make([]byte, at-size-len(body))...)
	body = pad(append(body, images...))
	fourth, inflated := uint64(40), uint64(0)
	if version >= 2 {
		fourth = uint64(len(texts))
	}
	if compress {
		inflated = uint64(size + len(body))
		body = zst(body)
	}
	out := put(offloadMagic, version, uint64(size+len(body)), uint64(entries), fourth)
	if version >= 3 {
		out = append(out, put(inflated)...)
	}
	return append(out, body...)
}

func forms() map[string][]byte {
	nul := func(b []byte) []byte { return append(bytes.Clone(b), 0) }
	fb := fatbin(entry(1, 80, 0x11|fatbinLZ4, 0x50, nul(one)), entry(2, 90, 0x11, 0x48, []byte("\x7fELF")), entry(1, 90, 0x11|fatbinZstd|fatbinArch, 0x70, nul(two)))
	return map[string][]byte{
		"ptx":        one,
		"nul":        bytes.Join([][]byte{one, two, nil}, []byte{0}),
		"gnu":        arMembers("/", []byte("\x00\x00\x00\x00"), "//", []byte("a_very_long_name_it_is.ptx/\n"), "/0", one, "b.ptx/", two),
		"sym64":      arMembers("/SYM64/", make([]byte, 8), "b.ptx/", one, "b.ptx/", two),
		"bsd":        arMembers("__.SYMDEF SORTED", make([]byte, 8), "#1/8", append([]byte("m1.ptx\x00\x00"), one...), "b.ptx", two),
		"fatbin":     fb,
		"fatbins":    bytes.Join([][]byte{fatbin(entry(1, 80, 0x11, 0x50, one)), fatbin(entry(0x77, 80, 0, 0x50, one), entry(1, 80, 0x41, 0x70, two))}, make([]byte, 24)),
		"elf":        hostELF("__nv_relfatbin", fb),
		"coff":       coffOf(nil, 0x8664, "__nv_relfatbin", fb),
		"bigobj":     bigobjOf(".nv_fatbin", fatbin(entry(1, 80, 0x41, 0x50, one))),
		"pe":         coffOf(program, 0xaa64, ".nv_fatbin", fb),
		"pe32":       coffOf(program, 0x14c, "__nv_relfatbin", fatbin(entry(1, 50, 0x40, 0x50, one))),
		"msnv":       coffOf(nil, 0x8664, ".nv_fatb", fb),
		"peoffload":  coffOf(program, 0x8664, ".llvm.offloading", offloadOf(1, false, "sm_80", fb)),
		"lib":        arMembers("/", make([]byte, 4), "/", make([]byte, 8), "//", []byte("x64\\Release\\a_long_name.obj\x00import.dll\x00"), "/0", coffOf(nil, 0x8664, "__nv_relfatbin", fatbin(entry(1, 80, 0x41, 0x50, one))), "/28", put(anonymous, uint16(0), uint16(0x8664), [12]byte{}, "f\x00import.dll\x00")),
		"offload1":   append(offloadOf(1, false, "sm_80", one), offloadOf(1, false, "sm_90", two)...),
		"offload2":   offloadOf(2, false, "sm_80", one, two),
		"offload3":   offloadOf(3, false, "sm_80", one, two),
		"offload3z":  offloadOf(3, true, "sm_80", one, two),
		"elfoffload": hostELF(".llvm.offloading", offloadOf(1, false, "sm_80", fb)),
		"gzip":       gz(one),
		"zstd":       zst(one),
		"lz4":        lz4frame(one),
		"deep":       gz(arMembers("k.o/", zst(hostELF(".nv_fatbin", offloadOf(3, true, "sm_90", fb))), "readme/", []byte("hello"))),
	}
}

func TestForms(t *testing.T) {
	want := map[string]string{
		"ptx": "f one", "nul": "f one,f#2 two", "gzip": "f one", "zstd": "f one", "lz4": "f one",
		"gnu":        "f(a_very_long_name_it_is.ptx) one A,f(b.ptx) two A",
		"sym64":      "f(b.ptx) one A,f(b.ptx)#2 two A",
		"bsd":        "f(m1.ptx) one A,f(b.ptx) two A",
		"fatbin":     "f:sm_80 one linux 64 sm_80 1,f:sm_90a two linux 64 sm_90a 1",
		"fatbins":    "f:sm_80 one linux 64 sm_80 1,f:sm_80#2 two windows 64 sm_80 2",
		"elf":        "f:__nv_relfatbin:sm_80 one linux x86_64 64 sm_80 1,f:__nv_relfatbin:sm_90a two linux x86_64 64 sm_90a 1",
		"coff":       "f:__nv_relfatbin:sm_80 one windows x86_64 64 sm_80 1,f:__nv_relfatbin:sm_90a two windows x86_64 64 sm_90a 1",
		"bigobj":     "f:.nv_fatbin one windows x86_64 64 sm_80 1",
		"pe":         "f:.nv_fatb:sm_80 one windows aarch64 64 sm_80 1,f:.nv_fatb:sm_90a two windows aarch64 64 sm_90a 1",
		"pe32":       "f:__nv_rel one windows i386 32 sm_50 1",
		"msnv":       "f:.nv_fatb:sm_80 one windows x86_64 64 sm_80 1,f:.nv_fatb:sm_90a two windows x86_64 64 sm_90a 1",
		"peoffload":  "f:.llvm.of:sm_80:sm_80 one windows x86_64 64 sm_80 2,f:.llvm.of:sm_80:sm_90a two windows x86_64 64 sm_90a 2",
		"lib":        "f(x64\\Release\\a_long_name.obj):__nv_relfatbin one A windows x86_64 64 sm_80 1",
		"offload1":   "f:sm_80 one 64 sm_80 1,f:sm_90 two 64 sm_90 1",
		"offload2":   "f:sm_80 one 64 sm_80 1,f:sm_80#2 two 64 sm_80 2",
		"offload3":   "f:sm_80 one 64 sm_80 1,f:sm_80#2 two 64 sm_80 2",
		"offload3z":  "f:sm_80 one 64 sm_80 1,f:sm_80#2 two 64 sm_80 2",
		"elfoffload": "f:.llvm.offloading:sm_80:sm_80 one linux x86_64 64 sm_80 2,f:.llvm.offloading:sm_80:sm_90a two linux x86_64 64 sm_90a 2",
		"deep":       "f(k.o):.nv_fatbin:sm_90:sm_80 one A linux x86_64 64 sm_80 2,f(k.o):.nv_fatbin:sm_90:sm_90a two A linux x86_64 64 sm_90a 2",
	}
	for form, data := range forms() {
		members, err := Open("f", data, Options{})
		if err != nil {
			t.Errorf("%s: %v", form, err)
			continue
		}
		var got []string
		for _, m := range members {
			s := m.Name
			switch {
			case bytes.Equal(m.Text, one):
				s += " one"
			case bytes.Equal(m.Text, two):
				s += " two"
			default:
				s += fmt.Sprintf(" %q", m.Text)
			}
			if m.Archive {
				s += " A"
			}
			for _, word := range []any{m.OS, m.Arch, m.AddressSize, m.Target, m.Group} {
				if word := fmt.Sprint(word); word != "" && word != "0" {
					s += " " + word
				}
			}
			got = append(got, s)
		}
		if got := strings.Join(got, ","); got != want[form] {
			t.Errorf("%s:\n got %s\nwant %s", form, got, want[form])
		}
	}
}

func TestPlainTextIsNotCopied(t *testing.T) {
	members, err := Open("f", one, Options{})
	if err != nil || &members[0].Text[0] != &one[0] {
		t.Error("plain PTX was copied")
	}
	// The parser reports errors in files that are not containers.
	for _, text := range []string{"", "hello", ".version 8.0\n\x00junk"} {
		if members, err := Open("f", []byte(text), Options{}); err != nil || len(members) != 1 || string(members[0].Text) != text {
			t.Errorf("%q: %v, %v", text, members, err)
		}
	}
}

// TestKinds checks that each kind has a fact.
func TestKinds(t *testing.T) {
	if n := len(diag.Facts("what files hold")); n != int(kinds) {
		t.Errorf("%d facts for %d kinds", n, kinds)
	}
}

func TestRefused(t *testing.T) {
	cubin := put("\x7fELF\x02\x01\x01\x33\x07", [7]byte{}, uint16(1), uint16(190), uint32(124), [24]byte{}, uint32(0x500550))
	cubin13 := put("\x7fELF\x02\x01\x01\x41\x08", [7]byte{}, uint16(1), uint16(190), uint32(1), [24]byte{}, uint32(0x06004b04))
	cutCOFF := coffOf(nil, 0x8664, ".nv_fatb", forms()["fatbin"])
	binary.LittleEndian.PutUint32(cutCOFF[8:], 0) // no symbols
	lying := fatbin(entry(1, 80, 0x11|fatbinLZ4, 0x50, one))
	binary.LittleEndian.PutUint64(lying[16+0x38:], 1<<40)
	later := fatbin(entry(1, 80, 0x11|fatbinZstd, 0x50, one))
	binary.LittleEndian.PutUint64(later[16+0x28:], 0x11|0x4000) // compressed, but by neither LZ4 nor zstd
	for _, test := range []struct {
		data []byte
		max  int64
		want string
	}{
		{cubin, 0, "f: this is a cubin for sm_80, not PTX"},
		{cubin13, 0, "f: this is a cubin for sm_75, not PTX"},
		{[]byte("BC\xc0\xde"), 0, "f: this is LLVM bitcode that names no target, not PTX"},
		{[]byte("CCOB"), 0, "f: this is a clang-offload-bundler bundle, not PTX"},
		{[]byte("\xff\xd8\xff\xe0\x00\x10JFIF"), 0, `f: this is neither PTX nor a file that contains PTX; it begins with "\xff\xd8\xff\xe0\x00\x10JFIF"`},
		{arMembers("a.txt/", []byte("hello")), 0, "f: holds no PTX, only a file without device code"},
		{zst(one)[:40], 0, "f: zstd data is cut short"},
		{lz4frame(one)[:40], 0, "f: LZ4 data is cut short"},
		{arMembers("a.o/", cubin, "b.o/", cubin13, "c", []byte("x")), 0, "f: holds no PTX, only cubins for sm_80, sm_75"},
		{fatbin(entry(8, 90, 0, 0x50, one)), 0, "f: holds no PTX, only LTO-IR for sm_90"},
		{hostELF(".text", one), 0, "f: this is host code for x86_64, not PTX"},
		{coffOf(nil, 0x8664, ".text", one), 0, "f: this is host code for x86_64, not PTX"},
		{coffOf(program, 0x8664, ".text", one), 0, "f: this is host code for x86_64, not PTX"},
		{forms()["coff"][:59], 0, "f: COFF file is cut short: its symbols and names are at byte 0x214, and it ends at 0x3b"},
		{cutCOFF[:59], 0, "f: at byte 0x14: COFF file is cut short: its section headers, 1 of 40 bytes, are at byte 0x14, and it ends at 0x3b"},
		{cutCOFF[:200], 0, "f:.nv_fatb: section has 472 bytes at byte 0x3c, but the file ends at 0xc8"},
		{forms()["pe"][:200], 0, "f:.nv_fatb: section has 472 bytes at byte 0xc0, but the file ends at 0xc8"},
		{forms()["pe"][:0x30], 0, "f: Windows program is cut short in its header"},
		{forms()["pe"][:0x90], 0, "f: at byte 0x3c: Windows program is cut short: its PE header is at byte 0x80, and it ends at 0x90"},
		{forms()["bigobj"][:50], 0, "f: COFF object is cut short in its header"},
		{forms()["bigobj"][:90], 0, "f: COFF file is cut short: its symbols and names are at byte 0x118, and it ends at 0x5a"},
		{put(anonymous, uint16(1), uint16(0x8664), [24]byte{}), 0, "f: this is an object of cl /GL for x86_64, not PTX"},
		{put("MZ", make([]byte, 0x3e)), 0, "f: this is host code, not PTX"},
		{[]byte("\xcf\xfa\xed\xfe"), 0, "f: this is a Mach-O file, not PTX"},
		{[]byte("\xed\x43\x4e\x7f\x01\x36\x02\x30\x03\x01\x07\x00\x18\x00\x01\x00\x28\x00\x00\x00\x2c\x00\x00\x00\x01\x00\x20\x03"), 0, "f: this is LTO-IR for sm_80, not PTX"}, // of NVRTC 11.8
		{[]byte("\xed\x43\x4e\x7f\x01\x43\x02\x83\x03\x02\x07"), 0, "f: LTO-IR is cut short in its header"},                                                                     // written as a C string
		{lying, 0, "f: at byte 0x60: 83 bytes of LZ4 data cannot be the 1099511627776 bytes that the header says"},
		{later, 0, "f: at byte 0x10: fatbin entry is compressed in a form that is not known"},
		{forms()["fatbin"][:100], 0, "f: fatbin has"},
		{forms()["gnu"][:100], 0, "f: at byte 0x48: archive is cut short in the header of a member"},
		{arMembers("a/", one)[:90], 0, "f: at byte 0x8: archive member \"a\" has 81 bytes by its header, of which 22 are there"},
		{gz(make([]byte, 1<<20)), 1000, "f: decompresses to more than 1000 bytes"},
		{zst(make([]byte, 1<<20)), 1000, "f: decompresses to more than 1000 bytes"},
		{gz(one)[:40], 0, "f: gzip data is cut short"},
		{forms()["elf"][:300], 0, "f: ELF file is cut short: its section headers, 3 of 64 bytes, are at byte 0x238, and it ends at 0x12c"},
	} {
		_, err := Open("f", test.data, Options{MaxSize: test.max})
		if err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("got %v\nwant %s", err, test.want)
		}
	}
	// x86_64 is no GPU to compile for.
	var fault *Error
	if _, err := Open("f", hostELF(".text", one), Options{}); !errors.As(err, &fault) || !strings.HasSuffix(fault.Help, "code=compute_80") {
		t.Errorf("%+v", fault)
	}
	many := bytes.Repeat([]byte(".version\x00"), 20_000)
	if _, err := Open("f", many, Options{}); err == nil || !strings.Contains(err.Error(), "more than 10703 modules in 180000 bytes") {
		t.Error(err)
	}
	if members, err := Open("f", many[:9*10_000], Options{}); err != nil || len(members) != 10_000 {
		t.Error(len(members), err)
	}
	deep := one
	for range maxDepth {
		deep = gz(deep)
	}
	if _, err := Open("f", deep, Options{}); err == nil || !strings.Contains(err.Error(), "nested deeper") {
		t.Error(err)
	}
}

func TestThinArchive(t *testing.T) {
	thin := "!<thin>\n" + head("//", 12) + "sub/a.ptx/\n\n" + head("/0", len(one))
	open := func(path string, _ int64) ([]byte, error) {
		if path == filepath.Join("dir", "sub", "a.ptx") {
			return one, nil
		}
		return nil, io.ErrUnexpectedEOF
	}
	members, err := Open("dir/l.a", []byte(thin), Options{Open: open})
	if err != nil || len(members) != 1 || members[0].Name != "dir/l.a(sub/a.ptx)" || !bytes.Equal(members[0].Text, one) {
		t.Error(members, err)
	}
	if _, err := Open("l.a", []byte(thin), Options{Open: open}); err == nil {
		t.Error("a missing member of a thin archive is no error")
	}
	// In a member of an archive.
	inner := ArchiveMember{Name: "t.a", Data: []byte(thin)}
	if _, err := inner.PTX("l.a(t.a)", Options{}); err == nil || !strings.Contains(err.Error(), "cannot be read: no such file") {
		t.Error(err)
	}
	// An archive that names itself, many times over.
	thin = "!<thin>\n" + head("//", 4) + "l.a\n" + strings.Repeat(head("/0", 9), 100)
	_, err = Open("l.a", []byte(thin), Options{Open: func(string, int64) ([]byte, error) { return []byte(thin), nil }})
	if err == nil || !strings.Contains(err.Error(), "names itself") {
		t.Error(err)
	}
}

// TestArTools reads the output of ar, in all its forms.
func TestArTools(t *testing.T) {
	dir := t.TempDir()
	os.WriteFile(filepath.Join(dir, "one.ptx"), one, 0o644)
	os.WriteFile(filepath.Join(dir, "two_with_a_long_name.ptx"), two, 0o644)
	for _, command := range []string{"ar rcs", "ar rcsT", "ar --thin -rcs", "llvm-ar --format=bsd -rcs", "llvm-ar --format=darwin -rcs", "llvm-ar --format=gnu -rcs", "llvm-ar --thin -rcs"} {
		words := strings.Fields(command)
		if _, err := exec.LookPath(words[0]); err != nil {
			t.Logf("no %s", words[0])
			continue
		}
		lib := filepath.Join(dir, "l.a")
		os.Remove(lib)
		cmd := exec.Command(words[0], append(words[1:], "l.a", "one.ptx", "two_with_a_long_name.ptx")...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("%s: %v %s", command, err, out)
			continue
		}
		data, _ := os.ReadFile(lib)
		members, err := Open(lib, data, Options{})
		// Darwin's form pads members with newlines, and counts them.
		same := func(m Member, want []byte) bool {
			return bytes.Equal(m.Text, want) || strings.Contains(command, "darwin") && bytes.Equal(bytes.TrimRight(m.Text, "\n"), bytes.TrimRight(want, "\n"))
		}
		if err != nil || len(members) != 2 || !same(members[0], one) || !same(members[1], two) ||
			members[1].Name != lib+"(two_with_a_long_name.ptx)" {
			t.Errorf("%s: %v %v", command, members, err)
		}
	}
}

// sameAsCuobjdump compares what Open finds in a file with cuobjdump -xptx all.
func sameAsCuobjdump(t *testing.T, tool, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	members, err := Open(file, data, Options{})
	if err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	cmd := exec.Command(tool, "-all", "-xptx", "all", file)
	cmd.Dir = out
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("cuobjdump: %v %s", err, said)
	}
	want := map[string]int{}
	files, _ := filepath.Glob(filepath.Join(out, "*.ptx"))
	for _, f := range files {
		text, _ := os.ReadFile(f)
		want[string(trimNUL(text))]++
	}
	if len(files) == 0 || len(files) != len(members) {
		t.Errorf("%s: %d members, cuobjdump finds %d", file, len(members), len(files))
	}
	for _, m := range members {
		if want[string(m.Text)]--; want[string(m.Text)] < 0 {
			t.Errorf("%s is not what cuobjdump takes out", m.Name)
		}
	}
}

func TestFatbinaryAgainstCuobjdump(t *testing.T) {
	small, _ := filepath.Abs("../../testdata/ptx/example/main.ptx")
	large, _ := filepath.Abs("../../testdata/ptx/nvcc-debug/main.ptx")
	for _, version := range []struct {
		suffix  string
		options []string
	}{
		{"", []string{"", "--compress=false", "--compress-all", "-g", "-ident=a/name.cu -g -c", "-host=windows", "--cmdline=-maxrregcount=32"}},
		{"-new", []string{"", "--compress-mode=none", "--compress-mode=size", "--compress-mode=speed", "--concat", "--concat -g -ident=some/name.cu", "--concat --compress-mode=speed", "--cmdline=-maxrregcount=32", "--concat --cmdline=-maxrregcount=32 -ident=name.cu"}},
	} {
		fatbinary := oracles.Require(t, "fatbinary"+version.suffix)
		cuobjdump := oracles.Require(t, "cuobjdump"+version.suffix)
		for _, options := range version.options {
			file := filepath.Join(t.TempDir(), "x.fatbin")
			args := append(strings.Fields(options), "-64", "--create", file, "--image3=kind=ptx,sm=80,file="+small, "--image3=kind=ptx,sm=90a,file="+large)
			if out, err := exec.Command(fatbinary, args...).CombinedOutput(); err != nil {
				t.Errorf("fatbinary%s %s: %v %s", version.suffix, options, err, out)
				continue
			}
			t.Run(version.suffix+options, func(t *testing.T) {
				sameAsCuobjdump(t, cuobjdump, file)
				recorded := ""
				if strings.Contains(options, "--cmdline=") {
					recorded = "-maxrregcount=32"
				}
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				members, _ := Open(file, data, Options{})
				for _, m := range members {
					if m.Options != recorded {
						t.Errorf("%s records %q, not %q", m.Name, m.Options, recorded)
					}
				}
			})
		}
	}
}

func TestHostObjectAgainstCuobjdump(t *testing.T) {
	oracles.Long(t)
	nvcc := oracles.RequireCompiler(t, "nvcc")
	cuobjdump := oracles.Require(t, "cuobjdump")
	dir := t.TempDir()
	run := func(name string, args ...string) {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s %v: %v %s", name, args, err, out)
		}
	}
	sources := map[string]string{
		"a.cu": "extern __device__ int f(int);\n__global__ void k(int *p) { *p = f(*p); }\nint main() {}\n",
		"b.cu": "__device__ int f(int x) { return x + 1; }\n",
	}
	for name, text := range sources {
		os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644)
	}
	gen := []string{"-gencode", "arch=compute_80,code=[compute_80,sm_80]", "-gencode", "arch=compute_90a,code=compute_90a"}
	for _, name := range []string{"a", "b"} {
		run(nvcc, append([]string{"-rdc=true", "-c", name + ".cu", "-o", name + ".o"}, gen...)...)
	}
	run(nvcc, append([]string{"-lineinfo", "-c", "b.cu", "-o", "whole.o"}, gen...)...)
	run("ld", "-r", "a.o", "b.o", "-o", "both.o")
	run("ar", "rcs", "l.a", "a.o", "b.o")
	for _, file := range []string{"a.o", "whole.o", "both.o", "l.a"} {
		t.Run(file, func(t *testing.T) { sameAsCuobjdump(t, cuobjdump, filepath.Join(dir, file)) })
	}
}

// TestGCCArchives compares gcc's own archives with the members that ar extracts.
func TestGCCArchives(t *testing.T) {
	ar := oracles.Require(t, "ar")
	for _, name := range []string{"libc.a", "libatomic.a"} {
		file := oracles.RequireFile(t, "gcc-nvptx/"+name)
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		members, err := Open(name, data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var texts [][]byte
		for _, m := range members {
			texts = append(texts, m.Text)
		}
		want, err := exec.Command(ar, "p", file).Output()
		if err != nil {
			t.Fatal(err)
		}
		if got := bytes.Join(texts, nil); !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes in %d members, ar p gives %d bytes", name, len(got), len(members), len(want))
		}
	}
}

// TestCutMemberIsNamed checks a truncated member whose name is in the table of long
// names.
func TestCutMemberIsNamed(t *testing.T) {
	data := arMembers("//", []byte("a_very_long_name_it_is.ptx/\n"), "/0", one)
	_, err := Open("l.a", data[:len(data)-9], Options{})
	if err == nil || !strings.Contains(err.Error(), `archive member "a_very_long_name_it_is.ptx" has`) {
		t.Error(err)
	}
}

// concat returns a fatbin entry that is an index of one code, stored.
func concat(kind uint16, body []byte) []byte {
	index := append(put(kind, uint16(0x101), uint32(0), uint64(len(body)), uint32(0), uint32(0), uint32(0), uint32(80)), make([]byte, minEntry-0x20)...)
	head := append(put(uint16(fatbinConcat), uint16(0x101), uint32(minEntry+8+len(index)), uint64(len(body))), make([]byte, minEntry-0x10)...)
	return slices.Concat(head, put(uint32(1), uint32(8+len(index))), index, body)
}

// TestObjects lists what files offer without decompressing it.
func TestObjects(t *testing.T) {
	lto := pad([]byte(ltoMagic + "compiled"))
	damaged := entry(1, 90, 0x2011, 0x50, one)
	le.PutUint64(damaged[0x38:], 7)
	plain := entry(1, 80, 0x11, 0x50, one)
	two := fatbin(slices.Concat(plain, damaged, concat(fatbinLTO, lto)))
	objects, err := Objects("f", arMembers("a.fatbin/", two, "b.o/", ldr(".nv_fatbin", append(pad(bytes.Clone(two)), fatbin(plain)...))), Options{})
	if err != nil || len(objects) != 3 {
		t.Fatal(objects, err)
	}
	cut := zst(bytes.Repeat(one, 1000))
	packed, err := Objects("f", arMembers("a.ptx/", cut[:len(cut)-3], "b.gz/", gz(two)), Options{})
	if err != nil || len(packed) != 2 || !packed[0].Has(PTX) || !packed[1].Has(LTOIR) {
		t.Errorf("%+v, %v", packed, err)
	}
	for i, name := range []string{"f(a.fatbin)", "f(b.o)", "f(b.o)"} {
		o := objects[i]
		if o.Name != name {
			t.Errorf("object %d is %s, want %s", i, o.Name, name)
		}
		if i == 2 {
			continue
		}
		if got := o.Targets(PTX); !slices.Equal(got, []string{"sm_80", "sm_90"}) || !o.Has(LTOIR) || o.Has(MachineCode) {
			t.Errorf("%s offers PTX for %v and %d codes", name, got, len(o.Codes))
		}
		if text, err := o.Codes[0].Bytes(); err != nil || !bytes.Equal(trimNUL(text), one) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
		if _, err := o.Codes[1].Bytes(); err == nil || !strings.Contains(err.Error(), "LZ4 data is damaged") {
			t.Errorf("%s: %v", name, err)
		}
		if text, err := o.Codes[2].Bytes(); err != nil || !bytes.Equal(text, lto) {
			t.Errorf("%s: %q, %v", name, text, err)
		}
	}
}
