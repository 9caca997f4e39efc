package ptxas

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ptxlink/internal/parallel"
	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/link/partition"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Mode says how ptxas treats the functions of a module.
type Mode uint8

const (
	// Auto chooses by the cloning that Whole would cost.
	Auto Mode = iota
	// Whole assembles in one run. Each kernel gets a copy of every function that it reaches, with
	// its own calling convention.
	Whole
	// Separate assembles each function once (ptxas -c) and links with nvlink.
	Separate
)

// Build is one way from a linked module to a cubin.
type Build struct {
	Options // with Compile, the cubin comes from one run and Mode has no effect

	Mode Mode
	// Parts is the largest number of modules that Separate assembles in parallel; 0
	// chooses by size, and 1 does not cut the module. Whole has no parts.
	Parts int
	// Jobs is the number of runs of ptxas at a time; 0 means one per CPU.
	Jobs int
	// Nvlink is the path of nvlink, as returned by FindNvlink; empty if it is not there.
	Nvlink string
	// Budget is how many seconds of ptxas a program may need if its inputs have cubins that can be
	// linked instead (Target.Own); 0 means no limit. A second is a number of instructions, so that
	// the cubin does not depend on the machine.
	Budget int64
	// Kernels are parts of names: nvlink keeps kernels whose name contains one, and the functions
	// they use. Empty keeps all. It applies only if there are Cubins.
	Kernels []string
	// Note is written into finished cubins, and says what made them (container.AddNote). If it is
	// empty, a cubin is the unchanged output of ptxas or nvlink.
	Note string
	// Verbose adds notes about the choices made.
	Verbose bool
	// Temporary is called with each intermediate file, in order: linked.ptx, object0.cubin
	// and so on for Cubins, and part0.ptx, part0.cubin and so on. It may be nil.
	Temporary func(name string, data []byte)
	// SavedAs is the prefix that Temporary puts before the names to make paths, so that messages
	// can refer to lines of the linked module by its path.
	SavedAs string
	// Progress is called when the number of parts is known, and after each part, with the totals
	// for all GPUs. It may be nil. Calls do not overlap.
	Progress func(done, parts int)
	// Command is called with each command instead of running it, if it is not nil. There cannot be
	// a cubin then.
	Command func(args []string)

	own      func() Own      // Own of the target
	warnings []*diag.Message // Warnings of the target
	slots    slots
	progress *progress
	prefix   string // prefix of the names of intermediate files
}

// Target is a linked module and the GPU to assemble it for. If it has Cubins, they replace
// Options.Cubins, and the Mode must be Separate.
type Target struct {
	Arch string
	*link.Result
	Cubins []*object.Cubin
	// Own finds the cubins that may be linked instead of separate functions, unless the user has
	// chosen the Mode. It may be nil.
	Own func() Own
	// Warnings hold only if the module is assembled. Only then they are among the messages of
	// AssembleAll.
	Warnings []*link.Message
}

// Output is a finished cubin.
type Output struct {
	Cubin  []byte
	Usages []Usage // with Options.Usage, the result of Usages with spills
	Way    string  // with Auto, the choice and its reason: "whole program: ..."
}

// AssembleAll assembles linked modules, each for its GPU. It sets the options Arch and Modules, and
// Debug and LineInfo if a module has them. Jobs limits the runs of ptxas for all modules together.
// The names of intermediate files begin with the GPU if there is more than one. AssembleAll returns
// one output for each target, and messages with input lines; there may be messages without an
// error. An error other than ErrRejected means that a program could not be run or failed, or comes
// from the machine.
func (b Build) AssembleAll(ctx context.Context, targets []Target) (outputs []Output, messages []*link.Message, err error) {
	b.slots, b.progress = newSlots(b.Jobs), &progress{tell: b.Progress}
	outputs, saved := make([]Output, len(targets)), make([][]func(), len(targets))
	log := diag.Log{Spelling: b.Spelling}
	logs, errs := log.Split(len(targets)), make([]error, len(targets))
	jobs := len(targets)
	if b.Command != nil { // because commands must come in order
		jobs = 1
	}
	arch := func(i int) string { return targets[i].Arch }
	err = parallel.Each(ctx, len(targets), jobs, arch, func(i int) {
		t := targets[i]
		b := b.of(t)
		b.prefix = filePrefix(targets, t)
		if save := b.Temporary; save != nil {
			b.Temporary = func(name string, data []byte) { saved[i] = append(saved[i], func() { save(name, data) }) }
		}
		outputs[i], errs[i] = b.assemble(ctx, t.Result, &logs[i])
	})
	if err != nil {
		return nil, nil, err
	}
	merge(&log, logs)
	for _, save := range slices.Concat(saved...) {
		save()
	}
	b.Cache.Finish(&log)
	return outputs, explained(&log), tool.Worst(errs...)
}

func (b Build) of(t Target) Build {
	b.Arch, b.Modules = t.Arch, t.Result.Modules
	b.Debug, b.LineInfo = b.Debug || t.Result.Debug, b.LineInfo || t.Result.LineInfo
	if len(t.Cubins) > 0 {
		b.Cubins, b.Mode = t.Cubins, Separate
	}
	b.own, b.warnings = t.Own, t.Warnings
	return b
}

// progress counts the parts of all targets together.
type progress struct {
	mu          sync.Mutex
	done, parts int
	tell        func(done, parts int)
}

func (p *progress) add(done, parts int) {
	if p.tell == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.parts = p.done+done, p.parts+parts
	p.tell(p.done, p.parts)
}

// slots limits the number of programs that run at a time.
type slots chan struct{}

func newSlots(jobs int) slots {
	if jobs <= 0 {
		jobs = runtime.GOMAXPROCS(0)
	}
	return make(slots, jobs)
}

// with calls work once a slot is free. A nil slots has no limit.
func (s slots) with(ctx context.Context, work func() error) error {
	if s != nil {
		select {
		case s <- struct{}{}:
			defer func() { <-s }()
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return work()
}

func (b Build) assemble(ctx context.Context, r *link.Result, log *diag.Log) (o Output, err error) {
	t := newTeller(b.Options, r)
	t.slots = b.slots
	if b.Temporary != nil && b.SavedAs != "" {
		t.linked.Name = b.SavedAs + b.prefix + inputName
	}
	o.Cubin, err = b.choose(ctx, t, log)
	o.Way = t.way
	if err != nil || o.Cubin == nil {
		return o, err
	}
	b.checkEmpty(t, o.Cubin, log)
	if b.Note != "" && !b.Compile {
		o.Cubin = container.AddNote(o.Cubin, b.Note)
	}
	if !b.Usage {
		return o, nil
	}
	if o.Usages, err = Usages(o.Cubin); err != nil {
		return o, err
	}
	for i := range o.Usages {
		if s, ok := t.spills[o.Usages[i].Name]; ok {
			o.Usages[i].Spills = &s
		}
	}
	return o, nil
}

// checkEmpty warns if a finished cubin has no function or variable of a module without kernels.
func (b Build) checkEmpty(t *teller, cubin []byte, log *diag.Log) {
	if b.Compile || len(b.Cubins) > 0 || bytes.Contains(t.linked.Text, []byte(".entry")) {
		return
	}
	symbols, err := container.Cubin{Data: cubin}.AllSymbols()
	// A variable outside the spaces of PTX does not count, because it is ptxas's own, such as in
	// shared memory that 13.5 reserves.
	if err != nil || slices.ContainsFunc(symbols, func(s container.CubinSymbol) bool { return s.Defined && (s.Function || s.Space != "") }) {
		return
	}
	if p, err := t.program(); err == nil && p.Defines() {
		log.Warn(diag.EmptyCubin, diag.Place{}, "the cubin is empty: the linked module has no kernel, and ptxas leaves out functions that no kernel calls").
			WithHelp(log.With("-c", "%s makes one with functions, which nvlink can link"))
	}
}

// note adds a note if Verbose is set, and returns it.
func (b Build) note(log *diag.Log, text string) *diag.Message {
	if !b.Verbose {
		log = &diag.Log{}
	}
	return log.Note(diag.Place{}, text)
}

func (b Build) whole(ctx context.Context, t *teller, log *diag.Log) ([]byte, error) {
	help := ""
	if !b.Compile {
		help = log.With("--ptxas-mode=separate", "%s assembles inputs with different options separately")
	}
	u := t.single(log, help)
	if b.Command != nil {
		b.Command(append([]string{t.Path}, t.args(u, b.prefix+inputName, b.prefix+outputName)...))
		return nil, nil
	}
	b.progress.add(0, 1)
	defer b.progress.add(1, 0)
	return t.assemble(ctx, u, log)
}

// separate assembles the parts of a module, which ptxlink must be able to read, and links their
// cubins.
func (b Build) separate(ctx context.Context, t *teller, log *diag.Log) ([]byte, error) {
	parts, exposed, err := b.cut(t, log)
	if err != nil {
		return nil, err
	}
	t.Compile, t.apart = true, len(b.Cubins) == 0 && !b.Compile
	if b.Command != nil {
		b.commands(t, parts)
		return nil, nil
	}
	cubins, logs, errs := make([][]byte, len(parts)), log.Split(len(parts)), make([]error, len(parts))
	b.progress.add(0, len(parts))
	err = parallel.Each(ctx, len(parts), cap(b.slots), func(i int) string { return partName(i, len(parts)) }, func(i int) {
		cubins[i], errs[i] = t.assemble(ctx, parts[i], &logs[i])
		b.progress.add(1, 0)
	})
	if err != nil {
		return nil, err
	}
	merge(log, logs)
	b.saveCubins()
	for i := range parts {
		if b.Temporary != nil && len(parts) > 1 {
			b.Temporary(b.prefix+partName(i, len(parts))+".ptx", parts[i].text)
		}
		if b.Temporary != nil && cubins[i] != nil {
			b.Temporary(b.prefix+partName(i, len(parts))+".cubin", cubins[i])
		}
	}
	if b.Cache != nil {
		b.note(log, fmt.Sprintf("%d of %d parts were in the cache", t.hits.Load(), len(parts)))
	}
	if err := tool.Worst(errs...); err != nil {
		return nil, err
	}
	cubin, err := b.join(ctx, t, cubins, log)
	if err == nil {
		container.Localise(cubin, exposed)
	}
	return cubin, err
}

func (b Build) saveCubins() {
	for i, cubin := range b.Cubins {
		if b.Temporary != nil {
			b.Temporary(b.prefix+objectName(i), cubin.Data)
		}
	}
}

// cut cuts the module, if that is wanted and possible. It returns the units, and the names without
// linkage that must become visible. It returns none if the module defines nothing beside Cubins.
func (b Build) cut(t *teller, log *diag.Log) (units []unit, exposed []string, err error) {
	p, _ := t.program()
	if len(b.Cubins) > 0 && !p.Defines() {
		return nil, nil, nil // because nvlink needs only the cubins
	}
	if b.Parts == 1 && len(t.settings()) < 2 {
		return []unit{t.single(log, "")}, nil, nil
	}
	if err := p.Check(b.Spelling); err != nil {
		if b.Parts == 1 || b.Parts == 0 && (b.Mode == Auto || len(b.Cubins) > 0) {
			b.note(log, "one part: "+err.Error())
			return []unit{t.single(log, "")}, nil, nil
		}
		return nil, nil, err
	}
	parts := p.Cut(partition.Options{Parts: b.Parts, Unit: t.unit, Setting: t.setting})
	for i, part := range parts {
		units = append(units, unit{part.Text, part.Line, strings.Fields(part.Setting)})
		exposed = append(exposed, part.Exposed...)
		if len(parts) > 1 {
			b.note(log, fmt.Sprintf("part %d of %d: %s", i, len(parts), first(part.Names, 8)))
		}
	}
	return units, exposed, nil
}

// Cut cuts a linked module into parts, as Separate does, without assembling them. It returns
// exactly parts modules, and the last ones may be empty; if parts is 0, as many as Separate would
// choose. The error is a message about the part that cannot be cut.
func (o Options) Cut(r *link.Result, parts int) (list [][]byte, err error) {
	t := newTeller(o, r)
	t.linked.Name = inputName
	p, perr := t.program()
	if perr != nil {
		return nil, perr
	}
	if parts != 1 {
		if err := p.Check(o.Spelling); err != nil {
			return nil, err
		}
	}
	for _, part := range p.Cut(partition.Options{Parts: parts, Unit: t.unit}) {
		list = append(list, part.Text)
	}
	for len(list) < parts {
		list = append(list, p.Empty().Text)
	}
	return list, nil
}

// unit returns the name of the input that a place of the linked module comes from.
func (t *teller) unit(off int32) string {
	if place, ok := t.lines.Origin(t.linked.Line(off)); ok {
		return place.File()
	}
	return ""
}

// first returns the first n names for a message.
func first(names []string, n int) string {
	if len(names) <= n {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), len(names)-n)
}

func partName(i, parts int) string {
	if parts == 1 {
		return "linked"
	}
	return "part" + strconv.Itoa(i)
}

// merge adds the messages of the parts to a log, in order. If several parts have the same message
// about the same place, it is added only once.
func merge(log *diag.Log, logs []diag.Log) {
	type said struct {
		kind diag.Kind
		text string
		file string // because links for several GPUs have read it once each
		size int
		span diag.Span
	}
	seen := map[said]int{} // number of the part that had it first
	for i := range logs {
		for _, m := range logs[i].Messages {
			key := said{kind: m.Kind, text: m.Text, span: m.Place.Span}
			if src := m.Place.Source; src != nil {
				key.file, key.size = src.Name, len(src.Text)
			}
			if first, ok := seen[key]; ok && first != i {
				continue
			}
			seen[key] = i
			log.Messages = append(log.Messages, m)
		}
	}
}
