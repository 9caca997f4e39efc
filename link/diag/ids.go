package diag

import (
	_ "embed"
	"iter"
	"slices"
	"strings"
	"sync"
)

// ID is the name of a rule that errors or warnings come from. Users write that of a
// warning in -Wno-NAME, and programs distinguish messages by it, so a name never changes
// its meaning. Notes have no ID. docs/errors.md lists all IDs. An ID is an error, so that
// errors.Is(err, diag.UndefinedSymbol) reports whether a link failed for that reason.
type ID string

// Error returns the name.
func (id ID) Error() string { return string(id) }

// The rules of errors.
const (
	ABIPreserve         ID = "abi-preserve"
	AddressSizeMismatch ID = "address-size-mismatch"
	Alias               ID = "alias"
	AliasTarget         ID = "alias-target"
	ArchMismatch        ID = "arch-mismatch"
	ArchiveFormat       ID = "archive-format"
	BadContainer        ID = "bad-container"
	Bitcode             ID = "bitcode"
	CallEntry           ID = "call-entry"
	CommonInitialised   ID = "common-initialised"
	CommonSize          ID = "common-size"
	ConstantOverflow    ID = "constant-overflow"
	CSyntax             ID = "c-syntax"
	Defsym              ID = "defsym"
	DuplicateInput      ID = "duplicate-input"
	DuplicateSymbol     ID = "duplicate-symbol"
	EmptyInput          ID = "empty-input"
	Fatbinary           ID = "fatbinary"
	FileIndex           ID = "file-index"
	HostMismatch        ID = "host-mismatch"
	InitialiserCycle    ID = "initialiser-cycle"
	Internal            ID = "internal-error"
	Interrupted         ID = "interrupted"
	IO                  ID = "io"
	LibdeviceCompiler   ID = "libdevice-compiler"
	Library             ID = "library"
	NarrowParam         ID = "narrow-param"
	NoABICalls          ID = "no-abi-calls"
	NoMember            ID = "no-member"
	Noreturn            ID = "noreturn"
	NotAnArchive        ID = "not-an-archive"
	NotPTX              ID = "not-ptx"
	NothingLinked       ID = "nothing-linked"
	NUL                 ID = "nul"
	NVMember            ID = "nv-member"
	NvlinkError         ID = "nvlink-error"
	OpaqueParam         ID = "opaque-param"
	OutputExists        ID = "output-exists"
	OutputIsInput       ID = "output-is-input"
	ParamAlign          ID = "param-align"
	ParamCount          ID = "param-count"
	ParamShape          ID = "param-shape"
	ParamSize           ID = "param-size"
	ParamSpace          ID = "param-space"
	ParamType           ID = "param-type"
	Partition           ID = "partition"
	PTXVersion          ID = "ptx-version"
	PtxasError          ID = "ptxas-error"
	PtxasFailed         ID = "ptxas-failed"
	Split               ID = "split"
	SymbolKind          ID = "symbol-kind"
	Syntax              ID = "syntax"
	SystemCall          ID = "system-call"
	TargetMismatch      ID = "target-mismatch"
	TargetName          ID = "target-name"
	TextureMode         ID = "texture-mode"
	ThinArchive         ID = "thin-archive"
	Tool                ID = "tool"
	TypeLayout          ID = "type-layout"
	UndefinedLocal      ID = "undefined-local"
	UndefinedSymbol     ID = "undefined-symbol"
	Usage               ID = "usage"
	VarAttribute        ID = "var-attribute"
	VarSize             ID = "var-size"
	VarSpace            ID = "var-space"
	VarType             ID = "var-type"
)

// The rules of warnings.
const (
	ABI                   ID = "abi"
	AddressSize           ID = "address-size"
	Align                 ID = "align"
	Atomics               ID = "atomics"
	Cache                 ID = "cache"
	Clang                 ID = "clang"
	DebugDropped          ID = "debug-dropped"
	DebugMixed            ID = "debug-mixed"
	DuplicateMemberSymbol ID = "duplicate-member-symbol"
	EmptyMember           ID = "empty-member"
	EntryRenamed          ID = "entry-renamed"
	FileName              ID = "file-name"
	Host                  ID = "host"
	IndirectCall          ID = "indirect-call"
	Ignored               ID = "ignored"
	LibdeviceSqrt         ID = "libdevice-sqrt"
	Loc                   ID = "loc"
	Lowered               ID = "lowered"
	Mangled               ID = "mangled"
	MemberName            ID = "member-name"
	MissingGPU            ID = "missing-gpu"
	NVEntry               ID = "nv-entry"
	Nvlink                ID = "nvlink"
	ODR                   ID = "odr"
	Pragma                ID = "pragma"
	Ptxas                 ID = "ptxas"
	PtxasOptions          ID = "ptxas-options"
	Raised                ID = "raised"
	RDC                   ID = "rdc"
	Record                ID = "record"
	RegisterLimit         ID = "register-limit"
	StaleIndex            ID = "stale-index"
	Target                ID = "target"
	Unmatched             ID = "unmatched"
	UnusedOption          ID = "unused-option"
)

// Rule describes an ID, and says what to do about its messages.
type Rule struct {
	ID    ID
	Kind  Kind
	About string // one sentence without a full stop
	Cure  string // a few sentences
	See   string // chapters and pages
}

// rulesText has the rules, errors first, as sections whose first line is the kind and About, and
// whose last one is See.
//
//go:embed rules.txt
var rulesText string

var rules = sync.OnceValue(func() (list []Rule) {
	for id, text := range sections(rulesText) {
		kind, text, _ := strings.Cut(text, ": ")
		about, text, _ := strings.Cut(text, "\n")
		cure, see, _ := strings.Cut(text, "\nSee ")
		list = append(list, Rule{ID(id), map[string]Kind{"error": Error, "warning": Warning}[kind], about, cure, strings.TrimSpace(see)})
	}
	return list
})

// sections yields the texts below lines "-- ID --".
func sections(text string) iter.Seq2[string, string] {
	return func(yield func(id, text string) bool) {
		for _, part := range strings.Split("\n"+text, "\n-- ")[1:] {
			if id, text, _ := strings.Cut(part, " --\n"); !yield(id, strings.TrimSuffix(text, "\n")+"\n") {
				return
			}
		}
	}
}

// Rules returns the rules of a kind, sorted by name.
func Rules(kind Kind) []Rule {
	list := slices.DeleteFunc(slices.Clone(rules()), func(r Rule) bool { return r.Kind != kind })
	slices.SortFunc(list, func(a, b Rule) int { return strings.Compare(string(a.ID), string(b.ID)) })
	return list
}

var ruleOf = sync.OnceValue(func() map[ID]Rule {
	of := map[ID]Rule{}
	for _, r := range rules() {
		of[r.ID] = r
	}
	return of
})

// Rule returns the rule of an ID; ok is false for a name that ptxlink does not know.
func (id ID) Rule() (r Rule, ok bool) {
	r, ok = ruleOf()[id]
	return r, ok
}
