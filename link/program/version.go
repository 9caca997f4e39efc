package program

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ptxlink/internal/lazy"
	"ptxlink/link/diag"
	"ptxlink/object"
	"ptxlink/object/ptx"
	"ptxlink/resolve"
)

// ParseVersion reads a version that the command line asks for, such as "7.8". It returns the zero
// version for the empty string. The error is a *diag.Message.
func ParseVersion(text string) (v ptx.Version, err error) {
	if text == "" {
		return v, nil
	}
	major, minor, ok := strings.Cut(text, ".")
	if ok {
		if v.Major, err = strconv.Atoi(major); err == nil {
			v.Minor, err = strconv.Atoi(minor)
		}
	}
	if !ok || err != nil || v.Major < 1 || v.Major > 99 || v.Minor < 0 || v.Minor > 99 {
		return v, diag.New(diag.Usage, diag.Place{}, fmt.Sprintf("%q is not a version of PTX, such as 7.8", text))
	}
	return v, nil
}

// targetVersions are the first versions of PTX that have a target, by the error of ptxas
// (TestTargetVersions). An a target needs the version of the plain target unless it is listed.
var targetVersions = map[string]ptx.Version{
	"sm_20": {Major: 2}, "sm_30": {Major: 3}, "sm_32": {Major: 4}, "sm_35": {Major: 3, Minor: 1}, "sm_37": {Major: 4, Minor: 1},
	"sm_50": {Major: 4}, "sm_52": {Major: 4, Minor: 1}, "sm_53": {Major: 4, Minor: 2},
	"sm_60": {Major: 5}, "sm_61": {Major: 5}, "sm_62": {Major: 5},
	"sm_70": {Major: 6}, "sm_72": {Major: 6, Minor: 1}, "sm_75": {Major: 6, Minor: 3},
	"sm_80": {Major: 7}, "sm_86": {Major: 7, Minor: 1}, "sm_87": {Major: 7, Minor: 4}, "sm_88": {Major: 9}, "sm_89": {Major: 7, Minor: 8},
	"sm_90": {Major: 7, Minor: 8}, "sm_90a": {Major: 8},
	"sm_100": {Major: 8, Minor: 6}, "sm_100f": {Major: 8, Minor: 8}, "sm_101": {Major: 8, Minor: 6}, "sm_101f": {Major: 8, Minor: 8},
	"sm_103": {Major: 8, Minor: 8}, "sm_107": {Major: 9, Minor: 4}, "sm_110": {Major: 9},
	"sm_120": {Major: 8, Minor: 7}, "sm_120f": {Major: 8, Minor: 8}, "sm_121": {Major: 8, Minor: 8},
}

// Targets returns the names in targetVersions, in the order of their numbers.
func Targets() []string {
	return slices.SortedFunc(maps.Keys(targetVersions), func(a, b string) int {
		return cmp.Or(cmp.Compare(len(strings.TrimRight(a, "af")), len(strings.TrimRight(b, "af"))), cmp.Compare(a, b))
	})
}

// attributeVersions are the first versions of PTX that have a directive of functions.
var attributeVersions = map[string]ptx.Version{
	".noreturn": {Major: 6, Minor: 4}, ".abi_preserve": {Major: 9}, ".abi_preserve_control": {Major: 9},
	".explicitcluster": {Major: 7, Minor: 8}, ".maxclusterrank": {Major: 7, Minor: 8}, ".reqnctapercluster": {Major: 7, Minor: 8},
	".blocksareclusters": {Major: 9}, ".local_maxnreg": {Major: 8, Minor: 8}, ".minperctamemory": {Major: 9, Minor: 4},
}

// instructionVersions are the first versions of PTX that have an instruction, by the first words of
// the opcode and the error of ptxas (TestInstructionVersions). The longest match counts.
var instructionVersions = map[string]ptx.Version{
	"redux": {Major: 7}, "cp.async": {Major: 7}, "mbarrier": {Major: 7}, "tanh": {Major: 7},
	"alloca": {Major: 7, Minor: 3}, "stacksave": {Major: 7, Minor: 3}, "stackrestore": {Major: 7, Minor: 3},
	"createpolicy": {Major: 7, Minor: 4}, "applypriority": {Major: 7, Minor: 4}, "discard": {Major: 7, Minor: 4},
	"fence.proxy": {Major: 7, Minor: 5}, "bmsk": {Major: 7, Minor: 6}, "szext": {Major: 7, Minor: 6}, "isspacep.param": {Major: 7, Minor: 7},
	"stmatrix": {Major: 7, Minor: 8}, "griddepcontrol": {Major: 7, Minor: 8}, "mapa": {Major: 7, Minor: 8}, "getctarank": {Major: 7, Minor: 8},
	"barrier.cluster": {Major: 7, Minor: 8},
	"cp.async.bulk":   {Major: 8}, "setmaxnreg": {Major: 8}, "elect": {Major: 8}, "wgmma": {Major: 8}, "fence.mbarrier_init": {Major: 8}, "prefetch.tensormap": {Major: 8},
	"multimem": {Major: 8, Minor: 1}, "st.async": {Major: 8, Minor: 1}, "red.async": {Major: 8, Minor: 1},
	"tensormap.replace": {Major: 8, Minor: 3}, "clusterlaunchcontrol": {Major: 8, Minor: 6}, "tcgen05": {Major: 8, Minor: 6},
	"trace.mark": {Major: 9, Minor: 5},
}

// instructionVersion returns the first version that has an instruction, and the words of its opcode
// that need it. ok is false if the version is not known.
func instructionVersion(opcode string) (name string, needs ptx.Version, ok bool) {
	for name = opcode; ; {
		if needs, ok = instructionVersions[name]; ok {
			return name, needs, true
		}
		dot := strings.LastIndexByte(name, '.')
		if dot < 0 {
			return "", needs, false
		}
		name = name[:dot]
	}
}

// LowerInstructions reports instructions in the output that its version does not have. It reports
// each only once for a module.
func (h Header) LowerInstructions(t *resolve.Table, log *diag.Log) {
	for i, f := range t.Files {
		if !h.Version.Less(f.Version) {
			continue
		}
		said := map[string]bool{}
		for k := range f.Decls {
			d := &f.Decls[k]
			if !t.LiveDecl(resolve.DeclID{File: int32(i), Decl: int32(k)}) {
				continue
			}
			f.Opcodes(d, func(opcode string, words []diag.Span) bool {
				if name, needs, ok := instructionVersion(opcode); ok && h.Version.Less(needs) && lazy.Add(&said, name) {
					needsVersion(log, f.At(words[0]), name, needs, h.Version)
				}
				return true
			})
		}
	}
}

// localVolatile is the first version with ld.volatile.local and st.volatile.local. Before it,
// nothing in .local could be volatile, and nothing had to be, because only one thread sees it.
var localVolatile = ptx.Version{Major: 9, Minor: 1}

// lowerVolatile adds edits that remove .volatile from accesses of .local in a body, because an
// older version of the output does not have it.
func (pl *planner) lowerVolatile(edits []ptx.Edit, f *object.File, d *ptx.Decl) []ptx.Edit {
	if !pl.Header.Version.Less(localVolatile) || f.Version.Less(localVolatile) || !bytes.Contains(f.Src.Bytes(d.Body), []byte("volatile")) {
		return edits
	}
	f.Opcodes(d, func(opcode string, words []diag.Span) bool {
		opcode += "."
		if strings.HasPrefix(opcode, "ld.volatile.local.") || strings.HasPrefix(opcode, "st.volatile.local.") {
			edits = append(edits, ptx.Edit{Span: words[1]})
		}
		return true
	})
	return edits
}

// needsVersion reports that --ptx-version is too low, because what needs a later one.
func needsVersion(log *diag.Log, at diag.Place, what string, needs, version ptx.Version) {
	option := log.Option("--ptx-version")
	log.Error(diag.PTXVersion, at, fmt.Sprintf("%s needs PTX %s, but %s is %s", what, needs, option, version)).
		WithHelp(fmt.Sprintf("raise %s to %s", option, needs))
}

// lower sets the version of the output to Options.Version. It is an error if that version lacks the
// target or a directive of an input, otherwise a warning, because only ptxas knows whether all
// instructions are there.
func (h *Header) lower(v ptx.Version, files []*object.File, log *diag.Log) {
	refuse := func(at diag.Place, what string, needs ptx.Version) { needsVersion(log, at, what, needs, v) }
	newest, was := h.versionFile, h.Version
	h.Version = v
	before := log.Errors()
	if needs, ok := targetVersions[h.arch.String()]; h.arch.file != nil && (ok || h.arch.Suffix == 'a') {
		if !ok {
			needs = targetVersions["sm_"+strconv.Itoa(h.arch.Number)]
		}
		if v.Less(needs) {
			refuse(h.arch.place(), "target "+h.arch.String(), needs)
		}
	}
	for _, f := range files {
		if len(f.Aliases) > 0 && v.Less(ptx.Version{Major: 6, Minor: 3}) {
			refuse(f.At(f.Aliases[0].Span), ".alias", ptx.Version{Major: 6, Minor: 3})
		}
		said := map[string]bool{}
		for i := range f.Decls {
			for _, a := range f.Decls[i].Attrs {
				if needs, ok := attributeVersions[a.Word]; ok && v.Less(needs) && lazy.Add(&said, a.Word) {
					refuse(f.At(a.Span), a.Word, needs)
				}
			}
		}
	}
	if log.Errors() == before {
		log.Warn(diag.Lowered, newest.At(newest.VersionSpan), fmt.Sprintf("the version of the output is lowered from %s, which this module has, to %s", was, v)).
			WithHelp("only ptxas knows whether all its instructions are in " + v.String())
	}
}
