// Package report writes what a link did as one HTML page, which needs no network.
package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"html"
	"io"
)

//go:embed report.html
var page []byte

// Report is the content of a page.
type Report struct {
	Title string // usually the name of the output
	Map   *Map   // of the link
	// Failed is set if the link failed, so that the map has the messages and little else.
	Failed bool
}

// Write writes the page. The text depends only on the report, so that builds are reproducible.
func (r Report) Write(w io.Writer) error {
	// Marshal escapes <, > and &, so no name can end the script element.
	data, err := json.Marshal(struct {
		*Map
		Failed bool `json:"failed"`
	}{r.Map, r.Failed})
	if err != nil {
		return err
	}
	out := bytes.Replace(page, []byte("@TITLE@"), []byte(html.EscapeString(r.Title)), 2)
	before, after, _ := bytes.Cut(out, []byte("@DATA@"))
	for _, part := range [][]byte{before, data, after} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}
