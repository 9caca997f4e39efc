package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/link/ptxas"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// readArchs reads --arch. Each cubin of a fatbin needs a separate link for its GPU, because the
// inputs may hold PTX for several GPUs.
func (j *linkJob) readArchs() error {
	archs := j.opts.StringSlice("arch")
	for i, arch := range archs {
		if err := link.CheckArch(arch, j.spelling); err != nil {
			return err
		}
		if !slices.Contains(archs[:i], arch) {
			j.archs = append(j.archs, arch)
		}
	}
	switch {
	case len(j.archs) == 1:
		j.options.Arch, j.archs = j.archs[0], nil
	case len(j.archs) > 1 && j.format != "fatbin" && !j.checkOnly:
		what := map[string]string{"ptx": "PTX", "cubin": "a cubin"}[j.format]
		return usageError(fmt.Sprintf("%s is for one GPU, but --arch names %s", what, strings.Join(j.archs, " and ")),
			"write out.fatbin, which holds a cubin for each, or link once for each")
	}
	return nil
}

// linkAll links for each GPU. If it returns an error, the targets are the successful links.
func (j *linkJob) linkAll() (targets []ptxas.Target, err error) {
	archs := j.archs
	if len(archs) == 0 {
		archs = []string{j.options.Arch}
	} else {
		j.report.told = map[string]bool{}
	}
	described, given := map[string]bool{}, dlink.Buffered(j.opts.Context, j.options.Inputs, j.options.MaxInputSize)
	j.linked = nil
	for _, arch := range archs {
		j.options.Arch, j.options.Inputs = arch, given
		linked, linkErr := j.link()
		if linkErr != nil && linked != nil {
			j.report.write(linked.Messages)
		}
		if exit := (*exitError)(nil); linkErr != nil && !errors.As(linkErr, &exit) {
			return nil, linkErr
		}
		if linkErr != nil {
			err = linkErr // the other links may have other errors
			continue
		}
		if text := j.describe(linked.Result); text != "" && !described[text] {
			described[text] = true
			if len(archs) > 1 {
				text = arch + ":\n" + text
			}
			io.WriteString(j.stderr, text)
		}
		if j.assembler.Mode != ptxas.Auto {
			linked.Own = nil
		}
		target := ptxas.NewTarget(linked)
		if j.report.write(linked.Messages) > 0 { // --fatal-warnings
			err = &exitError{code: exitLink}
		}
		j.showCommands(linked.Result)
		j.linked = append(j.linked, linked.Options)
		targets = append(targets, target)
	}
	return targets, cmp.Or(err, j.warnUnneeded())
}

func (j *linkJob) link() (*dlink.Linked, error) {
	j.kept = 0
	linked, err := j.linker().Run(j.opts.Context)
	if unsaved := j.writeSaved(); unsaved != nil { // even after errors, since they name its lines
		return nil, unsaved
	}
	var names []string
	if refused, ok := errors.AsType[*link.Errors](err); ok {
		names = refused.Modules
	} else if err == nil {
		for _, m := range linked.Modules {
			names = append(names, m.Name)
		}
		if j.memory != nil {
			j.memory.linked = linked.Result
		}
	}
	if j.opts.Bool("trace") { // like ld, even if they cannot be linked
		for _, name := range names {
			fmt.Fprintln(j.stderr, diag.Escape(name))
		}
	}
	if err != nil {
		return linked, j.refused(err)
	}
	j.passes = append(j.passes, linked.Passes...)
	if j.options.Optimize.Enabled() {
		j.noteMachineCode(linked.Cubins)
	}
	return linked, j.findNvlinkFor(linked.Cubins)
}

// noteMachineCode says which objects -O cannot change, because they have no PTX for the GPU. It
// does not count NVIDIA's libraries, which never have PTX.
func (j *linkJob) noteMachineCode(cubins []*object.Cubin) {
	var names []string
	for _, c := range cubins {
		if file, _, member := strings.Cut(c.Name, ".a("); !member && !strings.HasSuffix(file, ".cubin") {
			names = append(names, strings.TrimSuffix(file, ":"+j.options.Arch))
		}
	}
	if len(names) == 0 {
		return
	}
	text := names[0] + " has"
	if n := len(names) - 1; n > 0 {
		text = fmt.Sprintf("%s and %d more have", names[0], n)
	}
	number := strings.TrimPrefix(j.options.Arch, "sm_")
	var log diag.Log
	log.Note(diag.Place{}, text+" machine code for "+j.options.Arch+" and no PTX, which optimisation does not change").
		WithHelp("compile for compute_" + number + " too: nvcc -arch=" + j.options.Arch + ", or CMAKE_CUDA_ARCHITECTURES=" + number + " without -real")
	j.report.write(log.Messages)
}

// linkWith links, with the libraries that serve keeps if the request names some.
func (j *linkJob) linkWith(ctx context.Context, o link.Options) (*link.Result, error) {
	if j.memory != nil && j.memory.libraries != nil {
		return j.memory.libraries.Link(ctx, o)
	}
	return link.Link(ctx, o)
}

// describe returns the text that options ask to print about a link.
func (j *linkJob) describe(result *link.Result) string {
	var w strings.Builder
	if j.opts.IsSet("print-dependencies") && j.beside["print-dependencies"] == "" {
		writePulls(&w, result)
	}
	if j.opts.Bool("print-gc-sections") {
		for _, s := range result.Removed() {
			fmt.Fprintf(&w, "removed\t%s\t%s:%d\t%s\n", s.Kind, diag.Escape(s.Module), s.Line(), diag.Escape(s.Name))
		}
	}
	for i, name := range j.options.WhyLive {
		j.printWays(&w, name, result.Ways[i], result)
	}
	if j.opts.Bool("print-icf-sections") {
		for _, f := range result.Folded {
			fmt.Fprintf(&w, "folded\t%s\tinto\t%s\n", diag.Escape(f.Name), diag.Escape(f.Into))
		}
	}
	if j.opts.Bool("print-inlining") {
		showInlining(&w, result)
	}
	return w.String()
}

// printWays prints why the definitions with a name are in the output, or why they are not.
func (j *linkJob) printWays(w io.Writer, name string, ways []link.Why, result *link.Result) {
	if len(ways) == 0 {
		fmt.Fprintf(w, "%s is not in the output\n", diag.Escape(name))
	}
	type definition struct { // an object of a function has its place
		name string
		at   link.Place
	}
	gone := map[definition]string{} // by the optimiser
	for _, s := range result.Dropped() {
		gone[definition{s.Name, s.Place()}] = s.Reason
	}
	for _, why := range ways {
		switch {
		case why.Way == nil:
			fmt.Fprintf(w, "%s %s (%s:%d) is not in the output: %s\n", why.Kind, diag.Escape(why.Original), diag.Escape(why.Module), why.Line(), diag.Escape(why.Reason))
		case why.Place().Source == nil:
			j.printCubin(w, why.Way[0], result.Pulls)
		default:
			for i, s := range why.Way {
				what := "is used by the line above"
				if i == 0 {
					what = "is a root: " + why.Root
				}
				if reason := gone[definition{s.Name, s.Place()}]; reason != "" {
					what += ", and no longer in the output: " + diag.Escape(reason)
				}
				fmt.Fprintf(w, "%*s%s %s (%s:%d) %s\n", 2*i, "", s.Kind, diag.Escape(s.Name), diag.Escape(s.Module), s.Line(), what)
			}
		}
	}
}

// printCubin prints why a symbol of a cubin is linked: the chain of archive members that need the
// cubin, and the parts that nvlink keeps.
func (j *linkJob) printCubin(w io.Writer, s link.Symbol, pulls []link.Pull) {
	why := map[string]link.Pull{}
	for _, p := range pulls {
		why[p.Member] = p
	}
	var chain []link.Pull
	for p, pulled := why[s.Module]; pulled && len(chain) < len(pulls); p, pulled = why[p.By] {
		chain = append(chain, p)
	}
	slices.Reverse(chain)
	for i, p := range chain {
		who := "an option names"
		if p.By != "" {
			who = diag.Escape(p.By) + " needs"
		}
		fmt.Fprintf(w, "%*s%s is linked because %s %s\n", 2*min(i, maxIndent), "", diag.Escape(p.Member), who, diag.Escape(p.Symbol))
	}
	what := "is a root"
	switch {
	case j.assembler.Compile:
		what = "is machine code, all of which is linked"
	case s.Kind == "func":
		what = "is machine code, of which nvlink keeps the functions that kernels use"
	}
	fmt.Fprintf(w, "%*s%s %s (%s) %s\n", 2*min(len(chain), maxIndent), "", s.Kind, diag.Escape(s.Name), diag.Escape(s.Module), what)
}

// showInlining writes a line for each call that could be inlined, with the reason if it is not.
func showInlining(w io.Writer, result *link.Result) {
	for _, call := range result.InlinedCalls {
		what := "inlined"
		if !call.Inlined {
			what = "not inlined: " + call.Reason
		}
		file, line, _ := call.Place.Position()
		fmt.Fprintf(w, "%s:%d\t%s\t%s\t%s\n", diag.Escape(file), line, diag.Escape(call.Caller), diag.Escape(call.Callee), diag.Escape(what))
	}
}

// unused returns the archives that no link needs. An archive is used if one GPU needs it.
func unused(targets []ptxas.Target) []string {
	list := targets[0].Unused
	for _, t := range targets[1:] {
		list = slices.DeleteFunc(slices.Clone(list), func(path string) bool { return !slices.Contains(t.Unused, path) })
	}
	return list
}
