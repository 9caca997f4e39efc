package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"ptxlink/internal/oracles"
)

// TestConcatLTOIR links LTO-IR of fatbins that fatbinary 13.5 packs with -concat, which puts it
// into entries of its own, and of one that holds it among the codes of such an entry, which only
// nvlink 13.5 knows.
func TestConcatLTOIR(t *testing.T) {
	nvcc := oracles.RequireCompiler(t, "nvcc-new")
	fatbinary := oracles.Require(t, "fatbinary-new")
	toolkit := filepath.Dir(oracles.RequireFile(t, "nvcc-13.5/root/nvidia/cu13/bin/nvlink"))
	t.Setenv("PTXAS", filepath.Join(toolkit, "ptxas"))
	t.Setenv("NVLINK", filepath.Join(toolkit, "nvlink"))
	nvvm := oracles.RequireFile(t, "nvcc-13.5/root/nvidia/cu13/lib/libnvvm.so.4")
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("nvvm/lib64", 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(nvvm, "nvvm/lib64/libnvvm.so"); err != nil {
		t.Fatal(err)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	tool := func(name string, args ...string) {
		t.Helper()
		if said, err := exec.Command(name, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s %s: %v\n%s", name, args, err, said)
		}
	}
	write("a.cu", []byte(formsA))
	write("b.cu", []byte(formsB))
	for _, name := range []string{"a", "b"} {
		tool(nvcc, "-rdc=true", "-std=c++17", "-ltoir", "-gencode", "arch=compute_80,code=lto_80", name+".cu", "-o", name+".ltoir")
	}
	for _, gpu := range []string{"75", "90"} {
		write(gpu+".ptx", []byte("//\n.version 7.8\n.target sm_"+gpu+"\n.address_size 64\n.visible .func unused () { ret; }\n"))
	}
	tool(fatbinary, "-64", "-concat", "--device-c", "--create=packed.fatbin", "--image3=kind=nvvm,sm=80,file=a.ltoir", "--image3=kind=ptx,sm=90,file=90.ptx", "--image3=kind=ptx,sm=100,file=90.ptx")
	text, err := os.ReadFile("a.ltoir")
	if err != nil {
		t.Fatal(err)
	}
	write("inside.fatbin", concatenated(text))
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"info", "inside.fatbin"}, nil, &stdout, &stderr); code != exitOK || !strings.Contains(stdout.String(), "LTO-IR for sm_80\n") || !strings.Contains(stdout.String(), "options   -ftz=0 -prec_div=1") {
		t.Errorf("exit code %d\n%s%s", code, stdout.String(), stderr.String())
	}
	for _, name := range []string{"packed.fatbin", "inside.fatbin"} {
		tool(filepath.Join(toolkit, "nvlink"), "-lto", "-nvvmpath=nvvm", "-arch=sm_80", name, "b.ltoir", "-o", "theirs.cubin")
		want := kernelsAndData(t, "theirs.cubin")
		stderr.Reset()
		if code := run(t.Context(), []string{name, "b.ltoir", "--arch=sm_80", "-o", "ours.cubin"}, nil, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
			t.Errorf("%s: exit code %d\n%s", name, code, stderr.String())
			continue
		}
		if got := kernelsAndData(t, "ours.cubin"); len(got) != len(want) || got["ka"] != "kernel" {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// concatenated returns a fatbin with one entry that is an index of codes and holds LTO-IR for
// sm_80.
func concatenated(text []byte) []byte {
	body := append(bytes.Clone(text), make([]byte, -len(text)&7)...)
	const header, options = 64, "-ftz=0 -prec_div=1 -prec_sqrt=1 -fmad=1 \x00\x00\x00\x00\x00\x00\x00\x00" // 48 bytes
	entry := func(kind uint16, size, padded int, sm uint32) (out []byte) {
		out = binary.LittleEndian.AppendUint16(out, kind)
		out = binary.LittleEndian.AppendUint16(out, 0x101)
		out = binary.LittleEndian.AppendUint32(out, uint32(size))
		out = binary.LittleEndian.AppendUint64(out, uint64(padded))
		out = binary.LittleEndian.AppendUint32(out, 0)
		out = binary.LittleEndian.AppendUint32(out, header) // of the options
		out = binary.LittleEndian.AppendUint32(out, 1<<16|67)
		out = binary.LittleEndian.AppendUint32(out, sm)
		out = append(out, make([]byte, 8)...)
		return append(binary.LittleEndian.AppendUint64(out, 0x11), make([]byte, 16)...)
	}
	index := binary.LittleEndian.AppendUint32(entry(8, 0, len(text), 80), header+8)
	index = append(binary.LittleEndian.AppendUint32(index, 40), options...)
	head := entry(0x100, header+8+len(index), len(body), 0)
	head = binary.LittleEndian.AppendUint32(head, 1)
	head = append(binary.LittleEndian.AppendUint32(head, uint32(8+len(index))), index...)
	out := []byte("\x50\xed\x55\xba\x01\x00\x10\x00")
	return append(append(binary.LittleEndian.AppendUint64(out, uint64(len(head)+len(body))), head...), body...)
}
