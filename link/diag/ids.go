package diag

import (
	"slices"
	"strings"
)

// ID identifies a rule that errors or warnings come from. Users write the name of a
// warning in -Wno-NAME, and programs distinguish messages by it, so a name never
// changes its meaning. Notes have no ID. docs/errors.md lists all IDs.
type ID uint8

// The rules, errors first.
const (
	None ID = iota

	ABIPreserve
	AddressSizeMismatch
	Alias
	AliasTarget
	ArchMismatch
	ArchiveFormat
	BadContainer
	CallEntry
	CommonInitialised
	CommonSize
	ConstantOverflow
	CSyntax
	Defsym
	DuplicateInput
	DuplicateSymbol
	EmptyInput
	Fatbinary
	FileIndex
	HostMismatch
	InitialiserCycle
	Internal
	Interrupted
	IO
	LibdeviceCompiler
	Library
	NarrowParam
	NoABICalls
	NoMember
	Noreturn
	NotAnArchive
	NotPTX
	NothingLinked
	NUL
	NVMember
	NvlinkError
	OpaqueParam
	OutputExists
	OutputIsInput
	ParamAlign
	ParamCount
	ParamShape
	ParamSize
	ParamSpace
	ParamType
	Partition
	PTXVersion
	PtxasError
	PtxasFailed
	Split
	SymbolKind
	Syntax
	SystemCall
	TargetMismatch
	TargetName
	TextureMode
	ThinArchive
	Tool
	TypeLayout
	UndefinedLocal
	UndefinedSymbol
	Usage
	VarAttribute
	VarSize
	VarSpace
	VarType

	ABI
	AddressSize
	Align
	Atomics
	Cache
	DebugDropped
	DebugMixed
	DuplicateMemberSymbol
	EmptyMember
	EntryRenamed
	FileName
	Host
	IndirectCall
	Ignored
	LibdeviceSqrt
	Loc
	Lowered
	Mangled
	MemberName
	MissingGPU
	NVEntry
	Nvlink
	ODR
	Pragma
	Ptxas
	PtxasOptions
	Raised
	RDC
	Record
	RegisterLimit
	StaleIndex
	Target
	Unmatched
	UnusedOption
)

// Rule describes an ID.
type Rule struct {
	Name  string
	Kind  Kind
	About string // one sentence without a full stop
}

var rules = [...]Rule{
	ABIPreserve:         {"abi-preserve", Error, "a function preserves different registers than its declaration"},
	AddressSizeMismatch: {"address-size-mismatch", Error, "inputs, or an input and its container or host, differ in the size of an address"},
	Alias:               {"alias", Error, "a name is aliased twice, or is also defined, or was never declared"},
	AliasTarget:         {"alias-target", Error, "the target of an alias is not a strong function defined in the same module"},
	ArchMismatch:        {"arch-mismatch", Error, "a module, or all PTX of an input, does not run on the GPU of --arch"},
	ArchiveFormat:       {"archive-format", Error, "a member of one format is added to a package of another"},
	BadContainer:        {"bad-container", Error, "an archive, fatbin, object or compressed file is damaged or of an unknown kind"},
	CallEntry:           {"call-entry", Error, "a call names an entry, which can only be launched"},
	CommonInitialised:   {"common-initialised", Error, "a .common variable is initialised by two modules, or beside a strong definition"},
	CommonSize:          {"common-size", Error, "an initialised .common variable is smaller than in another module"},
	ConstantOverflow:    {"constant-overflow", Error, "the variables in constant memory exceed 64 KiB"},
	CSyntax:             {"c-syntax", Error, "ptxlink abi cannot read a C declaration"},
	Defsym:              {"defsym", Error, "--defsym gives a symbol a value that it cannot have"},
	DuplicateInput:      {"duplicate-input", Error, "a file is named twice"},
	DuplicateSymbol:     {"duplicate-symbol", Error, "two strong definitions have the same name"},
	EmptyInput:          {"empty-input", Error, "an input has no bytes"},
	Fatbinary:           {"fatbinary", Error, "fatbinary does not pack the cubin and the PTX"},
	FileIndex:           {"file-index", Error, "a module uses an index of .file twice"},
	HostMismatch:        {"host-mismatch", Error, "inputs were compiled for operating systems with different data layouts"},
	InitialiserCycle:    {"initialiser-cycle", Error, "initialisers of module-local variables refer to each other in a cycle"},
	Internal:            {"internal-error", Error, "a bug in ptxlink"},
	Interrupted:         {"interrupted", Error, "a signal ended ptxlink"},
	IO:                  {"io", Error, "a file cannot be read or written, or a program cannot be run"},
	LibdeviceCompiler:   {"libdevice-compiler", Error, "a compiler does not accept libdevice"},
	Library:             {"library", Error, "no -L directory contains a -l library"},
	NarrowParam:         {"narrow-param", Error, "a called function takes an integer narrower than 32 bits"},
	NoABICalls:          {"no-abi-calls", Error, "a module with a PTX version below 2.0 calls a function"},
	NoMember:            {"no-member", Error, "an archive has no member of that name"},
	Noreturn:            {"noreturn", Error, "a function that returns is declared .noreturn"},
	NotAnArchive:        {"not-an-archive", Error, "the archive to change is not an archive"},
	NotPTX:              {"not-ptx", Error, "an input is neither PTX nor a file that contains PTX"},
	NothingLinked:       {"nothing-linked", Error, "no module is linked, because all inputs are archives and nothing in them is needed"},
	NUL:                 {"nul", Error, "a module contains a NUL, at which ptxas stops reading"},
	NVMember:            {"nv-member", Error, "a module cannot be a member of an nv package"},
	NvlinkError:         {"nvlink-error", Error, "nvlink does not link the cubins that ptxas wrote"},
	OpaqueParam:         {"opaque-param", Error, "a function takes a texture, sampler or surface"},
	OutputExists:        {"output-exists", Error, "an output file exists with other contents"},
	OutputIsInput:       {"output-is-input", Error, "an output is also an input"},
	ParamAlign:          {"param-align", Error, "a parameter or result differs in alignment, or is aligned to more than 128 bytes"},
	ParamCount:          {"param-count", Error, "the number of parameters or results differs"},
	ParamShape:          {"param-shape", Error, "a parameter or result is a scalar on one side and an array on the other"},
	ParamSize:           {"param-size", Error, "a parameter or result differs in size"},
	ParamSpace:          {"param-space", Error, "a parameter or result is in .param on one side and in .reg on the other"},
	ParamType:           {"param-type", Error, "a parameter or result is an integer on one side and a float on the other"},
	Partition:           {"partition", Error, "the linked module cannot be cut into parts"},
	PTXVersion:          {"ptx-version", Error, "--ptx-version is lower than the inputs need"},
	PtxasError:          {"ptxas-error", Error, "ptxas refuses the linked module"},
	PtxasFailed:         {"ptxas-failed", Error, "ptxas crashes, or writes no cubin and gives no reason"},
	Split:               {"split", Error, "a module cannot be split into members"},
	SymbolKind:          {"symbol-kind", Error, "a name is a function, an entry or a variable on one side, and a different kind on the other"},
	Syntax:              {"syntax", Error, "a module is not valid PTX"},
	SystemCall:          {"system-call", Error, "a function of the driver is declared with a different prototype"},
	TargetMismatch:      {"target-mismatch", Error, "no target can run all modules"},
	TargetName:          {"target-name", Error, "a .target has no architecture, or one that is not sm_ and a number"},
	TextureMode:         {"texture-mode", Error, "modules that use textures have different texture modes"},
	ThinArchive:         {"thin-archive", Error, "a thin archive cannot be changed or unpacked"},
	Tool:                {"tool", Error, "a program or a file of the CUDA toolkit is not found or does not work"},
	TypeLayout:          {"type-layout", Error, "a C type has no layout"},
	UndefinedLocal:      {"undefined-local", Error, "a name is declared without linkage and has no definition in its module"},
	UndefinedSymbol:     {"undefined-symbol", Error, "no input defines a symbol"},
	Usage:               {"usage", Error, "the command line is invalid"},
	VarAttribute:        {"var-attribute", Error, "a variable is .managed or .unified on one side only"},
	VarSize:             {"var-size", Error, "a variable differs in size"},
	VarSpace:            {"var-space", Error, "a variable is in different state spaces"},
	VarType:             {"var-type", Error, "a variable is a texture, sampler or surface on one side, and has a different type on the other"},

	ABI:                   {"abi", Warning, "a 16-bit float is passed to a function"},
	AddressSize:           {"address-size", Warning, "a module has no .address_size and gets that of the others"},
	Align:                 {"align", Warning, "a variable gets the larger alignment of another module"},
	Atomics:               {"atomics", Warning, "an atomic sequence does not match any C++ operation, or scopes differ between modules (--atomics)"},
	Cache:                 {"cache", Warning, "the cache of cubins cannot be read or written"},
	DebugDropped:          {"debug-dropped", Warning, "the debug information of a module, or a section of it, cannot be read or merged and is dropped"},
	DebugMixed:            {"debug-mixed", Warning, "a module without DWARF is assembled unoptimised because another module has some"},
	DuplicateMemberSymbol: {"duplicate-member-symbol", Warning, "two members of an nv package define the same symbol, and nvlink links every member"},
	EmptyMember:           {"empty-member", Warning, "a member of a package defines nothing for other modules"},
	EntryRenamed:          {"entry-renamed", Warning, "an entry without linkage is renamed"},
	FileName:              {"file-name", Warning, "a .file name is not ASCII, which ptxas does not accept"},
	Host:                  {"host", Warning, "inputs or members were compiled for different hosts"},
	Ignored:               {"ignored", Warning, "an option of other linkers is ignored (only shown with -Wignored)"},
	IndirectCall:          {"indirect-call", Warning, "the prototype of an indirect call matches no function whose address is taken"},
	LibdeviceSqrt:         {"libdevice-sqrt", Warning, "llc compiled libdevice with approximate square roots"},
	Lowered:               {"lowered", Warning, "--ptx-version is lower than that of an input"},
	Loc:                   {"loc", Warning, "a .loc refers to a .file that the module does not have"},
	Mangled:               {"mangled", Warning, "the parameters of a function contradict its C++ name"},
	MemberName:            {"member-name", Warning, "ptxlink ar replaced a member, but another one may have been meant"},
	MissingGPU:            {"missing-gpu", Warning, "a host object has no device code for the GPU of --arch and is skipped (ptxlink nvlink)"},
	NVEntry:               {"nv-entry", Warning, "the host cannot launch the entries of an nv package"},
	Nvlink:                {"nvlink", Warning, "nvlink gives a warning"},
	ODR:                   {"odr", Warning, "a type or an inline function differs between modules"},
	Pragma:                {"pragma", Warning, "a pragma of a module is kept only for its entries"},
	Ptxas:                 {"ptxas", Warning, "ptxas gives a warning"},
	PtxasOptions:          {"ptxas-options", Warning, "ptxas does not get an option that inputs were compiled with"},
	Raised:                {"raised", Warning, "an instruction does not assemble for the version or target of the output"},
	RDC:                   {"rdc", Warning, "a module compiled without -rdc=true keeps a copy of a variable"},
	Record:                {"record", Warning, "a module has a record of an earlier link that ptxlink did not write"},
	RegisterLimit:         {"register-limit", Warning, "one ptxas assembles the whole program, because separate functions exceed the limit of registers of a kernel"},
	StaleIndex:            {"stale-index", Warning, "the index of a package does not match its members"},
	Target:                {"target", Warning, "an archive member changes the target of the output"},
	Unmatched:             {"unmatched", Warning, "a name or pattern of an option matches nothing in the link"},
	UnusedOption:          {"unused-option", Warning, "an option has no effect, for example without another one"},
}

// Rules returns the rules of a kind, sorted by name.
func Rules(kind Kind) (list []Rule) {
	for _, r := range rules[1:] {
		if r.Kind == kind {
			list = append(list, r)
		}
	}
	slices.SortFunc(list, func(a, b Rule) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Find returns the ID with a name, or None.
func Find(name string) ID {
	for id, r := range rules {
		if r.Name == name {
			return ID(id)
		}
	}
	return None
}

// Rule returns the description of the ID; the zero Rule for None.
func (id ID) Rule() Rule { return rules[id] }

// String returns the name, or "" for None.
func (id ID) String() string { return rules[id].Name }

// mark returns what text messages show of the ID behind their first line: the option of
// a warning, including one that --fatal-warnings made an error, or the name of an error.
// It returns "" for errors that are not about the inputs, to which --explain adds little.
func (id ID) mark() string {
	switch {
	case id == None, id == Usage, id == IO, id == Interrupted, id == Internal:
		return ""
	case id.Rule().Kind == Warning && With("-W", "%s") != "":
		return " [-W" + id.String() + "]"
	}
	return " [" + id.String() + "]"
}
