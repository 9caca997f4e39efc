//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"ptxlink/internal/infile"
	"ptxlink/internal/oracles"
	"ptxlink/link"
	"ptxlink/link/pack"
	"ptxlink/object/container"
)

// client talks to a server in this process.
type client struct {
	t    testing.TB
	in   io.WriteCloser
	out  *bufio.Reader
	code chan int
	mu   sync.Mutex
}

func serve(t testing.TB) *client {
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &client{t: t, in: inW, out: bufio.NewReader(outR), code: make(chan int, 1)}
	go func() {
		c.code <- run(context.Background(), []string{"serve"}, inR, outW, io.Discard)
		outW.Close()
		inR.Close()
	}()
	if hello := c.header(); hello["protocol"] != 1.0 {
		t.Fatal(hello)
	}
	return c
}

func (c *client) send(header map[string]any, bodies ...string) {
	text, _ := json.Marshal(header)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.Write([]byte(framed(string(text)) + strings.Join(bodies, "")))
}

func (c *client) header() map[string]any {
	var size [4]byte
	if _, err := io.ReadFull(c.out, size[:]); err != nil {
		c.t.Fatal(err)
	}
	text := make([]byte, binary.LittleEndian.Uint32(size[:]))
	io.ReadFull(c.out, text)
	header := map[string]any{}
	if err := json.Unmarshal(text, &header); err != nil {
		c.t.Fatal(err)
	}
	return header
}

// answer reads an answer and the bytes behind it: standard output, standard error, files.
func (c *client) answer() (header map[string]any, parts []string) {
	header = c.header()
	sizes := []any{header["stdout"], header["stderr"]}
	if files, ok := header["files"].([]any); ok {
		for _, f := range files {
			sizes = append(sizes, f.(map[string]any)["size"])
		}
	}
	for _, n := range sizes {
		part := make([]byte, int(n.(float64)))
		io.ReadFull(c.out, part)
		parts = append(parts, string(part))
	}
	return header, parts
}

// end closes standard input and returns the exit code.
func (c *client) end() int {
	c.in.Close()
	go io.Copy(io.Discard, c.out)
	return <-c.code
}

func sent(names ...string) (files []map[string]any, bodies []string) {
	for _, name := range names {
		text, err := os.ReadFile("../../testdata/ptx/example/" + name)
		if err != nil {
			panic(err)
		}
		files, bodies = append(files, map[string]any{"name": name, "size": len(text)}), append(bodies, string(text))
	}
	return files, bodies
}

func TestServe(t *testing.T) {
	c := serve(t)
	files, bodies := sent("main.ptx", "lib.ptx")
	link := func(id int, rest map[string]any) map[string]any {
		header := map[string]any{"id": id, "args": []string{"main.ptx", "lib.ptx", "-o", "out.ptx"}, "files": files, "outputs": []string{"out.ptx"}}
		for k, v := range rest {
			header[k] = v
		}
		return header
	}
	c.send(link(1, map[string]any{"lines": true}), bodies...)
	a, parts := c.answer()
	if a["id"] != 1.0 || a["code"] != 0.0 || len(parts) != 3 || !strings.Contains(parts[2], ".visible .entry k_main") {
		t.Fatal(a, parts)
	}
	if n := len(a["lines"].([]any)); n != 2*strings.Count(parts[2], "\n") || fmt.Sprint(a["modules"]) != "[main.ptx lib.ptx]" {
		t.Errorf("%d lines of %v", n, a["modules"])
	}
	if _, err := os.Stat("out.ptx"); err == nil {
		t.Error("the output is also a file")
	}
	want := parts[2]

	c.send(map[string]any{"id": 2, "args": []string{"main.ptx", "-o", "out.ptx"}, "files": files[:1], "outputs": []string{"out.ptx"}}, bodies[0])
	a, parts = c.answer()
	if messages, _ := a["messages"].([]any); a["code"] != 1.0 || len(messages) != 2 || messages[0].(map[string]any)["id"] != "undefined-symbol" || len(parts) != 2 || !strings.HasPrefix(parts[1], "main.ptx:35:17: error: ") {
		t.Error(a, parts)
	}

	c.send(map[string]any{"id": 3, "keep": "mine", "files": files[1:]}, bodies[1])
	if a, _ := c.answer(); a["code"] != 0.0 {
		t.Fatal(a)
	}
	kept := map[string]any{"id": 4, "args": []string{"main.ptx", "-o", "out.ptx"}, "files": files[:1], "outputs": []string{"out.ptx"}, "libraries": "mine"}
	c.send(kept, bodies[0])
	if a, parts := c.answer(); a["code"] != 0.0 || parts[2] != want {
		t.Error(a, parts)
	}
	c.send(map[string]any{"id": 5, "drop": "mine"})
	c.answer()
	c.send(kept, bodies[0])
	if a, _ := c.answer(); a["error"] != "no libraries are kept as mine" {
		t.Error(a)
	}
	c.send(map[string]any{"id": 6, "args": []string{"serve"}})
	if a, _ := c.answer(); a["error"] != "serve cannot run itself" {
		t.Error(a)
	}
	c.send(map[string]any{"id": 7, "args": []string{"nm", "lib.ptx"}, "files": files[1:]}, bodies[1])
	if a, parts := c.answer(); a["code"] != 0.0 || !strings.Contains(parts[0], "clamp") {
		t.Error(a, parts)
	}
	const many = 200
	go func() {
		for i := range many {
			c.send(link(10+i, nil), bodies...)
		}
	}()
	seen := map[any]bool{}
	for range many {
		a, parts := c.answer()
		if seen[a["id"]] || parts[2] != want {
			t.Fatal(a, parts)
		}
		seen[a["id"]] = true
	}
	if code := c.end(); code != exitOK {
		t.Error("exit code", code)
	}
}

// TestServeCancel ends a request that would wait for ever, and a server whose request does.
func TestServeCancel(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo.ptx")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	c := serve(t)
	c.send(map[string]any{"id": 1, "args": []string{fifo, "-o", "out.ptx"}, "outputs": []string{"out.ptx"}})
	c.send(map[string]any{"id": 2, "cancel": 1})
	if a, _ := c.answer(); a["id"] != 1.0 || a["code"] != 130.0 {
		t.Error(a)
	}
	c.send(map[string]any{"id": 3, "args": []string{fifo, "-o", "out.ptx"}, "outputs": []string{"out.ptx"}})
	if code := c.end(); code != exitOK {
		t.Error("exit code", code)
	}
}

// TestServeRefuses sends requests that are wrong. Each is answered, and the next one runs.
func TestServeRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("main.ptx", []byte(small), 0o666); err != nil {
		t.Fatal(err)
	}
	const kinds = "a request has one of the fields args, keep, drop and cancel"
	c := serve(t)
	for sent, want := range map[string]string{
		`{"id":1,"argv":[]}`:                                           `unknown field "argv"`,
		`{"id":1,"ID":2}`:                                              `unknown field "ID"`,
		`{"id":1,"args":"main.ptx"}`:                                   `the field "args" must be a list of strings`,
		`{"id":1,"args":["main.ptx",8]}`:                               `the field "args" must be a list of strings`,
		`{"id":1,"args":null}`:                                         `the field "args" must be a list of strings`,
		`{"id":1,"outputs":{}}`:                                        `the field "outputs" must be a list of strings`,
		`{"id":1,"lines":1}`:                                           `the field "lines" must be true or false`,
		`{"id":1,"libraries":[]}`:                                      `the field "libraries" must be a string`,
		`{"id":1,"keep":7}`:                                            `the field "keep" must be a string`,
		`{"id":1,"keep":"x","arch":80}`:                                `the field "arch" must be a string`,
		`{"id":1,"drop":true}`:                                         `the field "drop" must be a string`,
		`{"id":1,"cancel":"1"}`:                                        `the field "cancel" must be a whole number from -2^63 to 2^63 - 1`,
		`{"id":1,"cancel":1.5}`:                                        `the field "cancel" must be a whole number from -2^63 to 2^63 - 1`,
		`{"id":1,"files":"a"}`:                                         `the field "files" must be a list of objects`,
		`{"id":1,"files":["a",{"name":"a","size":3}]}` + "\nabc":       `the field "files" must be a list of objects`,
		`{"id":1,"files":[{"name":[],"size":3}]}` + "\nabc":            `the field "name" of a file must be a string`,
		`{"id":1,"files":[{"name":"a","size":"3"}]}`:                   `the field "size" of a file must be a whole number from 0 to 2^63 - 1`,
		`{"id":1,"files":[{"name":"a"}]}`:                              `the field "size" of a file is missing`,
		`{"id":1,"files":[{"size":3}]}` + "\nabc":                      `the field "name" of a file is missing`,
		`{"id":1,"files":[{"name":"a","size":-1}]}`:                    `the field "size" of a file must be a whole number from 0 to 2^63 - 1`,
		`{"id":1,"files":[{"name":"a","size":9223372036854775808}]}`:   `the field "size" of a file must be a whole number from 0 to 2^63 - 1`,
		`{"id":1,"files":[{"name":"a","size":3,"data":""}]}` + "\nabc": `unknown field "data" of a file`,
		`{"id":1,"args":["nm"],"keep":"x"}`:                            kinds,
		`{"id":1,"args":["nm"],"drop":"x"}`:                            kinds,
		`{"id":1,"args":["nm"],"cancel":1}`:                            kinds,
		`{"id":1,"args":["nm"],"arch":"sm_80"}`:                        "the field arch goes with keep; other requests have --arch in args",
		`{"id":1,"keep":"x","outputs":["a"]}`:                          "the fields outputs, lines and libraries go with args",
		`{"id":1,"args":["main.ptx"],"libraries":"x"}`:                 "no libraries are kept as x",
		`{"id":1,"drop":"x","lines":true}`:                             "the fields outputs, lines and libraries go with args",
		`{"id":1,"args":["serve"]}`:                                    "serve cannot run itself",
		`{"id":1,"args":["main.ptx"],"id":"1"}`:                        `the field "id" must be a whole number from -2^63 to 2^63 - 1`,
	} {
		header, body, _ := strings.Cut(sent, "\n")
		c.in.Write([]byte(framed(header) + body))
		a, _ := c.answer()
		if id := strings.Contains(header, `"id":"1"`); a["error"] != want || a["code"] != 2.0 || (a["id"] != 1.0) != id {
			t.Errorf("%s: %v, want %q", header, a, want)
		}
	}
	// These get as far as the command.
	c.send(map[string]any{"id": 1, "keep": "kept", "arch": "sm_80"})
	c.answer()
	for sent, want := range map[string]string{
		`{"id":1,"args":["main.ptx","-o","a.ptx"],"outputs":["b.ptx"]}`:             "ptxlink: error: no option writes the output b.ptx\n",
		`{"id":1,"args":["main.ptx","--Map=m","-o","a.ptx"],"outputs":["m","-"]}`:   "ptxlink: error: no option writes the output -\n",
		`{"id":1,"args":["nm","main.ptx"],"outputs":["b.ptx"]}`:                     "ptxlink: error: no option writes the output b.ptx\n",
		`{"id":1,"args":["ar","b.a","main.ptx"],"outputs":["c.a"]}`:                 "ptxlink: error: no option writes the output c.a\n",
		`{"id":1,"args":["main.ptx",null]}`:                                         "ptxlink: error: the name of an input is empty\n",
		`{"id":1,"keep":"x","arch":"compute"}`:                                      "ptxlink: error: \"compute\" is not the name of a GPU\nhelp: arch wants a name",
		`{"id":1,"keep":"x","files":[{"name":"a.a","size":9}]}` + "\n!<arch>\nx":    "a.a: error: ",
		`{"id":1,"args":["main.ptx","--arch=sm_90"],"libraries":"kept"}`:            "ptxlink: error: the link is for sm_90, and its libraries were read for \"sm_80\"",
		`{"id":1,"args":["a.ptx"],"files":[{"name":"a.ptx","size":5}]}` + "\n.func": "a.ptx:1:1: error: ",
	} {
		header, body, _ := strings.Cut(sent, "\n")
		c.in.Write([]byte(framed(header) + body))
		if a, parts := c.answer(); a["id"] != 1.0 || a["code"] == 0.0 || a["error"] != nil || !strings.HasPrefix(parts[1], want) {
			t.Errorf("%s: %v %q, want %q", header, a, parts, want)
		}
	}
	for _, names := range []string{`"nm","a"`, `"nm","a","a","a"`} {
		c.in.Write([]byte(framed(`{"id":1,"args":[`+names+`],"files":[{"name":"a","size":1},{"name":"a","size":1}]}`) + "xy"))
		want := fmt.Sprintf("ptxlink: error: files has 2 called a, and args has %d\n", strings.Count(names, `"a"`))
		if a, parts := c.answer(); a["code"] != 2.0 || parts[1] != want {
			t.Errorf("%s: %v %q", names, a, parts)
		}
	}
	if entries, err := os.ReadDir("."); err != nil || len(entries) != 1 {
		t.Errorf("requests that were refused wrote %v", entries)
	}
	c.send(map[string]any{"id": 2, "args": []string{"main.ptx", "-o", "empty", "--unused-inputs=list"}, "outputs": []string{"list", "empty"}})
	if a, parts := c.answer(); a["code"] != 0.0 || len(parts) != 4 || parts[2] != "" || parts[3] == "" {
		t.Error(a, parts)
	}
	if code := c.end(); code != exitOK {
		t.Error("exit code", code)
	}
}

// TestServeBroken sends what has no end that the server could find.
func TestServeBroken(t *testing.T) {
	for text, want := range map[string]string{
		"\xff\xff\xff\xff": "a header of 4294967295 bytes; at most 16777216 are allowed",
		framed("x"):        "the header is not a JSON object",
		framed("[]"):       "the header is not a JSON object",
		framed("null"):     "the header is not a JSON object",
		framed("{}{}"):     "the header is not a JSON object",
		framed(`{"id":1,"files":[{"name":"a","size":9223372036854775807}]}`) + "text": "it ends within a request",
		"\x09\x00":         "it ends within a request",
		"\x09\x00\x00\x00": "it ends within a request",
	} {
		c := serve(t)
		go func() { c.in.Write([]byte(text)); c.in.Close() }()
		if a, _ := c.answer(); a["error"] != want || a["id"] != 0.0 || a["code"] != 2.0 {
			t.Errorf("%q: %v, want %q", text, a, want)
		}
		if code := c.end(); code != exitUsage {
			t.Errorf("%q: exit code %d", text, code)
		}
	}
	for _, sent := range []string{"", "\x09\x00", "\x09\x00\x00\x00{"} {
		c := serve(t)
		go func() { c.in.Write([]byte(sent)); c.in.(*io.PipeWriter).CloseWithError(syscall.EIO) }()
		if a, _ := c.answer(); a["error"] != "input/output error" || a["code"] != 3.0 {
			t.Error(a)
		}
		if code := c.end(); code != exitIO {
			t.Errorf("a read error after %q: exit code %d", sent, code)
		}
	}
}

// failing accepts some writes.
type failing struct{ left int }

func (f *failing) Write(data []byte) (int, error) {
	if f.left--; f.left < 0 {
		return 0, syscall.ENOSPC
	}
	return len(data), nil
}

// TestServeUnwritten ends the server with the first answer that cannot be written, although its
// standard input stays open.
func TestServeUnwritten(t *testing.T) {
	for writes := range 3 { // the greeting, the header of an answer, standard error
		in, client := io.Pipe()
		var stderr bytes.Buffer
		code := make(chan int)
		go func() {
			code <- run(context.Background(), []string{"serve"}, in, &failing{writes}, &stderr)
		}()
		go client.Write([]byte(framed(`{"id":1,"args":["nm"]}`)))
		if code, want := <-code, "ptxlink: error: cannot write standard output: no space left on device\n"; code != exitIO || stderr.String() != want {
			t.Errorf("write %d fails: exit code %d, %q", writes, code, stderr.String())
		}
		client.Close()
	}
}

// TestServeOutputs keeps outputs in memory whose names nothing could be written under, or in a
// working directory that is gone.
func TestServeOutputs(t *testing.T) {
	for _, gone := range []bool{false, true} {
		dir := filepath.Join(t.TempDir(), "dir")
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		t.Chdir(dir)
		if gone {
			if err := os.Remove(dir); err != nil {
				t.Skip(err)
			}
		} else {
			for _, name := range []string{"out", "map", "deps", "lib.a"} {
				if err := errors.Join(os.Mkdir(name, 0o777), os.Symlink("none/file", name+".link")); err != nil {
					t.Fatal(err)
				}
			}
			if err := syscall.Mkfifo("fifo.a", 0o666); err != nil {
				t.Fatal(err)
			}
		}
		c := serve(t)
		for args, outputs := range map[string]string{
			"k.ptx -o out --Map=map --dependency-file=deps --format=ptx":       "out map deps",
			"k.ptx -o out.link --Map=map.link --report=deps.link --format=ptx": "out.link map.link deps.link",
			"k.ptx -o ./out --Map=out":                                         "./out out",
			"k.ptx -o none/out --reproduce=none/out.tar":                       "none/out none/out.tar",
			"ar lib.a k.ptx":          "lib.a",
			"ar fifo.a k.ptx":         "fifo.a",
			"ar rc none/lib.a k.ptx":  "none/lib.a",
			"ar d in.a k.ptx":         "in.a",
			"ar x in.a --output none": "none/k.ptx",
			"nm k.ptx --output out":   "out",
			"extract k.ptx -o out":    "out",
			"extract in.a -o none/":   "none/k.ptx",
		} {
			archive, err := pack.Make(t.Context(), pack.Options{Inputs: []link.Input{{Name: "k.ptx", Text: []byte(small)}}})
			if err != nil {
				t.Fatal(err)
			}
			files := []map[string]any{{"name": "k.ptx", "size": len(small)}, {"name": "in.a", "size": len(archive.Data)}}
			c.send(map[string]any{"id": 1, "args": strings.Fields(args), "outputs": strings.Fields(outputs), "files": files}, small, string(archive.Data))
			if a, parts := c.answer(); a["code"] != 0.0 || len(parts) != 2+len(strings.Fields(outputs)) {
				t.Errorf("%s: %v %q", args, a, parts)
			}
		}
		if code := c.end(); code != exitOK {
			t.Error("exit code", code)
		}
		if entries, err := os.ReadDir("."); !gone && (err != nil || len(entries) != 9) {
			t.Errorf("written: %v, %v", entries, err)
		}
	}
}

// TestServeNames links files of one name, whose messages and lines tell them apart.
func TestServeNames(t *testing.T) {
	c := serve(t)
	_, bodies := sent("main.ptx", "lib.ptx")
	named := func(names ...string) (files []map[string]any) {
		for i, name := range names {
			files = append(files, map[string]any{"name": name, "size": len(bodies[i])})
		}
		return files
	}
	args := []string{"k.ptx", "-o", "out.ptx", "k.ptx"}
	c.send(map[string]any{"id": 1, "args": args, "files": named("k.ptx", "k.ptx"), "outputs": []string{"out.ptx"}, "lines": true}, bodies...)
	if a, parts := c.answer(); a["code"] != 0.0 || !strings.Contains(parts[2], ".visible .entry k_main") || fmt.Sprint(a["modules"]) != "[k.ptx k.ptx#2]" {
		t.Error(a, parts)
	}
	bodies = append(bodies, bodies[1])
	args = []string{"k.ptx", "k.ptx", "k.ptx#2", "-o", "k.ptx"}
	c.send(map[string]any{"id": 2, "args": args, "files": named("k.ptx", "k.ptx", "k.ptx#2"), "outputs": []string{"k.ptx"}}, bodies...)
	if a, parts := c.answer(); a["code"] != 1.0 || !strings.HasPrefix(parts[1], "k.ptx#2:") || !strings.Contains(parts[1], "\nk.ptx#3:") {
		t.Error(a, parts)
	}
	c.send(map[string]any{"id": 3, "keep": "libs", "files": named("k.ptx", "k.ptx")}, bodies[:2]...)
	c.answer()
	c.send(map[string]any{"id": 4, "args": []string{"k.ptx", "-o", "k.ptx"}, "files": named("k.ptx"), "libraries": "libs", "outputs": []string{"k.ptx"}}, bodies[0])
	if a, parts := c.answer(); a["code"] != 1.0 || !strings.Contains(parts[1], "multiple definition") {
		t.Error(a, parts)
	}
	c.end()
}

// TestServeNvlink links files in memory in nvlink's place.
func TestServeNvlink(t *testing.T) {
	oracles.Require(t, "ptxas")
	c := serve(t)
	files, bodies := sent("main.ptx", "lib.ptx")
	args := []string{"nvlink", "--arch=sm_80", "main.ptx", "lib.ptx", "-o", "out.cubin"}
	c.send(map[string]any{"id": 1, "args": args, "files": files, "outputs": []string{"out.cubin"}}, bodies...)
	if a, parts := c.answer(); a["code"] != 0.0 || len(parts) != 3 || container.CheckCubin([]byte(parts[2])) != nil {
		t.Errorf("%v %q", a, parts[1])
	}
	c.end()
}

// TestServeMaps links large files, which may change after that.
func TestServeMaps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "large.ptx")
	if err := os.WriteFile(path, []byte(small+strings.Repeat("// a line\n", infile.LeastMapped)), 0o666); err != nil {
		t.Fatal(err)
	}
	c := serve(t)
	for _, args := range [][]string{{path, "-o", "out.ptx"}, {path, path, "-o", "out.ptx"}} {
		c.send(map[string]any{"id": 1, "args": args, "outputs": []string{"out.ptx"}, "lines": true})
		c.answer()
	}
	if maps, err := os.ReadFile("/proc/self/maps"); err == nil && bytes.Contains(maps, []byte(path)) {
		t.Error("the server keeps its inputs mapped")
	}
	c.end()
}

// TestServeStreams names the standard input and output of the server in a request.
func TestServeStreams(t *testing.T) {
	cmd := exec.Command("ptxlink", "serve")
	in, err1 := cmd.StdinPipe()
	out, err2 := cmd.StdoutPipe()
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := errors.Join(err1, err2, cmd.Start()); err != nil {
		t.Fatal(err)
	}
	c := &client{t: t, in: in, out: bufio.NewReader(out)}
	c.header()
	file := []map[string]any{{"name": "a.ptx", "size": len(small)}}
	c.send(map[string]any{"id": 1, "args": []string{"a.ptx", "-o", "/dev/stdout"}, "files": file}, small)
	if a, _ := c.answer(); a["code"] != 0.0 {
		t.Error(a)
	}
	c.send(map[string]any{"id": 2, "args": []string{"nm", "/dev/stdin"}})
	if a, _ := c.answer(); a["id"] != 2.0 || a["code"] == 0.0 {
		t.Error(a)
	}
	c.send(map[string]any{"id": 3, "args": []string{"nm", "a.ptx"}, "files": file}, small)
	if a, parts := c.answer(); a["id"] != 3.0 || !strings.Contains(parts[0], " T k") {
		t.Error(a, parts)
	}
	in.Close()
	if err := cmd.Wait(); err != nil || !strings.Contains(said.String(), ".visible .entry k") {
		t.Error(err, said.String())
	}
}

func framed(header string) string {
	return string(binary.LittleEndian.AppendUint32(nil, uint32(len(header)))) + header
}

func FuzzReadRequest(f *testing.F) {
	f.Add([]byte("\x10\x00\x00\x00{\"id\":1,\"x\":[]}"))
	f.Add([]byte("\x32\x00\x00\x00{\"id\":1,\"files\":[{\"name\":\"a\",\"size\":3}]} abc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReader(bytes.NewReader(data))
		for {
			r, err := readRequest(in)
			if err != nil {
				return
			}
			total := 0
			for _, f := range r.files {
				total += len(f.data)
			}
			if total > len(data) {
				t.Fatal(r, total)
			}
		}
	})
}
