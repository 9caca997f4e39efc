package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/link/pack"
	"ptxlink/object/diag"
)

var extractCommand = subcommand{
	Command: described("extract"),
	run:     (*command).extract,
}

// extract runs ptxlink extract.
func (c *command) extract(opts *cli.Context) error {
	c.report.style.ErrorLimit = int(opts.Int64("error-limit"))
	inputs, err := c.inspected()
	if err != nil {
		return err
	}
	if c.memory == nil {
		collectAt(100) // as for inspect
	}
	list, err := pack.Extract(opts.Context, pack.ExtractOptions{Spelling: c.spelling, Inputs: inputs, Arch: opts.String("arch"), MaxInputSize: opts.Int64("max-input-size"), MapInputs: c.memory == nil})
	unread := err
	if unread != nil {
		if unread = c.refused(unread); len(list) == 0 && !opts.Bool("json") {
			return unread
		}
	}
	output := opts.String("output")
	if err := c.placeFiles(list, output); err != nil && !opts.Bool("list") && !opts.Bool("json") {
		return err
	}
	switch {
	case opts.Bool("json"):
		out := c.shower()
		rows := &diag.JSONList{W: out}
		for _, e := range list {
			rows.Add(e)
		}
		return showRows(out, rows, unread)
	case opts.Bool("list"):
		return c.showTable(list, unread)
	case output == "-":
		return cmp.Or(c.write(nil, c.toStdout(outfile.File{From: textOf(list[0])})), unread)
	}
	if err := c.writeTexts(list, output, opts.Bool("force")); err != nil {
		return err
	}
	if output != "" && len(list) == 1 && list[0].File == output {
		return unread // the user has just said the path
	}
	var paths bytes.Buffer
	for _, e := range list {
		fmt.Fprintln(&paths, diag.Escape(e.File))
	}
	return cmp.Or(c.show(paths.Bytes()), unread)
}

// textOf writes a text.
func textOf(e pack.Extracted) writing {
	return func(w io.Writer) error {
		text, err := e.Text()
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	}
}

// placeFiles adds the directory to the names, or replaces the name of a single file.
func (c *command) placeFiles(list []pack.Extracted, output string) error {
	isDir := false
	if c.memory.output(output) == nil {
		info, err := os.Stat(output)
		if err != nil && !infile.Absent(err) {
			return &exitError{exitIO, outfile.CannotWrite(output, err)}
		}
		isDir = err == nil && info.IsDir()
	}
	if isDir || strings.HasSuffix(output, "/") || strings.HasSuffix(output, string(filepath.Separator)) {
		for i := range list {
			list[i].File = filepath.Join(output, list[i].File)
		}
		return nil
	}
	if output == "" {
		return nil
	}
	if len(list) == 0 {
		return &exitError{exitLink, diag.New(diag.NotPTX, diag.Place{}, "there is no PTX to write to "+output)}
	}
	if len(list) > 1 {
		return usageError(fmt.Sprintf("there are %d PTX, which do not go into one file", len(list)),
			"name a directory, with a / at the end if it is to be made, or choose with --arch; --list shows them")
	}
	list[0].File = output
	return nil
}

// writeTexts writes the whole list or nothing. An existing file with the same contents is left
// unchanged; if one has other contents, nothing is written.
func (c *command) writeTexts(list []pack.Extracted, output string, force bool) error {
	var log diag.Log
	var files []outfile.File
	onDisk := false
	for _, e := range list {
		f := outfile.File{Path: e.File, From: textOf(e), NoFollow: e.File != output}
		if c.memory.output(e.File) == nil {
			onDisk = true
			exists := f.NoFollow && outfile.IsLink(e.File)
			if regular(e.File) { // a pipe is not read before it is written
				old, err := os.ReadFile(e.File)
				if err == nil && len(old) == e.Bytes && fmt.Sprintf("%x", sha256.Sum256(old)) == e.SHA256 {
					continue
				}
				if err != nil && !force && !errors.Is(err, fs.ErrNotExist) {
					return fmt.Errorf("cannot read %s: %w", e.File, outfile.Reason(err))
				}
				exists = exists || err == nil
			}
			if exists && !force {
				log.Error(diag.OutputExists, diag.Place{}, fmt.Sprintf("%s exists and differs from what %s holds", e.File, e.Name)).
					WithHelp("choose a directory with -o, or write over it with --force")
			}
		}
		files = append(files, f)
	}
	if err := c.tell(log.Messages, exitIO); err != nil {
		return err
	}
	if dir := strings.TrimRightFunc(output, func(r rune) bool { return r == '/' || r == filepath.Separator }); onDisk && dir != output && dir != "" {
		undo, err := outfile.MakeDir(dir)
		if err != nil {
			return err
		}
		defer undo()
	}
	return c.write(c.paths, files...)
}

// regular reports whether a path names a regular file, not a device, a pipe or nothing. If the machine
// cannot tell, it counts as regular.
func regular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() || err != nil && !infile.Absent(err)
}

// showTable writes --list. unread is the error of files without PTX, or nil. Unknown values are shown as a dash.
func (c *command) showTable(list []pack.Extracted, unread error) error {
	var out bytes.Buffer
	t := tabwriter.NewWriter(&out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "bytes\ttarget\taddresses\thost\tfile\tfrom")
	for _, e := range list {
		bits := "-"
		if e.AddressSize != 0 {
			bits = fmt.Sprintf("%d-bit", e.AddressSize)
		}
		host := cmp.Or(strings.Trim(e.HostOS+"-"+e.HostArch, "-"), "-")
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\t%s\n", e.Bytes, diag.Escape(cmp.Or(e.Target, "-")), bits, diag.Escape(host), diag.Escape(e.File), diag.Escape(e.Name))
	}
	t.Flush()
	return cmp.Or(c.show(out.Bytes()), unread)
}
