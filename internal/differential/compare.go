package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"ptxlink/internal/oracles"
	"ptxlink/internal/parallel"
	"ptxlink/link"
	"ptxlink/object/diag"
)

// An outcome is the result for one set.
type outcome struct {
	class  string // "equal", "both refuse", "alone", or the kind of the difference
	detail string
}

func (o outcome) differs() bool {
	return o.class != equal && o.class != scheduled && o.class != refused && !strings.HasPrefix(o.class, alone) && !strings.HasPrefix(o.class, documented)
}

const (
	equal      = "equal"
	scheduled  = "equal but for scheduling" // or registers
	refused    = "both refuse"
	alone      = "alone: "      // ptxas refuses a module by itself
	documented = "documented: " // docs/abi.md has the row
)

// Reasons of documented differences. docs/abi.md has a row with each of these
// sentences.
const (
	twoAlignments = "ptxlink refuses two alignments"
	localKernel   = "nvlink confuses a kernel with a local of the name"
	localTexture  = "nvlink confuses a texture reference with a local of the name"
	unusedAlias   = "nvlink fails on an alias that nothing uses"
	addressTaken  = "ptxas compiles a function differently if something takes its address"
	samplerValue  = "ptxas compiles a texture access differently if it sees the value of the sampler"
	registerLimit = "ptxas may give the same function more registers in another module"
	lostAddress   = "ptxas loses the address of a function in an object of a function"
	noPrototype   = "nvlink does not compare prototypes of a function whose address is taken"
)

var reasons = []string{twoAlignments, localKernel, localTexture, unusedAlias, addressTaken, samplerValue, registerLimit, lostAddress, noPrototype}

// A comparer runs the tools in its own directory.
type comparer struct {
	dir string
}

func (c *comparer) run(tool string, args ...string) (string, error) {
	path, ok := oracles.Find(tool)
	if !ok {
		return "", fmt.Errorf("no %s", tool)
	}
	// nvlink 13.5 runs for ever on some sets.
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", fmt.Errorf("%s: Internal error: it runs for more than two minutes", tool)
	}
	return string(out), err
}

// assemble runs ptxas -c. message holds what ptxas refuses, or our own failure.
func (c *comparer) assemble(s *set, name, text string) (cubin []byte, message string) {
	in := filepath.Join(c.dir, name+".ptx")
	if err := os.WriteFile(in, []byte(text), 0o666); err != nil {
		return nil, err.Error()
	}
	return c.produce(name+".cubin", "ptxas"+s.suffix, "-c", "-arch="+s.arch, in)
}

func (c *comparer) nvlink(s *set, name string, cubins ...string) (linked []byte, message string) {
	args := []string{"-arch=" + s.arch}
	for _, cubin := range cubins {
		args = append(args, filepath.Join(c.dir, cubin+".cubin"))
	}
	return c.produce(name, "nvlink"+s.suffix, args...)
}

// produce runs a tool that writes a file of c.dir.
func (c *comparer) produce(name, tool string, args ...string) (data []byte, message string) {
	out := filepath.Join(c.dir, name)
	os.Remove(out)
	said, err := c.run(tool, append(args, "-o", out)...)
	if err == nil {
		if data, err = os.ReadFile(out); err == nil {
			return data, ""
		}
	}
	return nil, firstError(said) + err.Error()
}

// firstError returns the first line with an error.
func firstError(text string) string {
	for _, line := range strings.Split(text, "\n") {
		if strings.Contains(line, "error") || strings.Contains(line, "fatal") || strings.Contains(line, "signal") {
			return line + "\n"
		}
	}
	return text
}

var (
	quotedName = regexp.MustCompile(`'[^']*'`)
	placed     = regexp.MustCompile(`^ptxas \S+; |^ptxas [^:]*line \d+; |\(target: sm_\d+\)|\d+`)
)

// kindOf removes places and names from a message.
func kindOf(message string) string {
	line, _, _ := strings.Cut(message, "\n")
	if _, tail, ok := strings.Cut(line, "; "); ok {
		line = tail
	}
	line = placed.ReplaceAllString(quotedName.ReplaceAllString(line, "'N'"), "#")
	return strings.Join(strings.Fields(line), " ")
}

// compare links a set in both ways.
func (c *comparer) compare(s *set) outcome {
	texts := s.texts()
	var inputs []link.Input
	var separate [][]byte
	var names []string
	for i, text := range texts {
		name := fmt.Sprint(i + 1)
		cubin, message := c.assemble(s, name, text)
		if message != "" {
			return outcome{alone + kindOf(message), fmt.Sprintf("%d.ptx: %s", i+1, message)}
		}
		separate, names = append(separate, cubin), append(names, name)
		inputs = append(inputs, link.Input{Name: name + ".ptx", Text: []byte(text)})
	}
	linked, refusal := c.nvlink(s, "linked", names...)
	var merged *link.Result
	var err error
	if p := parallel.Catch[any](func() {
		merged, err = link.Link(context.Background(), link.Options{Inputs: inputs, KeepUnused: true})
	}); p != nil {
		err = fmt.Errorf("panic: %v", p)
	}
	quiet := *s
	quiet.noise = false
	plain := strings.Join(quiet.texts(), "\n")
	if merged == nil {
		switch why := ours(err, plain); {
		case strings.HasPrefix(err.Error(), "panic"):
			return outcome{"ptxlink panics", err.Error()}
		case refusal != "":
			return outcome{refused, kindOf(refusal) + " / " + err.Error()}
		case why != "":
			return outcome{documented + why, err.Error()}
		default:
			return outcome{"ptxlink refuses: " + ourKind(err), err.Error()}
		}
	}
	merged.PTX = prefetch.ReplaceAll(merged.PTX, nil)
	os.WriteFile(filepath.Join(c.dir, "merged.ptx"), merged.PTX, 0o666)
	if strings.Contains(refusal, "Internal error") {
		return outcome{alone + kindOf(refusal), refusal}
	}
	if refusal != "" {
		if why := theirs(refusal, plain); why != "" {
			return outcome{documented + why, refusal}
		}
		return outcome{"only nvlink refuses: " + kindOf(refusal), refusal}
	}
	mergedCubin, message := c.assemble(s, "merged", string(merged.PTX))
	if overLimit.MatchString(message) {
		return outcome{documented + registerLimit, message}
	}
	if message != "" {
		return outcome{"ptxas refuses the merged text: " + kindOf(message), message}
	}
	mergedLinked, message := c.nvlink(s, "merged.linked", "merged")
	if strings.HasPrefix(message, "nvlink fatal   : Internal error: reference to deleted symbol\n") && bytes.Contains(merged.PTX, []byte("\n.alias ")) {
		return outcome{documented + unusedAlias, message}
	}
	if message != "" {
		return outcome{"nvlink refuses the merged cubin: " + kindOf(message), message}
	}
	return c.compareCubins(s, separate, linked, merged, mergedCubin, mergedLinked)
}

// overLimit matches ptxas's refusal of a kernel that limits its registers, by
// .maxnreg or .maxntid with .minnctapersm, and may call a function that uses more.
var overLimit = regexp.MustCompile(`^ptxas error\s*: Entry function '.*' with max regcount of \d+ calls function '.*' with regcount of \d+\n`)

func ourKind(err error) string {
	if all, ok := errors.AsType[*link.Errors](err); ok {
		for _, m := range all.Messages {
			if m.Kind == diag.Error {
				return strings.Join(strings.Fields(identifiers.ReplaceAllString(m.Text, "N")), " ")
			}
		}
	}
	return err.Error()
}

var identifiers = regexp.MustCompile(`\bm?\d+(_\w+|\.ptx)|'[^']*'`)

// ours returns the reason why ptxlink refuses what nvlink links.
func ours(err error, text string) string {
	switch message := err.Error(); {
	case strings.Contains(message, "alignment"):
		return twoAlignments
	case strings.Contains(message, flawed+" ") && strings.Contains(message, "where it is defined") && addressOfFlawed.MatchString(text):
		return noPrototype
	}
	return ""
}

var addressOfFlawed = regexp.MustCompile(`(mov\.u64 | = ).*\W` + flawed + `\W`)

// theirs returns the reason why nvlink refuses what ptxlink links.
func theirs(message, text string) string {
	name := func(pattern string) string {
		if m := regexp.MustCompile(pattern).FindStringSubmatch(message); m != nil {
			return regexp.QuoteMeta(m[1])
		}
		return ""
	}
	has := func(pattern string) bool { return regexp.MustCompile(pattern).MatchString(text) }
	local := func(n string) bool {
		return has(`(?m)^\.(func|const|shared|global (\.align \d+ )?(\.v\d )?\.[busf]\d+) (.*\W)?` + n + `\W`)
	}
	// nvlink finds kernels and texture references by name, and then takes a local
	// of another module for one.
	if n := name(`Function '(.*?)' not declared __global__`); n != "" && has(`\.entry `+n+`\W`) && local(n) {
		return localKernel
	}
	if strings.Contains(message, "Duplicate weak parameter bank") {
		return localKernel
	}
	if n := name(`(?:Multiple definition of|doesn't match for) '(.*?)'`); n != "" && has(`\.(tex|surf|sampler)ref `+n+`\W`) && local(n) {
		return localTexture
	}
	return ""
}

// compareCubins compares the output of both ways, first before nvlink, where every
// address is still a relocation by symbol.
func (c *comparer) compareCubins(s *set, separate [][]byte, linked []byte, merged *link.Result, mergedCubin, mergedLinked []byte) outcome {
	one := map[string]string{} // of the output's module-local names: module and original name
	original := map[string]string{}
	from := map[string]int{} // of functions: the module
	for _, sym := range merged.Symbols() {
		original[sym.Name] = sym.Original
		if sym.Module == "" {
			continue
		}
		module := strings.TrimSuffix(sym.Module, ".ptx")
		if sym.Linkage == "" {
			one[sym.Name] = module + ":" + sym.Original
		}
		if sym.Kind == "func" || sym.Kind == "entry" {
			from[sym.Name], _ = strconv.Atoi(module)
		}
	}
	var before []*cubin
	for i, text := range separate {
		cubin, err := openCubin(text, func(name string) string { return fmt.Sprintf("%d:%s", i+1, name) })
		if err != nil {
			return unreadable(err)
		}
		before = append(before, cubin)
	}
	identity := func(name string) string {
		if as, ok := one[name]; ok {
			return as
		}
		return "?:" + name
	}
	after, err := openCubin(mergedCubin, identity)
	if err != nil {
		return unreadable(err)
	}
	// Each function of the merged module must equal that of its original module.
	result := outcome{equal, ""}
	for name := range from {
		if after.function(name) == nil {
			return outcome{"a function is missing", name}
		}
	}
	for _, f := range after.defined((*cubinSymbol).isFunc) {
		m := from[f.Name]
		if m == 0 {
			continue // an alias
		}
		name := original[f.Name]
		was := before[m-1].function(name)
		if was == nil {
			return outcome{"a function that nobody defined", f.Name}
		}
		d := sameFunction(before[m-1], was, after, f)
		if d == "" {
			continue
		}
		// ptxas looks at all calls of the module: if it sees one more caller, it
		// may schedule differently. Then the effects of the function must agree.
		diff := sameTargets(before[m-1], was, after, f) + c.instructions(s, fmt.Sprintf("%d.cubin", m), was.Name, "merged.cubin", f.Name)
		if diff != "" {
			if why := c.explain(s, m, name, merged, f.Name, identity); why != "" {
				result = outcome{documented + why, fmt.Sprintf("%s (%s of %d.ptx)", f.Name, name, m)}
				continue
			}
			return outcome{"code differs", fmt.Sprintf("%s (%s of %d.ptx): %s\n%s", f.Name, name, m, d, diff)}
		}
		if result.class == equal {
			result = outcome{scheduled, fmt.Sprintf("%s (%s of %d.ptx)", f.Name, name, m)}
		}
	}
	d, lost := sameObjects(before, after)
	if d != "" {
		return outcome{"data differs", d}
	}
	if lost != "" {
		result = outcome{documented + lostAddress, lost}
	}
	if d := compareLinked(linked, mergedLinked, after, original); d.class != equal {
		return d
	}
	return result
}

func unreadable(err error) outcome { return outcome{"a cubin that cannot be read", err.Error()} }

// compareLinked compares the symbols and their contents after nvlink. original holds the
// names that those of the merged module, which is after, had in the inputs.
func compareLinked(linked, mergedLinked []byte, after *cubin, original map[string]string) outcome {
	plain := func(name string) string { return name }
	finalWant, err1 := openCubin(linked, plain)
	finalGot, err2 := openCubin(mergedLinked, plain)
	if err := errors.Join(err1, err2); err != nil {
		return unreadable(err)
	}
	renamed := func(name string) string {
		if o, ok := original[name]; ok {
			return o
		}
		return name
	}
	addresses := map[string][]uint64{} // in objects, by name
	for _, sym := range after.defined((*cubinSymbol).isObject) {
		for _, r := range after.relocations(sym) {
			addresses[renamed(sym.Name)] = append(addresses[renamed(sym.Name)], r.offset)
		}
	}
	if d := difference(final(finalWant, plain, addresses), final(finalGot, renamed, addresses)); d != "" {
		return outcome{"linked symbols differ", d}
	}
	return outcome{equal, ""}
}

// explain returns the reason why ptxas gives a function other code in the merged
// module than in its own, or "" if it finds none. It changes what ptxas sees, and
// expects the same code:
//
//   - A module declares a sampler that another one initialises. Here it has the
//     definition of the link.
//   - In the link another module takes the address of the function, or only a weak
//     function that is dropped does. Here both modules take it. ptxas then does not
//     see all callers: it uses no uniform registers in a kernel, yields in loops, and
//     expands warp-synchronous instructions differently.
func (c *comparer) explain(s *set, m int, name string, merged *link.Result, mergedName string, identity func(string) string) string {
	quiet := *s
	quiet.noise = false
	texts := quiet.texts()
	own := sampler.ReplaceAllStringFunc(texts[m-1], func(declared string) string {
		name := regexp.QuoteMeta(sampler.FindStringSubmatch(declared)[1])
		for _, linkage := range []string{"visible", "weak"} {
			definition := regexp.MustCompile(`(?m)^\.` + linkage + ` \.global \.samplerref ` + name + `( =.*)?;$`)
			if d := definition.FindString(strings.Join(texts, "\n")); d != "" {
				return d
			}
		}
		return declared
	})
	probe := func(file, text, name string, local func(string) string) (*cubin, *cubinSymbol) {
		data, _ := c.assemble(s, file, text)
		cubin, err := openCubin(data, local)
		if err != nil {
			return nil, nil
		}
		return cubin, cubin.function(name)
	}
	same := func(text, mergedText string) bool {
		a, f := probe("probe", text, name, func(name string) string { return fmt.Sprintf("%d:%s", m, name) })
		b, h := probe("merged.probe", mergedText, mergedName, identity)
		return f != nil && h != nil && sameTargets(a, f, b, h)+c.instructions(s, "probe.cubin", name, "merged.probe.cubin", mergedName) == ""
	}
	const take = "\n.visible .global .u64 ptxlink_probe = %s;\n"
	switch {
	case own != texts[m-1] && same(own, string(merged.PTX)):
		return samplerValue
	case same(own+fmt.Sprintf(take, name), string(merged.PTX)+fmt.Sprintf(take, mergedName)):
		return addressTaken
	}
	return ""
}

// prefetch matches what a link adds where ptxas takes parameters for something else (link/program/faults.go).
var prefetch = regexp.MustCompile(` (?:@!?\S+ )?prefetch\.local\.L1 \[[^\]]*\];`)

var sampler = regexp.MustCompile(`(?m)^\.(?:extern|weak) \.global \.samplerref (\S+?)(?: =.*)?;$`)

// targets returns the relocations of a symbol, those to the function itself by
// offset.
func (c *cubin) targets(s *cubinSymbol) (list []string) {
	for _, r := range c.relocations(s) {
		to := r.symbol.identity
		if r.symbol == s {
			to = "itself"
		}
		list = append(list, fmt.Sprintf("%#x type %#x %s+%d", r.offset, r.kind, to, r.addend))
	}
	return list
}

func sameFunction(a *cubin, f *cubinSymbol, b *cubin, h *cubinSymbol) string {
	if f.Info != h.Info || f.Other != h.Other {
		return fmt.Sprintf("symbol info %#x %#x, merged %#x %#x", f.Info, f.Other, h.Info, h.Other)
	}
	if d := difference(a.targets(f), b.targets(h)); d != "" {
		return "relocations:\n" + d
	}
	if !bytes.Equal(a.bytes(f), b.bytes(h)) {
		return "instructions:\n"
	}
	if d := difference(a.info(f), b.info(h)); d != "" {
		return "attributes:\n" + d
	}
	return ""
}

// info returns the attributes in .nv.info.NAME, except those with a symbol index.
func (c *cubin) info(f *cubinSymbol) (list []string) {
	var data []byte
	for i, s := range c.file.Sections {
		if strings.HasPrefix(s.Name, ".nv.info.") && s.Info == uint32(f.Section) {
			data = c.data[elf.SectionIndex(i)]
		}
	}
	for len(data) >= 4 {
		format, attribute, size := data[0], data[1], 0
		if format == 4 {
			size = int(data[2]) | int(data[3])<<8
		}
		value := data[2:min(4+size, len(data))]
		if attribute != 0x0a && attribute != 0x0f && attribute != 0x16 { // PARAM_CBANK, EXTERNS; NEED_CNP_PATCH depends on the module
			list = append(list, fmt.Sprintf("%#x: %x", attribute, value))
		}
		data = data[min(4+size, len(data)):]
	}
	list = append(list, fmt.Sprintf("registers: %d", c.file.Sections[f.Section].Info>>24))
	return list
}

// sameObjects compares the variables of the merged module with those of the
// modules: each must equal one of them. lost is one that equals one of them only
// without the address of a function.
func sameObjects(before []*cubin, after *cubin) (diff, lost string) {
	describe := func(c *cubin, s *cubinSymbol) string {
		return fmt.Sprintf("%s: %s, bind %d, other %#x, size %d, %x, %q", s.identity, c.section(s), elf.ST_BIND(s.Info), s.Other, s.Size, c.bytes(s), c.targets(s))
	}
	have := map[string]int{}
	for _, c := range before {
		for _, s := range c.defined((*cubinSymbol).isObject) {
			have[describe(c, s)]++
		}
	}
	for _, s := range after.defined((*cubinSymbol).isObject) {
		if strings.HasPrefix(s.identity, "literal") {
			continue // belongs to the code
		}
		text := describe(after, s)
		if have[text] == 0 && inFunction.MatchString(s.Name) {
			for _, other := range sortedKeys(have) {
				if have[other] > 0 && withoutFunctions(other) == withoutFunctions(text) && (noSymbol.MatchString(other) || noSymbol.MatchString(text)) {
					text, lost = other, text
					break
				}
			}
		}
		if have[text]--; have[text] < 0 {
			return "no module has it like this: " + text, ""
		}
	}
	return "", lost
}

// ptxas emits the address of a function, a relocation of type 2 or 0x66, as one of
// type 2 without a symbol if it has not compiled the function:
// .func f() { .const .u64 c = f; ret; } with another function in the module.
var (
	noSymbol       = regexp.MustCompile(`type 0x2 \+`)
	functionTarget = regexp.MustCompile(`type (?:0x2|0x66) [^"]*\+`)
)

func withoutFunctions(targets string) string {
	return functionTarget.ReplaceAllString(targets, "function +")
}

// final returns the kernels and the objects of a linked cubin, and the contents of
// objects. Device functions were compared before: nvlink drops those that nothing
// calls. Among weak ones it chooses one that uses fewer registers or comes from
// newer PTX, while ptxlink chooses the first; they should be equal. Addresses were
// compared too, and here depend on the order of the objects.
func final(c *cubin, name func(string) string, addresses map[string][]uint64) (list []string) {
	for _, s := range c.defined(func(s *cubinSymbol) bool { return s.isObject() || s.isFunc() && s.Other&0x10 != 0 }) {
		// An object used only by a weak function that lost is dropped with it in
		// one way and kept in the other.
		if inFunction.MatchString(s.Name) {
			continue
		}
		text := fmt.Sprintf("%s: %s, info %#x, other %#x", name(s.Name), c.section(s), s.Info, s.Other)
		if s.isObject() {
			data := slices.Clone(c.bytes(s))
			for _, at := range addresses[name(s.Name)] {
				if at+8 <= uint64(len(data)) {
					clear(data[at : at+8])
				}
			}
			text += fmt.Sprintf(", %d bytes %x", s.Size, bytes.TrimRight(data, "\x00"))
		}
		list = append(list, text)
	}
	slices.Sort(list)
	return list
}

// difference returns the lines that only one side has.
func difference(want, got []string) string {
	var b strings.Builder
	count := map[string]int{}
	for _, w := range want {
		count[w]++
	}
	for _, g := range got {
		count[g]--
	}
	for _, line := range sortedKeys(count) {
		for range count[line] {
			fmt.Fprintf(&b, "- %s\n", line)
		}
		for range -count[line] {
			fmt.Fprintf(&b, "+ %s\n", line)
		}
	}
	return b.String()
}

// instructions returns how the effects of a function differ: the instructions that
// access memory, call or wait, without registers, which may differ.
func (c *comparer) instructions(s *set, file, name, mergedFile, mergedName string) string {
	read := func(file, name string) []string {
		text, _ := c.run("cuobjdump"+s.suffix, "-sass", "-fun", name, filepath.Join(c.dir, file))
		var list []string
		for _, m := range sass.FindAllStringSubmatch(text, -1) {
			if effects.MatchString(m[1]) {
				list = append(list, register.ReplaceAllString(m[1], "$1"))
			}
		}
		return list
	}
	return difference(read(file, name), read(mergedFile, mergedName))
}

var (
	sass     = regexp.MustCompile(`(?m)/\*[0-9a-f]{4,}\*/\s+(?:@\S+ )?(.*?)\s*;`)
	effects  = regexp.MustCompile(`^(LD\b|LD\.|LDG|LDS|ST\b|ST\.|STG|STS|ATOM|RED\b|RED\.|TEX|TLD|TXQ|SULD|SUST|CALL|BAR|MEMBAR|SHFL|MATCH|CCTL)`)
	register = regexp.MustCompile(`\bU?(R|P)(?:\d+|Z|T)(?:\.reuse)?`)
)

// sameTargets compares the symbols that two functions refer to.
func sameTargets(a *cubin, f *cubinSymbol, b *cubin, h *cubinSymbol) string {
	targets := func(c *cubin, s *cubinSymbol) (list []string) {
		for _, r := range c.relocations(s) {
			to := r.symbol.identity
			if strings.HasPrefix(to, "literal") {
				to = "literal" // such as offsets in the code, for a table of branches
			}
			if r.symbol != s {
				list = append(list, fmt.Sprintf("%s+%d", to, r.addend))
			}
		}
		slices.Sort(list)
		return slices.Compact(list) // an address may be computed once or twice
	}
	return difference(targets(a, f), targets(b, h))
}
