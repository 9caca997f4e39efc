package ptxas

import (
	"bytes"
	"cmp"
	"slices"

	"ptxlink/link"
	"ptxlink/link/dlink"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// Own holds the relocatable cubins that the inputs already contain for the linked module, and
// Target.Cubins.
type Own struct {
	Cubins  []*object.Cubin
	Kernels []string // the same as Build.Kernels
	Missing string   // the reason, if an input has no such cubin
}

// NewTarget returns the target of a link. Target.Own is nil if the link has no such cubins, or if
// its options ask for code that the cubins do not have. If it is set, NewTarget moves the messages
// about assembled code from the result to Warnings, since they hold only if the code is assembled.
func NewTarget(l *dlink.Linked) Target {
	r := l.Result
	t := Target{Arch: cmp.Or(l.Options.Arch, r.Target), Result: r, Cubins: l.Cubins}
	if l.Own != nil && !changesCode(l.Options) {
		t.Own = func() Own { return own(l) }
		t.Warnings = slices.DeleteFunc(slices.Clone(r.Messages), func(m *link.Message) bool { return !dlink.OnlyAssembled(m) })
		r.Messages = slices.DeleteFunc(r.Messages, dlink.OnlyAssembled)
	}
	return t
}

// changes are the warnings that the linked PTX differs from the PTX of the inputs, or does more
// than nvlink would: for DynamicShared, nvlink reserves no memory.
var changes = []diag.ID{diag.Align, diag.DynamicShared, diag.EntryRenamed, diag.Pragma, diag.Raised, diag.DebugDropped}

// changesCode reports whether an option changes the definitions of the inputs, or asks for fewer of
// them than nvlink would keep. The cubins of the inputs cannot be linked then.
func changesCode(o link.Options) bool {
	names := len(o.Undefined) + len(o.RequireDefined) + len(o.Entries) + len(o.Exports) + len(o.Localize) + len(o.AllowUndefined) +
		len(o.Wrap) + len(o.Define) + len(o.Weaken) + len(o.LocalizeInputs)
	return names > 0 || o.Optimize.Enabled() || o.KeepUnused || o.CollectVariables || o.StripDebug || o.WarnUndefined || o.AllowDuplicates ||
		o.DedupeIdentical || o.Version != ""
}

func own(l *dlink.Linked) (own Own) {
	r, o := l.Result, l.Options
	if i := slices.IndexFunc(r.Messages, func(m *link.Message) bool { return slices.Contains(changes, m.ID) }); i >= 0 {
		own.Missing = "their code would differ, says the warning " + string(r.Messages[i].ID)
		return own
	}
	separated, messages := l.Own()
	all := separated.Cubins
	if i := slices.IndexFunc(messages, func(m *link.Message) bool { return m.Kind == diag.Error }); i >= 0 {
		own.Missing = messages[i].Text
		return own
	}
	if module := withoutCubin(r, separated.Modules); module != "" {
		own.Missing = module + " has no cubin of its PTX for " + o.Arch
		return own
	}
	linked := map[string][][]byte{}
	for _, c := range l.Cubins {
		linked[c.Name] = append(linked[c.Name], c.Data)
	}
	for _, archived := range []bool{false, true} { // weak definitions of archives give way
		for _, c := range all {
			if c.Archived != archived {
				continue
			}
			if archived { // because an archive may be named twice
				same := slices.IndexFunc(linked[c.Name], func(data []byte) bool { return bytes.Equal(data, c.Data) })
				if same < 0 {
					continue
				}
				linked[c.Name] = slices.Delete(linked[c.Name], same, same+1)
			}
			own.Cubins = append(own.Cubins, c)
		}
	}
	if own.Kernels = o.Kernels; len(o.Launched) > 0 {
		var fits bool
		if own.Kernels, fits = dlink.Kernels(r, o.Launched, own.Cubins); !fits {
			own.Missing = "nvlink would keep all their kernels, or choose them for long"
		}
	}
	return own
}

// withoutCubin returns a module that has definitions in the output and comes from one of the inputs
// in rest, or "".
func withoutCubin(r *link.Result, rest []link.Input) string {
	inputs, defines := map[string]bool{}, map[string]bool{}
	for _, in := range rest {
		inputs[cmp.Or(in.Path, in.Name)] = true
	}
	for _, s := range r.Symbols() {
		defines[s.Module] = true
	}
	for _, m := range r.Modules {
		without := inputs[m.Path]
		for at, c := range m.Name + ":" { // app.o:__nv_relfatbin
			without = without || c == ':' && inputs[m.Name[:at]]
		}
		if without && defines[m.Name] {
			return m.Name
		}
	}
	return ""
}
