package pack

import (
	"context"
	"crypto/sha256"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"ptxlink/internal/infile"
	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// ExtractOptions holds the inputs and options of Extract.
type ExtractOptions struct {
	Inputs []link.Input
	// Arch selects the PTX that link.Link would link for it if there is PTX for several targets. If
	// it is empty, all PTX is extracted.
	Arch string
	// MaxInputSize and Spelling are the same as in link.Options.
	MaxInputSize int64
	Spelling     diag.Spelling
	// MapInputs maps large files, which stay mapped while the process runs. Otherwise they are read.
	MapInputs bool
}

// Extracted is one PTX text. `ptxlink extract --json` writes it as JSON.
type Extracted struct {
	Name        string `json:"name"` // as in messages
	File        string `json:"file"` // file name, unique among the texts of one call
	Bytes       int    `json:"bytes"`
	Version     string `json:"version,omitempty"`      // from the text or the container
	Target      string `json:"target,omitempty"`       // likewise
	AddressSize int    `json:"address_size,omitempty"` // likewise
	HostOS      string `json:"host_os,omitempty"`
	HostArch    string `json:"host_arch,omitempty"`
	SHA256      string `json:"sha256"`

	code   container.Code
	module int // in code
}

// Text returns the text, byte for byte as in the file, which it decompresses at every call.
func (e Extracted) Text() ([]byte, error) {
	modules, err := e.code.Modules()
	if err != nil {
		return nil, err
	}
	return modules[e.module].Text, nil
}

// Extract returns every PTX text in the inputs, in the order of the inputs and their files. The
// texts need not be valid. If inputs have no PTX, it returns *link.Errors in addition to the texts
// of the others.
//
// File is the name of the innermost file with the text, and the target if the
// container has it: k.sm_80.ptx. It contains no directories.
func Extract(ctx context.Context, o ExtractOptions) ([]Extracted, error) {
	if err := object.CheckArch(o.Arch, o.Spelling); err != nil {
		return nil, err
	}
	var log diag.Log
	var list []Extracted
	taken := takenNames{}
	var maps *infile.Maps
	if o.MapInputs {
		maps = new(infile.Maps)
	}
	for i, in := range object.Named(o.Inputs) {
		before, whole := len(list), true
		whole = object.Walk(ctx, in, nil, object.Options{MaxSize: o.MaxInputSize, Map: maps}, &log, func(from container.Object) bool {
			for _, c := range object.Choose(from, o.Arch, &log) {
				modules, err := c.Modules()
				if err != nil {
					object.Refuse(c.Name, err, &log)
					whole = false
				}
				errors := log.Errors()
				for k, m := range modules {
					if !m.IsPTX() {
						notPTX(m, &log)
						continue
					}
					e := extracted(m)
					e.code, e.module = c, k
					// On Windows and macOS, names that differ only in case are one file.
					e.File = freeName(extractName(m, o.Inputs[i]), taken, strings.ToLower)
					list = append(list, e)
				}
				if log.Errors() == errors { // which would have the text
					c.Release()
				}
			}
			return ctx.Err() == nil
		}) && whole
		if !whole {
			list = list[:before]
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return list, link.ErrorsOf(&log)
}

func notPTX(m container.Member, log *diag.Log) {
	src, text, help := &diag.Source{Name: m.Name, Text: m.Text}, "this is neither PTX nor a file that contains PTX", ""
	if _, err := ptx.Parse(src); err != nil && err.NotPTX { // CUDA C++
		text, help = err.Text, err.Help
	}
	log.Error(diag.NotPTX, diag.At(&diag.Source{Name: m.Name}, diag.Span{}), text).WithHelp(help)
}

// These match the first of each directive, at the start of a line. They are only for a listing, so
// a parser is not needed.
var (
	versionLine = sets.Regexp(`(?m)^[ \t]*\.version[ \t]+([0-9.]+)`)
	targetLine  = sets.Regexp(`(?m)^[ \t]*\.target[ \t]+(\w+)`)
	addressLine = sets.Regexp(`(?m)^[ \t]*\.address_size[ \t]+(32|64)`)
)

func extracted(m container.Member) Extracted {
	e := Extracted{
		Name: m.Name, Bytes: len(m.Text), SHA256: fmt.Sprintf("%x", sha256.Sum256(m.Text)),
		Target: m.Target, AddressSize: m.AddressSize, HostOS: m.OS, HostArch: m.Arch,
	}
	// The directives are at the top, but comments before them may be long.
	head := m.Text[:min(len(m.Text), 1<<16)]
	if found := versionLine().FindSubmatch(head); found != nil {
		e.Version = string(found[1])
	}
	if found := targetLine().FindSubmatch(head); found != nil && e.Target == "" {
		e.Target = string(found[1])
	}
	if found := addressLine().FindSubmatch(head); found != nil && e.AddressSize == 0 {
		e.AddressSize, _ = strconv.Atoi(string(found[1]))
	}
	return e
}

// extractName returns memberName with the target from the container. It must not be the name of a
// device, such as con.ptx on Windows.
func extractName(m container.Member, in link.Input) string {
	name := memberName(m.Name, in)
	if m.Target != "" {
		stem, _ := strings.CutSuffix(name, ".ptx")
		name = harmless(stem + "." + m.Target + ".ptx")
	}
	if !filepath.IsLocal(name) {
		name = "_" + name
	}
	return name
}
