package dlink

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ptxlink/internal/infile"
	"ptxlink/internal/tool"
	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Linker links device code of all forms: PTX, cubins that nvlink links with the result, and LTO-IR and
// LLVM bitcode, which are compiled to PTX.
type Linker struct {
	// Options are the options of the PTX link, with all inputs. If they have Cubins, PTX must be
	// set.
	Options link.Options
	// PTX, Prefer and MapInputs are the same as in the Options of Separate.
	PTX       bool
	Prefer    Preference
	MapInputs bool
	// Separate takes the inputs apart. If it is nil, the function Separate does.
	Separate func(Preference) (Separated, []*link.Message)
	// Link links PTX. If it is nil, link.Link does.
	Link func(context.Context, link.Options) (*link.Result, error)
	// LTOIR and Bitcode return the compiler for such code. If one is nil, link.Link refuses inputs
	// with such code.
	LTOIR, Bitcode func(*Intermediate) (Compiler, error)
	// Jobs is the number of compilers that run at a time; 0 means one per CPU.
	Jobs int
	// Apart keeps units of intermediate code apart, which are otherwise compiled together.
	Apart bool
}

// ErrRejected is the error of a Compiler that refuses code.
var ErrRejected = tool.ErrRejected

// Compiler compiles intermediate code to PTX. Its methods must log why they refuse code, and return
// ErrRejected, because any other error ends the link.
type Compiler interface {
	// Lower compiles units to one module.
	Lower(ctx context.Context, units []container.Unit, log *diag.Log) ([]byte, error)
	// LowerEach compiles each unit to its own module, jobs at a time.
	LowerEach(ctx context.Context, units []container.Unit, jobs int, log *diag.Log) ([][]byte, error)
}

// Linked is a link of device code.
type Linked struct {
	*link.Result
	Options link.Options // the options of the PTX link
	// Own separates the inputs with PreferOwn. It is nil if PreferOwn would find no other cubins.
	Own func() (Separated, []*link.Message)
}

// OnlyAssembled reports whether a message of a link must be dropped unless ptxas assembles the
// output.
func OnlyAssembled(m *link.Message) bool { return m.ID == diag.DebugMixed }

// Combines reports whether units of intermediate code are compiled to one module. A use of a name
// then refers to the definition in that module, so options that give uses and definitions different
// names prevent it.
func Combines(o link.Options) bool {
	return len(o.Wrap)+len(o.Define)+len(o.Weaken)+len(o.LocalizeInputs) == 0
}

// Run links. If the inputs cannot be read, compiled or linked, the error is *link.Errors; other
// errors come from LTOIR, Bitcode and their compilers. After these, the Linked has only the
// Messages logged so far, or is nil.
func (l Linker) Run(ctx context.Context) (*Linked, error) {
	ctx, _ = infile.Record(ctx)
	l.Options.Inputs = Buffered(ctx, l.Options.Inputs, l.Options.MaxInputSize)
	l.Options.Inputs = object.Named(l.Options.Inputs) // one without a name and a path is not an empty place
	if l.Link == nil {
		l.Link = link.Link
	}
	if l.Separate == nil {
		o := Options{Arch: l.Options.Arch, MaxInputSize: l.Options.MaxInputSize, PTX: l.PTX, MapInputs: l.MapInputs}
		l.Separate = func(prefer Preference) (Separated, []*link.Message) {
			o, log := o, diag.Log{Spelling: l.Options.Spelling}
			o.Prefer = prefer
			return Separate(ctx, l.Options.Inputs, o, &log), log.Messages
		}
	}
	run := linking{Linker: l}
	linked, err := run.run(ctx)
	if refused, ok := errors.AsType[*link.Errors](err); ok {
		refused.Messages = run.once(refused.Messages)
	} else if err != nil && len(run.said) > 0 {
		linked = &Linked{Result: &link.Result{Messages: run.once(nil)}}
	}
	return linked, err
}

type linking struct {
	Linker
	said   []*link.Message // messages logged before the link
	passes []link.Pass
}

func (l *linking) run(ctx context.Context) (*Linked, error) {
	c, err := l.take(ctx, l.Prefer)
	if err != nil {
		return nil, err
	}
	r, err := l.Link(ctx, c.options)
	if err != nil {
		return nil, err
	}
	if c.Preferred && untyped(r) { // only PTX has the types of all functions
		as, err := l.take(ctx, PreferPTX)
		if err != nil {
			return nil, err
		}
		if _, err := l.check(ctx, as.options); err != nil {
			return nil, err
		}
	}
	r.Messages, r.Passes = l.once(r.Messages), append(l.passes, r.Passes...)
	linked := &Linked{Result: r, Options: c.options}
	c.describe(linked, l.Options.Inputs)
	if l.Prefer == PreferArchived && c.BothForms && len(c.compiled) == 0 {
		linked.Own = func() (Separated, []*link.Message) { return l.Separate(PreferOwn) }
	}
	return linked, nil
}

// say adds messages. It returns an error if one of them is an error.
func (l *linking) say(messages []*link.Message) error {
	l.said = append(l.said, messages...)
	if slices.ContainsFunc(messages, func(m *link.Message) bool { return m.Kind == diag.Error }) {
		return &link.Errors{}
	}
	return nil
}

// heard adds the messages of a compiler. They replace ErrRejected, because they say why the
// compiler refuses the code.
func (l *linking) heard(log *diag.Log, err error) error {
	if said := l.say(log.Messages); err == nil || errors.Is(err, ErrRejected) {
		return cmp.Or(said, err)
	}
	return err
}

// once returns the messages said so far, and the new messages of a link, without duplicates. Links
// of the same inputs would otherwise repeat most messages.
func (l *linking) once(messages []*link.Message) []*link.Message {
	if len(l.said) == 0 {
		return messages
	}
	told := map[string]bool{}
	return slices.DeleteFunc(append(l.said, messages...), func(m *link.Message) bool {
		key := fmt.Sprintf("%d %q %q", m.Kind, m.Text, m.Place)
		was := told[key]
		told[key] = true
		return was
	})
}

// check links without writing anything, and adds the messages.
func (l *linking) check(ctx context.Context, o link.Options) (*link.Result, error) {
	o.CheckOnly, o.Stream = true, false
	r, err := l.Link(ctx, o)
	if err != nil {
		return nil, err
	}
	return r, l.say(slices.DeleteFunc(r.Messages, OnlyAssembled))
}

type device struct {
	Separated
	options  link.Options
	compiled []intermediate
	apart    *link.Result // of the units compiled alone, if they were then compiled together
	units    []link.Unit  // the units that were compiled together
}

// intermediate is code of one kind, and its compiler.
type intermediate struct {
	*Intermediate
	Compiler
	kind string
}

// take separates the inputs, and compiles the intermediate code.
func (l *linking) take(ctx context.Context, prefer Preference) (*device, error) {
	s, messages := l.Separate(prefer)
	c := &device{Separated: s, options: l.Options}
	if prefer == l.Prefer {
		if err := l.say(messages); err != nil {
			return nil, err
		}
	}
	compilers := []struct {
		kind  string
		units *Intermediate
		find  func(*Intermediate) (Compiler, error)
	}{{"LTO-IR", &c.LTOIR, l.LTOIR}, {"LLVM bitcode", &c.Bitcode, l.Bitcode}}
	for _, code := range compilers {
		switch {
		case len(code.units.Units) == 0:
		case code.find == nil: // link.Link reports that it cannot link such code
			return &device{options: l.Options}, nil
		default:
			if c.compiled == nil {
				if err := l.read(ctx, s.Modules); err != nil {
					return nil, err
				}
			}
			compiler, err := code.find(code.units)
			if err != nil {
				return nil, err
			}
			if (len(code.units.Units) > 1 || len(s.Modules)+len(s.Cubins) > 1) && !l.Apart && Combines(l.Options) {
				code.units.deferInline()
			}
			c.compiled = append(c.compiled, intermediate{code.units, compiler, code.kind})
		}
	}
	o := &c.options
	if o.Inputs = s.Modules; s.Arch != "" {
		o.Arch = s.Arch
	}
	if o.Cubins = append(slices.Clip(o.Cubins), s.Cubins...); o.CheckOnly && len(s.Cubins) > 0 { // as for a cubin
		o.Spelling = o.Spelling.Without("--allow-undefined")
	}
	for _, compile := range []func(context.Context, *device, intermediate) error{l.compileApart, l.compileTogether} {
		for _, code := range c.compiled {
			if err := compile(ctx, c, code); err != nil {
				return nil, err
			}
		}
	}
	o.Inputs = Filled(o.Inputs)
	return c, nil
}

// read returns the errors of reading the PTX modules. It comes first, because compilers may take
// long.
func (l *linking) read(ctx context.Context, modules []link.Input) error {
	o := l.Options
	o.Inputs = slices.DeleteFunc(slices.Clone(modules), func(in link.Input) bool { return in.Path == "" && in.Text == nil && in.Reader == nil })
	return link.CheckInputs(ctx, o)
}

// compileApart compiles each unit alone, members of archives only if something needs them. This
// must be repeated after each round, since compiled members may need others.
func (l *linking) compileApart(ctx context.Context, c *device, code intermediate) error {
	for {
		if err := l.compileNext(ctx, c, code); err != nil {
			return err
		}
		offered := code.Offered()
		if len(offered) == 0 {
			return nil
		}
		o := c.options
		o.RequireDefined = nil // since a name that nothing defines would pull all members
		o.Cubins, o.CheckOnly, o.Stream = slices.Concat(o.Cubins, offered, code.Hidden()), true, false
		r, err := l.Link(ctx, o)
		if refused := (*link.Errors)(nil); err != nil && !errors.As(err, &refused) {
			return err
		} // otherwise the link of all units reports the errors
		if !code.Pull(r, l.wanted()) {
			return nil
		}
	}
}

func (l *linking) compileNext(ctx context.Context, c *device, code intermediate) (err error) {
	defer l.timed(code.kind, time.Now())
	for {
		list, members := code.next()
		if len(list) == 0 {
			break
		}
		var units []container.Unit
		for _, i := range list {
			units = append(units, code.Units[i])
		}
		log := diag.Log{Spelling: l.Options.Spelling}
		texts, err := code.LowerEach(ctx, units, l.Jobs, &log)
		if !errors.Is(err, ErrRejected) || !members || !Combines(l.Options) { // for Together
			if err := l.heard(&log, err); err != nil {
				return err
			}
		}
		for k, i := range list {
			code.texts[i], code.failed[i] = texts[k], texts[k] == nil
		}
	}
	c.options.Inputs, err = code.Intermediate.Apart(c.options.Inputs)
	return err
}

func (l *linking) timed(name string, start time.Time) {
	l.passes = append(l.passes, link.Pass{Name: name, Time: time.Since(start), Start: start})
}

// wanted returns the names that options ask for, so that members of archives must be taken for
// them.
func (l *linking) wanted() []string {
	return slices.Concat(l.Options.Undefined, l.Options.RequireDefined)
}

// compileTogether compiles the units that the link takes to one module. Messages about the units
// must come before, because only then they can point to the files of the units.
func (l *linking) compileTogether(ctx context.Context, c *device, code intermediate) error {
	if l.Apart || !Combines(l.Options) || len(code.Units) < 2 && !code.deferred() {
		return nil
	}
	o := c.options
	// Code of the other kind, if compiled together before, has left empty places.
	o.CrossReference, o.Inputs, o.Cubins = true, Filled(slices.Clone(o.Inputs)), append(slices.Clip(o.Cubins), code.Hidden()...)
	r, err := l.check(ctx, o)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(r.Symbols(), func(s link.Symbol) bool { return s.Name != s.Original && object.IsNumbaShared(s.Original) }) {
		return nil // because the compilers would merge the arrays of two units
	}
	units := code.Linked(r, Outside{
		All: o.KeepUnused || o.Relocatable || len(o.Exports) > 0, Names: l.wanted(), Variables: !o.CollectVariables, Cubins: r.Cubins,
	})
	if len(units) == 0 || len(units) == 1 && !code.Quick && !code.deferred() {
		return nil
	}
	defer l.timed(code.kind, time.Now())
	log := diag.Log{Spelling: o.Spelling}
	text, err := code.Lower(ctx, units, &log)
	if err := l.heard(&log, err); err != nil {
		return err
	}
	c.options.Inputs = code.Together(c.options.Inputs, units, text)
	if len(units) > 1 {
		c.apart, c.units = r, append(c.units, code.Described(r, units)...)
	}
	return nil
}

// describe adds facts that the link cannot know: which unit of intermediate code defines and uses a
// symbol, and which archives are not used.
func (c *device) describe(l *Linked, given []link.Input) {
	modules := l.Modules
	if c.apart != nil {
		l.Units, l.References, l.Pulls = c.units, c.apart.References, c.apart.Pulls
		modules = append(slices.Clip(modules), c.apart.Modules...)
	}
	if len(c.Archives) == 0 { // then the link knows all that it has used
		return
	}
	used := map[string]bool{}
	use := func(member string) {
		for i := range member {
			if member[i] == '(' {
				used[member[:i]] = true
			}
		}
	}
	for _, m := range modules {
		use(m.Name)
	}
	for _, u := range c.units {
		use(u.Name)
	}
	for _, cubin := range l.Cubins {
		use(cubin.Name)
	}
	unused := map[string]bool{}
	for _, path := range slices.Concat(l.Unused, c.Archives) {
		unused[path] = !used[path]
	}
	l.Unused = nil
	for _, in := range given {
		if unused[in.Path] {
			l.Unused = append(l.Unused, in.Path)
			delete(unused, in.Path) // because it may be given twice
		}
	}
}
