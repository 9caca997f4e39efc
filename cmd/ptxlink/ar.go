package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"ptxlink/internal/infile"
	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/link"
	"ptxlink/link/pack"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

var arCommand = subcommand{
	Command: described("ar"),
	before:  takeOperation,
	run:     (*command).ar,
}

// arLetters are all letters of GNU ar. The first are operations.
const (
	arOperations = "dmpqrstx"
	arLetters    = arOperations + "abcDfilLMNoOPSTuUvV"
)

// arRefused are letters of GNU ar that would change what a package is: its members have no times,
// users or directories, and stay in the order they were put in.
const arRefused = "mabifMNOPTVuU"

const arHelp = "r puts files in, t lists members, p prints, x extracts and d deletes them; an archive called %s is written ./%[1]s"

// isOperation reports whether a word consists of ar's letters, with an operation among them.
func isOperation(word string) bool {
	return word != "" && strings.Trim(word, arLetters) == "" && strings.ContainsAny(word, arOperations)
}

// takeOperation finds the operation of ar: the first argument that is not an option,
// if it consists of ar's letters and an archive follows. It may have a dash, like an
// option.
func takeOperation(c *command, t table, args []string) []string {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return args
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if f := t.named[name]; strings.HasPrefix(arg, "-") && f != nil {
			if !hasValue && needsValue(f) {
				i++
			}
			continue
		}
		if word := strings.TrimPrefix(arg, "-"); isOperation(word) && i+1 < len(args) {
			c.letters = word
			return slices.Delete(slices.Clone(args), i, i+1)
		} else if word != arg {
			continue // -Wno-ID, -j8, or an unknown option, which is reported later
		}
		return args
	}
	return args
}

// arJob is a run of ptxlink ar.
type arJob struct {
	*command
	archive string
	onDisk  bool // where the archive is written
	options pack.Options
	// What the letters mean.
	operation                byte
	create, verbose, noIndex bool
}

func (j *arJob) readLetters(word string) error {
	var operations []string
	for _, letter := range word {
		if strings.ContainsRune(arRefused, letter) {
			return usageError(fmt.Sprintf("%c of %q is not supported", letter, word), fmt.Sprintf(arHelp, word))
		}
		switch letter {
		case 'c':
			j.create = true
		case 'v':
			j.verbose = true
		case 'S':
			j.noIndex = true
		case 's':
			j.noIndex = false
			if strings.Trim(word, "scvSDlLo") != "" {
				continue // beside another operation
			}
			fallthrough
		case 'd', 'p', 'q', 'r', 't', 'x':
			if l := string(letter); !slices.Contains(operations, l) {
				operations = append(operations, l)
				j.operation = byte(letter)
			}
		}
	}
	if len(operations) != 1 {
		return usageError(fmt.Sprintf("%q asks for several operations: %s", word, strings.Join(operations, ", ")), "an archive called "+word+" is written ./"+word)
	}
	return nil
}

// ar runs ptxlink ar.
func (c *command) ar(opts *cli.Context) error {
	if err := c.readMessageOptions(opts); err != nil {
		return err
	}
	options, err := c.packOptions(opts)
	if err != nil {
		return err
	}
	if len(c.inputs) == 0 {
		return usageError("no archive", "ptxlink ar libx.a a.ptx makes one; ptxlink ar --help lists the operations")
	}
	archive := c.inputs[0].name
	c.inputs = c.inputs[1:]
	if archive == "-" {
		return usageError("ar cannot use - as the archive", "")
	}
	j := &arJob{command: c, archive: archive, options: options, onDisk: c.memory.output(archive) == nil}
	_, given := c.memory.input(input{name: archive})
	if info, err := os.Stat(archive); err == nil && !info.IsDir() && !info.Mode().IsRegular() && (j.onDisk || c.letters != "" && !given) {
		return &exitError{exitIO, diag.New(diag.IO, diag.Place{}, archive+" is a device or a pipe, and an archive is a file that can be read again and replaced")}
	}
	if c.letters == "" {
		return j.arFresh(opts.Context)
	}
	if err := j.readLetters(c.letters); err != nil {
		return err
	}
	for name, operation := range map[string]string{"compress": "rq", "format": "rq", "host": "rq", "arch": "rq", "output": "x"} {
		if opts.IsSet(name) && strings.IndexByte(operation, j.operation) < 0 {
			return usageError(fmt.Sprintf("option --%s has no effect with operation %c", name, j.operation), "")
		}
	}
	if strings.IndexByte("rqsd", j.operation) >= 0 && j.onDisk {
		// The process that writes to our input may wait for the lock.
		if slices.ContainsFunc(c.inputs, func(in input) bool { return in.name == "-" }) {
			text, err := infile.ReadAll(c.stdin, cmp.Or(options.MaxInputSize, 4<<30))
			if err != nil {
				return fmt.Errorf("cannot read standard input: %w", err)
			}
			c.stdin = bytes.NewReader(text)
		}
		unlock, err := outfile.Lock(opts.Context, archive, func() {
			c.report.note("waiting for the lock of the directory of " + archive + ", which another program holds, or the one that started this")
		})
		if err != nil {
			return err
		}
		defer unlock()
	}
	switch j.operation {
	case 'r', 'q':
		return j.arInsert(opts.Context)
	case 's', 'd':
		return j.arDelete(opts.Context)
	}
	return j.arShow(opts.String("output"))
}

func (c *command) packOptions(opts *cli.Context) (o pack.Options, err error) {
	o = pack.Options{
		Spelling: c.spelling,
		Format:   pack.Format(opts.String("format")), Arch: opts.String("arch"), Host: opts.String("host"),
		Jobs: int(opts.Int64("threads")), MaxInputSize: opts.Int64("max-input-size"),
	}
	if opts.Bool("compress") {
		if o.Format != "" && o.Format != pack.Zstd {
			return o, usageError(fmt.Sprintf("--compress does not go with --format=%s", o.Format), "")
		}
		o.Format = pack.Zstd
	}
	return o, o.Check()
}

// arFresh creates an archive of exactly these files, and replaces an existing one.
func (j *arJob) arFresh(ctx context.Context) error {
	if isOperation(j.archive) && len(j.inputs) == 0 {
		return usageError(fmt.Sprintf("operation %q without an archive", j.archive), "as in: ptxlink ar "+j.archive+" libx.a")
	}
	if !strings.ContainsAny(j.archive, "./\\") {
		return usageError(fmt.Sprintf("%q is not an ar operation", j.archive), fmt.Sprintf(arHelp, j.archive))
	}
	if len(j.inputs) == 0 {
		return usageError("no files to put into "+j.archive, "ptxlink ar t "+j.archive+" lists its members; ptxlink ar --help lists the operations")
	}
	// "ptxlink ar a.ptx b.ptx" has forgotten the archive.
	if j.onDisk {
		data, err := os.ReadFile(j.archive)
		if err != nil && !infile.Absent(err) && !errors.Is(err, syscall.EISDIR) {
			return fmt.Errorf("cannot read %s: %w", j.archive, outfile.Reason(err))
		}
		if len(data) > 0 && !container.IsArchive(data) {
			return &exitError{exitLink, diag.New(diag.NotAnArchive, diag.Place{}, j.archive+" exists and is not an archive").WithHelp("the archive comes first: ptxlink ar libx.a " + j.archive)}
		}
	}
	if err := j.findMembers(); err != nil {
		return err
	}
	made, err := pack.Make(ctx, j.options)
	if err != nil {
		return j.refused(err)
	}
	return j.putArchive(made.Data, made.Messages)
}

// findMembers reads the names of the files that go into an archive. A file
// named twice goes in once, as it would take its own place.
func (j *arJob) findMembers() (err error) {
	seen := map[string]bool{}
	j.inputs = slices.DeleteFunc(j.inputs, func(in input) bool {
		name := infile.Fold(filepath.Clean(in.name))
		return name != "-" && !sets.Add(&seen, name)
	})
	if j.options.Inputs, err = j.findInputs(nil); err != nil {
		return err
	}
	return j.checkFile(j.archive)
}

func (j *arJob) putArchive(data []byte, messages []*link.Message) error {
	if err := j.tell(messages, exitLink); err != nil {
		return err
	}
	f := outfile.File{Path: j.archive, Data: data}
	// The archive is replaced by a new file, which the mode of the old file does not
	// prevent.
	if info, err := os.Stat(j.archive); j.onDisk && err == nil {
		old, err := os.OpenFile(j.archive, os.O_WRONLY, 0)
		if err != nil {
			return outfile.CannotWrite(j.archive, err)
		}
		old.Close()
		f.Mode = info.Mode().Perm()
	}
	return j.write(j.paths, f)
}

// openArchive reads an archive, or maps it if maps is not nil.
func (j *arJob) openArchive(maps *infile.Maps) (*pack.Archive, error) {
	data, err := []byte(nil), error(nil)
	if in, ok := j.memory.input(input{name: j.archive}); ok {
		data = in.Text
	} else if data, err = maps.Read(j.archive, math.MaxInt64, nil); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", j.archive, outfile.Reason(err))
	}
	a, err := pack.ReadArchive(j.archive, data)
	if err != nil {
		return nil, j.refused(err)
	}
	a.MaxInputSize = j.options.MaxInputSize
	return a, nil
}

// openToChange opens an archive that will be rewritten.
func (j *arJob) openToChange() (*pack.Archive, error) {
	a, err := j.openArchive(nil)
	if err == nil && a.Thin {
		err = &exitError{exitLink, diag.New(diag.ThinArchive, diag.Place{}, j.archive+" is a thin archive, which is only read").WithHelp("ptxlink ar libnew.a " + j.archive + " makes a package of it")}
	}
	return a, err
}

// arInsert runs r and q.
func (j *arJob) arInsert(ctx context.Context) error {
	a, err := j.openToChange()
	created := errors.Is(err, fs.ErrNotExist)
	if created {
		a = &pack.Archive{Name: j.archive}
	} else if err != nil {
		return err
	}
	if have := a.Format(); have != "" && j.options.Format != "" && have != j.options.Format {
		return &exitError{exitLink, diag.New(diag.ArchiveFormat, diag.Place{}, fmt.Sprintf("%s is a package of format %s, and one package has one format", j.archive, have)).
			WithHelp(fmt.Sprintf("ptxlink ar --format=%s libnew.a %s makes one of the other format", j.options.Format, j.archive))}
	}
	if err := j.findMembers(); err != nil {
		return err
	}
	var done []string
	var messages []*link.Message
	if len(j.options.Inputs) > 0 {
		names, replaced, added, err := a.Add(ctx, j.options, j.operation == 'r')
		if err != nil {
			return j.refused(err)
		}
		messages = added
		for i, name := range names {
			done = append(done, map[bool]string{true: "r", false: "a"}[replaced[i]]+" - "+name)
		}
	}
	if err := j.rewrite(ctx, a, messages, done); err != nil {
		return err
	}
	if created && !j.create {
		j.report.note("created " + j.archive)
	}
	return nil
}

// arDelete runs d, and s, which deletes nothing.
func (j *arJob) arDelete(ctx context.Context) error {
	if j.operation == 's' && len(j.inputs) > 0 {
		return usageError("operation s takes one archive and no files", "")
	}
	a, err := j.openToChange()
	if err != nil {
		return err
	}
	at, err := j.chosen(a, false)
	if err != nil {
		return err
	}
	var done []string
	for _, i := range at {
		done = append(done, "d - "+a.Members[i].Name)
	}
	a.Delete(at)
	return j.rewrite(ctx, a, nil, done)
}

// rewrite writes a changed archive and reports the changes.
func (j *arJob) rewrite(ctx context.Context, a *pack.Archive, messages []*link.Message, done []string) error {
	data, more, err := a.Bytes(ctx, !j.noIndex)
	if err != nil {
		return j.refused(err)
	}
	if err := j.putArchive(data, append(messages, more...)); err != nil {
		return err
	}
	if j.verbose {
		var out bytes.Buffer
		for _, line := range done {
			fmt.Fprintln(&out, diag.Escape(line))
		}
		return j.show(out.Bytes())
	}
	return nil
}

// chosen returns the members that the arguments name, or all of them. An unknown name
// is an error.
func (c *command) chosen(a *pack.Archive, all bool) (at []int, err error) {
	if len(c.inputs) == 0 && all {
		for i := range a.Members {
			at = append(at, i)
		}
		return at, nil
	}
	var log diag.Log
	for _, in := range c.inputs {
		i := a.Find(in.name)
		if i < 0 {
			i = a.Find(filepath.Base(in.name))
		}
		// A name that occurs twice may be given twice.
		for i >= 0 && slices.Contains(at, i) {
			next := a.FindAfter(i, a.Members[i].Name)
			if next < 0 {
				break
			}
			i = next
		}
		if i < 0 {
			text := fmt.Sprintf("%s has no member %s", a.Name, in.name) + diag.Question("", nearestMember(a, in.name))
			log.Error(diag.NoMember, diag.Place{}, text).WithHelp("ptxlink ar t " + a.Name + " lists the members")
			continue
		}
		at = append(at, i)
	}
	return at, c.tell(log.Messages, exitLink)
}

// nearestMember returns the member that was probably meant, or "" if none is similar.
func nearestMember(a *pack.Archive, name string) string {
	var names []string
	for _, m := range a.Members {
		if strings.HasPrefix(m.Name, name+".") { // without .ptx
			return m.Name
		}
		names = append(names, m.Name)
	}
	return diag.Nearest(names, name)
}

// arShow runs t, p and x.
func (j *arJob) arShow(dir string) error {
	maps := new(infile.Maps)
	defer maps.Close()
	a, err := j.openArchive(maps)
	if err != nil {
		return err
	}
	maps.DropAll()
	at, err := j.chosen(a, true)
	if err != nil {
		return err
	}
	var out bytes.Buffer // but for the contents of members
	var files []outfile.File
	contents := func(m pack.Member) writing {
		return func(w io.Writer) error {
			defer maps.DropAll()
			_, err := w.Write(m.Data)
			return err
		}
	}
	var printed []writing
	for _, i := range at {
		m := a.Members[i]
		if a.Thin && j.operation != 't' {
			return &exitError{exitLink, diag.New(diag.ThinArchive, diag.Place{}, "the members of a thin archive are files already")}
		}
		switch j.operation {
		case 't':
			if j.verbose {
				out.WriteString(longListing(m))
			}
			fmt.Fprintln(&out, diag.Escape(m.Name))
		case 'p':
			if j.verbose {
				printed = append(printed, func(w io.Writer) error {
					_, err := fmt.Fprintf(w, "\n<%s>\n\n", diag.Escape(m.Name))
					return err
				})
			}
			printed = append(printed, contents(m))
		case 'x':
			if m.IsMeta() && len(j.inputs) == 0 {
				continue // it would be of no use as a file
			}
			if err := pack.CanExtract(m); err != nil {
				return &exitError{exitLink, err}
			}
			if j.verbose {
				fmt.Fprintf(&out, "x - %s\n", diag.Escape(m.Name))
			}
			files = append(files, outfile.File{Path: filepath.Join(dir, m.Name), From: contents(m), NoFollow: true})
		}
	}
	if j.operation == 'p' {
		return j.write([]string{j.archive}, j.toStdout(outfile.File{From: writing(func(w io.Writer) (err error) {
			for i := 0; i < len(printed) && err == nil; i++ {
				err = printed[i](w)
			}
			return err
		})}))
	}
	if err := j.write([]string{j.archive}, files...); err != nil {
		return err
	}
	return j.show(out.Bytes())
}

// longListing returns the text of GNU ar tv before the name of a member.
func longListing(m pack.Member) string {
	mode := fs.FileMode(m.Mode & 0o777).String()[1:]
	return fmt.Sprintf("%s %d/%d %6d %s ", mode, m.UID, m.GID, m.Size, time.Unix(m.Time, 0).Format("Jan _2 15:04 2006"))
}
