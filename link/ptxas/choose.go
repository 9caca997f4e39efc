package ptxas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ptxlink/link/partition"
	"ptxlink/object/diag"
)

// The automatic choice is the first of these that applies:
//
//  1. Whole mode if the module has setmaxnreg, because ptxas -c ignores it.
//  2. Separate functions if the inputs record different options for ptxas.
//  3. Separate functions if the copies would cost too much: cloneLimit, cloneSmall.
//  4. Separate functions if one ptxas takes much longer than several: slower.
//  5. If a kernel calls functions, the copies may need more registers and code than the
//     functions, and only ptxas knows. Small programs are therefore assembled both ways,
//     unless they are one input without calls through pointers. Above tryLimit,
//     functions that are called through pointers stay separate.
//  6. Otherwise whole mode; also if nvlink is missing, or addresses have 32 bits.
//
// If ptxas or nvlink refuses separate functions, they are assembled as a whole instead (orWhole).
//
// Separate functions need not be assembled if the inputs have them as cubins that ptxas -c made of
// the same PTX (Target.Own). These are then linked. They are also linked if cubins among the inputs
// require separate functions; for modules with DWARF, because ptxas does not optimise these; if
// kernels call no functions, because the whole program is not faster then (docs/gpu.md); and if
// ptxas would need more than Build.Budget.

// perSecond is the number of instructions that counts as a second of ptxas. The estimate must be
// the same on every machine, because the code depends on it; real programs take 0.4 to 2.5 times as
// long (docs/ptxas.md).
const perSecond = 20000

// Whole mode is chosen unless it assembles cloneLimit times as much as Separate, and cloneSmall
// instructions more. Its time is proportional to the number of instructions it assembles
// (docs/ptxas.md). Below these limits the code is better, and the cost is not higher than the cost
// of starting ptxas for each separate input.
const cloneLimit, cloneSmall = 1.25, 500

// Nor is it chosen for a program that two runs of ptxas -c at a time, one for each input, assemble
// longWait instructions sooner. Below that, whole mode is better in all real programs of
// docs/ptxas.md, because it takes less time of the CPU, and its kernels need fewer registers. A
// start of ptxas counts as ptxasStart instructions.
const longWait, ptxasStart = perSecond, 400

// These limit the programs that are assembled both ways: ptxas takes about 0.5 s for tryLimit
// instructions with calls through pointers, and 0.15 s for callLimit instructions without.
const tryLimit, callLimit = 20000, 5000

// slower reports whether whole mode takes much longer than the separate inputs would.
func (b Build) slower(t *teller, p *partition.Program, e partition.Estimate) bool {
	if e.Cloned <= longWait || b.Nvlink == "" || p.Check(b.Spelling) != nil {
		return false
	}
	largest, units := p.Units(t.unit)
	return units > 1 && e.Cloned-max(largest, (e.Once+int64(units-1)*ptxasStart)/2) > longWait
}

func (b Build) choose(ctx context.Context, t *teller, log *diag.Log) ([]byte, error) {
	if err := t.check(log); err != nil {
		return nil, err
	}
	if b.Temporary != nil {
		b.Temporary(b.prefix+inputName, t.linked.Text)
	}
	w := b.way(t)
	if w.own != "" {
		if cubin, done, err := b.linkOwn(ctx, t, w, log); done {
			return cubin, err
		}
	}
	log.Messages = append(log.Messages, b.warnings...)
	b.note(log, fmt.Sprintf("assembling for %s with %s", t.Arch, b.Path))
	if t.way = w.why; t.way != "" {
		b.note(log, t.way)
	}
	return w.assemble(ctx, t, log)
}

// way is a way to a cubin. If separate is set, each function is assembled once, and nvlink must
// link the result.
type way struct {
	assemble func(context.Context, *teller, *diag.Log) ([]byte, error)
	separate bool
	why      string // empty if nothing is chosen, or not yet
	own      string // why cubins of the inputs are linked instead if there are any, or empty
	help     string // how to assemble after all, if the Budget is the reason
}

func (b Build) way(t *teller) way {
	if len(b.Cubins) == 0 && (b.Compile || given(b.Args, "-c", "--compile-only") || b.Mode == Whole) {
		return way{assemble: b.whole}
	}
	p, perr := t.program()
	switch {
	case perr != nil: // ptxas reports the error, or knows more than we do
		return way{assemble: b.whole}
	case len(b.Cubins) > 0:
		return way{assemble: b.separate, own: "an input without PTX, or a member of an archive, is linked as a cubin"}
	case b.Mode == Separate:
		return way{assemble: b.separate}
	}
	e := p.Cloning(16)
	w := b.prefer(t, p, e)
	switch seconds := (e.Cloned + perSecond - 1) / perSecond; {
	case b.Nvlink == "" || p.AddressSize == 32:
		w.own = ""
		if w.separate {
			w = way{assemble: b.whole, why: "whole program, because there is no nvlink beside ptxas; else " + w.why}
		}
	case t.Debug && !maxnreg(t):
		w.own = "ptxas does not optimise code for a debugger"
	case w.separate && w.why != "":
		w.own = strings.TrimPrefix(w.why, "separate functions: ")
	case w.own == "" && b.Budget > 0 && seconds > b.Budget:
		w.own = fmt.Sprintf("ptxas would take about %d s or more for the whole program, and its budget is %d s", seconds, b.Budget)
		w.help = diag.Join(b.Spelling.With("--prefer=ptx", b.Spelling.With("-O", "%s or ")+"%s assembles it"), b.Spelling.With(fmt.Sprintf("--ptxas-budget=%d", seconds), "%s allows it"))
	}
	return w
}

// maxnreg reports whether a module has setmaxnreg. It must then be one program, because ptxas -c
// ignores setmaxnreg.
func maxnreg(t *teller) bool { return bytes.Contains(t.linked.Text, []byte("setmaxnreg")) }

// prefer returns the way that the automatic choice takes if nvlink is there.
func (b Build) prefer(t *teller, p *partition.Program, e partition.Estimate) way {
	switch {
	case maxnreg(t):
		return way{assemble: b.whole, why: "whole program: ptxas ignores setmaxnreg in separate functions"}
	case len(t.settings()) > 1 && p.Check(b.Spelling) == nil:
		return way{assemble: b.orWhole, separate: true, why: "separate functions: the inputs were compiled with different options for ptxas"}
	case float64(e.Cloned) > cloneLimit*float64(e.Once) && e.Cloned-e.Once > cloneSmall:
		return way{assemble: b.orWhole, separate: true, why: fmt.Sprintf("separate functions: the whole program would clone %d instructions to %d", e.Once, e.Cloned)}
	case b.slower(t, p, e):
		return way{assemble: b.orWhole, separate: true, why: fmt.Sprintf("separate functions: one ptxas would take much longer for %d instructions than several", e.Cloned)}
	case e.Pointers && e.Cloned > tryLimit:
		return way{assemble: b.orWhole, separate: true, why: fmt.Sprintf("separate functions: kernels call functions through pointers, of %d instructions", e.Once)}
	case b.Nvlink != "" && (e.Pointers || e.Calls && e.Cloned <= callLimit && t.units(p) > 1):
		return way{assemble: b.better, separate: true}
	}
	w := way{assemble: b.whole, why: fmt.Sprintf("whole program: kernels would contain %d instructions in all, %d of them distinct", e.Cloned, e.Once)}
	if !e.Calls && !e.Pointers {
		w.own = "the kernels call no functions"
	}
	return w
}

// linkOwn links the cubins of separate functions that the inputs have. done is false if an input
// has none, or nvlink refuses them: the module must then be assembled, and the messages are about
// that.
func (b Build) linkOwn(ctx context.Context, t *teller, w way, log *diag.Log) (cubin []byte, done bool, err error) {
	if b.own == nil || len(t.refused) > 0 {
		return nil, false, nil
	}
	own := b.own()
	if own.Missing != "" {
		b.note(log, "the cubins of the inputs are not linked: "+own.Missing)
		return nil, false, nil
	}
	given := t.Cubins
	t.way = "separate functions, as cubins of the inputs: " + w.own
	b.Verbose = b.Verbose || w.help != ""
	b.Cubins, t.Cubins, b.Kernels = own.Cubins, own.Cubins, own.Kernels
	if b.Command != nil {
		b.note(log, t.way).WithHelp(w.help)
		b.commands(t, nil)
		return nil, true, nil
	}
	b.progress.add(0, 1)
	defer b.progress.add(1, 0)
	said := log.Split(1)[0]
	cubin, err = b.join(ctx, t, nil, &said)
	if errors.Is(err, ErrRejected) {
		b.note(log, "the cubins of the inputs are not linked: "+refusal(&said).Text)
		t.Cubins, t.way = given, ""
		return nil, false, nil
	}
	b.note(log, t.way).WithHelp(w.help)
	log.Append(&said)
	b.saveCubins()
	return cubin, true, err
}

func (t *teller) units(p *partition.Program) int {
	_, units := p.Units(t.unit)
	return units
}

// orWhole assembles the separate functions, which the automatic choice prefers. If they are
// refused, one ptxas assembles the whole program instead, whose cubin or refusal counts, because
// only a choice of the user may fail for good.
func (b Build) orWhole(ctx context.Context, t *teller, log *diag.Log) ([]byte, error) {
	try, logs := t.again(), log.Split(2)
	cubin, err := b.separate(ctx, try, &logs[0])
	if !errors.Is(err, ErrRejected) {
		log.Append(&logs[0])
		t.spills = try.spills
		return cubin, err
	}
	reason := refusal(&logs[0])
	why := "the separate functions are refused: " + reason.Text
	t.way = "whole program: " + why
	if cubin, err = b.whole(ctx, t, &logs[1]); err == nil {
		log.Warn(diag.SeparateRefused, reason.Place, "one ptxas assembles the whole program, because "+why).
			WithHelp(log.With("--ptxas-mode=whole", "%s does so without trying the separate functions first"))
	}
	log.Append(&logs[1])
	return cubin, err
}

// refusal returns the first error of a log, in the words of the program.
func refusal(log *diag.Log) *diag.Message {
	return log.Messages[slices.IndexFunc(log.Messages, func(m *diag.Message) bool { return m.Kind == diag.Error })]
}

// trial is one of the two ways that are tried.
type trial struct {
	*teller
	cubin []byte
	own   bool // linked from cubins of the inputs, whose spills are not known
	err   error
	log   *diag.Log
	saved []func() // calls of Temporary
}

// failed reports whether a way has an error that is not a refusal, so that it tells nothing about
// the program.
func (t *trial) failed() bool { return t.err != nil && !errors.Is(t.err, ErrRejected) }

// better assembles the whole program and the separate functions at the same time, which is faster,
// and returns the better cubin. If one way is refused, it takes the other; if one fails, the link
// fails.
func (b Build) better(ctx context.Context, t *teller, log *diag.Log) ([]byte, error) {
	beside := way{own: "tried beside the whole program"}
	if b.Command != nil {
		b.whole(ctx, t, log)
		if _, done, err := b.linkOwn(ctx, t, beside, log); done {
			return nil, err
		}
		return b.separate(ctx, t, log)
	}
	logs := log.Split(2)
	whole, separate := &trial{teller: t.again(), log: &logs[0]}, &trial{teller: t.again(), log: &logs[1]}
	var wait sync.WaitGroup
	for _, try := range []*trial{whole, separate} {
		b := b
		if save := b.Temporary; save != nil {
			b.Temporary = func(name string, data []byte) { try.saved = append(try.saved, func() { save(name, data) }) }
		}
		b.Parts = 1 // each part would have copies of code that ptxas adds, such as divisions
		wait.Go(func() {
			if try == separate {
				if try.cubin, try.own, try.err = b.linkOwn(ctx, try.teller, beside, try.log); !try.own {
					try.cubin, try.err = b.separate(ctx, try.teller, try.log)
				}
				return
			}
			try.cubin, try.err = b.whole(ctx, try.teller, try.log)
		})
	}
	wait.Wait()
	chosen := whole
	switch {
	case whole.failed():
	case separate.failed():
		chosen = separate
	case whole.err == nil && separate.err == nil:
		t.way = "whole program: tried, and the separate functions are no better"
		why, err := whole.worse(separate)
		if err != nil {
			return nil, err
		}
		if why != "" {
			chosen, t.way = separate, "separate functions: tried, the whole program has "+why
		}
	case whole.err == nil:
		t.way = "whole program: the separate functions are refused: " + refusal(separate.log).Text
	case separate.err == nil:
		chosen, t.way = separate, "separate functions: the whole program is refused: "+refusal(whole.log).Text
	}
	if t.way != "" {
		b.note(log, t.way)
	}
	log.Append(chosen.log)
	for _, save := range chosen.saved {
		save()
	}
	t.spills = chosen.spills
	return chosen.cubin, chosen.err
}

// again returns another teller of the same module.
func (t *teller) again() *teller {
	return &teller{Options: t.Options, linked: t.linked, lines: t.lines, program: t.program, slots: t.slots, recorded: t.recorded, refused: t.refused, spills: map[string]Spills{}}
}

// moreSize is the factor by which code or spills must be larger to count. An increase of the code
// by at most moreCode bytes never counts.
const moreSize, moreCode = 1.05, 4096

// worse returns why the cubin of a trial is worse than another, "" if it is not.
func (w *trial) worse(than *trial) (string, error) {
	mine, err := Usages(w.cubin)
	if err != nil {
		return "", err
	}
	others, err := Usages(than.cubin)
	if err != nil {
		return "", err
	}
	spills := w.spilled()
	if than.own { // because its spills are not known
		spills = 0
	}
	return needsMore(mine, others, spills, than.spilled()), nil
}

// needsMore returns which resource one cubin needs more of than another: registers with which
// fewer warps run, otherwise code, otherwise spills without less code; "" if none.
func needsMore(mine, others []Usage, spills, otherSpills int64) string {
	theirs := map[string]Usage{}
	code, otherCode := int64(0), int64(0)
	for _, u := range others {
		theirs[u.Name] = u
		otherCode += u.Code
	}
	warps, loss, example := 0, 0, ""
	for _, u := range mine {
		code += u.Code
		o, both := theirs[u.Name]
		if !u.Kernel || !both {
			continue
		}
		lost := warpsOf(o.Registers) - warpsOf(u.Registers)
		if warps += lost; lost > loss {
			loss, example = lost, fmt.Sprintf("%d registers instead of %d in %s", u.Registers, o.Registers, u.Name)
		}
	}
	switch {
	case warps > 0:
		return example
	case warps < 0 && float64(code) <= cloneLimit*float64(otherCode):
		return ""
	case float64(code-moreCode) > moreSize*float64(otherCode):
		return fmt.Sprintf("%d bytes of code instead of %d", code, otherCode)
	case float64(spills) > moreSize*float64(otherSpills) && moreSize*float64(code) > float64(otherCode):
		return fmt.Sprintf("%d bytes of spills instead of %d", spills, otherSpills)
	}
	return ""
}

func (w *trial) spilled() (sum int64) {
	for _, s := range w.spills {
		sum += s.Stores + s.Loads
	}
	return sum
}

// warpsOf returns how many warps with so many registers can run in each quarter of a
// multiprocessor. A quarter has 512 registers for each thread of a warp, and allocates them by
// eights.
func warpsOf(registers int) int { return min(16, 512/max(8, (registers+7)/8*8)) }
