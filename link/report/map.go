package report

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"ptxlink/link"
	"ptxlink/object"
	"ptxlink/object/diag"
)

// Map holds the facts of the link map. Lists may be empty but never null.
type Map struct {
	spelling diag.Spelling // of names

	Output  MapOutput             `json:"output"`
	Inputs  []MapInput            `json:"inputs"`
	Symbols []MapSymbol           `json:"symbols"` // in the order of the output
	Calls   []MapCall             `json:"calls"`
	Pulled  []MapPull             `json:"pulled"`  // why each archive member is linked
	Unused  []string              `json:"unused"`  // archives without a linked member
	Dropped []MapSymbol           `json:"dropped"` // each with the reason
	Removed []MapSymbol           `json:"removed"` // definitions that nothing in the output refers to
	Inlined []MapInlined          `json:"inlined"`
	Folded  []link.FoldedFunction `json:"folded"`
	// Cubins are machine code among the inputs, which nvlink links with the output.
	Cubins []MapCubin `json:"cubins,omitempty"`
	// GPUs describe the machine code that ptxas made of the output. Result.Map leaves the list
	// empty, because it does not know the machine code.
	GPUs []GPU `json:"gpus"`
	// Messages are the warnings and notes, as --diagnostics-format=json writes them.
	Messages []json.RawMessage `json:"messages"`
	// Demangled holds the plain form of mangled names that only other lists mention, since Symbols
	// has its own.
	Demangled map[string]string `json:"demangled"`
}

// MapOutput describes the output.
type MapOutput struct {
	Version     string `json:"version"` // PTX ISA
	Target      string `json:"target"`
	AddressSize int    `json:"address_size"`
	Bytes       int    `json:"bytes"`
}

// MapInput is one linked module.
type MapInput struct {
	link.Module
	// Form is the Form of a Unit, and CompiledTo the module that the unit was compiled to, with
	// others of its Form. Both are empty for PTX.
	Form       string `json:"form,omitempty"`
	CompiledTo string `json:"compiled_to,omitempty"`
}

// MapSymbol is one symbol of the output, or one that was dropped or removed.
type MapSymbol struct {
	Name      string `json:"name"`
	Demangled string `json:"demangled,omitempty"` // if it is mangled
	Original  string `json:"original,omitempty"`  // in the input, if it was renamed
	Kind      string `json:"kind"`                // "entry", "func", "object", "alias"
	Linkage   string `json:"linkage"`             // "local" for module-local
	Space     string `json:"space,omitempty"`     // of an object
	Bytes     int64  `json:"bytes"`               // of memory, or of the text of a body
	Align     int64  `json:"align,omitempty"`
	Module    string `json:"module,omitempty"`
	Line      int    `json:"line,omitempty"` // of the definition in its module
	Unit      string `json:"unit,omitempty"` // LTO-IR that defines it, if Module has several
	// Source and SourceLine are the place in the source that DWARF or .loc lines name.
	Source     string `json:"source,omitempty"`
	SourceLine int    `json:"source_line,omitempty"`
	Supplier   string `json:"supplier,omitempty"` // if undefined: "driver", "launch" or a cubin
	Reason     string `json:"reason,omitempty"`   // why it was dropped
}

// The map and the result have the same type for edges and for reasons.
type (
	MapCall = link.Edge
	MapPull = link.Pull
)

// MapInlined is a [link.InlinedCall].
type MapInlined struct {
	Caller string `json:"caller"`
	Callee string `json:"callee"`
	File   string `json:"file,omitempty"`
	Line   int    `json:"line,omitempty"`
	// Source and SourceLine are the place of the call in the source.
	Source     string `json:"source,omitempty"`
	SourceLine int    `json:"source_line,omitempty"`
	Inlined    bool   `json:"inlined"`
	Reason     string `json:"reason,omitempty"`
}

// MapCubin is machine code among the inputs.
type MapCubin struct {
	Name    string           `json:"name"`
	Symbols []MapCubinSymbol `json:"symbols"` // symbols that it defines
	Needs   []string         `json:"needs"`
}

// MapCubinSymbol is a global or weak symbol of a cubin. Bytes is the size of a function's code or
// of a variable, and Types are written as object.PrototypeText returns them.
type MapCubinSymbol struct {
	Name      string `json:"name"`
	Kind      string `json:"kind"`    // entry, func or object
	Linkage   string `json:"linkage"` // visible, weak or common
	Bytes     int64  `json:"bytes"`
	Types     string `json:"types,omitempty"`
	Registers int    `json:"registers,omitempty"`
}

// cubins sets Cubins, and names cubins as the suppliers of undefined symbols that they define.
func (m *Map) cubins(list []*object.Cubin) {
	suppliers := map[string]string{}
	for _, c := range list {
		x := MapCubin{Name: c.Name, Symbols: []MapCubinSymbol{}, Needs: []string{}}
		for _, s := range c.Symbols {
			if !s.Defined {
				x.Needs = append(x.Needs, s.Name)
				continue
			}
			if suppliers[s.Name] == "" || !s.Weak {
				suppliers[s.Name] = c.Name
			}
			x.Symbols = append(x.Symbols, MapCubinSymbol{s.Name, s.Kind(), s.Linkage(), s.Size, object.PrototypeText(s.Prototype), s.Registers})
		}
		m.Cubins = append(m.Cubins, x)
	}
	for i, s := range m.Symbols {
		if supplier := suppliers[s.Name]; supplier != "" && s.Module == "" {
			m.Symbols[i].Supplier = supplier
		}
	}
}

// units adds units of LTO-IR and LLVM bitcode to Inputs, and sets the Unit of the symbols that they
// define.
func (m *Map) units(list []link.Unit) {
	type symbol struct{ module, name string }
	units := map[symbol]string{}
	for _, u := range list {
		m.Inputs = append(m.Inputs, MapInput{link.Module{Name: u.Name, Target: u.Target, Bytes: u.Bytes}, u.Form, u.Module})
		for _, name := range u.Defines {
			units[symbol{u.Module, name}] = u.Name
		}
	}
	for _, symbols := range [][]MapSymbol{m.Symbols, m.Dropped, m.Removed} {
		for i, s := range symbols {
			symbols[i].Unit = units[symbol{s.Module, s.Name}]
		}
	}
}

// NewMap returns a map without facts. Its lists are empty instead of nil, because JSON must not
// have null.
func NewMap() *Map {
	return &Map{
		Inputs: []MapInput{}, Symbols: []MapSymbol{}, Calls: []MapCall{}, Pulled: []MapPull{}, Unused: []string{}, Dropped: []MapSymbol{}, Removed: []MapSymbol{},
		Inlined: []MapInlined{}, Folded: []link.FoldedFunction{}, GPUs: []GPU{}, Messages: []json.RawMessage{}, Demangled: map[string]string{},
	}
}

// MapOf returns the facts of the map of a link.
func MapOf(r *link.Result) *Map {
	source := r.Sources()
	m := NewMap()
	m.spelling = r.Spelling
	m.Output = MapOutput{r.Version, r.Target, r.AddressSize, r.Size()}
	m.Symbols, m.Dropped, m.Removed = m.list(r.Symbols(), source), m.list(r.Dropped(), source), m.list(r.Removed(), source)
	m.Messages = MapMessages(r.Messages, r.Spelling)
	m.cubins(r.Cubins)
	for _, in := range r.Modules {
		m.Inputs = append(m.Inputs, MapInput{Module: in})
	}
	m.units(r.Units)
	m.Calls, m.Pulled, m.Unused, m.Folded = append(m.Calls, r.Edges()...), append(m.Pulled, r.Pulls...), append(m.Unused, r.Unused...), append(m.Folded, r.Folded...)
	for _, c := range r.InlinedCalls {
		from, line := source(c.Place)
		file, number, _ := c.Place.Position()
		m.Inlined = append(m.Inlined, MapInlined{c.Caller, c.Callee, file, number, from, line, c.Inlined, c.Reason})
	}
	m.demangle()
	return m
}

func (m *Map) demangle() {
	symbols := map[string]bool{}
	for _, s := range m.Symbols {
		symbols[s.Name] = true
	}
	mention := func(names ...string) {
		for _, name := range names {
			if plain := m.spelling.Unmangled(name); !symbols[name] && plain != "" {
				m.Demangled[name] = plain
			}
		}
	}
	for _, c := range m.Cubins {
		for _, s := range c.Symbols {
			mention(s.Name)
		}
		mention(c.Needs...)
	}
	for _, c := range m.Calls {
		mention(c.From, c.To)
	}
	for _, p := range m.Pulled {
		mention(p.Symbol)
	}
	for _, c := range m.Inlined {
		mention(c.Caller, c.Callee)
	}
	for _, f := range m.Folded {
		mention(f.Name, f.Into)
	}
}

func (m *Map) list(list []link.Symbol, source func(diag.Place) (string, int)) []MapSymbol {
	symbols := make([]MapSymbol, 0, len(list))
	for _, s := range list {
		x := MapSymbol{
			Name: s.Name, Kind: s.Kind, Linkage: cmp.Or(s.Linkage, "local"), Space: s.Space, Bytes: s.Size, Align: s.Align,
			Module: s.Module, Line: s.Line(), Supplier: s.Supplier, Reason: s.Reason,
			Demangled: m.spelling.Unmangled(s.Name),
		}
		x.Source, x.SourceLine = source(s.Place())
		if s.Original != s.Name {
			x.Original = s.Original
		}
		symbols = append(symbols, x)
	}
	return symbols
}

// MapMessages returns messages in the form of the map.
func MapMessages(list []*diag.Message, spelling diag.Spelling) []json.RawMessage {
	var b bytes.Buffer
	diag.Write(&b, list, diag.Style{Format: "json", Spelling: spelling})
	messages := []json.RawMessage{}
	for line := range bytes.Lines(b.Bytes()) {
		messages = append(messages, bytes.TrimSpace(line))
	}
	return messages
}

// WriteJSON writes the map as a JSON object. The text depends only on the inputs and options, so
// that builds are reproducible.
func (m *Map) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	e.SetEscapeHTML(false)
	return e.Encode(m)
}
