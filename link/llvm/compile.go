package llvm

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"ptxlink/internal/outfile"
	"ptxlink/internal/parallel"
	"ptxlink/internal/tool"
	"ptxlink/link/ptxas"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// Compiler compiles LLVM bitcode to PTX.
type Compiler struct {
	Path     string   // of clang or llc, as set by Find
	Arch     string   // the GPU, such as "sm_80"
	Level    string   // of optimisation: "0" to "3", "s" or "z"; empty: "2"
	Features string   // of the target, such as "+ptx83"; empty: what the GPU needs
	Args     []string // options for LLVM, as clang passes them after -mllvm
	Quick    bool     // LowerEach need not optimise, since its modules are only checked
	Spelling diag.Spelling
	// Cache keeps the compiled modules; it may be nil.
	Cache *ptxas.Cache
	// Command is called with the commands that compile units; the commands name the units. It may
	// be nil. Calls may overlap.
	Command func(units []container.Unit, commands [][]string)
}

// ErrRejected is returned if the compiler refuses bitcode, and the messages give the reason.
var ErrRejected = tool.ErrRejected

// LowerEach compiles each unit to its own module, jobs at a time; 0 means one per CPU. It returns
// the modules in order.
func (c *Compiler) LowerEach(ctx context.Context, units []container.Unit, jobs int, log *diag.Log) ([][]byte, error) {
	defer c.Cache.Finish(log)
	each := *c
	if c.Quick {
		each.Level = "0"
	}
	texts, logs, errs := make([][]byte, len(units)), log.Split(len(units)), make([]error, len(units))
	err := parallel.Each(ctx, len(units), jobs, func(i int) string { return units[i].Name }, func(i int) {
		texts[i], errs[i] = each.lower(ctx, units[i:i+1], &logs[i])
	})
	for i := range logs {
		log.Append(&logs[i])
	}
	return texts, cmp.Or(err, tool.Worst(errs...))
}

const outputName = "out.ptx"

// Lower links units of bitcode and compiles them to one module. All names that another module may
// see stay visible, except names of units with Archive, since only the parts that other units use
// are taken from these. If it logs an error, it returns ErrRejected.
func (c *Compiler) Lower(ctx context.Context, units []container.Unit, log *diag.Log) ([]byte, error) {
	defer c.Cache.Finish(log)
	return c.lower(ctx, units, log)
}

// uses returns a unit that uses the inline functions and variables that must be kept, since LLVM
// would otherwise drop them; nil if there are none. The unit is text, which LLVM's programs accept
// in place of bitcode. All its declarations have the same type, because the type of the definition
// wins.
func (c *Compiler) uses(ctx context.Context, units []container.Unit) ([]container.Unit, error) {
	var names []string
	for _, u := range units {
		names = append(names, u.Kept...)
	}
	if names == nil {
		return nil, nil
	}
	release, err := version(ctx, c.Path)
	pointer, of := "ptr", `ptr @"%s"`
	if release < 15 && release > 0 {
		pointer, of = "i8*", `i8* bitcast (void ()* @"%s" to i8*)`
	}
	var text strings.Builder
	for i, name := range names { // a name of PTX too, so it cannot contain quotes
		fmt.Fprintf(&text, "declare void @\"%s\"()\n", name)
		names[i] = fmt.Sprintf(of, name)
	}
	fmt.Fprintf(&text, "@llvm.compiler.used = appending global [%d x %s] [%s], section \"llvm.metadata\"\n", len(names), pointer, strings.Join(names, ", "))
	return []container.Unit{{Name: "uses.ll", Data: []byte(text.String()), Bitcode: &container.Bitcode{}}}, err
}

func (c *Compiler) lower(ctx context.Context, units []container.Unit, log *diag.Log) ([]byte, error) {
	uses, err := c.uses(ctx, units)
	if err != nil {
		return nil, err
	}
	units = slices.Concat(uses, units)
	var names, named, archived []string
	for i, u := range units {
		names = append(names, fmt.Sprintf("unit%d.bc", i))
		if u.Archive {
			archived = append(archived, names[i])
		} else {
			named = append(named, names[i])
		}
	}
	commands := c.commands(named, archived)
	if c.Command != nil {
		c.Command(units[len(uses):], ptxas.NameUnitsIn(commands, names, units))
	}
	key := ""
	if c.Cache != nil {
		from := ptxas.Digests(units)
		for _, command := range commands { // each command reads the output of the command before
			if key = c.Cache.Key(ctx, command[0], command[1:], from); key == "" {
				break
			}
			from = []byte(key)
		}
	}
	warnings, text, _, err := c.Cache.Kept(ctx, key, ptxas.CheckPTX, func() (string, []byte, error) {
		return c.compile(ctx, commands, names, units, log)
	})
	for line := range strings.Lines(warnings) {
		if uses == nil || !strings.Contains(line, names[0]) { // of the generated unit: it has another triple
			log.Warn(diag.Clang, diag.Place{}, ptxas.NameUnits(strings.TrimSpace(line), names, units))
		}
	}
	return text, err
}

// compile runs commands on the files of units. It returns the PTX, and the warnings, one per line,
// which call the units by the names of these files.
func (c *Compiler) compile(ctx context.Context, commands [][]string, names []string, units []container.Unit, log *diag.Log) (warnings string, text []byte, err error) {
	var files []outfile.File
	for i, u := range units {
		files = append(files, outfile.File{Path: names[i], Data: u.Data})
	}
	dir, remove, err := outfile.TempDir(files...)
	if err != nil {
		return "", nil, err
	}
	defer remove()
	for i, command := range commands {
		var said []string
		form, check := "bitcode", checkBitcode
		if i == len(commands)-1 {
			form, check = "PTX", func(text []byte) error { return ptxas.CheckPTX(renamed(text, units)) }
		}
		text, said, err = Run(ctx, dir, command, form, check)
		if failed, ok := errors.AsType[*diag.Message](err); ok && len(units) == 1 {
			failed.Place = diag.InFile(units[0].Name, 0, 0)
		}
		switch {
		case errors.Is(err, ErrRejected):
			for i, line := range said {
				said[i] = ptxas.NameUnits(line, names, units)
			}
			c.refused(ctx, command[0], said, units, log)
		case errors.Is(err, fs.ErrNotExist) && command[0] != c.Path:
			err = diag.New(diag.Tool, diag.Place{}, err.Error()).
				WithHelp(c.Path + " needs llvm-link and opt of its release beside it; " + c.Spelling.With("--clang", "%s or ") + "$CLANG names a clang, which needs neither")
		}
		if err != nil {
			return "", nil, err
		}
		for _, line := range said {
			// Units of several releases differ in the data layout. The warning would be useless,
			// because LLVM updates the layout.
			if _, warning, ok := strings.Cut(line, "warning: "); ok && !strings.Contains(line, "different data layouts") {
				warnings += filepath.Base(command[0]) + ": " + warning + "\n"
			}
		}
	}
	return warnings, renamed(text, units), nil
}

// renamed changes the names that PTX cannot have in the text, and with them the names that begin
// with them, such as names of parameters.
func renamed(text []byte, units []container.Unit) []byte {
	var names []string
	for _, u := range units {
		for _, s := range u.Bitcode.Symbols {
			if s.PTXName() != s.Name {
				names = append(names, s.Name)
			}
		}
	}
	if names == nil {
		return text
	}
	slices.Sort(names)
	slices.Reverse(names) // longer names must come before their prefixes
	var pairs []string
	for _, name := range slices.Compact(names) {
		pairs = append(pairs, name, container.BitcodeSymbol{Name: name}.PTXName())
	}
	return []byte(strings.NewReplacer(pairs...).Replace(string(text)))
}

// commands returns the commands that compile the named files with the parts of the archived files
// that they use. The archived files are linked first, because they may need each other. The clang
// driver is bypassed, because it looks for a CUDA toolkit and makes the PTX version depend on it.
func (c *Compiler) commands(named, archived []string) (list [][]string) {
	const library, linked, optimized = "library.bc", "linked.bc", "optimized.bc"
	if len(named) == 0 {
		named, archived = archived, nil
	}
	level := "-O" + cmp.Or(c.Level, "2")
	if !isLLC(c.Path) {
		link := func(names []string, how ...string) (args []string) {
			// Without the option, clang would warn: the triple of libdevice is
			// nvptx64-nvidia-gpulibs, and libclc has nvptx64--.
			args = append([]string{c.Path, "-cc1", "-triple", triple, "-Wno-override-module", "-target-cpu", c.Arch}, how...)
			for _, name := range names[1:] {
				args = append(args, "-mlink-bitcode-file", name)
			}
			return args
		}
		how := []string{level, "-S", "-fno-dwarf-directory-asm"}
		for _, feature := range strings.FieldsFunc(c.Features, func(r rune) bool { return r == ',' }) {
			how = append(how, "-target-feature", feature)
		}
		for _, arg := range c.Args {
			how = append(how, "-mllvm", arg)
		}
		args := link(named, how...)
		if len(archived) > 0 {
			list = append(list, append(link(archived, "-emit-llvm-bc", "-disable-llvm-passes"), "-x", "ir", archived[0], "-o", library))
			args = append(args, "-mlink-builtin-bitcode", library) // after the files that use it
		}
		return append(list, append(args, "-x", "ir", named[0], "-o", outputName))
	}
	dir, suffix := filepath.Dir(c.Path), strings.TrimPrefix(filepath.Base(c.Path), "llc")
	input := named[0]
	link := func(output string, names ...string) {
		input = output
		list = append(list, append([]string{filepath.Join(dir, "llvm-link"+suffix), "-o", output}, names...))
	}
	if len(named) > 1 {
		link(linked, named...)
	}
	if main := input; len(archived) > 0 {
		link(library, archived...)
		link("all.bc", "--only-needed", "--internalize", main, library)
	}
	if level != "-O0" {
		list = append(list, []string{filepath.Join(dir, "opt"+suffix), "-passes=default<" + level[1:] + ">", input, "-o", optimized})
		input = optimized
	}
	args := []string{c.Path, "-mtriple=" + triple, "-mcpu=" + c.Arch}
	if c.Features != "" {
		args = append(args, "-mattr="+c.Features)
	}
	if strings.Trim(level[2:], "0123") == "" { // llc accepts only these levels
		args = append(args, level)
	}
	return append(list, append(append(args, c.Args...), input, "-o", outputName))
}

const triple = "nvptx64-nvidia-cuda"

// Run runs a compiler in a directory. It returns the contents of the file that the command names
// after -o, and the lines that the compiler prints. The error is ErrRejected if the lines say why
// nothing was compiled; otherwise a *diag.Message with the first lines says that the compiler could
// not be run or failed. llc warns about an unknown architecture and then compiles for the oldest.
func Run(ctx context.Context, dir string, command []string, form string, check func([]byte) error) (text []byte, said []string, err error) {
	out, err := tool.Run(ctx, tool.Command{Path: command[0], Args: command[1:], Dir: dir})
	if err != nil {
		return nil, nil, err
	}
	for line := range strings.Lines(string(out.Said)) {
		if line = strings.TrimSpace(line); line != "" {
			said = append(said, line)
		}
	}
	refused := len(said) > 0 && !out.State.Success() || bytes.Contains(out.Said, []byte("not a recognized processor"))
	text, err = out.Take(filepath.Base(command[0]), diag.Tool, refused, tool.Wanted{Form: form, Dir: dir, File: command[slices.Index(command, "-o")+1], Check: check})
	said = slices.Compact(said)
	if failed, ok := errors.AsType[*diag.Message](err); ok {
		for _, line := range said[:min(3, len(said))] {
			failed.Note(diag.Place{}, "it says: "+line)
		}
	}
	return text, said, err
}

func checkBitcode(data []byte) error {
	if !container.IsBitcode(data) {
		return errors.New("it is not LLVM bitcode")
	}
	return nil
}

func (c *Compiler) refused(ctx context.Context, program string, said []string, units []container.Unit, log *diag.Log) {
	what, at := "the LLVM bitcode", diag.Place{}
	if len(units) == 1 {
		what, at = "this LLVM bitcode", diag.InFile(units[0].Name, 0, 0)
	}
	why := ""
	for _, line := range said {
		if _, text, ok := strings.Cut(line, "error: "); ok && why == "" {
			why = text
		}
	}
	if why == "" && len(said) > 0 {
		why = said[0]
	}
	m := log.Error(diag.Bitcode, at, fmt.Sprintf("%s cannot compile %s: %s", filepath.Base(program), what, cmp.Or(why, "it gives no reason")))
	version, _ := version(ctx, c.Path)
	need := writtenBy(units)
	switch {
	case need > version && version > 0:
		m.WithHelp(fmt.Sprintf("LLVM %d wrote it, and %s is of LLVM %d: install clang%s", need, c.Path, version, atLeast(need)) + log.With("--clang", ", or name one with %s"))
	case len(units) > 0 && !slices.ContainsFunc(units, func(u container.Unit) bool { return !strings.HasSuffix(u.Name, ")") }):
		m.WithHelp("compile the objects that use this library to bitcode too (-flto, -foffload-lto): then only what they need of it is compiled; the program is " + program)
	default:
		m.WithHelp("the program is " + program + log.With("--clang", "; %s names another"))
	}
}
