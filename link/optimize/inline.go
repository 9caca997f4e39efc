package optimize

import (
	"fmt"
	"slices"
	"strings"

	"ptxlink/object/ptx"
)

// site is one call that is inlined.
type site struct {
	statement int32    // in the caller
	refused   string   // why the call is not inlined, or ""
	loc       *ptx.Loc // the line of the call, or nil
	caller    *function
	callee    *function
	code      *ptx.Code        // of the callee
	usages    []usage          // of its parameters
	places    []place          // by parameter, the results first
	objects   []int32          // by parameter: the local of the caller that is passed, or -1
	names     map[int32]string // new names of locals of the callee
	edits     []edit           // of the caller's accesses
	inner     []edit           // of the callee's body
}

// levels returns the functions with calls, by level. Functions of a level may be inlined only into
// functions of later levels.
func (s *state) levels() (list [maxNesting][]*function) {
	for _, f := range s.functions {
		if len(f.calls) > 0 {
			n := s.level[f.name] % maxNesting
			list[n] = append(list[n], f)
		}
	}
	return list
}

func (s *state) round(callers []*function) {
	callers = slices.DeleteFunc(callers, func(f *function) bool { return f.gone })
	callees := s.defined(callers)
	s.each(len(callees), func(i int) { s.look(callees[i]) })
	sites := make([][]*site, len(callers))
	s.each(len(callers), func(i int) { sites[i] = s.findSites(callers[i]) })
	var changes []change
	var inlined []*function
	for i, f := range callers {
		sites[i] = s.choose(f, sites[i])
		for _, at := range sites[i] {
			inlined = append(inlined, at.callee)
			s.labelLines(at)
		}
		if len(sites[i]) > 0 {
			changes = append(changes, change{function: f, sites: sites[i]})
		}
	}
	s.apply(changes)
	s.each(len(callers), func(i int) { s.forget(callers[i]) })
	s.drop(inlined)
}

func (s *state) defined(callers []*function) (callees []*function) {
	seen := map[*function]bool{}
	for _, f := range callers {
		for _, c := range f.calls {
			if callee := s.byName[s.callee(f.target(c))]; callee != nil && !seen[callee] {
				seen[callee] = true
				callees = append(callees, callee)
			}
		}
	}
	return callees
}

// findSites returns the direct calls of defined functions in a function, and binds the
// arguments of those that can be inlined.
func (s *state) findSites(caller *function) (sites []*site) {
	c := caller.code()
	locals := namesOf(c)
	var loc *ptx.Loc // the last .loc so far
	for n, st := range c.Statements {
		if st.Kind == ptx.Directive && c.Opcode(st) == ".loc" {
			loc = locAt(c.Module, c.Span(st).Off)
		}
		name, ok := calledName(c, st)
		if !ok {
			continue
		}
		callee := s.byName[s.callee(name)]
		if callee == nil {
			continue // because it is a system call
		}
		at := &site{statement: int32(n), caller: caller, callee: callee, loc: loc}
		if at.refused = s.refusal(locals, at); at.refused == "" {
			caller.names = max(caller.names, callee.names)
		}
		sites = append(sites, at)
	}
	used, _ := caller.usages()
	for _, at := range sites {
		if at.refused == "" {
			at.refused = s.bind(c, used, at)
		}
	}
	return sites
}

// choose returns the calls in a function that are inlined, and reports all calls.
func (s *state) choose(caller *function, sites []*site) (kept []*site) {
	s.limitStack(caller, slices.DeleteFunc(slices.Clone(sites), func(at *site) bool { return at.refused != "" }))
	c := caller.code()
	for _, at := range sites {
		s.tell(Call{caller.name, at.callee.name, caller.origin(caller.src.Line(c.Span(c.Statements[at.statement]).Off)), at.refused == "", at.refused})
		if at.refused == "" {
			kept = append(kept, at)
			s.inlined[at.callee.name], s.grown[caller.name] = true, true
		}
	}
	return kept
}

// calling returns the operands of a call after its results; nil for other statements.
func calling(c *ptx.Code, st ptx.Statement) []ptx.Operand {
	if st.Kind != ptx.Instruction || c.Opcode(st) != "call" {
		return nil
	}
	operands := c.Operands(st)
	if len(operands) > 0 && operands[0].Shape == ptx.List {
		operands = operands[1:]
	}
	return operands
}

// callTarget returns the token of the function or register that a call names directly. ok is false
// for calls with a prototype, and for all other instructions.
func callTarget(c *ptx.Code, st ptx.Statement) (token int32, ok bool) {
	operands := calling(c, st)
	if len(operands) == 0 || len(operands) > 2 || operands[0].Shape != ptx.NameOperand {
		return -1, false
	}
	return operands[0].First, true
}

// calledName returns the name of the function that a call refers to directly.
func calledName(c *ptx.Code, st ptx.Statement) (name string, ok bool) {
	if token, ok := callTarget(c, st); ok {
		if id, ok := c.Reference(int(token)).Name(); ok {
			return c.Module.Names[id], true
		}
	}
	return "", false
}

func (s *state) refusal(locals localNames, at *site) string {
	from, to := at.caller.name, at.callee.name
	switch {
	case s.recursive[to]:
		return "it is recursive"
	case s.described(at.caller):
		return "the caller has debug information"
	}
	if reason := s.unwanted(at.callee); reason != "" {
		return reason
	}
	if s.level[to]%maxNesting >= s.level[from]%maxNesting {
		return "it is nested too deep"
	}
	if reason := s.repeats(at.callee); reason != "" {
		return reason
	}
	return s.capture(locals, at.caller, at.callee)
}

// capture returns a reason if a name in the callee would mean something else in the caller, because
// a local of the caller has the name, or because it is declared after the caller.
func (s *state) capture(locals localNames, caller, callee *function) string {
	c := callee.code()
	const hidden = " is also a local name in the caller"
	for i, t := range c.Tokens {
		if t.Kind != ptx.Ident || t.Role() != ptx.Refers {
			continue
		}
		ref := c.Reference(i)
		if _, local := ref.Local(); local {
			continue
		}
		if id, ok := ref.Name(); ok && !s.declares(callee.m.Names[id], caller.place()) {
			return callee.m.Names[id] + " is declared after the caller"
		}
		if name := string(c.Text(t)); locals.contain(name) {
			return name + hidden
		}
	}
	for _, list := range c.TargetRanges {
		for _, target := range list.Targets {
			if id, ok := target.Name(); ok && locals.contain(callee.m.Names[id]) {
				return callee.m.Names[id] + hidden
			}
		}
	}
	return ""
}

// localNames are the names that a function declares.
type localNames struct {
	single map[string]bool
	ranges map[string]int64 // by base
}

func namesOf(c *ptx.Code) localNames {
	n := localNames{map[string]bool{}, map[string]int64{}}
	for _, l := range c.Locals {
		name := c.Module.Src.String(l.Name)
		if l.Count >= 0 {
			n.ranges[name] = max(n.ranges[name], l.Count)
		} else {
			n.single[name] = true
		}
	}
	return n
}

// contain reports whether the function declares the name, in any block.
func (n localNames) contain(name string) bool {
	base, number, ok := ptx.SplitNumber(name)
	return n.single[name] || ok && number < n.ranges[base]
}

// paste returns the edits of a caller for the calls that are inlined into it.
func (s *state) paste(caller *function, sites []*site) (edits []edit) {
	c := caller.code()
	replaced := map[int32]*place{} // by local of the caller
	// ptxas mistakes an object of a nested block in .param for a parameter of the function with the
	// same name, so objects of callees cannot keep such a name.
	parameters := map[string]bool{}
	for i := range c.Locals {
		if c.Locals[i].Kind == ptx.Parameter {
			parameters[caller.src.String(c.Locals[i].Name)] = true
		}
	}
	var depots depots
	for _, at := range sites {
		edits = append(edits, at.edits...)
		for i, local := range at.objects {
			if local >= 0 {
				replaced[local] = &at.places[i]
			}
		}
		edits = append(edits, s.pasteOne(at, parameters, &depots))
	}
	edits = append(edits, s.declarations(c, replaced)...)
	if text := depots.declaration(); text != "" {
		edits = append(edits, edit{span: ptx.Span{Off: caller.decl.Body.Off + 1}, text: text})
	}
	return edits
}

// declarations returns the edits that remove the declarations of replaced objects.
func (s *state) declarations(c *ptx.Code, replaced map[int32]*place) (edits []edit) {
	for _, st := range c.Statements {
		if st.Kind != ptx.Directive || c.Opcode(st) != ".param" {
			continue
		}
		span := c.Span(st)
		var text, kept []string
		prefix, found := "", false
		for _, i := range declared(c, st) {
			l := &c.Locals[i]
			if prefix == "" {
				prefix = string(c.Module.Src.Text[span.Off:l.Name.Off])
			}
			if p := replaced[i]; p != nil {
				found = true
				if d := p.declaration(); d != "" {
					text = append(text, d)
				}
			} else {
				kept = append(kept, declarator(c, st, l))
			}
		}
		if !found {
			continue
		}
		if len(kept) > 0 {
			text = append([]string{prefix + strings.Join(kept, ", ") + ";"}, text...)
		}
		edits = append(edits, edit{span: span, text: strings.Join(text, " ")})
	}
	return edits
}

// declared returns the locals that a statement declares.
func declared(c *ptx.Code, st ptx.Statement) (list []int32) {
	for i := st.First; i < st.End; i++ {
		if t := c.Tokens[i]; t.Kind == ptx.Ident && t.Role() == ptx.Declares {
			if local, ok := c.Reference(int(i)).Local(); ok {
				list = append(list, local)
			}
		}
	}
	return list
}

// declarator returns the text of one name in a declaration, with its dimensions.
func declarator(c *ptx.Code, st ptx.Statement, l *ptx.LocalDecl) string {
	end := l.Name.End()
	for _, t := range c.Tokens[st.First:st.End] {
		if t.Off < l.Name.Off {
			continue
		}
		if t.Kind == ptx.Punct && (t.Ch == ',' || t.Ch == ';') {
			break
		}
		end = t.End
	}
	return string(c.Module.Src.Text[l.Name.Off:end])
}

func (s *state) pasteOne(at *site, parameters map[string]bool, depots *depots) edit {
	c := at.caller.code()
	st := c.Statements[at.statement]
	end, skip := s.label(at.caller), ""
	inner, ends := s.body(at, parameters, end, depots)
	locs, loc := s.inlineLocs(at)
	inner = append(inner, locs...)
	sortEdits(inner)

	var before, after strings.Builder
	if st.Guarded() {
		skip = s.label(at.caller)
		fmt.Fprintf(&before, "%s bra %s;\n", inverted(c, st), skip)
	}
	if ends {
		after.WriteString("\n" + end + ":")
	}
	for i := range at.places {
		p := &at.places[i]
		switch {
		case at.objects[i] >= 0: // the caller's own accesses change instead
		case i < len(at.callee.decl.Signature.Results):
			before.WriteString(p.declaration() + "\n")
			after.WriteString("\n" + p.passes)
		default:
			before.WriteString(p.declaration() + "\n" + p.passes + "\n")
		}
	}
	if skip != "" {
		after.WriteString("\n" + skip + ":")
	}
	off := c.Span(st).Off
	after.WriteString(loc)
	from, to, body := at.callee.text, at.caller.text, at.callee.decl.Body
	return edit{span: c.Span(st), write: func(w *writer) {
		w.own(before.String(), to, off)
		w.copy(from, body, inner)
		w.own(after.String(), to, off)
	}}
}

// inverted returns the opposite of the predicate of a statement.
func inverted(c *ptx.Code, st ptx.Statement) string {
	guard := asWritten(c).spell(st.First, st.Op)
	if rest, ok := strings.CutPrefix(guard, "@!"); ok {
		return "@" + rest
	}
	return "@!" + strings.TrimPrefix(guard, "@")
}

// body returns the edits of the callee's body. ends is set if the body branches to the label end,
// which must then stand after the body.
func (s *state) body(at *site, parameters map[string]bool, end string, depots *depots) (edits []edit, ends bool) {
	c := view{at.code, at.names}
	for i := range c.Locals {
		switch l := &c.Locals[i]; {
		case l.Kind >= ptx.CodeLabel:
			c.names[int32(i)] = s.label(at.caller)
		case l.Kind == ptx.Object && l.Type.Space == ".param" && parameters[c.Module.Src.String(l.Name)]:
			c.names[int32(i)] = s.register(at.caller)
		}
	}
	removed := map[int32]bool{} // declarations of locals
	edits = append(slices.Clone(at.inner), depots.move(s, at, c.names, removed)...)
	for n, st := range c.Statements {
		if st.Kind != ptx.Instruction || c.Opcode(st) != "ret" {
			continue
		}
		text := ""
		if n != len(c.Statements)-2 { // at the end of the body, no branch is needed
			ends = true
			text = c.guard(st) + "bra" + strings.Join(c.Modifiers(st), "") + " " + end + ";"
		}
		edits = append(edits, edit{span: c.Span(st), text: text})
	}
	return append(edits, outside(edits, c.rename(removed))...), ends
}
