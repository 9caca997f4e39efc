//go:build linux

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"

	"ptxlink/internal/oracles"
)

// needOne: one of this many members is needed.
const needOne = 100

// archiveCommands links a kernel with an archive in three forms: from GNU ar, without
// an index, and from `ptxlink ar`, plain and compressed.
func archiveCommands(dir, binary, out string, members, size int) (commands []command, total int) {
	kernel := write(dir, "kernel.ptx", kernel(members))
	noIndex := filepath.Join(dir, "libplain.a")
	total = writeArchive(noIndex, members, size)
	index, packed := filepath.Join(dir, "libindex.a"), filepath.Join(dir, "libpacked.a")
	for _, args := range [][]string{{"ar", index, noIndex}, {"ar", "--compress", packed, noIndex}} {
		if text, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
			log.Fatalf("%v: %v\n%s", args, err, text)
		}
	}
	info, err := os.Stat(packed)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d members, %.1f MB (%.1f MB compressed), %d needed\n", members, float64(total)/1e6, float64(info.Size())/1e6, (members+needOne-1)/needOne)
	commands = []command{
		{"cat", []string{"sh", "-c", "cat " + kernel + " " + noIndex + " >" + out}},
		{"ptxlink, index", []string{binary, "-o", out, kernel, index}},
		{"ptxlink, zstd", []string{binary, "-o", out, kernel, packed}},
		{"ptxlink, none", []string{binary, "-o", out, kernel, noIndex}},
	}
	if tool, ok := oracles.Find("nvptx-none-ld"); ok {
		commands = append(commands, command{"nvptx-none-ld", []string{tool, "-o", out, kernel, "-L" + dir, "-lplain"}})
	}
	return commands, total
}

// writeArchive writes the archive as GNU ar does for PTX. It does not build it in
// memory, because the peak of a child process includes ours.
func writeArchive(path string, members, size int) (total int) {
	f, err := os.Create(path)
	if err != nil {
		log.Fatal(err)
	}
	w := bufio.NewWriter(f)
	w.WriteString("!<arch>\n")
	for i := range members {
		text := member(i, size)
		fmt.Fprintf(w, "%-16s%-12d%-6d%-6d%-8s%-10d`\n%s", fmt.Sprintf("m%05d.o/", i), 0, 0, 0, "644", len(text), text)
		if len(text)%2 != 0 {
			w.WriteByte('\n')
		}
		total += len(text)
	}
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		log.Fatal(err)
	}
	return total
}

// member defines one function for others to call. nvptx-none-ld reads its comments.
func member(index, size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "// BEGIN PREAMBLE\n.version 7.8\n.target sm_75\n.address_size 64\n// END PREAMBLE\n\n.global .align 4 .b32 table[4] = {1, 2, 3, %d};\n", index)
	local := 0
	for ; b.Len() < size-6000; local++ {
		function(&b, fmt.Sprintf("local%d", local), "", local, false, false)
	}
	text := bytes.ReplaceAll(b.Bytes(), []byte(".visible .func"), []byte(".func"))
	b = *bytes.NewBuffer(text)
	name := fmt.Sprintf("member%05d", index)
	fmt.Fprintf(&b, "\n// BEGIN GLOBAL FUNCTION DEF: %s\n", name)
	function(&b, name, "", local, false, false)
	return b.Bytes()
}

// kernel calls the needed members.
func kernel(members int) []byte {
	var b, calls bytes.Buffer
	fmt.Fprintf(&b, "// BEGIN PREAMBLE\n.version 7.8\n.target sm_75\n.address_size 64\n// END PREAMBLE\n")
	for i := 0; i < members; i += needOne {
		name := fmt.Sprintf("member%05d", i)
		fmt.Fprintf(&b, "\n// BEGIN GLOBAL FUNCTION DECL: %s\n.extern .func (.param .b32 r) %s (.param .b64 p, .param .b32 n);\n", name, name)
		fmt.Fprintf(&calls, "\t{\n\t.param .b64 a;\n\t.param .b32 b, r;\n\tst.param.b64 [a], %%rd1;\n\tst.param.b32 [b], %d;\n\tcall (r), %s, (a, b);\n\t}\n", i, name)
	}
	fmt.Fprintf(&b, "\n// BEGIN GLOBAL FUNCTION DEF: kernel\n.visible .entry kernel(.param .u64 p)\n{\n\t.reg .b64 %%rd<2>;\n\tld.param.u64 %%rd1, [p];\n%s\tret;\n}\n", calls.Bytes())
	return b.Bytes()
}
