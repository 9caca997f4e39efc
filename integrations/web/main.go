// Web writes a page that links PTX modules in the browser, as one file that needs no server
// and no network:
//
//	go run ./integrations/web -o dist/ptxlink.html
package main

import (
	"bytes"
	"compress/gzip"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "ptxlink.html", "write the page to `FILE`")
	flag.Parse()
	page, err := build()
	if err == nil {
		err = os.WriteFile(*out, page, 0o666)
	}
	if err != nil {
		log.Fatal(err)
	}
}

//go:embed page.html
var page string

// preset is an example on the page.
type preset struct {
	Title   string   `json:"title"`
	Modules []module `json:"modules"`
	Level   int      `json:"level"` // of -O
}

type module struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// presets are the example of README.md and those of docs/compare.md, as nvcc 12.4 compiles
// them: nvcc -rdc=true -ptx -arch=sm_80 main.cu shapes.cu in testdata/quickstart, and
// shapes.cu with -DVECTORS as vectors.ptx. Each text is the path of a file until build reads it.
var presets = []preset{
	{"a kernel and a library", []module{{"main.ptx", "testdata/ptx/example/main.ptx"}, {"lib.ptx", "testdata/ptx/example/lib.ptx"}}, 0},
	{"an undefined symbol", []module{{"main.ptx", "integrations/web/quickstart/main.ptx"}}, 0},
	{"a symbol that is defined twice", []module{{"main.ptx", "integrations/web/quickstart/main.ptx"}, {"shapes.ptx", "integrations/web/quickstart/shapes.ptx"}, {"copy.ptx", "integrations/web/quickstart/shapes.ptx"}}, 0},
	{"a caller that saw an old declaration", []module{{"main.ptx", "integrations/web/quickstart/main.ptx"}, {"shapes.ptx", "integrations/web/quickstart/vectors.ptx"}}, 0},
	{"inlining between modules", []module{{"main.ptx", "integrations/web/quickstart/main.ptx"}, {"shapes.ptx", "integrations/web/quickstart/shapes.ptx"}}, 1},
}

// build compiles the linker for the browser and returns the page. It runs in the tree.
func build() ([]byte, error) {
	root, err := command("go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	root = strings.TrimSpace(root)
	for _, p := range presets {
		for i := range p.Modules {
			text, err := os.ReadFile(filepath.Join(root, p.Modules[i].Text))
			if err != nil {
				return nil, err
			}
			p.Modules[i].Text = string(text)
		}
	}
	list, err := json.Marshal(presets) // escapes <, > and &, so that no text ends the script element
	if err != nil {
		return nil, err
	}
	wasm, err := compile(root)
	if err != nil {
		return nil, err
	}
	goroot, err := command("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	exec, err := os.ReadFile(filepath.Join(strings.TrimSpace(goroot), "lib/wasm/wasm_exec.js"))
	if err != nil {
		return nil, err
	}
	return []byte(strings.NewReplacer("@PRESETS@", string(list), "@WASM@", wasm, "@EXEC@", string(exec)).Replace(page)), nil
}

// compile returns the linker as base64 of gzip. Equal sources give equal bytes.
func compile(root string) (string, error) {
	dir, err := os.MkdirTemp("", "ptxlink-web")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "ptxlink.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", path, "./integrations/web/wasm")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GOOS=js", "GOARCH=wasm", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %v\n%s", err, out)
	}
	code, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	z.Write(code)
	if err := z.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

func command(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	return string(out), nil
}
