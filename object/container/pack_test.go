package container

import (
	"bytes"
	"crypto/sha256"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"ptxlink/internal/oracles"
)

func mustWrite(t testing.TB, members ...ArchiveMember) []byte {
	t.Helper()
	data, err := WriteArchive(members, true)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestWriteArchiveBytes pins the whole of a small package; docs/packages.md
// shows the same parts.
func TestWriteArchiveBytes(t *testing.T) {
	got := mustWrite(t,
		ArchiveMember{Name: "a.ptx", Data: []byte("odd"), Symbols: []string{"f", "g"}, Record: &Record{Bytes: 3, Defines: []string{"f"}, Weak: []string{"g"}}},
		ArchiveMember{Name: "a name with blanks", Data: []byte("even"), Symbols: []string{"h<int>"}, Record: &Record{Bytes: 4, OS: "linux", Debug: true}},
	)
	line := func(head, mode string, size int) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n", head, 0, 0, 0, mode, size)
	}
	head := line("/", "0", 28) + "\x00\x00\x00\x03\x00\x00\x00\xb0\x00\x00\x00\xb0\x00\x00\x00\xf0f\x00g\x00h<int>\x00\x00" +
		fmt.Sprintf("%-48s%-10d`\n", "//", 20) + "a name with blanks/\n"
	records := `{"name":"a.ptx","offset":176,"size":3,"sha256":"","bytes":3,"defines":["f"],"weak":["g"]}
{"name":"a name with blanks","offset":240,"size":4,"sha256":"","bytes":4,"os":"linux","debug":true}
`
	meta := fmt.Sprintf(`{"ptxlink-package":1,"index":"%x"}`+"\n", sha256.Sum256([]byte(head+records))) + records
	if len(meta)%2 == 1 {
		meta += "\n"
	}
	meta += fmt.Sprintf(`{"size":%22d}`+"\n", len(meta)+32)
	want := "!<arch>\n" + head +
		line("a.ptx/", "644", 3) + "odd\n" +
		line("/0", "644", 4) + "even" +
		line("__.PTXMETA/", "644", len(meta)) + meta
	if string(got) != want {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// TestMeta finds the records from the end of the file, as a reader does.
func TestMeta(t *testing.T) {
	data := mustWrite(t,
		ArchiveMember{Name: "one.ptx", Data: one, Symbols: []string{"one"}, Record: &Record{Bytes: 1, Defines: []string{"one"}}},
		ArchiveMember{Name: "two.ptx", Data: two, Record: &Record{Bytes: 2}},
	)
	var trailer struct{ Size int64 }
	if err := json.Unmarshal(data[len(data)-trailerSize:], &trailer); err != nil {
		t.Fatal(err)
	}
	body := data[int64(len(data))-trailer.Size:]
	records := readRecords(body)
	if !bytes.HasPrefix(body, []byte(metaMark)) || len(records) != 2 {
		t.Fatalf("%d records in %q", len(records), body)
	}
	for i, want := range [][]byte{one, two} {
		r := records[i]
		head := data[r.Offset : r.Offset+arHeader]
		if !strings.HasPrefix(string(head), r.Name+"/") || !bytes.Equal(data[r.Offset+arHeader:][:r.Size], want) {
			t.Errorf("record %d leads to %q", i, head)
		}
	}
}

// TestNoMeta checks that a member without a record makes a reader look at all of
// them.
func TestNoMeta(t *testing.T) {
	data := mustWrite(t, ArchiveMember{Name: "one.ptx", Data: one, Record: &Record{}}, ArchiveMember{Name: "README", Data: []byte("hello")})
	if bytes.Contains(data, []byte(metaName)) {
		t.Errorf("records in %q", data)
	}
	if data, err := WriteArchive(nil, true); err != nil || len(data) != 8+60+4 {
		t.Errorf("empty archive: %d bytes, %v", len(data), err)
	}
}

// TestWideIndex checks that above 4 GiB the index has offsets of 8 bytes. GNU nm
// and llvm-nm read it.
func TestWideIndex(t *testing.T) {
	members := []ArchiveMember{{Name: "one.ptx", Data: one, Symbols: []string{"one", "uno"}}, {Name: "two.ptx", Data: two, Symbols: []string{"two"}}}
	w := &arWriter{members: members, wide: 200}
	wide, err := w.write(true)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(wide, []byte("/SYM64/")) || bytes.Contains(mustWrite(t, members...), []byte("/SYM64/")) {
		t.Fatal("the wide index is for large archives only")
	}
	path := filepath.Join(t.TempDir(), "lib.a")
	for name, data := range map[string][]byte{"wide": wide, "usual": mustWrite(t, members...)} {
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
		// Both tools then report that PTX is not an object.
		for _, tool := range [][]string{{"nm", "-s"}, {"llvm-nm", "--print-armap"}} {
			out, _ := exec.Command(oracles.Require(t, tool[0]), tool[1], path).Output()
			for _, want := range []string{"one in one.ptx\n", "uno in one.ptx\n", "two in two.ptx\n"} {
				if !strings.Contains(string(out), want) {
					t.Errorf("%s: %s prints\n%s\nwithout %q", name, tool[0], out, want)
				}
			}
		}
	}
}

func TestNamesThatArchivesCannotHold(t *testing.T) {
	for _, name := range []string{"", "a\nb", "a\x00", "a/", "__.SYMDEF", strings.Repeat("a", maxName+1)} {
		if _, err := WriteArchive([]ArchiveMember{{Name: name}}, true); err == nil {
			t.Errorf("the name %q was taken", name)
		}
	}
	// JSON cannot represent the name, so there are no records.
	if data := mustWrite(t, ArchiveMember{Name: "\xff.ptx", Record: &Record{}}); bytes.Contains(data, []byte(metaName)) {
		t.Error("a record with a name that is no UTF-8")
	}
}

func TestReadArchive(t *testing.T) {
	data := mustWrite(t, ArchiveMember{Name: "dir/one.ptx", Data: one}, ArchiveMember{Name: "README", Data: []byte("hello")}, ArchiveMember{Name: "README", Data: nil})
	a, err := ReadArchive("lib.a", data)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, m := range a.Members {
		names = append(names, fmt.Sprintf("%s %d %o", m.Name, len(m.Data), m.Mode))
	}
	if want := []string{fmt.Sprintf("dir/one.ptx %d 644", len(one)), "README 5 644", "README 0 644"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for name, bad := range map[string][]byte{"text": one, "cut": data[:100], "header": append([]byte("!<arch>\n"), make([]byte, 70)...)} {
		if name == "header" {
			bad[9] = 'x'
		}
		var fault *Error
		if _, err := ReadArchive("lib.a", bad); !errors.As(err, &fault) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostObject checks that the objects hold their input, for every host, and only
// symbols with names that nothing else can have.
func TestHostObject(t *testing.T) {
	for arch := range hostTargets {
		for _, text := range [][]byte{one, bytes.Repeat(two[:40], 5000)} {
			fatbin, err := Fatbin(Image{Text: text, Target: "sm_90a", Major: 8, Minor: 4, OS: "linux", Options: "--compile-only "})
			if err != nil {
				t.Fatal(err)
			}
			object, err := HostObject(arch, "_id", fatbin)
			if err != nil {
				t.Fatal(err)
			}
			members, err := Open("k.o", object, Options{})
			if err != nil || len(members) != 1 {
				t.Fatalf("%s: %d members, %v", arch, len(members), err)
			}
			m := members[0]
			if !bytes.Equal(m.Text, text) || m.OS != "linux" || m.Arch != arch || m.Target != "sm_90a" || m.AddressSize != 64 {
				t.Errorf("%s: got %d bytes for %s-%s, %s, %d-bit", arch, len(m.Text), m.OS, m.Arch, m.Target, m.AddressSize)
			}
			file, err := elf.NewFile(bytes.NewReader(object))
			if err != nil {
				t.Fatal(err)
			}
			symbols, err := file.Symbols()
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range symbols {
				if s.Name != "" && s.Name != ".TOC." && s.Name != "__fatbinwrap_id" && s.Name != "__cudaRegisterLinkedBinary_id" {
					t.Errorf("%s: symbol %q", arch, s.Name)
				}
			}
			if got := (ArchiveMember{Data: object}).ELFSymbols(); !slices.Equal(got, []string{"__fatbinwrap_id"}) {
				t.Errorf("%s: offers %q", arch, got)
			}
		}
	}
	if _, err := HostObject("m68k", "_id", nil); err == nil {
		t.Error("m68k was taken")
	}
	for _, target := range []string{"", "80", "sm_", "sm_x", "compute_80"} {
		if _, err := Fatbin(Image{Text: one, Target: target}); err == nil {
			t.Errorf("target %q was taken", target)
		}
	}
}

// TestFatbinAgainstCuobjdump checks that NVIDIA's tools find the input in our
// fatbins, with the recorded properties.
func TestFatbinAgainstCuobjdump(t *testing.T) {
	for _, tool := range []string{"cuobjdump", "cuobjdump-new"} {
		dir := t.TempDir()
		fatbin, err := Fatbin(Image{Text: append([]byte(strings.Repeat("// like any other\n", 9)), one...), Target: "sm_80", Major: 8, Minor: 0, OS: "linux", Debug: true, Options: "--compile-only -g "})
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, "one.fatbin")
		if err := os.WriteFile(path, fatbin, 0o666); err != nil {
			t.Fatal(err)
		}
		sameAsCuobjdump(t, oracles.Require(t, tool), path)
		out, err := exec.Command(oracles.Require(t, tool), "-ptx", path).Output()
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"arch = sm_80\n", "code version = [8,0]\n", "host = linux\n", "compile_size = 64bit\n", "has debug info\n", "compressed\n", "ptxasOptions = --compile-only -g \n"} {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s does not say %q:\n%s", tool, want, out)
			}
		}
	}
}

// TestCompressAlone checks that earlier compression does not change a member.
func TestCompressAlone(t *testing.T) {
	for i := range 50 {
		text := append(bytes.Repeat(one, i), two...)
		got, err := Zstd.Store(Image{Text: text}, "", "")
		if err != nil {
			t.Fatal(err)
		}
		alone, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedBetterCompression))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, alone.EncodeAll(text, nil)) {
			t.Fatalf("%d bytes come out in another way", len(text))
		}
	}
}

// TestCudadevrt checks that a library of NVIDIA's reads as with cuobjdump.
func TestCudadevrt(t *testing.T) {
	sameAsCuobjdump(t, oracles.Require(t, "cuobjdump-new"), oracles.RequireFile(t, "cudadevrt/libcudadevrt.a"))
}

// FuzzWritePackage checks that a package returns its input, in every format.
func FuzzWritePackage(f *testing.F) {
	f.Add("k.ptx", ".visible .func f() { ret; }", "a name that is much too long for its header", "", uint8(0))
	f.Add("a/b", "x", "\xff", "`\n", uint8(1))
	f.Add("größe.ptx", "", "名前.ptx", "", uint8(0)) // fewer characters than bytes
	f.Add(" ", "//", "__.PTXMETA", "\r\n\t", uint8(2))
	f.Fuzz(func(t *testing.T, name1, text1, name2, text2 string, kind uint8) {
		format := []Format{Plain, Zstd, NV}[kind%3]
		var members []ArchiveMember
		var texts [][]byte
		for i, m := range [][2]string{{name1, text1}, {name2, text2}} {
			if m[0] == metaName {
				m[0] = "other"
			}
			text := []byte(".version 8.0\n" + strings.ReplaceAll(m[1], "\x00", " "))
			data, err := format.Store(Image{Text: text, Target: "sm_80", Options: "-c"}, "x86_64", fmt.Sprint("_", i))
			if err != nil {
				t.Fatal(err)
			}
			members = append(members, ArchiveMember{Name: m[0], Data: data, Symbols: []string{m[0] + "s"}, Record: &Record{Bytes: int64(len(text))}})
			texts = append(texts, text)
		}
		data, err := WriteArchive(members, kind&4 == 0)
		unfit := func(name string) bool {
			return len(name) > maxName || isSymdef(name) || strings.HasSuffix(name, "/") || strings.ContainsAny(name, "\n\x00")
		}
		if name1 == "" || name2 == "" || unfit(members[0].Name) || unfit(members[1].Name) {
			if err == nil {
				t.Fatal("a name that cannot be written was taken")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := Open("lib.a", data, Options{})
		if err != nil || len(got) != 2 {
			t.Fatalf("%d members, %v", len(got), err)
		}
		for i, m := range got {
			if !bytes.Equal(m.Text, texts[i]) {
				t.Errorf("member %d has %q, want %q", i, m.Text, texts[i])
			}
		}
		a, err := ReadArchive("lib.a", data)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range members {
			if i >= len(a.Members) || a.Members[i].Name != m.Name || !bytes.Equal(a.Members[i].Data, m.Data) {
				t.Fatalf("member %d is not as it was stored", i)
			}
		}
		for i, r := range a.Records {
			if string(data[r.Offset+arHeader:r.Offset+arHeader+r.Size]) != string(members[i].Data) {
				t.Errorf("record %d leads elsewhere", i)
			}
		}
	})
}
