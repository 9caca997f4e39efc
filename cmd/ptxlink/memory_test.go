//go:build linux

package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
	"ptxlink/internal/oracles"
)

// TestPeakMemory links large inputs with the ptxlink program. Its peak memory may
// be 4 times the size of the file plus what it decompresses to. Time is not
// measured.
func TestPeakMemory(t *testing.T) {
	oracles.Long(t) // writes files of 100 MB
	dir := t.TempDir()
	program := filepath.Join(dir, "ptxlink")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	const members = 200
	plain := func(w io.Writer, i int) { io.WriteString(w, memoryModule(i)) }
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	packed := func(w io.Writer, i int) { w.Write(z.EncodeAll([]byte(memoryModule(i)), nil)) }
	for _, test := range []struct {
		name   string
		file   string
		unfold int64 // bytes of what was compressed
		write  func(w io.Writer)
		args   []string
	}{
		{"one member needed", "lib.a", 0, func(w io.Writer) { memoryArchive(w, members, plain) }, []string{"-u", "f7"}},
		{"all members needed", "lib.a", 0, func(w io.Writer) { memoryArchive(w, members, plain) }, []string{"--whole-archive"}},
		{"compressed members", "zstd.a", members * memorySize, func(w io.Writer) { memoryArchive(w, members, packed) }, []string{"--whole-archive"}},
		{"executable", "program", 20 * memorySize, func(w io.Writer) {
			var device []byte
			for i := range 20 {
				device = append(device, memoryFatbin([]byte(memoryModule(i)))...)
			}
			memoryELF(w, 50<<20, device)
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(dir, test.file)
			if _, err := os.Stat(path); err != nil {
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				w := bufio.NewWriter(f)
				test.write(w)
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
				f.Close()
			}
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			out := filepath.Join(dir, "out.ptx")
			main := filepath.Join(dir, "main.ptx")
			os.WriteFile(main, []byte(memoryHeader), 0o666)
			cmd := exec.Command(program, append(test.args, "-o", out, main, path)...)
			peak, said, err := runForPeak(t, cmd)
			if err != nil {
				t.Fatalf("%v %s", err, said)
			}
			linked, err := os.Stat(out)
			if err != nil || linked.Size() < memorySize {
				t.Fatalf("the output is too small to be right: %v, %v", linked, err)
			}
			input := info.Size() + test.unfold
			t.Logf("peak %d MB for %d MB, %.2f times", peak>>20, input>>20, float64(peak)/float64(input))
			if peak > 4*input {
				t.Errorf("peak memory is %d bytes for an input of %d", peak, input)
			}
		})
	}
}

// TestPeakMemoryListed lists a shared library with much device code. The peak is that of a small file, and the largest
// piece of device code, and 10 % of the file: what is listed is not kept.
func TestPeakMemoryListed(t *testing.T) {
	oracles.Long(t) // writes a file of 100 MB
	dir := t.TempDir()
	var device []byte
	largest := 0
	for i := range 160 {
		cubin := memoryCubin(i, 1000, 300<<10, 1)
		if i == 60 {
			cubin = memoryCubin(i, 2000, 3<<20, 4)
		}
		largest = max(largest, len(cubin))
		device = append(device, memoryFatbin([]byte(memoryModule(i)[:100_000]+"\nret; }\n"), cubin, memoryCubin(i, 1000, 300<<10, 1))...)
	}
	var library, small bytes.Buffer
	memoryELF(&library, 1<<20, device)
	memoryELF(&small, 0, memoryFatbin([]byte(memoryHeader+".visible .func f() { ret; }\n"+strings.Repeat("// \n", 100)), memoryCubin(0, 100, 1<<10, 1)))
	for name, data := range map[string]*bytes.Buffer{"large.so": &library, "small.so": &small} {
		if err := os.WriteFile(filepath.Join(dir, name), data.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"info", "info --json", "nm", "nm --output=out.txt", "size", "size --json", "extract --list", "extract -o texts/"} {
		list := func(file string) int64 {
			cmd := exec.Command("ptxlink", append(strings.Fields(args), file)...)
			cmd.Dir = dir
			peak, said, err := runForPeak(t, cmd)
			if err != nil {
				t.Fatalf("%s: %v %.300s", args, err, said)
			}
			return peak
		}
		const noise = 4 << 20 // of the collector; what is kept of every piece would be 100 MB or more
		most := list("small.so") + int64(largest+library.Len()/10) + noise
		peak := list("large.so")
		t.Logf("%s: peak %d MB for %d MB, at most %d MB", args, peak>>20, library.Len()>>20, most>>20)
		if peak > most {
			t.Errorf("%s: peak memory is %d bytes for a file of %d bytes, more than %d", args, peak, library.Len(), most)
		}
	}
}

// memoryCubin returns a cubin with a number of variables, and bytes of code that cannot be compressed, several times.
func memoryCubin(seed, variables, code, times int) []byte {
	names, symbols := []byte("\x00.nv.global\x00"), make([]byte, elf.Sym64Size)
	for i := range variables {
		s := elf.Sym64{Name: uint32(len(names)), Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_OBJECT), Shndx: 3, Value: uint64(4 * i), Size: 4}
		symbols, _ = binary.Append(symbols, binary.LittleEndian, s)
		names = fmt.Appendf(names, "_ZN7library9component8variableILi%dELi%dEEE\x00", seed, i)
	}
	random := make([]byte, code)
	rand.NewChaCha8([32]byte{byte(seed)}).Read(random)
	random = bytes.Repeat(random, times)
	header := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: 190, Flags: 80, Ehsize: 64, Shentsize: 64, Shnum: 5, Shstrndx: 1}
	copy(header.Ident[:], "\x7fELF\x02\x01\x01\x33\x07")
	sections := []elf.Section64{{}, {Type: uint32(elf.SHT_STRTAB), Size: uint64(len(names))}, {Type: uint32(elf.SHT_SYMTAB), Size: uint64(len(symbols)), Link: 1},
		{Name: 1, Type: uint32(elf.SHT_LOPROC) + 7, Size: uint64(4 * variables)}, {Type: uint32(elf.SHT_PROGBITS), Size: uint64(len(random))}}
	header.Shoff = 64
	at := uint64(64 + 64*len(sections))
	for i := range sections {
		if sections[i].Off = at; i != 3 {
			at += sections[i].Size
		}
	}
	data, _ := binary.Append(nil, binary.LittleEndian, header)
	data, _ = binary.Append(data, binary.LittleEndian, sections)
	return slices.Concat(data, names, symbols, random)
}

// TestPeakMemoryInlined inlines a chain of calls in a large module of other code.
func TestPeakMemoryInlined(t *testing.T) {
	const levels = 46
	kernels := strings.Repeat(" add.s32 %r, %r, 1;\n", 400)
	text := growthHeader + ".func f0() { bar.sync 0; ret; }\n" +
		strings.TrimPrefix(repeat(levels, ".func f#() { call f#-; ret; }\n"), ".func f0() { call f0; ret; }\n") + kernel(fmt.Sprintf("call f%d;\n", levels-1)) +
		repeat(1000, ".visible .entry k#() { .reg .s32 %r;\n"+kernels+"ret; }\n")
	path := filepath.Join(t.TempDir(), "a.ptx")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	peak, said, err := runForPeak(t, exec.Command("ptxlink", "-O1", path, "-o", path+".out.ptx"))
	t.Logf("peak %d MB for %d MB", peak>>20, len(text)>>20)
	if err != nil || peak > 12*int64(len(text)) {
		t.Errorf("peak %d MB for a text of %d MB: %v %s", peak>>20, len(text)>>20, err, said)
	}
}

// TestPeakMemoryWeak compares large weak functions of many modules, which differ in the
// names of their labels, so that their code must be read. On a busy machine the collector comes
// late: without it, the peak is 20 times the texts; with new memory for each function, 36 and more.
func TestPeakMemoryWeak(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-o", filepath.Join(dir, "out.ptx")}
	size := 0
	for i := range 16 {
		text := growthHeader + ".weak .func f() { .reg .s32 %r;\n" + strings.ReplaceAll(repeat(20_000, "L$_#: add.s32 %r, %r, 1;\n"), "$", fmt.Sprint(i)) + "ret; }\n"
		path := filepath.Join(dir, fmt.Sprintf("%d.ptx", i))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		args = append(args, path)
		size += len(text)
	}
	peak, said, err := runForPeak(t, exec.Command("ptxlink", args...))
	t.Logf("peak %d MB for %d MB", peak>>20, size>>20)
	if err != nil || peak > 24*int64(size) {
		t.Errorf("peak %d MB for texts of %d MB: %v %s", peak>>20, size>>20, err, said)
	}
}

// runForPeak runs a command and returns its peak memory in bytes and its output.
// ru_maxrss includes the peak of the parent, this test, so the peak is sampled
// while the command runs.
func runForPeak(t *testing.T, cmd *exec.Cmd) (peak int64, said []byte, err error) {
	t.Helper()
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
		for line := range strings.Lines(string(status)) {
			if kb, ok := strings.CutPrefix(line, "VmHWM:"); ok {
				n, _ := strconv.ParseInt(strings.Fields(kb)[0], 10, 64)
				peak = max(peak, n*1024)
			}
		}
		select {
		case err := <-done:
			if peak == 0 {
				t.Fatal("the command ended before its memory was read")
			}
			return peak, out.Bytes(), err
		case <-time.After(time.Millisecond):
		}
	}
}

// TestBombMemory checks that a bomb takes at most twice the limit, and one of NULs
// hardly any memory.
func TestBombMemory(t *testing.T) {
	oracles.Long(t) // decompresses to 400 MB, six times
	const size, limit = 400 << 20, 100 << 20
	dir := t.TempDir()
	for format, pack := range map[string]func(io.Writer) io.WriteCloser{
		"gz":  func(w io.Writer) io.WriteCloser { z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed); return z },
		"zst": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
		"lz4": func(w io.Writer) io.WriteCloser { return lz4.NewWriter(w) },
	} {
		for _, test := range []struct {
			fill  string
			args  []string
			bound int64
			want  string
		}{
			{" ", []string{fmt.Sprint("--max-input-size=", limit)}, 2 * limit, "decompresses to more than"},
			{"\x00", nil, 80 << 20, "decompresses to NULs"},
		} {
			path := filepath.Join(dir, "bomb."+format)
			f, err := os.Create(path)
			if err != nil {
				t.Fatal(err)
			}
			z := pack(f)
			if test.fill == " " {
				io.WriteString(z, memoryHeader)
			}
			chunk := bytes.Repeat([]byte(test.fill), 1<<20)
			for range size >> 20 {
				z.Write(chunk)
			}
			z.Close()
			f.Close()
			cmd := exec.Command("ptxlink", append(test.args, path, "-o", filepath.Join(dir, "out.ptx"))...)
			peak, said, err := runForPeak(t, cmd)
			t.Logf("%s of %q: peak %d MB", format, test.fill, peak>>20)
			if err == nil || !strings.Contains(string(said), test.want) || peak > test.bound {
				t.Errorf("%s of %q: peak %d MB, at most %d wanted: %v %s", format, test.fill, peak>>20, test.bound>>20, err, said)
			}
		}
	}
}

// TestThinMemory checks that a thin archive that names one file many times takes the
// memory, and about the time, of that file.
func TestThinMemory(t *testing.T) {
	dir := t.TempDir()
	const times = 2000
	module := strings.Replace(memoryModule(0), "\tret;", strings.Repeat(memoryBody(), 3)+"\tret;", 1)
	thin := "!<thin>\n" + fmt.Sprintf("%-48s%-10d`\n%s", "//", 8, "large.o/") + strings.Repeat(fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n", "/0", 0, 0, 0, "644", len(module)), times)
	for name, text := range map[string]string{"large.o": module, "t.a": thin, "main.ptx": memoryHeader} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range []string{"main.ptx t.a -u f0", "--whole-archive t.a -r", "nm t.a", "check --whole-archive t.a -r"} {
		cmd := exec.Command("ptxlink", strings.Fields(args)...)
		cmd.Dir = dir
		peak, said, err := runForPeak(t, cmd)
		t.Logf("%s: peak %d MB", args, peak>>20)
		if err != nil || peak > 60<<20 {
			t.Errorf("%s: peak %d MB for a file of %d MB: %v %.300s", args, peak>>20, len(module)>>20, err, said)
		}
	}
}

// TestArMemory checks that a package takes no more memory to make than its text twice.
func TestArMemory(t *testing.T) {
	oracles.Long(t) // decompresses to 100 MB
	dir := t.TempDir()
	const size = 100 << 20
	f, err := os.Create(filepath.Join(dir, "bomb.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestSpeed)
	io.WriteString(z, memoryHeader+".visible .func f() { ret; }\n")
	line := []byte(strings.Repeat("//"+strings.Repeat("x", 1000)+"\n", 1000))
	for n := 0; n < size; n += len(line) {
		z.Write(line)
	}
	z.Close()
	f.Close()
	cmd := exec.Command("ptxlink", "ar", "rc", "x.a", "bomb.gz")
	cmd.Dir = dir
	peak, said, err := runForPeak(t, cmd)
	t.Logf("peak %d MB", peak>>20)
	if err != nil || peak > size*24/10 {
		t.Errorf("peak %d MB for a text of %d MB: %v %s", peak>>20, size>>20, err, said)
	}
}

// TestMemoryLimit checks that under ulimit -v an input too large for memory is an
// error like an unreadable one. Under some limits the Go runtime cannot start and
// exits with code 2, which ptxlink cannot change.
func TestMemoryLimit(t *testing.T) {
	oracles.Long(t) // reads 100 MB many times
	dir := t.TempDir()
	program := filepath.Join(dir, "ptxlink")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	text := []byte(strings.Replace(memoryModule(0), "\tret;", strings.Repeat(memoryBody(), 200)+"\tret;", 1))
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
	z.Write(text)
	z.Close()
	for name, data := range map[string][]byte{"plain.ptx": text, "packed.gz": packed.Bytes()} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	refused := 0
	for _, limit := range []int{900_000} {
		run := func(args string) (int, string) {
			cmd := exec.Command("sh", "-c", fmt.Sprintf("ulimit -v %d; exec ./ptxlink %s", limit, args))
			cmd.Dir = dir
			said, _ := cmd.CombinedOutput()
			return cmd.ProcessState.ExitCode(), string(said)
		}
		if code, _ := run("--version"); code != 0 {
			continue
		}
		for _, args := range []string{"plain.ptx -o out.ptx", "packed.gz -o out.ptx", "- -o out.ptx <plain.ptx", "extract packed.gz -o - >/dev/null"} {
			code, said := run(args)
			if code != exitOK && (code != exitIO || !strings.Contains(said, "not enough memory")) {
				t.Errorf("limit of %d KB: ptxlink %s: exit code %d\n%.300s", limit, args, code, said)
			}
			if code == exitIO {
				refused++
			}
		}
	}
	if refused == 0 {
		t.Error("no limit was too low; this test shows nothing")
	}
}

const (
	memorySize   = 500_000
	memoryHeader = ".version 8.0\n.target sm_80\n.address_size 64\n"
)

// memoryBody is the bulk of a module.
var memoryBody = sync.OnceValue(func() string {
	var b strings.Builder
	for n := 0; b.Len() < memorySize; n++ {
		fmt.Fprintf(&b, "\tadd.s32 \t%%r%d, %%r%d, %d;\n", n%8, (n+3)%8, n*n%7919)
	}
	return b.String()
})

// memoryModule returns a module of about memorySize bytes.
func memoryModule(i int) string {
	return fmt.Sprintf("%s.visible .func f%d ()\n{\n\t.reg .b32 %%r<8>;\n%s\tret;\n}\n", memoryHeader, i, memoryBody())
}

func memoryArchive(w io.Writer, members int, body func(w io.Writer, i int)) {
	io.WriteString(w, "!<arch>\n")
	for i := range members {
		var b bytes.Buffer
		body(&b, i)
		fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", fmt.Sprintf("m%d.ptx/", i), 0, 0, 0, "644", b.Len(), b.Bytes())
		if b.Len()%2 != 0 {
			io.WriteString(w, "\n")
		}
	}
}

// memoryPut appends values in the byte order of an ELF file.
func memoryPut(data []byte, values ...any) []byte {
	for _, v := range values {
		if s, ok := v.(string); ok {
			v = []byte(s)
		}
		data, _ = binary.Append(data, binary.LittleEndian, v)
	}
	return data
}

// memoryFatbin returns a fatbin of PTX and cubins, compressed like those of nvcc.
func memoryFatbin(codes ...[]byte) []byte {
	var body []byte
	for _, plain := range codes {
		kind, flags := uint16(1), uint64(0x2011)
		packed := make([]byte, lz4.CompressBlockBound(len(plain)))
		var c lz4.Compressor
		n, err := c.CompressBlock(plain, packed)
		if err != nil {
			panic(err)
		}
		if plain[0] == 0x7f {
			kind, flags = 2, 0x8011
			z, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
			packed = z.EncodeAll(plain, nil)
			n = len(packed)
			packed = append(packed, make([]byte, 8)...)
		}
		packed = packed[:(n+7)&^7]
		body = memoryPut(body, kind, uint16(0x101), uint32(0x48), uint64(len(packed)), uint32(n), uint32(0x40), uint16(0), uint16(8), uint32(80), uint64(0), flags, uint64(0), uint64(len(plain)), uint64(0x48), packed)
	}
	return memoryPut(nil, "\x50\xed\x55\xba", uint16(1), uint16(16), uint64(len(body)), body)
}

// memoryELF writes an executable with host code and fatbins.
func memoryELF(w io.Writer, code int, device []byte) {
	const header = 64
	names := "\x00.text\x00.nv_fatbin\x00.shstrtab\x00\x00\x00\x00"
	at := uint64(header + code + len(device) + len(names))
	w.Write(memoryPut(nil, "\x7fELF\x02\x01\x01", [9]byte{}, uint16(2), uint16(62), uint32(1), uint64(0), uint64(0), at, uint32(0), uint16(header), uint16(56), uint16(0), uint16(64), uint16(4), uint16(3)))
	for range code / 4096 {
		w.Write(make([]byte, 4096))
	}
	w.Write(device)
	w.Write(memoryPut(nil, names, [64]byte{}))
	section := func(name uint32, off, size int) {
		w.Write(memoryPut(nil, name, uint32(1), uint64(0), uint64(0), uint64(off), uint64(size), uint32(0), uint32(0), uint64(8), uint64(0)))
	}
	section(1, header, code)
	section(7, header+code, len(device))
	section(18, header+code+len(device), len(names))
}
