//go:build js && wasm

// Wasm adds the function ptxlink to the global object of a page. It takes a request in JSON
// and the bytes of the modules, and returns an answer in JSON.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"syscall/js"

	"ptxlink/link"
	"ptxlink/link/report"
	"ptxlink/object/diag"
)

// request holds the options of a link, by their names on the command line.
type request struct {
	Names          []string `json:"names"` // of the modules
	Arch           string   `json:"arch"`
	Level          int      `json:"level"` // -O
	Fold           bool     `json:"icf"`
	KeepUnused     bool     `json:"no-gc-sections"`
	Dedupe         bool     `json:"dedupe-identical"`
	StripDebug     bool     `json:"strip-debug"`
	AllowUndefined []string `json:"allow-undefined"`
}

// answer is the result of a link. Modules and Origins are those of link.Result.Origins.
type answer struct {
	PTX      string            `json:"ptx"`
	Modules  []string          `json:"modules"`
	Origins  []int             `json:"origins"`
	Messages []json.RawMessage `json:"messages"` // docs/errors.md describes them
	Text     string            `json:"text"`     // the messages for people
	Failed   bool              `json:"failed"`
}

func main() {
	js.Global().Set("ptxlink", js.FuncOf(func(_ js.Value, args []js.Value) any {
		var r request
		if err := json.Unmarshal([]byte(args[0].String()), &r); err != nil {
			panic(err)
		}
		modules := make([][]byte, len(r.Names))
		for i := range modules {
			modules[i] = make([]byte, args[1].Index(i).Length())
			js.CopyBytesToGo(modules[i], args[1].Index(i))
		}
		text, err := json.Marshal(r.link(modules))
		if err != nil {
			panic(err)
		}
		return string(text)
	}))
	select {}
}

// spelling names the options that the page has.
func spelling(option string) (string, bool) {
	switch option {
	case "-O", "--allow-undefined", "--arch", "--dedupe-identical", "--icf", "--no-gc-sections", "--strip-debug":
		return option, true
	}
	return "", false
}

func (r *request) link(modules [][]byte) (a answer) {
	defer func() {
		if p := recover(); p != nil { // a page cannot show a stack that is in the console
			a = answer{Failed: true, Messages: []json.RawMessage{}, Text: fmt.Sprintf("internal error: %v\n%s", p, debug.Stack())}
		}
	}()
	o := link.Options{
		Arch: r.Arch, Optimize: link.Optimize{Level: r.Level, Fold: r.Fold}, KeepUnused: r.KeepUnused, DedupeIdentical: r.Dedupe,
		StripDebug: r.StripDebug, AllowUndefined: r.AllowUndefined, Spelling: diag.Spelling{Options: spelling},
		Jobs: 1, // a page has one thread
	}
	for i, name := range r.Names {
		o.Inputs = append(o.Inputs, link.Input{Name: name, Text: modules[i]})
	}
	result, err := link.Link(context.Background(), o)
	a.Failed, a.Messages = err != nil, []json.RawMessage{}
	var messages []*link.Message
	var failure *link.Errors
	var usage *link.Message
	switch {
	case errors.As(err, &failure):
		messages = failure.Messages
	case errors.As(err, &usage):
		messages = []*link.Message{usage}
	case err != nil:
		a.Text = err.Error()
		return a
	default:
		messages = result.Messages
		a.PTX = string(result.PTX)
		a.Modules, a.Origins = report.Origins(result)
	}
	var text bytes.Buffer
	diag.Write(&text, messages, diag.Style{Spelling: o.Spelling})
	a.Text, a.Messages = text.String(), report.MapMessages(messages, o.Spelling)
	return a
}
