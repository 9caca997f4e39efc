// Package ptx reads PTX text: declarations, and uses of module-scope names. It does
// not interpret instructions, so that instructions of future ISA versions link, too.
package ptx

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"ptxlink/internal/sets"
	"ptxlink/object/diag"
)

// Source is a text with the name that messages use for it. Its Text must not change
// while anything parsed from it is in use.
type Source = diag.Source

// Span is a range of bytes of a Source: Off and Len.
type Span = diag.Span

// Module is one parsed PTX text. It must not change after Parse, because links share modules.
type Module struct {
	Src *diag.Source

	Version     Version
	VersionSpan diag.Span
	Target      []Option // .target: the architecture and its options, in order
	TargetSpan  diag.Span
	AddressSize int // 32 or 64; 0 if the module has no .address_size
	AddressSpan diag.Span

	Names    []string // module-scope names by first appearance; NameID indexes it
	Decls    []Decl   // in file order
	Aliases  []Alias
	Pragmas  []Pragma
	Files    []File
	Sections []Section
	// SectionEnds are labels between sections, with which no ptxas accepts the module;
	// what they belong to is of no use without the sections.
	SectionEnds []diag.Span
	Others      []Other
	Uses        []Use // sorted by offset
	Indices     []Index
	Locs        []Loc // sorted by offset

	Calls      []Call      // in order
	Prototypes []Prototype // .callprototype, in order

	// Undeclared are the uses of names that nothing declares before them, in order. ptxas refuses them.
	Undeclared []Undeclared

	// Locals are the names of labels, parameters and objects that functions
	// declare, LocalRegisters the names of registers, and LocalRanges the ranges of both, in order
	// and without names that start with %. ptxas may confuse such a name with a module-scope name
	// declared earlier.
	Locals         []LocalName
	LocalRegisters []LocalName
	LocalRanges    []LocalRange
	// Reserved are names declared inside functions that have the form of the
	// linker's new names (Suffixed). The linker avoids them.
	Reserved       []string
	ReservedRanges []Range

	// ParamAddresses are the instructions that move the address of a parameter, in order.
	ParamAddresses []ParamAddress

	// TargetRanges are the lists `L<3>` in .branchtargets and .calltargets.
	TargetRanges []diag.Span
	// Padded is set if a name of a range is used with leading zeros.
	Padded bool

	table        nameTable
	sectionNames nameList
	ranges       map[string]int64 // `.global .u32 a<3>` at module scope: base and count
	percent      bool             // a name starts with %
	// around is Scope.Declared while Scope.Read reads; nil later, and for whole modules.
	around func(name []byte) (string, bool)
}

// declared returns the number of names so far: names below it are visible to what follows.
func (m *Module) declared() NameID {
	if m.around != nil {
		return math.MaxInt32
	}
	return NameID(len(m.Names))
}

// moduleName finds a module-scope name as code spells it.
func (m *Module) moduleName(hash uint64, name []byte) (NameID, bool) {
	if id, ok := m.find(hash, name); ok {
		return id, true
	}
	if m.around != nil {
		if around, ok := m.around(name); ok {
			id, known := m.Lookup(around)
			if !known {
				id = m.addName(sets.Hash(around), []byte(around))
			}
			if around != string(name) { // a02 is a2 of a range
				base, number := splitNumber(name)
				sets.Put(&m.ranges, string(base), max(m.ranges[string(base)], number+1))
			}
			return id, true
		}
	}
	return m.padded(name)
}

// AtTargetRange reports whether a use stands for one target of a list like f<2>.
func (m *Module) AtTargetRange(u Use) bool {
	i := sort.Search(len(m.TargetRanges), func(i int) bool { return m.TargetRanges[i].Off >= u.Off })
	return i < len(m.TargetRanges) && m.TargetRanges[i].Off == u.Off
}

// padded finds a name of a module-scope range that is written with leading zeros:
// a02 is a2 of `.global .u32 a<3>`.
func (m *Module) padded(name []byte) (NameID, bool) {
	if len(m.ranges) == 0 {
		return 0, false
	}
	base, number := splitNumber(name)
	if number >= m.ranges[string(base)] {
		return 0, false
	}
	return m.Lookup(string(base) + strconv.FormatInt(number, 10))
}

// Range is `.reg .b32 Base<Count>`: the names Base0, Base1, ... up to Count-1.
type Range struct {
	Base  string
	Count int64
}

// LocalName is a name that a function declares: its place, and its Tail.
type LocalName struct {
	Off  int32
	Tail uint32
}

// Tail returns a hash of the length and the last eight bytes of a name. It can serve as a filter,
// because a parameter or label seldom ends as a function does.
func Tail(name []byte) uint32 {
	h := uint64(0)
	if n := len(name); n >= 8 {
		h = binary.LittleEndian.Uint64(name[n-8:])
	} else {
		for _, c := range name {
			h = h<<8 | uint64(c)
		}
	}
	h = (h ^ uint64(len(name))) * 0x9E3779B97F4A7C15
	return uint32(h>>32 ^ h>>47) // because the last letters affect only the highest bits of h
}

// LocalRange is a Range and its place.
type LocalRange struct {
	Base  diag.Span
	Count int64
}

// NameID indexes Module.Names.
type NameID int32

// SectionNames returns the names that sections refer to, by number: in the order of the
// text.
func (m *Module) SectionNames() []string { return slices.Clip(m.sectionNames.names) }

// SectionName returns the number of a name that sections refer to, or -1.
func (m *Module) SectionName(name []byte) int32 {
	return m.sectionNames.find(sets.HashBytes(name), name)
}

// Lookup returns the ID of a module-scope name, if the module has it.
func (m *Module) Lookup(name string) (NameID, bool) {
	id := m.table.Find(sets.Hash(name), func(n int32) bool { return m.Names[n] == name })
	return NameID(id), id >= 0
}

// Version is a PTX ISA version.
type Version struct{ Major, Minor int }

func (v Version) String() string { return fmt.Sprintf("%d.%d", v.Major, v.Minor) }

// Less reports whether v is lower than w: 7.8 < 8.0 < 10.0.
func (v Version) Less(w Version) bool {
	return v.Major < w.Major || v.Major == w.Major && v.Minor < w.Minor
}

// Option is one word of .target.
type Option struct {
	Word string
	Span diag.Span
}

// Linkage is the linkage directive of a declaration.
type Linkage uint8

const (
	Local Linkage = iota
	Extern
	Visible
	Weak
	Common
)

// String returns the directive, or "" for Local.
func (l Linkage) String() string { return strings.TrimSuffix(l.Word(), " ") }

// Word returns the directive as it stands before a declaration: with a space, or "".
func (l Linkage) Word() string { return linkageWords[l] }

// Plain returns the linkage without its dot: "visible".
func (l Linkage) Plain() string { return strings.TrimPrefix(l.String(), ".") }

var linkageWords = []string{"", ".extern ", ".visible ", ".weak ", ".common "}

// Merge returns the linkage of a name after one more declaration, which may be the
// definition. defined is set if the module has defined the name so far.
func (l Linkage) Merge(next Linkage, defines, defined bool) Linkage {
	switch {
	case defines && next == Local && l != Extern: // because a prototype may be .visible where the definition has no linkage
	case defines, l == Local && (!defined || next == Visible):
		return next
	}
	return l
}

// DeclKind distinguishes functions, entries and variables.
type DeclKind uint8

const (
	Func DeclKind = iota
	Entry
	Variable
)

func (k DeclKind) String() string { return [...]string{"function", "entry", "variable"}[k] }

// A returns the kind with its article, for messages: "an entry".
func (k DeclKind) A() string {
	if k == Entry {
		return "an entry"
	}
	return "a " + k.String()
}

// Decl is one module-scope declaration or definition.
type Decl struct {
	Kind     DeclKind
	Linkage  Linkage
	Name     NameID
	NameSpan diag.Span
	Span     diag.Span // the whole statement, including the linkage
	FirstUse int32     // Uses[FirstUse:EndUse] are in this statement
	EndUse   int32

	// Functions and entries.
	Signature *Signature
	Header    diag.Span // from .func or .entry to the last token before { or ;
	Attrs     []Attr    // directives after the parameter list, in order
	HasBody   bool
	Body      diag.Span // including its braces

	*Storage // of a variable; nil for functions and entries

	known NameID // names below it were declared before the body or initialiser
}

// Binding returns the linkage of a definition. ptxas makes a strong definition of a .common variable with an
// initial value (testdata/script/common_initialised.txtar).
func (d *Decl) Binding() Linkage {
	if d.Linkage == Common && d.Kind == Variable && d.Init.Len > 0 {
		return Visible
	}
	return d.Linkage
}

// Storage is what the declaration of a variable says about it.
type Storage struct {
	TypeAt              // state space, type, alignment, shape
	Prefix    diag.Span // from the state space to the last token before the first declarator
	SpaceSpan diag.Span
	Declared  diag.Span // the declarator: name, shape, initialiser
	Dims      diag.Span // the dimensions, [2][3]; zero Len if there are none
	Init      diag.Span // the initialiser; zero Len if there is none
	Managed   bool      // .attribute(.managed)
	Unified   bool      // .attribute(.unified(...))
}

// Signature holds the types of the results and parameters of functions, or of the
// operands of calls. Equal signatures of one module share one Signature. Module.Params and
// Code.CallOperands have the places.
type Signature struct {
	Results, Params []Type
	hash            uint64
}

// Same reports whether two signatures are exactly equal. It compares hashes of 64 bits.
func (s *Signature) Same(t *Signature) bool { return s == t || s.hash == t.hash }

// Len returns the number of results and parameters.
func (s *Signature) Len() int { return len(s.Results) + len(s.Params) }

// At returns result i, or a parameter if i is beyond the results.
func (s *Signature) At(i int) *Type {
	if i < len(s.Results) {
		return &s.Results[i]
	}
	return &s.Params[i-len(s.Results)]
}

// Type describes the storage of an object or parameter.
type Type struct {
	Space   string // ".global", ".param", ".reg"; with the bank for .const[n]
	Word    string // ".b32"
	Align   int64
	Count   int64 // elements of the array; -1 if it is not a constant that we can read
	Vector  uint8 // 2 or 4 for .v2, .v4; else 0
	Array   bool
	Unsized bool // [] as the last or only dimension
}

// TypeAt is a type and its places in a declaration.
type TypeAt struct {
	Type
	WordSpan  diag.Span
	AlignSpan diag.Span // the number after .align; zero Len if there is none
}

// ElementSize returns the size in bytes of the type or native vector, or 0 if
// unknown.
func (t Type) ElementSize() int64 { return TypeSize(t.Word) * int64(max(1, t.Vector)) }

// Size returns the size in bytes; 0 for unsized arrays, -1 if it is unknown.
func (t Type) Size() int64 {
	switch {
	case t.Unsized:
		return 0
	case t.ElementSize() == 0 || t.Array && t.Count < 0:
		return -1
	case t.Array:
		return t.ElementSize() * t.Count
	}
	return t.ElementSize()
}

// Alignment returns the alignment in bytes: .align, or else the natural alignment.
func (t Type) Alignment() int64 {
	if t.Align != 0 {
		return t.Align
	}
	return max(1, t.ElementSize())
}

// Param is one parameter or result of a function.
type Param struct {
	TypeAt
	NameSpan diag.Span
	Span     diag.Span
}

// Attr is a directive between the parameter list and the body, unparsed: .maxntid
// 256, 1, 1.
type Attr struct {
	Word string
	Span diag.Span
}

// Defines reports whether the declaration gives its name a body or storage.
func (d *Decl) Defines() bool {
	if d.Kind == Variable {
		return d.Linkage != Extern
	}
	return d.HasBody
}

// Has reports whether the function has the directive, such as ".noreturn".
func (d *Decl) Has(word string) bool {
	return slices.ContainsFunc(d.Attrs, func(a Attr) bool { return a.Word == word })
}

// Use is an occurrence of a module-scope name outside its own declaration: a
// relocation, in the terms of other linkers. The names of a range (.calltargets
// f<2>) are all uses at its base.
type Use struct {
	Off  int32
	Name NameID
}

// ParamAddress is an instruction, such as `@%p mov.u64 %rd1, x;`, that moves the address of a parameter of a
// function, which is in the stack then, to a register.
type ParamAddress struct {
	Guard, Register diag.Span
	End             int32 // after the semicolon
}

// UseSpan returns the span of the name at a use.
func (m *Module) UseSpan(u Use) diag.Span { return m.nameSpan(u.Off) }

// LocalSpan returns the span of a LocalName.
func (m *Module) LocalSpan(l LocalName) diag.Span { return m.nameSpan(l.Off) }

func (m *Module) nameSpan(off int32) diag.Span {
	return diag.Span{Off: off, Len: int32(nameEnd(m.Src.Text, int(off)+1)) - off}
}

// Call is one call instruction.
type Call struct {
	Span   diag.Span // from the opcode to its last operand
	Target diag.Span
	Use    int32 // index in Uses of a direct call's target, -1 otherwise
	Proto  int32 // index in Prototypes of an indirect call, -1 if unknown
	In     int32 // the enclosing declaration
	// Signature has the types of the operands. A register or constant has an empty
	// Word.
	Signature *Signature
}

// CallOperand is one argument or result of a call: a .param object of the function,
// with its type and the places of its declaration, or a register or constant, with an
// empty Word.
type CallOperand struct {
	Span diag.Span
	TypeAt
}

// Prototype is a .callprototype: the signature of an indirect call.
type Prototype struct {
	Label     diag.Span
	Signature *Signature
}

// Alias is `.alias Name, Target;`.
type Alias struct {
	Name, Target         NameID
	NameSpan, TargetSpan diag.Span
	Span                 diag.Span
}

// Pragma is a module-scope .pragma with its strings.
type Pragma struct {
	Text string
	Span diag.Span
}

// File is one .file directive; Time and Size are -1 if absent. In is the
// declaration whose body holds it (gcc writes it there), or -1.
type File struct {
	Index      int64
	Path       string
	Time, Size int64
	Span       diag.Span
	In         int32
}

// Loc is one .loc directive inside a body.
type Loc struct {
	Span     diag.Span // from .loc to its last token
	FileSpan diag.Span // the file index
	LocPlace
	*Inlining // of a line that is inlined; else nil
}

// Inlining is what a .loc says of the place that a line is inlined at.
type Inlining struct {
	Tail     diag.Span // ", function_name ..., inlined_at ..."
	Function diag.Span // the label after function_name
	Addend   int64     // the offset added to the label
	// FunctionSpan is the label including its addend.
	FunctionSpan diag.Span
	Inlined      diag.Span // the file index after inlined_at; zero Len if there is none
	InlinedAt    LocPlace
}

// LocPlace is a place in a source: the index of a .file, a line, a column.
type LocPlace struct{ File, Line, Column int64 }

// String returns the place as .loc has it.
func (p LocPlace) String() string { return fmt.Sprintf("%d %d %d", p.File, p.Line, p.Column) }

// Ref is a name that a section refers to, a label or symbol: its place, and its number
// (SectionNames).
type Ref struct {
	Span diag.Span
	Name int32
}

// Section is one .section block: DWARF.
type Section struct {
	Name   string
	Span   diag.Span
	Body   diag.Span // between the braces
	Labels []diag.Span
	Refs   []Ref

	// What readBlock has read, if complete is set.
	complete bool
	bytes    []byte       // zeros at expressions
	items    []expression // by offset
	offsets  []int64      // of Labels
}

// Other is an unknown module-scope statement, which is copied to the output.
type Other struct {
	Span             diag.Span
	FirstUse, EndUse int32
}
