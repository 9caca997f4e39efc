//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// client talks to a server in this process.
type client struct {
	t    testing.TB
	in   *io.PipeWriter
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
	frame := append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.in.Write(append(frame, strings.Join(bodies, "")...))
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
	select {
	case code := <-c.code:
		return code
	case <-time.After(time.Minute):
		c.t.Fatal("the server does not end")
		return -1
	}
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

// TestServeRefuses sends what is no request.
func TestServeRefuses(t *testing.T) {
	frame := func(header string) string {
		return string(binary.LittleEndian.AppendUint32(nil, uint32(len(header)))) + header
	}
	for text, want := range map[string]string{
		"\xff\xff\xff\xff":          "a header of 4294967295 bytes; at most 16777216 are allowed",
		frame("x"):                  "the header: invalid character 'x'",
		frame(`{"id":1,"argv":[]}`): `the header: json: unknown field "argv"`,
		frame(`{"id":1,"files":[{"name":"a","size":-1}]}`):                           `the file "a" has a negative size`,
		frame(`{"id":1,"files":[{"name":"a","size":0},{"name":"a","size":0}]}`):      `the file "a" has a negative size or is sent twice`,
		frame(`{"id":1,"files":[{"name":"a","size":9223372036854775807}]}`) + "text": "unexpected EOF",
		"\x09\x00": "unexpected EOF",
	} {
		c := serve(t)
		go func() { c.in.Write([]byte(text)); c.in.Close() }()
		a, _ := c.answer()
		if got, _ := a["error"].(string); !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
		if code := c.end(); code != exitUsage {
			t.Errorf("%q: exit code %d", text, code)
		}
	}
}

func FuzzReadRequest(f *testing.F) {
	f.Add([]byte("\x10\x00\x00\x00{\"id\":1,\"x\":[]}"))
	f.Add([]byte("\x32\x00\x00\x00{\"id\":1,\"files\":[{\"name\":\"a\",\"size\":3}]} abc"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in := bufio.NewReader(bytes.NewReader(data))
		for {
			r, files, err := readRequest(in)
			if err != nil {
				return
			}
			total := 0
			for _, text := range files {
				total += len(text)
			}
			if total > len(data) || len(r.Files) != len(files) {
				t.Fatal(r, len(files), total)
			}
		}
	})
}
