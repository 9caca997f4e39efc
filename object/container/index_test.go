package container

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// textOf returns a module that defines a function.
func textOf(name string) []byte {
	return fmt.Appendf(nil, "// %s\n.version 8.0\n.target sm_80\n.address_size 64\n.visible .func %s() { ret; }\n", name, name)
}

// packageOf returns a package of modules; pairs of words are the name of the member and of
// its function, or functions with commas between them.
func packageOf(t testing.TB, format Format, words ...string) []byte {
	t.Helper()
	return packageFrom(t, format, math.MaxUint32+1, words...)
}

// packageFrom is packageOf with the index of large archives if a member starts at wide.
func packageFrom(t testing.TB, format Format, wide int64, words ...string) []byte {
	t.Helper()
	var members []ArchiveMember
	for i := 0; i < len(words); i += 2 {
		text := textOf(words[i+1])
		data, err := format.Store(Image{Text: text}, "", "")
		if err != nil {
			t.Fatal(err)
		}
		members = append(members, ArchiveMember{
			Name: format.StoredName(words[i]), Data: data, Symbols: strings.Split(words[i+1], ","),
			Record: &Record{SHA256: fmt.Sprintf("%x", sha256.Sum256(text)), Bytes: int64(len(text)), OS: "linux", Arch: "x86_64", Model: "lp64", Defines: strings.Split(words[i+1], ",")},
		})
	}
	data, err := (&arWriter{members: members, wide: wide}).write(true)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func openIndex(data []byte) (*Index, error) {
	return OpenIndex("lib.a", data, Options{})
}

// TestIndexHeaders checks that an index is not used if the header of the first or of the
// last member has another size or name than its record: a reader of the whole archive
// then finds other members.
func TestIndexHeaders(t *testing.T) {
	whole := packageOf(t, Plain, "a.ptx", "f", "b.ptx", "g", "c.ptx", "h")
	for _, name := range []string{"a.ptx/", "c.ptx/"} {
		at := bytes.Index(whole, []byte(name))
		for what, change := range map[string]func([]byte){
			"size": func(header []byte) { copy(header[48:], fmt.Sprintf("%-10d", 2)) },
			"name": func(header []byte) { header[0] = 'x' },
			"mark": func(header []byte) { header[58] = ' ' },
		} {
			data := bytes.Clone(whole)
			change(data[at:])
			x, err := openIndex(data)
			var fault *Error
			if x != nil || !errors.As(err, &fault) || !fault.Stale {
				t.Errorf("%s of %s: used %v, %v", what, name, x != nil, err)
			}
		}
	}
}

// sameAsOpen checks that the members found through the index are those found by
// reading the whole archive.
func sameAsOpen(t *testing.T, data []byte) int {
	t.Helper()
	x, err := openIndex(data)
	if x == nil {
		if err != nil && !err.(*Error).Stale {
			t.Fatalf("%v", err)
		}
		return 0
	}
	all, err := Open("lib.a", data, Options{})
	found := 0
	for i := range x.Members {
		m, bad := x.Read(&x.Members[i])
		if bad != nil {
			continue
		}
		if err != nil {
			t.Fatalf("the index works and the archive does not: %v", err)
		}
		if !slices.ContainsFunc(all, func(o Member) bool { return o.Name == m.Name && bytes.Equal(o.Text, m.Text) }) {
			t.Fatalf("%s is not in the archive", m.Name)
		}
		found++
	}
	return found
}

func TestIndex(t *testing.T) {
	words := []string{"a.ptx", "one,uno", "a_long_name_for_a_member.ptx", "two", "a.ptx", "three", "a.ptx", "four,quattro,vier"}
	for _, test := range []struct {
		format Format
		wide   int64
	}{{Plain, math.MaxUint32 + 1}, {Zstd, math.MaxUint32 + 1}, {Plain, 200}} {
		format, data := test.format, packageFrom(t, test.format, test.wide, words...)
		x, err := openIndex(data)
		if x == nil || len(x.Members) != len(words)/2 {
			t.Fatalf("%s: %+v, %v", format, x, err)
		}
		want, err := Open("lib.a", data, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range x.Members {
			m, err := x.Read(&x.Members[i])
			if err != nil {
				t.Fatal(err)
			}
			if m.Name != want[i].Name || !bytes.Equal(m.Text, textOf(words[2*i+1])) || m.OS != "linux" || m.Arch != "x86_64" || m.Model != "lp64" {
				t.Errorf("%s: %+v, want %+v", format, m, want[i])
			}
			if want[i].OS != "linux" || want[i].Model != "lp64" {
				t.Errorf("%s: without the index: %+v", format, want[i])
			}
			if r, err := x.Record(&x.Members[i]); err != nil || !slices.Equal(r.Defines, strings.Split(words[2*i+1], ",")) || !slices.Equal(r.Defines, x.Members[i].Defines) {
				t.Errorf("%s: record %+v, %v", format, r, err)
			}
		}
	}
}

// TestIsPackage checks that what another tool makes or changes is no package.
func TestIsPackage(t *testing.T) {
	data := packageOf(t, Plain, "a.ptx", "one", "b.ptx", "two")
	meta := len(data) - bytes.Index(data, []byte(metaMark))
	appended := append(bytes.Clone(data), fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n", "c.cubin/", 0, 0, 0, "644", 4)+"\x7fELF"...)
	for _, test := range []struct {
		name string
		data []byte
		want bool
	}{
		{"package", data, true},
		{"with a member more", appended, false},
		{"without its index", append([]byte("!<arch>\n"), data[bytes.Index(data, []byte("a.ptx/")):]...), false},
		{"cut off", data[:len(data)-1], false},
		{"of more bytes than it has", append(bytes.Clone(data[:len(data)-trailerSize]), fmt.Sprintf(metaTrailer, len(data))...), false},
		{"with another last member", bytes.Replace(data, []byte(metaName+"/"), []byte("x"+metaName[1:]+"/"), 1), false},
		{"with a longer last member", bytes.Replace(data, fmt.Appendf(nil, "%-10d`\n"+metaMark, meta), fmt.Appendf(nil, "%-10d`\n"+metaMark, meta-1), 1), false},
		{"archive", []byte("!<arch>\n"), false},
		{"PTX", textOf("one"), false},
		{"nothing", nil, false},
	} {
		if got := IsPackage(test.data); got != test.want {
			t.Errorf("%s: %v", test.name, got)
		}
	}
}

// TestIndexOfChangedPackage checks that a package changed by other tools is read
// without its index, unless the index is still valid.
func TestIndexOfChangedPackage(t *testing.T) {
	data := packageOf(t, Plain, "a.ptx", "one", "b.ptx", "two", "c.ptx", "three")
	edited := func(old, new string) []byte { return bytes.Replace(data, []byte(old), []byte(new), 1) }
	start := bytes.Index(data, []byte("a.ptx/"))
	far := bytes.Clone(data)
	at := bytes.Index(far, []byte("b.ptx/"))
	behind := len(data) + arHeader/2
	far = bytes.ReplaceAll(far, fmt.Appendf(nil, `"offset":%d`, at), fmt.Appendf(nil, `"offset":%d`, behind))
	for i := 2; i <= 3; i++ {
		binary.BigEndian.PutUint32(far[8+arHeader+4*i:], uint32(behind))
	}
	for _, test := range []struct {
		what  string
		data  []byte
		stale string // of OpenIndex or Read; empty: there is no index
	}{
		{"cut", data[:len(data)-1], ""},
		{"a member behind it", append(bytes.Clone(data), arMembers("d.ptx/", textOf("four"))[8:]...), ""},
		{"a member in front of it", bytes.Replace(data, []byte(metaName), append(arMembers("d.ptx/", textOf("four"))[8:], metaName...), 1), "its metadata does not fit its members"},
		{"not the first member", append([]byte("!<arch>\n"), append(arMembers("d.ptx/", textOf("four"))[8:], data[8:]...)...), ""},
		{"another body", edited(".visible .func two()", ".visible .func tow()"), "its member b.ptx was changed after the index was made"},
		{"another name", edited("b.ptx/", "d.ptx/"), "its metadata has another member b.ptx than there is"},
		{"another version", edited(`{"ptxlink-package":1,`, `{"ptxlink-package":2,`), "its metadata is of another version of ptxlink, or none"},
		{"an offset behind the file", mendPackage(far, 8), "its metadata has another member b.ptx than there is"},
		{"offsets", edited(`"offset":`, `"offset":1`), ""},
		{"a table of names up to the end", slices.Clip(slices.Concat(data[:start], []byte(head("//", len(data)-start+1)), []byte("\n"), data[start:])), "its metadata does not fit its members"},
		{"no JSON", edited(`{"name":"a.ptx"`, `{"name":"a.ptx'`), "its index is damaged"},
		{"the first offset", edited("\x00\x00\x00\x03\x00", "\x00\x00\x00\x03\x01"), "its index is damaged"},
		{"count", edited("\x00\x00\x00\x03\x00", "\x7f\x00\x00\x03\x00"), "its index is damaged"},
	} {
		if bytes.Equal(test.data, data) {
			t.Fatalf("%s: nothing was changed", test.what)
		}
		x, err := openIndex(test.data)
		if x != nil {
			for i := range x.Members {
				if _, bad := x.Read(&x.Members[i]); bad != nil {
					err = bad
				}
			}
		}
		if err == nil && x == nil && test.stale == "" {
			continue
		}
		var fault *Error
		if !errors.As(err, &fault) || !fault.Stale || !strings.HasPrefix(fault.Text, test.stale) {
			t.Errorf("%s: ok %v, %v; want %q", test.what, x != nil, err, test.stale)
		}
	}
}

// TestIndexHostile reads packages whose metadata has the right digests and wrong records,
// which only a program that is not ptxlink writes.
func TestIndexHostile(t *testing.T) {
	plain := packageOf(t, Plain, "a.ptx", "one", "b.ptx", "two", "c.ptx", "three")
	wide := packageFrom(t, Plain, 200, "a.ptx", "one", "b.ptx", "two", "c.ptx", "three")
	const first, second, last = "a.ptx", "b.ptx", "c.ptx"
	field := func(member, name, value string) func([]byte) []byte { // of its record
		return func(data []byte) []byte {
			at := bytes.Index(data, fmt.Appendf(nil, `{"name":"%s"`, member))
			at += bytes.Index(data[at:], fmt.Appendf(nil, `"%s":`, name)) + len(name) + 3
			return slices.Concat(data[:at], []byte(value), data[at+bytes.IndexByte(data[at:], ','):])
		}
	}
	index := func(at int, value ...byte) func([]byte) []byte { // in its body
		return func(data []byte) []byte { copy(data[8+arHeader+at:], value); return data }
	}
	const damaged, record, other = "its / index is damaged", "its metadata is damaged", "its metadata has another member %s than there is"
	for _, test := range []struct {
		what   string
		data   []byte
		change func([]byte) []byte
		stale  string // of OpenIndex or Read
	}{
		{"the first record is no JSON", plain, field(first, "offset", "x"), record},
		{"the last record is no JSON", plain, field(last, "bytes", "x"), record},
		{"a record between is no JSON", plain, field(second, "bytes", "x"), record},
		{"a record without an offset", plain, field(second, "offset", "x"), "its / index and its metadata differ"},
		{"an offset before the file", plain, field(first, "offset", "-1"), record},
		{"an offset behind all files", plain, field(last, "offset", "9223372036854775807"), record},
		{"a negative size", plain, field(last, "size", "-1"), record},
		{"a size of more than all files", plain, field(last, "size", "9223372036854775807"), record},
		{"a negative size of the text", plain, field(last, "bytes", "-1"), record},
		{"a size of no member", plain, field(second, "size", "1"), fmt.Sprintf(other, second)},
		{"an empty member behind the file", plain, func(data []byte) []byte {
			behind := len(data) + arHeader/2
			for i := 2; i <= 3; i++ {
				binary.BigEndian.PutUint32(data[8+arHeader+4*i:], uint32(behind))
			}
			data = field(second, "size", "0")(field(second, "offset", fmt.Sprint(behind))(data))
			return bytes.Replace(data, []byte(`"name":"b.ptx"`), []byte(`"name":""`), 1)
		}, fmt.Sprintf(other, "")},
		{"an index without a count", plain, func(data []byte) []byte {
			at := bytes.Index(data, []byte(first+"/"))
			data = slices.Concat(data[:8+arHeader], make([]byte, 2), data[at:])
			copy(data[8+48:], "2         ")
			for _, member := range []string{first, second, last} {
				at := bytes.Index(data, []byte(member+"/"))
				data = field(member, "offset", fmt.Sprint(at))(data)
			}
			return data
		}, damaged},
		{"more names than the index has room for", plain, index(0, 0, 0, 0, 9), damaged},
		{"more names than there are", plain, index(0, 0, 0, 0, 4), damaged},
		{"a negative number of names", wide, index(0, 0xff), damaged},
		{"a name without an end", plain, index(4+3*4+8, 'x', 'x', 'x', 'x', 'x', 'x'), damaged},
		{"an empty name", plain, index(4+3*4, 0), damaged},
		{"members out of order", plain, index(4, 0xff), damaged},
		{"a member that has no record", plain, index(4+3*4-1, 0xff), "its / index and its metadata differ"},
		{"a member behind all records", plain, index(4+2*4, 0xff), "its / index and its metadata differ"},
		{"a member that is not PTX", plain, func(data []byte) []byte {
			at := bytes.Index(data, textOf("two"))
			text := data[at : at+len(textOf("two"))]
			copy(text, "\x7fELF")
			return field(second, "sha256", fmt.Sprintf(`"%x"`, sha256.Sum256(text)))(data)
		}, "its member b.ptx is not one PTX module"},
		{"a member with a NUL inside", plain, func(data []byte) []byte {
			at := bytes.Index(data, textOf("two"))
			text := data[at : at+len(textOf("two"))]
			text[3] = 0
			return field(second, "sha256", fmt.Sprintf(`"%x"`, sha256.Sum256(text)))(data)
		}, "its member b.ptx is not one PTX module"},
	} {
		x, err := openIndex(mendPackage(test.change(bytes.Clone(test.data)), 8))
		for i := 0; x != nil && i < len(x.Members) && err == nil; i++ {
			_, err = x.Read(&x.Members[i])
		}
		var fault *Error
		if !errors.As(err, &fault) || !fault.Stale || !strings.HasPrefix(fault.Text, test.stale) {
			t.Errorf("%s: %v, want %q", test.what, err, test.stale)
		}
	}
}

// TestIndexDamaged: no bit of the index can change so that a definition is
// missed in silence.
func TestIndexDamaged(t *testing.T) {
	words := []string{"a.ptx", "one", "a_long_name_for_a_member.ptx", "two", "a.ptx", "three"}
	data := packageOf(t, Plain, words...)
	for at := range data {
		for bit := range 8 {
			changed := bytes.Clone(data)
			changed[at] ^= 1 << bit
			x, _ := openIndex(changed)
			if x == nil {
				continue // all of it is read
			}
			whole := len(x.Members) == 3
			for i := range x.Members {
				m, err := x.Read(&x.Members[i])
				var fault *Error
				whole = whole && (err == nil && bytes.Equal(m.Text, textOf(words[2*i+1])) || errors.As(err, &fault) && fault.Stale)
				whole = whole && slices.Equal(x.Members[i].Defines, words[2*i+1:2*i+2])
			}
			if !whole {
				t.Errorf("bit %d of byte %d, %q: a member is missed", bit, at, data[max(0, at-20):min(len(data), at+20)])
			}
		}
	}
}

// TestIndexAfterAr: GNU ar knows nothing of the index of a package, and none of
// what it does to one leaves an index that lies.
func TestIndexAfterAr(t *testing.T) {
	ar := oracles.Require(t, "ar")
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command(ar, args...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("ar %v: %v\n%s", args, err, out)
		}
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	data := packageOf(t, Plain, "a.ptx", "one", "b.ptx", "two", "c.ptx", "three")
	write("b.ptx", textOf("tow"))
	for _, args := range [][]string{{"r", "lib.a", "b.ptx"}, {"d", "lib.a", "b.ptx"}, {"q", "lib.a", "b.ptx"}, {"s", "lib.a"}, {"m", "lib.a", "a.ptx"}, {"rS", "lib.a", "b.ptx"}} {
		write("lib.a", data)
		run(args...)
		changed, err := os.ReadFile(filepath.Join(dir, "lib.a"))
		if err != nil {
			t.Fatal(err)
		}
		sameAsOpen(t, changed)
		all, err := Open("lib.a", changed, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			if want := map[bool]string{true: "linux"}[!bytes.Contains(m.Text, []byte("tow"))]; m.OS != want {
				t.Errorf("ar %s: %s is for %q, want %q", args[0], m.Name, m.OS, want)
			}
		}
	}
}
