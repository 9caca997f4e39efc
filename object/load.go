package object

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"ptxlink/internal/diag"
	"ptxlink/object/container"
	"ptxlink/object/ptx"
)

// Input is where modules are read from: Text, else Reader, else Path.
type Input struct {
	Name   string // as messages call it; Path if empty
	Path   string
	Text   []byte
	Reader io.Reader
	Whole  bool // --whole-archive: the members of an archive are all linked
}

// Options say how to read.
type Options struct {
	Jobs    int    // inputs at a time; 0 means one per CPU
	Arch    string // "sm_80": which of several PTX of a fatbin; empty takes the highest
	All     bool   // take every PTX of a fatbin
	MaxSize int64  // bytes of decompressed data of one input; 0 means 4 GiB
}

// Load reads and parses all inputs, some at a time, and returns their modules in
// command-line order: those of a container in the order of the file. Every fault
// of every input is in the log, also in that order. unread says that some input
// could not be read at all.
//
// It is the only worker pool for reading. A worker owns what it writes: its
// slot of the result and its log.
func Load(ctx context.Context, inputs []Input, o Options, log *diag.Log) (files []*File, unread bool, err error) {
	opened := make([][]container.Member, len(inputs))
	openLogs := make([]diag.Log, len(inputs))
	failed := make([]bool, len(inputs))
	err = each(ctx, len(inputs), o.Jobs, func(i int) string { return inputs[i].Name + inputs[i].Path }, func(i int) {
		text, err := read(inputs[i])
		if err != nil {
			failed[i] = true
			openLogs[i].Error(diag.At(&diag.Source{Name: inputs[i].name()}, diag.Span{}), err.Error())
			return
		}
		opened[i] = open(inputs[i], text, o, &openLogs[i])
	})
	if err != nil {
		return nil, false, err
	}
	type part struct {
		input  int
		member *container.Member
	}
	var parts []part
	for i := range opened {
		for k := range opened[i] {
			parts = append(parts, part{i, &opened[i][k]})
		}
	}
	loaded := make([]*File, len(parts))
	logs := make([]diag.Log, len(parts))
	err = each(ctx, len(parts), o.Jobs, func(i int) string { return parts[i].member.Name }, func(i int) {
		in, m := inputs[parts[i].input], parts[i].member
		f := parse(&diag.Source{Name: m.Name, Text: m.Text}, &logs[i])
		if f == nil {
			return
		}
		f.Path, f.Lazy = in.Path, m.Archive && !in.Whole
		f.claim(m, &logs[i])
		loaded[i] = f
	})
	if err != nil {
		return nil, false, err
	}
	next := 0
	for i := range inputs {
		log.Append(&openLogs[i])
		unread = unread || failed[i]
		for ; next < len(parts) && parts[next].input == i; next++ {
			log.Append(&logs[next])
			if f := loaded[next]; f != nil {
				f.Rank = len(files)
				files = append(files, f)
			}
		}
	}
	return files, unread, nil
}

// each runs work for 0 to n-1 on several goroutines.
func each(ctx context.Context, n, jobs int, name func(int) string, work func(int)) error {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(jobs)
	for i := range n {
		group.Go(func() (err error) {
			if err := ctx.Err(); err != nil {
				return err
			}
			defer func() {
				// A panic here would end the process without a word of ours.
				if r := recover(); r != nil {
					err = &Panic{Input: name(i), Value: r, Stack: debug.Stack()}
				}
			}()
			work(i)
			return nil
		})
	}
	err := group.Wait()
	var p *Panic
	if errors.As(err, &p) {
		panic(p)
	}
	return err
}

// Panic is a panic of a worker of Load, thrown again where Load was called.
type Panic struct {
	Input string
	Value any
	Stack []byte // of the worker
}

func (p *Panic) Error() string {
	return fmt.Sprintf("reading %s: %v\n%s", p.Input, p.Value, p.Stack)
}

func (in Input) name() string {
	if in.Name != "" {
		return in.Name
	}
	return in.Path
}

func read(in Input) (text []byte, err error) {
	switch {
	case in.Text != nil:
		return in.Text, nil
	case in.Reader != nil:
		text, err = io.ReadAll(in.Reader)
	default:
		text, err = os.ReadFile(in.Path)
	}
	if err == nil {
		return text, nil
	}
	// The path is already in front of the message.
	var pathError *fs.PathError
	if errors.As(err, &pathError) {
		err = pathError.Err
	}
	return nil, fmt.Errorf("cannot read: %w", err)
}

// open finds the PTX in what was read, and one of each group of alternatives.
func open(in Input, data []byte, o Options, log *diag.Log) []container.Member {
	at := func(name string) diag.Place { return diag.At(&diag.Source{Name: name}, diag.Span{}) }
	if len(bytes.Trim(data, " \t\r\n\x00")) == 0 {
		log.Error(at(in.name()), "the file is empty")
		return nil
	}
	members, err := container.Open(in.name(), data, container.Options{MaxSize: o.MaxSize})
	if err != nil {
		var fault *container.Error
		if !errors.As(err, &fault) {
			log.Error(at(in.name()), err.Error())
			return nil
		}
		text := fault.Text
		if fault.Offset > 0 {
			text = fmt.Sprintf("at byte %#x: %s", fault.Offset, text)
		}
		log.Error(at(fault.Name), text).Help = fault.Help
		return nil
	}
	if o.All {
		return members
	}
	return alternatives(members, o.Arch, func(list []container.Member) {
		var targets []string
		for _, m := range list {
			targets = append(targets, m.Target)
		}
		log.Error(at(list[0].Name), fmt.Sprintf("no PTX in it runs on %s; there is %s", o.Arch, strings.Join(targets, ", "))).
			WithHelp("compile it for " + o.Arch + " or lower, or choose another --arch")
	})
}

// alternatives keeps one member of each group:
//
//  1. the one for exactly the architecture, with its a or f
//  2. the highest without a or f that is not above it
//
// Without an architecture, the highest without a or f, or the only one there is.
func alternatives(members []container.Member, arch string, unusable func([]container.Member)) (kept []container.Member) {
	for i := 0; i < len(members); {
		end := i + 1
		for members[i].Group != 0 && end < len(members) && members[end].Group == members[i].Group {
			end++
		}
		group := members[i:end]
		i = end
		best := -1
		for k, m := range group {
			switch {
			case arch != "" && m.Target == arch:
				best = k
			case m.Target == "" && best < 0:
				best = k
			case best >= 0 && group[best].Target == arch && arch != "":
			case number(m.Target) < 0 || arch != "" && number(m.Target) > plainNumber(arch):
			case best < 0 || number(m.Target) >= number(group[best].Target): // the last of equals, as nvlink
				best = k
			}
		}
		if best < 0 && arch == "" {
			best = 0
		}
		if best < 0 {
			unusable(group)
			continue
		}
		kept = append(kept, group[best])
	}
	return kept
}

// number is 80 for sm_80, and -1 for sm_90a and what is no target.
func number(target string) int {
	n, err := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(target, "sm_"), "compute_"))
	if err != nil {
		return -1
	}
	return n
}

// plainNumber is 90 for sm_90a too.
func plainNumber(target string) int { return number(strings.TrimRight(target, "af")) }

// claim takes over what the container says of the host, where the module says
// nothing itself.
func (f *File) claim(m *container.Member, log *diag.Log) {
	if f.Host.OS == "" && m.OS != "" {
		if h, err := ParseHost(m.OS); err == nil {
			f.Host.OS, f.Host.Model = h.OS, h.Model
		}
	}
	if f.Host.Arch == "" {
		f.Host.Arch = m.Arch
	}
	if m.AddressSize != 0 && f.AddressSize != 0 && m.AddressSize != f.AddressSize {
		log.Error(f.At(f.AddressSpan), fmt.Sprintf("%d-bit addresses, but the container says %d", f.AddressSize, m.AddressSize)).
			WithHelp("the container is damaged or mislabelled; build it again")
	}
}

func parse(src *diag.Source, log *diag.Log) *File {
	m, err := ptx.Parse(src)
	if err != nil {
		log.Error(diag.At(src, err.Span), err.Text).Help = err.Help
		return nil
	}
	return newFile(m, log)
}
