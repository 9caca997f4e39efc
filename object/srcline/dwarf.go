package srcline

import (
	"cmp"
	"debug/dwarf"
	"encoding/binary"

	"ptxlink/object/diag"
	"ptxlink/object/ptx"
)

// attrMIPSLinkageName is the linkage name of DWARF 2, which nvcc writes.
const attrMIPSLinkageName = dwarf.Attr(0x2007)

// opAddr is DW_OP_addr, with which the location of a variable begins.
const opAddr = 0x03

// declaration is where a symbol is declared. path is the file if the module has a line
// table of its own; otherwise File is the number of a .file.
type declaration struct {
	ptx.LocPlace
	path string
}

// declared returns the place in the source where DWARF says that a symbol of a module
// is declared. The DWARF of a module is read when the first symbol is asked for.
func (f *Finder) declared(m *module, symbol string) (at diag.Place, ok bool) {
	if m.declarations == nil {
		m.declarations = map[string]declaration{}
		m.readDWARF()
	}
	d, ok := m.declarations[symbol]
	if !ok {
		return at, false
	}
	if d.path != "" {
		return f.inFile(m.Src.Name, &ptx.File{Path: d.path}, d.LocPlace), true
	}
	return f.place(m, d.LocPlace)
}

// readDWARF finds the declarations of functions and variables. It does not report sections that
// cannot be read, because the code that merges or checks them does.
func (m *module) readDWARF() {
	defer func() {
		// A panic is dropped, because debug/dwarf is not hardened against hostile input, according
		// to its documentation.
		_ = recover()
	}()
	data, symbols, ok := m.loadDWARF()
	if !ok {
		return
	}
	var paths []string // of the unit's own line table, by number
	r, origin := data.Reader(), data.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			return
		}
		switch e.Tag {
		case 0, dwarf.TagNamespace, dwarf.TagLexDwarfBlock, dwarf.TagModule:
		case dwarf.TagCompileUnit:
			paths = m.linePaths(data, e)
		case dwarf.TagSubprogram, dwarf.TagVariable:
			m.declare(e, origin, symbols, paths)
		default: // a type, or code in a function
			r.SkipChildren()
		}
	}
}

// declare adds the declaration of a function or variable, under the name that its
// location has and under its linkage name. The first of each name counts.
func (m *module) declare(e *dwarf.Entry, origin *dwarf.Reader, symbols []string, paths []string) {
	symbol := locationOf(e, symbols)
	var d declaration
	var linkage, name string
	for range 4 { // an instance, its abstract origin, and the declaration in a class
		text := func(a dwarf.Attr) string { s, _ := e.Val(a).(string); return s }
		number := func(a dwarf.Attr) int64 { n, _ := e.Val(a).(int64); return n }
		linkage = cmp.Or(linkage, text(dwarf.AttrLinkageName), text(attrMIPSLinkageName))
		name = cmp.Or(name, text(dwarf.AttrName))
		if d.Line == 0 {
			d.LocPlace = ptx.LocPlace{File: number(dwarf.AttrDeclFile), Line: number(dwarf.AttrDeclLine), Column: number(dwarf.AttrDeclColumn)}
		}
		next, ok := e.Val(dwarf.AttrSpecification).(dwarf.Offset)
		if !ok {
			next, ok = e.Val(dwarf.AttrAbstractOrigin).(dwarf.Offset)
		}
		if !ok {
			break
		}
		origin.Seek(next)
		var err error
		if e, err = origin.Next(); err != nil || e == nil {
			break
		}
	}
	if d.Line <= 0 {
		return
	}
	if 0 < d.File && d.File < int64(len(paths)) {
		d.path = paths[d.File]
	}
	for _, known := range []string{symbol, cmp.Or(linkage, name)} {
		if _, twice := m.declarations[known]; !twice && known != "" {
			m.declarations[known] = d
		}
	}
}

// locationOf returns the symbol that the location or the first address of an entry
// names, or "".
func locationOf(e *dwarf.Entry, symbols []string) string {
	at, _ := e.Val(dwarf.AttrLowpc).(uint64)
	if where, ok := e.Val(dwarf.AttrLocation).([]byte); ok && len(where) > 0 && where[0] == opAddr {
		switch len(where) {
		case 1 + 4:
			at = uint64(binary.LittleEndian.Uint32(where[1:]))
		case 1 + 8:
			at = binary.LittleEndian.Uint64(where[1:])
		}
	}
	if at == 0 || at > uint64(len(symbols)) {
		return ""
	}
	return symbols[at-1]
}

// linePaths returns the names of the files of a unit by number, if the module has a line
// table. ptxas makes the table of the others from .file.
func (m *module) linePaths(data *dwarf.Data, unit *dwarf.Entry) (paths []string) {
	if len(m.Files) > 0 {
		return nil
	}
	lines, err := data.LineReader(unit)
	if err != nil || lines == nil {
		return nil
	}
	for _, f := range lines.Files() {
		path := ""
		if f != nil {
			path = f.Name
		}
		paths = append(paths, path)
	}
	return paths
}

// loadDWARF lays out the sections as if loaded at 0. The address of a symbol is its
// place in symbols, counted from 1.
func (m *module) loadDWARF() (data *dwarf.Data, symbols []string, ok bool) {
	sections := map[string][]byte{}
	for _, name := range []string{".debug_abbrev", ".debug_info", ".debug_str", ".debug_line", ".debug_line_str", ".debug_str_offsets", ".debug_addr"} {
		// Nothing here may write to the sections, because other links may be reading them.
		loaded, err := m.LoadedSection(name, func(symbol string, addend int64) uint64 {
			if addend != 0 {
				return 0
			}
			symbols = append(symbols, symbol)
			return uint64(len(symbols))
		})
		if err == nil {
			sections[name] = loaded
		}
	}
	if len(sections[".debug_abbrev"]) == 0 || len(sections[".debug_info"]) == 0 {
		return nil, nil, false
	}
	data, err := dwarf.New(sections[".debug_abbrev"], nil, nil, sections[".debug_info"], sections[".debug_line"], nil, nil, sections[".debug_str"])
	if err != nil {
		return nil, nil, false
	}
	for _, name := range []string{".debug_line_str", ".debug_str_offsets", ".debug_addr"} {
		if len(sections[name]) > 0 && data.AddSection(name, sections[name]) != nil {
			return nil, nil, false
		}
	}
	return data, symbols, true
}
