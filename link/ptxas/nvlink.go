package ptxas

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"ptxlink/internal/outfile"
	"ptxlink/internal/sets"
	"ptxlink/internal/tool"
	"ptxlink/object/container"
	"ptxlink/object/diag"
)

// nvlinkArgs returns the command line of nvlink. The names must be the same in every run. -g is not
// passed: nvlink keeps DWARF without it, and with it would also keep functions and kernels that
// nothing uses.
func (b Build) nvlinkArgs(t *teller, inputs []string, output string) []string {
	args := []string{"-arch=" + t.Arch}
	if b.Compile {
		args = append(args, "-r")
	}
	if len(b.Kernels) > 0 && len(b.Cubins) > 0 {
		args = append(args, "-kernels-used="+strings.Join(b.Kernels, ","))
	}
	inputs = slices.Clip(inputs)
	for i := range b.Cubins {
		inputs = append(inputs, objectName(i))
	}
	return append(append(args, inputs...), "-o", output)
}

func objectName(i int) string { return fmt.Sprintf("object%d.cubin", i) }

// nvlink writes messages of these forms:
//
//	nvlink error   : Undefined reference to 'f' in 'part0.cubin'
//	nvlink warning : Stack size for entry function 'k' cannot be statically determined
var nvlinkSaid = sets.Regexp(`^nvlink (fatal|error|warning|info) *: *(.*)$`)

// ourFile matches the name of a part at the end of a message, which must be removed.
var ourFile = sets.Regexp(`(?:, first \w+)? in '[^']*\.o\.cubin'`)

// mergeFailed is dropped, because it follows errors that were already reported.
const mergeFailed = "merge_elf failed"

// inFile matches the file that a message is about.
var inFile = sets.Regexp(` in '([^']*)'`)

// join links cubins with nvlink, or takes the result from the cache.
func (b Build) join(ctx context.Context, t *teller, cubins [][]byte, log *diag.Log) ([]byte, error) {
	var names []string
	for i := range cubins {
		names = append(names, partName(i, len(cubins))+".o.cubin")
	}
	args := b.nvlinkArgs(t, names, outputName)
	inputs := slices.Clone(cubins)
	for _, o := range b.Cubins {
		inputs = append(inputs, o.Data)
	}
	key := ""
	if b.Cache != nil { // because the digests take time
		key = b.Cache.Key(ctx, b.Nvlink, args, digests(inputs...))
	}
	said, cubin, cached, err := b.Cache.Kept(ctx, key, container.CheckCubin, func() (string, []byte, error) {
		return b.nvlink(ctx, t, args, names, cubins, log)
	})
	if cached {
		b.nvlinkSays(t, said, log)
	}
	return cubin, err
}

func (b Build) nvlink(ctx context.Context, t *teller, args, names []string, cubins [][]byte, log *diag.Log) (_ string, cubin []byte, err error) {
	var files []outfile.File
	for i, cubin := range cubins {
		files = append(files, outfile.File{Path: names[i], Data: container.MendClang(cubin)})
	}
	for i, o := range b.Cubins {
		files = append(files, outfile.File{Path: objectName(i), Data: o.Data})
	}
	dir, remove, err := outfile.TempDir(files...)
	if err != nil {
		return "", nil, err
	}
	defer remove()
	var out tool.Output
	if err := b.slots.with(ctx, func() (err error) {
		out, err = tool.Run(ctx, tool.Command{Path: b.Nvlink, Args: args, Dir: dir})
		return err
	}); err != nil {
		return "", nil, err
	}
	said := string(out.Said)
	own := log.Split(1)[0]
	b.nvlinkSays(t, said, &own)
	noteLeft("nvlink", out.Left, &own)
	cubin, err = out.Take("nvlink", diag.NvlinkError, own.Errors() > 0, tool.Wanted{Form: "cubin", Dir: dir, File: outputName, Check: container.CheckCubin})
	if failed, ok := errors.AsType[*diag.Message](err); ok && len(b.Cubins) == 0 { // only nvlink can link these
		failed.Help += log.With("--ptxas-mode=whole", "; %s needs no nvlink")
	}
	if err == nil && b.Compile && !(container.Cubin{Data: cubin}).Relocatable() {
		// nvlink 12.4 accepts -r, but writes a cubin that cannot be linked:
		// testdata/script/cubin_compile_only.txtar.
		own.Error(diag.NvlinkError, diag.Place{}, "nvlink wrote no relocatable cubin").
			WithHelp("nvlink 12.4 writes none; " + log.With("--nvlink", "%s or ") + "$NVLINK names that of a newer release, such as 13.5")
		err = ErrRejected
	}
	log.Append(without(&own, err))
	return said, cubin, err
}

// nvlinkSays adds the messages of nvlink to a log, at the symbols that they name. It adds only one
// message that the size of a kernel's stack is not known, because nvlink repeats it for each
// recursion that the kernel reaches.
func (b Build) nvlinkSays(t *teller, text string, log *diag.Log) {
	var lines quota
	defer func() { noteLeft("nvlink", lines.left, log) }()
	said, before := map[string]bool{}, log.Errors()
	definers := sync.OnceValue(func() map[string]string {
		names := map[string]string{}
		for _, c := range t.Cubins {
			symbols, _ := c.AllSymbols() // no error, since they have been read before
			for _, s := range symbols {
				if s.Defined && names[s.Name] == "" {
					names[s.Name] = c.Name
				}
			}
		}
		return names
	})
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" {
			continue
		}
		found := nvlinkSaid().FindStringSubmatch(line)
		if found == nil {
			if lines.take("") {
				log.Note(diag.Place{}, "nvlink: "+line)
			}
			continue
		}
		if said[line] || b.drops(found[2]) || found[2] == mergeFailed && log.Errors() > before || !lines.take(found[1]) {
			continue
		}
		said[line] = true
		text := "nvlink: " + ourFile().ReplaceAllString(found[2], "")
		place := t.symbol(found[2])
		about := inFile().FindStringSubmatch(text)
		for i := len(t.Cubins) - 1; i >= 0; i-- {
			switch {
			case place.Source != nil:
			case about != nil && about[1] == objectName(i):
				place, text = diag.InFile(t.Cubins[i].Name, 0, 0), strings.Replace(text, about[0], "", 1)
			case about == nil && strings.Contains(text, "'"+objectName(i)+"'"):
				place = diag.InFile(t.Cubins[i].Name, 0, 0)
			}
			text = strings.ReplaceAll(text, objectName(i), diag.Escape(t.Cubins[i].Name))
		}
		if quotes := quoted().FindStringSubmatch(found[2]); place.Source == nil && quotes != nil && definers()[quotes[1]] != "" {
			place = diag.InFile(definers()[quotes[1]], 0, 0)
		}
		switch found[1] {
		case "warning":
			log.Warn(diag.Nvlink, place, text).WithHelp(t.advice(found[2]))
		case "info":
			log.Note(place, text)
		default:
			message := log.Error(diag.NvlinkError, place, text)
			if name := quoted().FindStringSubmatch(found[2]); name != nil && log.Unmangled(name[1]) != "" {
				message.Note(diag.Place{}, name[1]+" is "+log.Unmangled(name[1]))
			}
			switch {
			case strings.HasPrefix(found[2], "Undefined reference") && b.Compile:
				message.WithHelp("nvlink links machine code only if the inputs define all names, also for a relocatable cubin")
			case strings.HasPrefix(found[2], "Undefined reference") && len(b.Cubins) > 0:
				message.WithHelp("link what defines it")
			case strings.HasPrefix(found[2], "Undefined reference"):
				message.WithHelp(t.unfinished())
			case strings.HasSuffix(found[2], " arch does not match target '"+b.Arch+"'"): // GPUs agree
				message.WithHelp("nvlink does not know cubins of a newer release than its own; " + log.With("--nvlink", "%s or ") + "$NVLINK names that of the newest release among the inputs")
			case strings.HasPrefix(found[2], "Value ") && strings.HasSuffix(found[2], "for option 'arch'"):
				message.WithHelp(fmt.Sprintf("%s does not know %s; %s$NVLINK names that of a newer release", b.Nvlink, b.Arch, log.With("--nvlink", "%s or ")))
			case strings.Contains(found[2], "doesn't match for '"):
				message.WithHelp("declare it in one way in all modules, such as in a header")
			case strings.HasPrefix(found[2], "Unified symbols found"):
				message.WithHelp(t.unified())
			default:
				message.WithHelp(t.asWhole(found[2]))
			}
		}
	}
}

// symbol returns the place in an input of the first symbol that a message quotes.
func (t *teller) symbol(text string) diag.Place {
	for _, q := range quoted().FindAllStringSubmatch(text, -1) {
		p, unreadable := t.program()
		if unreadable != nil {
			break
		}
		id, ok := p.Lookup(q[1])
		if !ok {
			continue
		}
		span := diag.Span{}
		for i := range p.Decls {
			if d := &p.Decls[i]; d.Name == id && (span.Len == 0 || d.Defines()) {
				span = d.NameSpan
			}
		}
		if place, mapped := t.lines.Origin(t.linked.Line(span.Off)); mapped && span.Len > 0 {
			place.Span = narrow(place.Source, place.Span, "'"+q[1]+"'")
			return place
		}
	}
	return diag.Place{}
}

// commands passes the commands of a separate build to Command.
func (b Build) commands(t *teller, parts []unit) {
	var names []string
	for i, part := range parts {
		name := b.prefix + partName(i, len(parts))
		names = append(names, name+".o.cubin")
		b.Command(append([]string{t.Path}, t.args(part, name+".ptx", name+".o.cubin")...))
	}
	b.Command(append([]string{b.Nvlink}, b.nvlinkArgs(t, names, b.prefix+outputName)...))
}
